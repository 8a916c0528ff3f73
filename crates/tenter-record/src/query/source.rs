//! Where the columns of a query come from.

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::column::Names;
use crate::column_array::ColumnArray;
use crate::tables::{EachTable, Results, Table, with_table};

/// A trial whose tables can be read column by column.
pub trait Source {
    /// Why that may fail.
    type Error;

    /// Hands over the columns at these places of a table, group of rows by group of rows, until
    /// `each` breaks it off; a table that the trial does not have has no groups.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn each_group(
        &self,
        table: &str,
        columns: &[usize],
        each: &mut dyn FnMut(&[ColumnArray]) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;
}

/// How many rows in memory are one group.
const GROUP: usize = 65_536;

/// A trial in memory.
#[derive(Clone, Copy, Debug)]
pub struct Held<'t> {
    /// What it has left.
    pub results: Results<'t>,
    /// The names that rows refer to by index.
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
