//! Queries on trials' tables, in one language for all surfaces.
//!
//! ```text
//!   p99(flows.fct_ns) by job_name where size_bytes >= 1MiB
//!        │ lexer ──▶ parser, which knows all tables and their columns
//!        ▼
//!      Query ──── Source: rows in memory, or the files of a folder, group of rows by group
//!        │
//!        ▼
//!      Answer: a row for each group, with a value for each question
//! ```
//!
//! Grammar, with words in any case:
//!
//! ```text
//!   query     = value {"," value} {"by" column {"," column} | "where" condition}
//!   value     = term {("+" | "-") term}
//!   term      = factor {("*" | "/") factor}
//!   factor    = number | "-" factor | "(" value ")" | statistic "(" rows ")"
//!   rows      = table | expression ["where" condition]
//!   condition = test {("and" | "or") test}, of which "and" binds closer
//!   test      = "not" test | "(" condition ")" | column
//!             | expression ("=" | "!=" | "<" | "<=" | ">" | ">=") expression
//!             | column ("=" | "!=" | "~") text | column "in" "(" one {"," one} ")"
//!             | column "is" ["not"] "missing"
//! ```
//!
//! An expression has columns where a value has statistics. A column is written `table.column`;
//! after the first one the table may be left out, and so may a unit at the name's end. A number may
//! have a unit, as in scenarios: `1MiB`, `10us`, `400Gbps`. A text has single quotes, which a plain
//! word does not need. Rows that belong to a collective or a job, such as flows, have its columns
//! too.

mod answer;
mod ask;
mod condition;
mod error;
mod expression;
mod filter;
mod lexer;
mod looked_up;
mod parser;
mod question;
mod reader;
mod source;
#[cfg(test)]
mod tests;

pub use answer::{Answer, AnswerColumn, AnswerRow, KeyCell};
pub use error::QueryError;
pub use filter::{Filter, ReadyFilter};
pub use parser::QueryProblem;
pub use question::Query;
pub use source::{Held, Source};
