//! Reader for a query's columns, one group of rows after another.

use tenter_language::units::Budget;

use super::error::QueryError;
use super::looked_up::LookedUp;
use super::question::{Asked, From};
use super::source::Source;
use crate::column::Cell;
use crate::column_array::ColumnArray;

/// A query's columns, with the values looked up for them.
pub(super) struct Reader {
    columns: Vec<Asked>,
    looked_up: LookedUp,
    /// Columns to read from each group, by their index in the table.
    places: Vec<usize>,
    /// For each column in the query its index in `places`; unused for owners' columns.
    own: Vec<usize>,
    keys: Vec<usize>,
}

/// One row in a group; `arrays` are the columns in the reader's `places`.
pub(super) struct ReadRow<'a> {
    reader: &'a Reader,
    arrays: &'a [ColumnArray],
    row: usize,
    keys: Vec<i64>,
}

impl Reader {
    /// Reads the owners' values that the query needs.
    pub(super) fn new<S: Source>(
        table: &str,
        columns: &[Asked],
        source: &S,
        budget: Option<&Budget>,
    ) -> Result<Reader, QueryError<S::Error>> {
        let looked_up = LookedUp::read(columns, source, budget)?;
        let mut places = Vec::new();
        // A column is read once, however many parts of the query name it.
        let mut place_of = |place: usize| {
            let found = places.iter().position(|known| *known == place);
            found.unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            })
        };
        let own = columns.iter().map(|column| match column.from {
            From::Row => place_of(column.place),
            // Never used: `cell` asks the owner for these columns.
            From::Owner(_) => usize::MAX,
        });
        let own = own.collect();
        let keys = looked_up.keys(table).into_iter().map(&mut place_of);
        let keys = keys.collect();
        // Some column must be read, because its length is the row count.
        if places.is_empty() {
            places.push(0);
        }
        Ok(Reader {
            columns: columns.to_vec(),
            looked_up,
            places,
            own,
            keys,
        })
    }

    /// Returns the columns to read from each group, by their index in the table.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns one row in a group.
    pub(super) fn row<'a>(&'a self, arrays: &'a [ColumnArray], row: usize) -> ReadRow<'a> {
        let keys = self.keys.iter();
        let keys = keys.filter_map(|place| arrays[*place].cell(row).integer());
        ReadRow {
            reader: self,
            arrays,
            row,
            keys: keys.collect(),
        }
    }
}

impl<'a> ReadRow<'a> {
    /// Returns the value in one of the query's columns.
    pub(super) fn cell(&self, column: usize) -> Cell<'a> {
        let asked = &self.reader.columns[column];
        match asked.from {
            From::Row => self.arrays[self.reader.own[column]].cell(self.row),
            From::Owner(owner) => {
                let looked_up = &self.reader.looked_up;
                looked_up.cell(owner, asked.place, &self.keys)
            }
        }
    }
}
