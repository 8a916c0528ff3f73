//! The tables that a trial folder may have, by their names.

use std::path::{Path, PathBuf};

use tenter_record::{
    CircuitRow, CollectiveRow, CriticalPathRow, FlowRow, InterferenceRow, JobRow, Kind, NoteRow,
    OperationRow, PortRow, QueueChangeRow, QueueRow, RankTimeRow, ReactionRow, RequestRow, Row,
    SampleRow, SignalRow, SteeringRow, SwitchRow, TierRow, TrainingRankRow,
};

use crate::trial_files::table_file;
use crate::{TableGroups, TrialError};

/// A table that a trial may have.
#[derive(Clone, Copy, Debug)]
pub struct TrialTable {
    /// Its name, also the stem of its file.
    pub name: &'static str,
    /// What one row is, in a sentence.
    pub about: &'static str,
    columns: fn() -> Vec<TableColumn>,
    file: fn(&Path) -> PathBuf,
    open: fn(&Path) -> Result<TableGroups, TrialError>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name in every file.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its unit; empty for a count, an index, a name or a flag.
    pub unit: &'static str,
    /// What a value is, in a sentence.
    pub meaning: &'static str,
    /// Whether a row may have no value here.
    pub optional: bool,
}

/// Every table, those of jobs first.
pub static TRIAL_TABLES: [TrialTable; 20] = [
    TrialTable::of::<JobRow>(),
    TrialTable::of::<CollectiveRow>(),
    TrialTable::of::<FlowRow>(),
    TrialTable::of::<PortRow>(),
    TrialTable::of::<QueueRow>(),
    TrialTable::of::<SwitchRow>(),
    TrialTable::of::<TierRow>(),
    TrialTable::of::<SampleRow>(),
    TrialTable::of::<NoteRow>(),
    TrialTable::of::<InterferenceRow>(),
    TrialTable::of::<SignalRow>(),
    TrialTable::of::<ReactionRow>(),
    TrialTable::of::<CircuitRow>(),
    TrialTable::of::<SteeringRow>(),
    TrialTable::of::<QueueChangeRow>(),
    TrialTable::of::<OperationRow>(),
    TrialTable::of::<RankTimeRow>(),
    TrialTable::of::<CriticalPathRow>(),
    TrialTable::of::<TrainingRankRow>(),
    TrialTable::of::<RequestRow>(),
];

impl TrialTable {
    const fn of<R: Row>() -> TrialTable {
        TrialTable {
            name: R::TABLE,
            about: R::ABOUT.trim_ascii(),
            columns: columns_of::<R>,
            file: table_file::<R>,
            open: TableGroups::open::<R>,
        }
    }

    /// The table of that name, if trials can have one.
    pub fn of_name(name: &str) -> Option<TrialTable> {
        TRIAL_TABLES
            .iter()
            .find(|table| table.name == name)
            .copied()
    }

    /// Its columns, in the order of the file.
    pub fn columns(&self) -> Vec<TableColumn> {
        (self.columns)()
    }

    /// Its file in the folder of a trial, which need not be there.
    pub fn file(&self, folder: &Path) -> PathBuf {
        (self.file)(folder)
    }

    /// Opens it in the folder of a trial.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn open(&self, folder: &Path) -> Result<TableGroups, TrialError> {
        (self.open)(folder)
    }
}

fn columns_of<R: Row>() -> Vec<TableColumn> {
    let columns = R::COLUMNS.iter().map(|column| TableColumn {
        name: column.name,
        kind: column.kind,
        unit: column.unit,
        meaning: column.meaning.trim_ascii(),
        optional: column.optional,
    });
    columns.collect()
}
