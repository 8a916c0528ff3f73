//! The tables of a trial folder as queries read them.

use std::ops::ControlFlow;
use std::path::Path;

use tenter_record::{ColumnArray, EachTable, Kept, Source, Table, with_table};

use crate::own_file::has_own;
use crate::trial_files::table_file;
use crate::{TableGroups, TrialError};

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
        let Some(groups) = with_table(table, Open(self.0)).transpose()? else {
            return Ok(());
        };
        for group in 0..groups.count() {
            let arrays = columns.iter().map(|place| groups.column(group, *place));
            if each(&arrays.collect::<Result<Vec<_>, _>>()?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Opens a table. What trials of earlier versions have in their summary alone is read of that.
struct Open<'a>(&'a Path);

impl EachTable for Open<'_> {
    type Out = Result<TableGroups, TrialError>;

    fn of<R: Table>(&mut self) -> Self::Out {
        let may_lack = R::KEPT == Kept::IfAny;
        if may_lack && !has_own(&table_file::<R>(self.0)) {
            return TableGroups::of_summary::<R>(self.0);
        }
        TableGroups::open::<R>(self.0)
    }
}
