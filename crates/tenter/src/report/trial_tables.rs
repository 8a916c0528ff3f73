//! A trial folder's tables, by name.

use std::path::{Path, PathBuf};

use tenter_results::{Column, ColumnInfo, EachTable, Kept, Table, each_table, with_table};

use crate::report::own_file::has_own;
use crate::report::trial_files::table_file;
use crate::report::{TableGroups, TrialError};

/// A table that a trial may have.
#[derive(Clone, Copy, Debug)]
pub struct TrialTable {
    /// Table name, and stem for its file.
    pub name: &'static str,
    /// Meaning of a row, in a sentence.
    pub about: &'static str,
    columns: fn() -> Vec<ColumnInfo>,
    file: fn(&Path) -> Option<PathBuf>,
    open: fn(&Path) -> Result<TableGroups, TrialError>,
}

/// Makes the [`TrialTable`] for a row type.
struct Of;

impl EachTable for Of {
    type Out = TrialTable;

    fn of<R: Table>(&mut self) -> TrialTable {
        TrialTable {
            name: R::TABLE,
            // The text is a doc comment, which begins with a blank.
            about: R::ABOUT.trim_ascii(),
            columns: || R::COLUMNS.iter().map(Column::info).collect(),
            file: |folder| (R::KEPT != Kept::InSummary).then(|| table_file::<R>(folder)),
            open: TableGroups::open::<R>,
        }
    }
}

impl TrialTable {
    /// Returns all tables, jobs' first.
    pub fn all() -> Vec<TrialTable> {
        each_table(Of)
    }

    /// Returns the table with this name, if trials can have one.
    pub fn of_name(name: &str) -> Option<TrialTable> {
        with_table(name, Of)
    }

    /// Returns the columns, in file order.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        (self.columns)()
    }

    /// Returns the table's file in a trial folder, whether it exists or not; `None` if only
    /// `summary.json` has the rows.
    pub fn file(&self, folder: &Path) -> Option<PathBuf> {
        (self.file)(folder)
    }

    /// True if the folder has the table's file, which in an unfinished trial may not be readable.
    pub fn is_in(&self, folder: &Path) -> bool {
        self.file(folder).is_some_and(|file| has_own(&file))
    }

    /// Opens the table in a trial folder.
    ///
    /// # Errors
    /// If the file is missing or damaged.
    pub fn open(&self, folder: &Path) -> Result<TableGroups, TrialError> {
        (self.open)(folder)
    }
}
