//! Tables of trials by their names.

use std::path::Path;

use tenter_report::{TableGroups, TrialTable};

use crate::error::ApiError;

/// A table of a trial, open.
pub(crate) fn open(folder: &Path, table: &TrialTable) -> Result<TableGroups, ApiError> {
    if !table.is_in(folder) {
        return Err(ApiError::missing(format!(
            "the trial has no table `{}`; its address without a name lists those that it has",
            table.name
        )));
    }
    // Its name is known, so the file is at fault: it is not finished, or damaged.
    table
        .open(folder)
        .map_err(|error| ApiError::conflict(error.to_string()))
}

/// The table of a name.
pub(crate) fn named(name: &str) -> Result<TrialTable, ApiError> {
    TrialTable::of_name(name).ok_or_else(|| {
        ApiError::missing(
            "no trial has such a table; its address without a name lists those that it has",
        )
    })
}
