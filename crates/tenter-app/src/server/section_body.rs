//! Answers in the sections and tables that the command prints.

use serde::Serialize;
use tenter::report::{Align, CaptionedTable, Section, TextColumn};
use utoipa::ToSchema;

/// An answer as `tenter run` prints it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SectionBody {
    /// Subject of the section, with its main number.
    title: String,
    /// Further remarks on the subject, a sentence each.
    lines: Vec<String>,
    tables: Vec<PrintedTable>,
    /// Remark on parts that the tables leave out; empty where they are whole.
    remark: String,
}

/// A table of an answer.
#[derive(Serialize, ToSchema)]
struct PrintedTable {
    /// Subject of the rows; empty where the section says it.
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
    /// True if the texts of the column are numbers, which stand at the right.
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
