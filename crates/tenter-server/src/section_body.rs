//! Answers in the sections and tables that the command prints.

use serde::Serialize;
use tenter_report::{Align, CaptionedTable, Section, TextColumn};
use utoipa::ToSchema;

/// An answer as `tenter run` prints it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SectionBody {
    /// What it is about, with its main number.
    title: String,
    /// What else must be said of it, a sentence each.
    lines: Vec<String>,
    tables: Vec<PrintedTable>,
    /// What the tables leave out; empty where they are whole.
    remark: String,
}

/// A table of an answer.
#[derive(Serialize, ToSchema)]
struct PrintedTable {
    /// What its rows are of; empty where the section says it.
    caption: String,
    columns: Vec<PrintedColumn>,
    /// Texts, cell by cell.
    rows: Vec<Vec<String>>,
}

/// The head of a column.
#[derive(Serialize, ToSchema)]
struct PrintedColumn {
    name: String,
    unit: String,
    /// Whether its texts are numbers, which stand at the right.
    number: bool,
}

impl From<Section> for SectionBody {
    fn from(section: Section) -> SectionBody {
        let table = |CaptionedTable { caption, table }: CaptionedTable| PrintedTable {
            caption,
            columns: table.columns().iter().map(PrintedColumn::from).collect(),
            rows: table.rows().to_vec(),
        };
        SectionBody {
            title: section.title,
            lines: section.lines,
            tables: section.tables.into_iter().map(table).collect(),
            remark: section.remark,
        }
    }
}

impl From<&TextColumn> for PrintedColumn {
    fn from(column: &TextColumn) -> PrintedColumn {
        PrintedColumn {
            name: column.name.clone(),
            unit: column.unit.clone(),
            number: column.align == Align::Right,
        }
    }
}
