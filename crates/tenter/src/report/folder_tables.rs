//! A trial folder's tables as a source for queries.

use std::ops::ControlFlow;
use std::path::Path;

use tenter_results::{ColumnArray, Source};

use crate::report::{TrialError, TrialTable};

/// Tables in the trial folder at this path.
#[derive(Clone, Copy, Debug)]
pub struct FolderTables<'a>(pub &'a Path);

impl Source for FolderTables<'_> {
    type Error = TrialError;

    fn each_group(
        &self,
        table: &str,
        columns: &[usize],
        each: &mut dyn FnMut(&[ColumnArray]) -> ControlFlow<()>,
    ) -> Result<(), TrialError> {
        // A table without a known name has no rows, like one that the trial lacks.
        let Some(table) = TrialTable::of_name(table) else {
            return Ok(());
        };
        // A group at a time: the query keeps what it needs, and memory stays bounded.
        let groups = table.open(self.0)?;
        for group in 0..groups.count() {
            let arrays = columns.iter().map(|place| groups.column(group, *place));
            if each(&arrays.collect::<Result<Vec<_>, _>>()?).is_break() {
                break;
            }
        }
        Ok(())
    }
}
