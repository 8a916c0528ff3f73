//! The tables of a trial folder as queries read them.

use std::ops::ControlFlow;
use std::path::Path;

use tenter_record::{ColumnArray, Source};

use crate::{TrialError, TrialTable};

/// The tables of a trial folder.
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
        let Some(table) = TrialTable::of_name(table) else {
            return Ok(());
        };
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
