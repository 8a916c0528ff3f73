//! Sources for a query's columns.

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::column::Names;
use crate::column_array::ColumnArray;
use crate::tables::{EachTable, Results, Table, with_table};

/// A trial whose tables are read column by column.
pub trait Source {
    /// Error while the trial is read.
    type Error;

    /// Passes a table's columns, by index, to `each`, one group of rows after another, until it
    /// returns a break. A table that the trial lacks has no groups.
    ///
    /// # Errors
    /// A table that cannot be read.
    fn each_group(
        &self,
        table: &str,
        columns: &[usize],
        each: &mut dyn FnMut(&[ColumnArray]) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;
}

/// Rows per group for results in memory.
const GROUP: usize = 65_536;

/// A trial's results in memory.
#[derive(Clone, Copy, Debug)]
pub struct Held<'t> {
    /// The trial's results, from which its tables are made.
    pub results: Results<'t>,
    /// Names that rows refer to by index.
    pub names: &'t Names,
}

impl Source for Held<'_> {
    type Error = Infallible;

    fn each_group(
        &self,
        table: &str,
        columns: &[usize],
        each: &mut dyn FnMut(&[ColumnArray]) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        struct Groups<'a, E>(&'a Held<'a>, &'a [usize], E);
        impl<E: FnMut(&[ColumnArray]) -> ControlFlow<()>> EachTable for Groups<'_, E> {
            type Out = ();
            fn of<R: Table>(&mut self) {
                let Groups(held, columns, each) = self;
                // Groups bound the memory that arrays take beside the rows.
                for rows in R::rows(&held.results).chunks(GROUP) {
                    let array =
                        |place: &usize| ColumnArray::of(&R::COLUMNS[*place], rows, held.names);
                    let arrays: Vec<ColumnArray> = columns.iter().map(array).collect();
                    if each(&arrays).is_break() {
                        return;
                    }
                }
            }
        }
        with_table(table, Groups(self, columns, each));
        Ok(())
    }
}
