//! Parser: it turns a query's tokens into a checked question.

use std::fmt;
use std::str::FromStr;

use tenter_language::units::suggestion;

use super::condition::{Comparison, Condition};
use super::expression::{Expression, Operator};
use super::lexer::{Token, TokenKind, tokens};
use super::looked_up;
use super::question::{Aggregate, Asked, From, NamedValue, Query, place};
use crate::column::Kind;
use crate::statistic::Statistic;
use crate::tables::{columns_of, table_names};

/// Greatest nesting depth for brackets and signs, which bounds the parser's recursion.
const DEPTH_MAX: usize = 32;

/// An error in a query, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProblem {
    query: String,
    at: usize,
    what: String,
}

impl QueryProblem {
    /// Describes the error in one line, with its place in characters.
    pub fn line(&self) -> String {
        let before = self.query.get(..self.at).unwrap_or_default();
        let place = before.chars().count() + 1;
        format!("{} (at character {place})", self.what)
    }
}

impl fmt::Display for QueryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueryProblem { query, at, what } = self;
        let before = query.get(..*at).unwrap_or_default();
        // A caret under the query needs a single line that fits a terminal.
        if query.contains(['\n', '\t']) || query.len() > 200 {
            return f.write_str(&self.line());
        }
        write!(
            f,
            "{what}\n  {query}\n  {}^",
            " ".repeat(before.chars().count())
        )
    }
}

impl std::error::Error for QueryProblem {}

impl FromStr for Query {
    type Err = QueryProblem;

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, and a closure of every"
    )]
    fn from_str(text: &str) -> Result<Query, QueryProblem> {
        parsed(text, None, |parser| parser.query())
    }
}

/// Parses a condition on a table's rows; returns the columns that it reads, too.
pub(super) fn filter(
    table: &'static str,
    text: &str,
) -> Result<(Vec<Asked>, Condition), QueryProblem> {
    parsed(text, Some(table), |parser| {
        let condition = parser.condition()?;
        let at = parser.peek().at;
        if parser.peek().kind != TokenKind::End {
            return Err((at, "write `and`, `or`, or nothing here".to_owned()));
        }
        Ok((std::mem::take(&mut parser.columns), condition))
    })
}

fn parsed<T>(
    text: &str,
    table: Option<&'static str>,
    read: impl FnOnce(&mut Parser<'_>) -> Result<T, Problem>,
) -> Result<T, QueryProblem> {
    let problem = |(at, what): Problem| QueryProblem {
        query: text.to_owned(),
        at,
        what,
    };
    let tokens = tokens(text).map_err(problem)?;
    let table = table.map_or_else(|| asked_table(&tokens), |table| Ok(Some(table)));
    let mut parser = Parser {
        text,
        tokens: &tokens,
        next: 0,
        depth: 0,
        table: table.map_err(problem)?,
        columns: Vec::new(),
        aggregates: Vec::new(),
    };
    read(&mut parser).map_err(problem)
}

/// Returns the table that a query asks: the first to whose rows all other named tables belong.
fn asked_table(tokens: &[Token]) -> Result<Option<&'static str>, Problem> {
    // Tables are found before parsing, since a column may stand before the first one named.
    let named = tokens.iter().enumerate().filter_map(|(place, token)| {
        let TokenKind::Word(word) = &token.kind else {
            return None;
        };
        let table = match word.split_once('.') {
            Some((table, _)) => table,
            None if is_counted(&tokens[..place]) => word,
            None => return None,
        };
        let known = table_names().find(|known| *known == table)?;
        Some((token.at, known))
    });
    let named: Vec<(usize, &'static str)> = named.collect();
    let owns_all = |table: &str| {
        let mut others = named.iter().filter(|(_, other)| *other != table);
        others.all(|(_, other)| looked_up::belongs(table, other))
    };
    if let Some((_, table)) = named.iter().find(|(_, table)| owns_all(table)) {
        return Ok(Some(table));
    }
    let other = named.iter().find(|(_, other)| *other != named[0].1);
    match other {
        None => Ok(None),
        Some((at, other)) => Err((
            *at,
            format!(
                "a query asks one table, and rows of `{}` and of `{other}` do not belong together",
                named[0].1
            ),
        )),
    }
}

/// Returns true if `before` ends in `count(`, so that a table's name may follow.
fn is_counted(before: &[Token]) -> bool {
    let [.., word, bracket] = before else {
        return false;
    };
    let is_count =
        matches!(&word.kind, TokenKind::Word(word) if word.eq_ignore_ascii_case("count"));
    is_count && bracket.kind == TokenKind::Sign("(")
}

/// An error's byte offset and description.
type Problem = (usize, String);

/// Expression with its value's unit.
type Measured = (Expression, String);

/// Leaves that an expression may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Statistics,
    Columns,
}

struct Parser<'q> {
    text: &'q str,
    tokens: &'q [Token],
    next: usize,
    depth: usize,
    table: Option<&'static str>,
    columns: Vec<Asked>,
    aggregates: Vec<Aggregate>,
}

impl<'q> Parser<'q> {
    fn query(&mut self) -> Result<Query, Problem> {
        let mut values = Vec::new();
        loop {
            let from = self.peek().at;
            let (value, unit) = self.expression(Level::Statistics)?;
            // The expression has consumed at least one token.
            let to = self.tokens[self.next - 1].end;
            let text = self.text[from..to].to_owned();
            values.push(NamedValue { text, unit, value });
            if !self.takes(",") {
                break;
            }
        }
        let mut by = Vec::new();
        let mut condition = None;
        loop {
            let at = self.peek().at;
            if by.is_empty() && self.takes_word("by") {
                by.push(self.named_column()?);
                while self.takes(",") {
                    by.push(self.named_column()?);
                }
            } else if condition.is_none() && self.takes_word("where") {
                condition = Some(self.condition()?);
            } else if self.peek().kind == TokenKind::End {
                break;
            } else {
                let what = "write `where`, `by`, or nothing here; a text with a blank, `/` or `:` needs single quotes";
                return Err((at, what.to_owned()));
            }
        }
        let Some(table) = self.table.filter(|_| !self.aggregates.is_empty()) else {
            let what =
                "the query asks no table; write a statistic of a column, as in `p99(flows.fct_ns)`";
            return Err((0, what.to_owned()));
        };
        Ok(Query {
            table,
            columns: std::mem::take(&mut self.columns),
            values,
            aggregates: std::mem::take(&mut self.aggregates),
            condition,
            by,
        })
    }

    fn peek(&self) -> &'q Token {
        // The last token is the end; nothing consumes it, so it repeats.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn word(&self) -> Option<&'q str> {
        match &self.peek().kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Consumes a sign if it comes next.
    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek().kind, TokenKind::Sign(of) if of == sign);
        self.next += usize::from(is_next);
        is_next
    }

    /// Consumes a word, in any case, if it comes next.
    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.word().is_some_and(|of| of.eq_ignore_ascii_case(word));
        self.next += usize::from(is_next);
        is_next
    }

    fn needs(&mut self, sign: &str) -> Result<(), Problem> {
        let at = self.peek().at;
        let is_next = self.takes(sign);
        is_next
            .then_some(())
            .ok_or_else(|| (at, format!("write `{sign}` here")))
    }

    /// Parses a part one level deeper, down to [`DEPTH_MAX`].
    fn deeper<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.depth == DEPTH_MAX {
            let what = format!("brackets and signs are more than {DEPTH_MAX} deep");
            return Err((self.peek().at, what));
        }
        self.depth += 1;
        let found = part(self);
        self.depth -= 1;
        found
    }

    fn expression(&mut self, level: Level) -> Result<Measured, Problem> {
        let sum = [("+", Operator::Plus), ("-", Operator::Minus)];
        self.chain(&sum, &mut |parser| {
            let product = [("*", Operator::Times), ("/", Operator::Over)];
            parser.chain(&product, &mut |parser| parser.factor(level))
        })
    }

    /// Parses parts with operators between them, which bind from the left.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        part: &mut dyn FnMut(&mut Self) -> Result<Measured, Problem>,
    ) -> Result<Measured, Problem> {
        let (mut left, mut unit) = part(self)?;
        loop {
            let at = self.peek().at;
            let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.takes(sign)) else {
                return Ok((left, unit));
            };
            let (right, of_right) = part(self)?;
            unit = operator.unit(&unit, &of_right).map_err(|what| (at, what))?;
            left = Expression::Of(operator, Box::new([left, right]));
        }
    }

    fn factor(&mut self, level: Level) -> Result<Measured, Problem> {
        let at = self.peek().at;
        if self.takes("-") {
            let (value, unit) = self.deeper(|parser| parser.factor(level))?;
            return Ok((Expression::Negative(Box::new(value)), unit));
        }
        if self.takes("(") {
            let inner = self.deeper(|parser| parser.expression(level))?;
            self.needs(")")?;
            return Ok(inner);
        }
        if let TokenKind::Number(value, unit) = self.peek().kind {
            self.next += 1;
            return Ok((Expression::Number(value), unit.to_owned()));
        }
        match level {
            Level::Statistics => self.aggregate(),
            Level::Columns => {
                let place = self.named_column()?;
                let info = self.columns[place].info;
                if info.kind == Kind::Text {
                    return Err((
                        at,
                        format!("`{}` holds texts; name a column of numbers", info.name),
                    ));
                }
                Ok((Expression::Leaf(place), info.unit.to_owned()))
            }
        }
    }

    fn aggregate(&mut self) -> Result<Measured, Problem> {
        let at = self.peek().at;
        let word = self.word().unwrap_or_default().to_ascii_lowercase();
        let Ok(statistic) = word.parse::<Statistic>() else {
            let mut help = suggestion(&word, Statistic::words());
            // Nothing is similar; the listed words leave out most percentiles.
            if help.starts_with("choose") {
                help += " or any other percentile";
            }
            let what = format!("a statistic is wanted here, as in `p99(flows.fct_ns)`; {help}");
            return Err((at, what));
        };
        self.next += 1;
        self.needs("(")?;
        let named = self.word().filter(|_| statistic == Statistic::Count);
        let table = named.and_then(|word| table_names().find(|name| *name == word));
        let (of, unit) = if table.is_some() {
            self.next += 1;
            (None, String::new())
        } else {
            let (of, unit) = self.deeper(|parser| parser.expression(Level::Columns))?;
            (Some(of), unit)
        };
        let condition = self.takes_word("where").then(|| self.condition());
        let condition = condition.transpose()?;
        self.needs(")")?;
        self.aggregates.push(Aggregate {
            statistic,
            of,
            condition,
        });
        let unit = if statistic == Statistic::Count {
            String::new()
        } else {
            unit
        };
        Ok((Expression::Leaf(self.aggregates.len() - 1), unit))
    }

    fn condition(&mut self) -> Result<Condition, Problem> {
        self.deeper(|parser| {
            let any = parser.parts("or", |parser| {
                let all = parser.parts("and", Parser::test)?;
                Ok(one_or(all, Condition::All))
            })?;
            Ok(one_or(any, Condition::Any))
        })
    }

    fn parts(
        &mut self,
        between: &str,
        part: impl Fn(&mut Self) -> Result<Condition, Problem>,
    ) -> Result<Vec<Condition>, Problem> {
        let mut parts = vec![part(self)?];
        while self.takes_word(between) {
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    fn test(&mut self) -> Result<Condition, Problem> {
        if self.takes_word("not") {
            let test = self.deeper(Parser::test)?;
            return Ok(Condition::Not(Box::new(test)));
        }
        if self.is_condition_in_brackets() {
            self.needs("(")?;
            let inner = self.condition()?;
            self.needs(")")?;
            return Ok(inner);
        }
        let begins = self.next;
        if self.word().is_some() {
            let column = self.named_column()?;
            if let Some(test) = self.test_of_column(column)? {
                return Ok(test);
            }
        }
        // No test of a single column: the same tokens are read again as an expression.
        self.next = begins;
        let (left, unit) = self.expression(Level::Columns)?;
        let at = self.peek().at;
        let TokenKind::Sign(sign) = self.peek().kind else {
            return Err((at, "write one of =, !=, <, <=, >, >= here".to_owned()));
        };
        let Some(comparison) = Comparison::of_sign(sign) else {
            return Err((at, "write one of =, !=, <, <=, >, >= here".to_owned()));
        };
        self.next += 1;
        let right = self.expression(Level::Columns)?;
        let [left, right] = alike((left, unit), right).map_err(|what| (at, what))?;
        Ok(Condition::Numbers(left, comparison, right))
    }

    /// Parses the numbers in `column in (…)`.
    fn one_of_numbers(&mut self, column: usize) -> Result<Condition, Problem> {
        let mut any = Vec::new();
        loop {
            let at = self.peek().at;
            let unit = self.columns[column].info.unit.to_owned();
            let number = self.expression(Level::Columns)?;
            let sides = alike((Expression::Leaf(column), unit), number);
            let [left, right] = sides.map_err(|what| (at, what))?;
            any.push(Condition::Numbers(left, Comparison::EQUAL, right));
            if !self.takes(",") {
                return Ok(one_or(any, Condition::Any));
            }
        }
    }

    /// Parses the text or flag that a column must equal.
    fn one(&mut self, column: usize, kind: Kind) -> Result<Condition, Problem> {
        let at = self.peek().at;
        let mut text = self.operand()?;
        if kind == Kind::Flag {
            text = match text.to_ascii_lowercase().as_str() {
                "true" | "1" => "true".to_owned(),
                "false" | "0" => "false".to_owned(),
                _ => return Err((at, format!("`{text}` is no flag; write `true` or `false`"))),
            };
        }
        Ok(Condition::OneOf(column, vec![text]))
    }

    /// Returns true if a bracketed condition comes next: no operator follows the closing bracket.
    fn is_condition_in_brackets(&self) -> bool {
        let mut open = 0;
        for (place, token) in self.tokens.iter().enumerate().skip(self.next) {
            match token.kind {
                TokenKind::Sign("(") => open += 1,
                TokenKind::Sign(")") => open -= 1,
                _ => {}
            }
            if open == 0 {
                let behind = self.tokens.get(place + 1).map(|token| &token.kind);
                let goes_on =
                    matches!(behind, Some(TokenKind::Sign(sign)) if ![")", ","].contains(sign));
                return place > self.next && !goes_on;
            }
        }
        // A missing bracket is reported where it should be.
        self.peek().kind == TokenKind::Sign("(")
    }

    /// Parses a test on one column; `None` if numbers are compared instead.
    fn test_of_column(&mut self, column: usize) -> Result<Option<Condition>, Problem> {
        let kind = self.columns[column].info.kind;
        if self.takes_word("is") {
            let is_not = self.takes_word("not");
            let at = self.peek().at;
            if !self.takes_word("missing") {
                return Err((at, "write `missing` here".to_owned()));
            }
            let missing = Condition::Missing(column);
            return Ok(Some(if is_not {
                Condition::Not(Box::new(missing))
            } else {
                missing
            }));
        }
        if self.takes_word("in") {
            self.needs("(")?;
            let one_of = if matches!(kind, Kind::Text | Kind::Flag) {
                let mut any = vec![self.one(column, kind)?];
                while self.takes(",") {
                    any.push(self.one(column, kind)?);
                }
                one_or(any, Condition::Any)
            } else {
                self.one_of_numbers(column)?
            };
            self.needs(")")?;
            return Ok(Some(one_of));
        }
        if kind == Kind::Text && self.takes("~") {
            return Ok(Some(Condition::Contains(column, self.operand()?)));
        }
        if !matches!(kind, Kind::Text | Kind::Flag) {
            return Ok(None);
        }
        if self.takes("=") {
            return self.one(column, kind).map(Some);
        }
        if self.takes("!=") {
            // As for numbers, a row without a value fits no comparison.
            let parts = [Condition::Missing(column), self.one(column, kind)?];
            return Ok(Some(Condition::Not(Box::new(Condition::Any(parts.into())))));
        }
        if kind == Kind::Flag {
            return Ok(Some(Condition::OneOf(column, vec!["true".to_owned()])));
        }
        let name = self.columns[column].info.name;
        let what =
            format!("`{name}` holds texts; write `=`, `!=`, `~` (contains) or `in` behind it");
        Err((self.peek().at, what))
    }

    /// Consumes the text that a column is compared with; plain words and numbers need no quotes.
    fn operand(&mut self) -> Result<String, Problem> {
        let Token { at, end, kind } = self.peek();
        let text = match kind {
            TokenKind::Text(text) => text.clone(),
            TokenKind::Word(_) | TokenKind::Number(..) => self.text[*at..*end].to_owned(),
            TokenKind::Sign(_) | TokenKind::End => {
                return Err((
                    *at,
                    "write a text here, such as `train` or 'my job'".to_owned(),
                ));
            }
        };
        self.next += 1;
        Ok(text)
    }

    /// Consumes a column's name, and returns its index among the query's columns.
    fn named_column(&mut self) -> Result<usize, Problem> {
        let at = self.peek().at;
        let Some(word) = self.word() else {
            return Err((
                at,
                "a column is wanted here, as in `flows.fct_ns`".to_owned(),
            ));
        };
        let asked = match (word.split_once('.'), self.table) {
            (None, Some(table)) => of_row_or_owner(table, word),
            (None, None) => Err(format!(
                "name the table of `{word}`, too, as in `flows.fct_ns`"
            )),
            (Some((table, name)), Some(of)) if table == of => of_row(of, name),
            (Some((table, name)), Some(of)) if looked_up::belongs(of, table) => {
                looked_up::of_owner(table, name)
            }
            (Some((table, _)), _) => Err(match table_names().find(|known| *known == table) {
                None => format!(
                    "there is no table `{table}`; {}",
                    suggestion(table, table_names())
                ),
                Some(_) => format!("rows of `{table}` do not belong to those that are asked"),
            }),
        };
        let asked = asked.map_err(|what| (at, what))?;
        self.next += 1;
        if let Some(place) = self.columns.iter().position(|known| *known == asked) {
            return Ok(place);
        }
        self.columns.push(asked);
        Ok(self.columns.len() - 1)
    }
}

/// Finds a column in the table that the query asks.
fn of_row(table: &'static str, name: &str) -> Result<Asked, String> {
    let columns = columns_of(table).unwrap_or_default();
    let place = place(&columns, name)?;
    let place = place.ok_or_else(|| looked_up::no_column(table, name))?;
    Ok(Asked {
        from: From::Row,
        place,
        info: columns[place],
    })
}

/// Finds a column in the table that the query asks, or in an owner of its rows.
fn of_row_or_owner(table: &'static str, name: &str) -> Result<Asked, String> {
    let columns = columns_of(table).unwrap_or_default();
    if place(&columns, name)?.is_some() {
        return of_row(table, name);
    }
    let found = looked_up::of_any(table, name)?;
    found.ok_or_else(|| looked_up::no_column(table, name))
}

fn one_or(mut parts: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    join(parts)
}

/// Returns the factor to a common unit, and that unit.
fn worth(unit: &str) -> Option<(f64, &'static str)> {
    match unit {
        "ps" => Some((1e-3, "ns")),
        "ns" => Some((1.0, "ns")),
        "s" => Some((1e9, "ns")),
        "Gbit/s (10⁹)" => Some((1.0, "Gbit/s")),
        "GB/s (10⁹)" => Some((8.0, "Gbit/s")),
        "" => Some((1.0, "")),
        "%" => Some((0.01, "")),
        _ => None,
    }
}

/// Converts both sides of a comparison to the same unit; a plain number has the other side's unit.
fn alike(left: Measured, right: Measured) -> Result<[Expression; 2], String> {
    let is_plain = |(of, unit): &Measured| unit.is_empty() && of.is_constant();
    if left.1 == right.1 || is_plain(&left) || is_plain(&right) {
        return Ok([left.0, right.0]);
    }
    let named = |unit: &str| match unit {
        "" => "a number without a unit".to_owned(),
        unit => unit.to_owned(),
    };
    let worths = worth(&left.1).zip(worth(&right.1));
    let worths = worths.filter(|((_, left), (_, right))| left == right);
    let ((of_left, _), (of_right, _)) = worths
        .ok_or_else(|| format!("{} and {} do not compare", named(&left.1), named(&right.1)))?;
    // The right side is converted: the column on the left is compared exactly as stored.
    let factor = Expression::Number(of_right / of_left);
    let right = Expression::Of(Operator::Times, Box::new([right.0, factor]));
    Ok([left.0, right])
}
