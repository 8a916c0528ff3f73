//! The tables that a trial folder may have, by their names.

use std::path::{Path, PathBuf};

use tenter_record::{Column, ColumnInfo, EachTable, Kept, Table, each_table, with_table};

use crate::own_file::has_own;
use crate::trial_files::table_file;
use crate::{TableGroups, TrialError};

/// A table that a trial may have.
#[derive(Clone, Copy, Debug)]
pub struct TrialTable {
    /// Its name, also the stem of its file.
    pub name: &'static str,
    /// What one row is, in a sentence.
    pub about: &'static str,
    columns: fn() -> Vec<ColumnInfo>,
    file: fn(&Path) -> Option<PathBuf>,
    open: fn(&Path) -> Result<TableGroups, TrialError>,
}

/// The table of rows of a type.
struct Of;

impl EachTable for Of {
    type Out = TrialTable;

    fn of<R: Table>(&mut self) -> TrialTable {
        TrialTable {
            name: R::TABLE,
            about: R::ABOUT.trim_ascii(),
            columns: || R::COLUMNS.iter().map(Column::info).collect(),
            file: |folder| (R::KEPT != Kept::InSummary).then(|| table_file::<R>(folder)),
            open: TableGroups::open::<R>,
        }
    }
}

impl TrialTable {
    /// Every table, those of jobs first.
    pub fn all() -> Vec<TrialTable> {
        each_table(Of)
    }

    /// The table of that name, if trials can have one.
    pub fn of_name(name: &str) -> Option<TrialTable> {
        with_table(name, Of)
    }

    /// Its columns, in the order of the file.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        (self.columns)()
    }

    /// Its file in the folder of a trial, which need not be there; nothing where only
    /// `summary.json` has its rows.
    pub fn file(&self, folder: &Path) -> Option<PathBuf> {
        (self.file)(folder)
    }

    /// Whether the folder of a trial has its file; that of an unfinished trial may not be readable.
    pub fn is_in(&self, folder: &Path) -> bool {
        self.file(folder).is_some_and(|file| has_own(&file))
    }

    /// Opens it in the folder of a trial.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn open(&self, folder: &Path) -> Result<TableGroups, TrialError> {
        (self.open)(folder)
    }
}
