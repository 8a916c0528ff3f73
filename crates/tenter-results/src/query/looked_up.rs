//! Columns that a row has through its owner: its collective, job or trial.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tenter_language::units::{Budget, OverBudget};

use super::error::{QueryError, take};
use super::question::{Asked, From, place};
use super::source::Source;
use crate::column::{Cell, Row};
use crate::column_array::ColumnArray;
use crate::rows::{CollectiveRow, JobRow};
use crate::summary::{EngineStats, Totals};
use crate::tables::columns_of;

/// A table whose rows own rows in other tables.
struct Owner {
    table: &'static str,
    /// Columns that refer to the owner, by the same names in both tables; none for a trial's single
    /// row.
    keys: &'static [&'static str],
}

/// All tables that own rows, nearest first.
const OWNERS: [Owner; 4] = [
    Owner {
        table: CollectiveRow::TABLE,
        keys: &["job", "collective_index", "iteration"],
    },
    Owner {
        table: JobRow::TABLE,
        keys: &["job"],
    },
    Owner {
        table: Totals::TABLE,
        keys: &[],
    },
    Owner {
        table: EngineStats::TABLE,
        keys: &[],
    },
];

/// Returns the owners of a table's rows, as indices into [`OWNERS`].
fn owners(table: &str) -> impl Iterator<Item = usize> {
    let columns = columns_of(table).unwrap_or_default();
    let owns = move |owner: &Owner| {
        let has = |key: &&str| columns.iter().any(|column| column.name == *key);
        owner.table != table && owner.keys.iter().all(has)
    };
    let owns: Vec<bool> = OWNERS.iter().map(owns).collect();
    (0..OWNERS.len()).filter(move |place| owns[*place])
}

/// Returns true if `table`'s rows belong to `owner`'s rows.
pub(super) fn belongs(table: &str, owner: &str) -> bool {
    owners(table).any(|place| OWNERS[place].table == owner)
}

/// Finds a column in the owner with this table.
pub(super) fn of_owner(table: &str, name: &str) -> Result<Asked, String> {
    let owner = OWNERS.iter().position(|owner| owner.table == table);
    let asked = owner.map_or(Ok(None), |owner| column(owner, name))?;
    asked.ok_or_else(|| no_column(table, name))
}

/// Describes a column that a table does not have, and suggests one.
pub(super) fn no_column(table: &str, name: &str) -> String {
    let columns = columns_of(table).unwrap_or_default();
    let known = columns.iter().map(|column| column.name);
    let help = tenter_language::units::suggestion(name, known);
    format!("the table `{table}` has no column `{name}`; {help}")
}

/// Finds a column with this name in the nearest owner that has one; a trial's columns need their
/// table's name.
pub(super) fn of_any(table: &str, name: &str) -> Result<Option<Asked>, String> {
    for owner in owners(table).filter(|place| !OWNERS[*place].keys.is_empty()) {
        if let Some(asked) = column(owner, name)? {
            return Ok(Some(asked));
        }
    }
    Ok(None)
}

fn column(owner: usize, name: &str) -> Result<Option<Asked>, String> {
    let columns = columns_of(OWNERS[owner].table).unwrap_or_default();
    let place = place(&columns, name)?;
    Ok(place.map(|place| Asked {
        from: From::Owner(owner),
        place,
        info: columns[place],
    }))
}

/// Returns the indices of columns with exactly these names.
fn places(table: &str, names: &[&str]) -> Vec<usize> {
    let columns = columns_of(table).unwrap_or_default();
    let place = |name: &&str| columns.iter().position(|column| column.name == *name);
    names.iter().filter_map(place).collect()
}

/// Owners' rows that the query needs, by the owner's index.
pub(super) struct LookedUp([Found; OWNERS.len()]);

/// Memory for each value in an owner's row, keys included.
const CELL_BYTES: usize = 64;

/// An owner's requested columns, and its row indices by key.
#[derive(Default)]
struct Found {
    // Both maps are only looked up: their order reaches no answer.
    columns: HashMap<usize, ColumnArray>,
    rows: HashMap<Vec<i64>, usize>,
}

impl LookedUp {
    /// Reads the owners' columns that a query needs.
    pub(super) fn read<S: Source>(
        columns: &[Asked],
        source: &S,
        budget: Option<&Budget>,
    ) -> Result<LookedUp, QueryError<S::Error>> {
        let mut all = LookedUp(Default::default());
        for (place, (owner, found)) in OWNERS.iter().zip(&mut all.0).enumerate() {
            let asked = columns.iter().filter(|of| of.from == From::Owner(place));
            let places: Vec<usize> = asked.map(|column| column.place).collect();
            if !places.is_empty() {
                let read = Found::read(source, owner, &places, budget);
                let read = read.map_err(QueryError::Source)?;
                *found = read.map_err(QueryError::Budget)?;
            }
        }
        Ok(all)
    }

    /// Returns the indices of the table's columns that refer to owners: the keys for the owner with
    /// most, since other owners' keys begin them.
    pub(super) fn keys(&self, table: &str) -> Vec<usize> {
        let used = OWNERS.iter().zip(&self.0);
        let used = used.filter(|(_, found)| !found.columns.is_empty());
        let keys = used
            .map(|(owner, _)| owner.keys)
            .max_by_key(|keys| keys.len());
        places(table, keys.unwrap_or_default())
    }

    /// Returns the value in an owner's column for a row with these keys.
    pub(super) fn cell(&self, owner: usize, place: usize, keys: &[i64]) -> Cell<'_> {
        let found = &self.0[owner];
        // Keys of a nearer owner are longer; the first ones refer to this owner.
        let keys = keys.get(..OWNERS[owner].keys.len()).unwrap_or_default();
        let row = found.columns.get(&place).zip(found.rows.get(keys));
        row.map_or(Cell::Missing, |(column, row)| column.cell(*row))
    }
}

impl Found {
    fn read<S: Source>(
        source: &S,
        owner: &Owner,
        places: &[usize],
        budget: Option<&Budget>,
    ) -> Result<Result<Found, OverBudget>, S::Error> {
        let keys = self::places(owner.table, owner.keys);
        let all: Vec<usize> = keys.iter().chain(places).copied().collect();
        let mut found = Found::default();
        let mut over = Ok(());
        source.each_group(owner.table, &all, &mut |arrays| {
            let bytes = arrays.iter().map(ColumnArray::len).sum::<usize>() * CELL_BYTES;
            over = take(budget, bytes);
            if over.is_err() {
                return ControlFlow::Break(());
            }
            let (of_keys, of_places) = arrays.split_at(keys.len());
            // Groups of rows append to one array, so indices continue.
            let first = found.rows.len();
            for row in 0..of_places[0].len() {
                let key = of_keys.iter().filter_map(|array| array.cell(row).integer());
                found.rows.insert(key.collect(), first + row);
            }
            for (place, array) in places.iter().zip(of_places) {
                match found.columns.get_mut(place) {
                    Some(column) => column.append(array),
                    None => {
                        found.columns.insert(*place, array.clone());
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(over.map(|()| found))
    }
}
