//! The columns of a query, read group of rows by group of rows.

use tenter_units::Budget;

use super::error::QueryError;
use super::looked_up::LookedUp;
use super::question::{Asked, From};
use super::source::Source;
use crate::column::Cell;
use crate::column_array::ColumnArray;

/// The columns of a query, and what has been looked up for them.
pub(super) struct Reader {
    columns: Vec<Asked>,
    looked_up: LookedUp,
    /// The columns to read of each group, by their places in the table.
    places: Vec<usize>,
    /// Places among those, by the places of the columns of the query.
    own: Vec<usize>,
    keys: Vec<usize>,
}

/// A row of a group, whose arrays are those at the places of its reader.
pub(super) struct ReadRow<'a> {
    reader: &'a Reader,
    arrays: &'a [ColumnArray],
    row: usize,
    keys: Vec<i64>,
}

impl Reader {
    /// Looks up what does not stand in the rows themselves.
    pub(super) fn new<S: Source>(
        table: &str,
        columns: &[Asked],
        source: &S,
        budget: Option<&Budget>,
    ) -> Result<Reader, QueryError<S::Error>> {
        let looked_up = LookedUp::read(columns, source, budget)?;
        let mut places = Vec::new();
        let mut place_of = |place: usize| {
            let found = places.iter().position(|known| *known == place);
            found.unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            })
        };
        let own = columns.iter().map(|column| match column.from {
            From::Row => place_of(column.place),
            From::Owner(_) => usize::MAX,
        });
        let own = own.collect();
        let keys = looked_up.keys(table).into_iter().map(&mut place_of);
        let keys = keys.collect();
        // Rows are counted by a column, whichever it is.
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

    /// The columns to read of each group, by their places in the table.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// A row of a group.
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
    /// The value of a column of the query.
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
