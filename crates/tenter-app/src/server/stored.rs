//! A trial's tables, by name.

use std::path::Path;

use tenter::report::{TableGroups, TrialTable};

use crate::server::error::ApiError;

/// Opens a table in a trial; a 404 if the trial has none with that name, a 409 if its file cannot
/// be read.
pub(crate) fn open(folder: &Path, table: &TrialTable) -> Result<TableGroups, ApiError> {
    if !table.is_in(folder) {
        return Err(ApiError::missing(format!(
            "the trial has no table `{}`; its address without a name lists those that it has",
            table.name
        )));
    }
    // The name is valid, so the file is at fault: unfinished or damaged.
    table
        .open(folder)
        .map_err(|error| ApiError::conflict(error.to_string()))
}

/// Returns the table with this name, whether or not a given trial has it.
pub(crate) fn named(name: &str) -> Result<TrialTable, ApiError> {
    TrialTable::of_name(name).ok_or_else(|| {
        ApiError::missing(
            "no trial has such a table; its address without a name lists those that it has",
        )
    })
}
