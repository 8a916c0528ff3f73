//! Filters: a condition by itself that selects table rows.

use tenter_language::units::Budget;

use super::condition::Condition;
use super::error::QueryError;
use super::parser::{QueryProblem, filter};
use super::question::Asked;
use super::reader::Reader;
use super::source::Source;
use crate::column_array::ColumnArray;

/// Row selection by a query's condition; all rows without a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    table: &'static str,
    columns: Vec<Asked>,
    condition: Option<Condition>,
}

/// A filter with everything that it looks up in other tables.
pub struct ReadyFilter {
    reader: Reader,
    condition: Condition,
}

impl Filter {
    /// Parses a condition on `table`'s rows.
    ///
    /// # Errors
    /// A text that is no condition, or names an unknown column.
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

    /// Reads the values that rows do not contain themselves; `None` for a filter without a
    /// condition.
    ///
    /// # Errors
    /// A trial that cannot be read, or values that do not fit into the budget.
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
    /// Returns the columns to read from each group of rows, by their index in the table.
    pub fn places(&self) -> &[usize] {
        self.reader.places()
    }

    /// Returns for each row in a group whether it is selected; `arrays` has the columns in
    /// [`places`](ReadyFilter::places).
    pub fn fits(&self, arrays: &[ColumnArray]) -> Vec<bool> {
        let count = arrays.first().map_or(0, ColumnArray::len);
        let fits = |row| {
            let row = self.reader.row(arrays, row);
            self.condition.holds(&|column| row.cell(column))
        };
        (0..count).map(fits).collect()
    }
}
