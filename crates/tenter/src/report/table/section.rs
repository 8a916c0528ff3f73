//! A trial summary's sections, which the terminal prints, and page and reports show.

use std::fmt;

use crate::report::text_table::TextTable;

/// One answer from a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Subject with its main number: `tester: 8 ranks, JCT 33.161 ms`.
    pub title: String,
    /// Further remarks, a sentence each.
    pub lines: Vec<String>,
    /// Tables that follow the remarks.
    pub tables: Vec<CaptionedTable>,
    /// Remark on what the tables leave out; empty where they are whole.
    pub remark: String,
}

/// A table with its caption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptionedTable {
    /// Subject of the rows; empty where the section's title says it.
    pub caption: String,
    /// Table with formatted cells; without columns there is nothing to show.
    pub table: TextTable,
}

impl Section {
    /// Makes a section from one table.
    pub(crate) fn of_table(title: String, table: TextTable) -> Section {
        Section {
            title,
            tables: vec![table.into()],
            ..Section::default()
        }
    }
}

impl From<TextTable> for CaptionedTable {
    fn from(table: TextTable) -> CaptionedTable {
        CaptionedTable {
            caption: String::new(),
            table,
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", self.title)?;
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        for CaptionedTable { caption, table } in &self.tables {
            if !caption.is_empty() {
                writeln!(f, "\n  {caption}")?;
            }
            write!(f, "{table}")?;
        }
        if !self.remark.is_empty() {
            writeln!(f, "{}", self.remark)?;
        }
        Ok(())
    }
}

/// A number for the whole trial, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Kind: `total`, `pauses`, `engine` and others.
    pub label: &'static str,
    /// Sentence that states the fact.
    pub text: String,
}

impl Fact {
    pub(super) fn new(label: &'static str, text: impl Into<String>) -> Fact {
        let text = text.into();
        Fact { label, text }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<8} {}", self.label, self.text)
    }
}
