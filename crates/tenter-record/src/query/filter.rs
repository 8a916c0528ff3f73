//! A condition by itself: which rows of a table are meant.

use tenter_units::Budget;

use super::condition::Condition;
use super::error::QueryError;
use super::parser::{QueryProblem, filter};
use super::question::Asked;
use super::reader::Reader;
use super::source::Source;
use crate::column_array::ColumnArray;

/// Which rows of a table are meant, as the condition of a query says it; all where it is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    table: &'static str,
    columns: Vec<Asked>,
    condition: Option<Condition>,
}

/// A filter that knows what rows belong to.
pub struct ReadyFilter {
    reader: Reader,
    condition: Condition,
}

impl Filter {
    /// Reads the condition on a table of that name.
    ///
    /// # Errors
    /// Where the text is no condition, or names a column that there is not.
    pub fn parse(table: &'static str, text: &str) -> Result<Filter, QueryProblem> {
        if text.trim().is_empty() {
            return Ok(Filter {
                table,
                columns: Vec::new(),
                condition: None,
            });
        }
        let (columns, condition) = filter(table, text)?;
        Ok(Filter {
            table,
            columns,
            condition: Some(condition),
        })
    }

    /// Looks up what does not stand in the rows themselves; nothing where all rows are meant.
    ///
    /// # Errors
    /// Where the trial cannot be read, or that does not fit into the budget.
    pub fn ready<S: Source>(
        &self,
        source: &S,
        budget: &Budget,
    ) -> Result<Option<ReadyFilter>, QueryError<S::Error>> {
        let Some(condition) = &self.condition else {
            return Ok(None);
        };
        let reader = Reader::new(self.table, &self.columns, source, Some(budget))?;
        Ok(Some(ReadyFilter {
            reader,
            condition: condition.clone(),
        }))
    }
}

impl ReadyFilter {
    /// The columns that it needs of each group of rows, by their places in the table.
    pub fn places(&self) -> &[usize] {
        self.reader.places()
    }

    /// Which rows of a group are meant; `arrays` are the columns that it needs.
    pub fn fits(&self, arrays: &[ColumnArray]) -> Vec<bool> {
        let count = arrays.first().map_or(0, ColumnArray::len);
        let fits = |row| {
            let row = self.reader.row(arrays, row);
            self.condition.holds(&|column| row.cell(column))
        };
        (0..count).map(fits).collect()
    }
}
