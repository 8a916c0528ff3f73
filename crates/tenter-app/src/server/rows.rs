//! Pages from large tables: filter, order, and one page's rows.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tenter::report::{FolderTables, TableGroups, TrialError};
use tenter::{check_budget, check_limits};
use tenter_results::{Cell, ColumnArray, ColumnInfo, Filter, QueryError, ReadyFilter};

use crate::server::cells::value;
use crate::server::error::ApiError;

/// Filter and order in a request for rows.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) filter: Filter,
    /// Index of the column to sort by; the flag is true for descending order.
    pub(crate) order: Option<(usize, bool)>,
}

/// Returns the numbers of the rows that match, in the requested order. `None` stands for all rows
/// in file order, and costs no reading.
pub(crate) fn selected(
    folder: &Path,
    table: &TableGroups,
    selection: &Selection,
) -> Result<Option<Vec<u32>>, ApiError> {
    let filter = ready(&selection.filter, folder)?;
    // Pages of a table as it is need no list of its rows, which may be millions.
    if filter.is_none() && selection.order.is_none() {
        return Ok(None);
    }
    let mut rows = Vec::new();
    let mut keys = Keys::default();
    let mut first = 0_u32;
    for group in 0..table.count() {
        let count = table.rows(group);
        let fit = fitting(table, group, filter.as_ref())?;
        let order = selection
            .order
            .map(|(column, _)| table.column(group, column));
        let order = order.transpose()?;
        for row in (0..count).filter(|&row| fit.as_ref().is_none_or(|fit| fit[row])) {
            rows.push(first + row as u32);
            if let Some(order) = &order {
                keys.push(order, row);
            }
        }
        first += count as u32;
    }
    let Some((_, descending)) = selection.order else {
        return Ok(Some(rows));
    };
    let ranks = keys.ranks();
    let mut places: Vec<u32> = (0..rows.len() as u32).collect();
    // The sort is stable, so equal rows keep the order of the file. Rows without a value come last
    // in either direction.
    places.sort_by(|&a, &b| {
        let [x, y] = [a, b].map(|place| ranks[place as usize]);
        match (x.is_nan(), y.is_nan()) {
            (false, false) if descending => y.total_cmp(&x),
            (false, false) => x.total_cmp(&y),
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
        }
    });
    Ok(Some(
        places
            .into_iter()
            .map(|place| rows[place as usize])
            .collect(),
    ))
}

/// Prepares a filter for a trial: conditions on joined columns need the trial's other tables.
/// `None` means that all rows match.
pub(crate) fn ready(filter: &Filter, folder: &Path) -> Result<Option<ReadyFilter>, ApiError> {
    let budget = check_budget(check_limits(), Arc::default());
    filter
        .ready(&FolderTables(folder), &budget)
        .map_err(|error| match error {
            QueryError::Source(error) => error.into(),
            QueryError::Budget(over) => ApiError::bad(over.to_string()),
        })
}

/// Evaluates the filter on a row group; `None` means that all rows match.
pub(crate) fn fitting(
    table: &TableGroups,
    group: usize,
    filter: Option<&ReadyFilter>,
) -> Result<Option<Vec<bool>>, TrialError> {
    let Some(filter) = filter else {
        return Ok(None);
    };
    let columns = filter.places().iter();
    let columns = columns.map(|place| table.column(group, *place));
    Ok(Some(filter.fits(&columns.collect::<Result<Vec<_>, _>>()?)))
}

/// Sort keys. Texts are numbered as they appear and ranked at the end, so that each distinct text
/// is stored once.
#[derive(Default)]
struct Keys {
    numbers: Vec<f64>,
    texts: BTreeMap<String, u32>,
}

impl Keys {
    fn push(&mut self, column: &ColumnArray, row: usize) {
        let key = match column.cell(row) {
            Cell::Text(text) => {
                let next = self.texts.len() as u32;
                f64::from(*self.texts.entry(text.to_owned()).or_insert(next))
            }
            cell => cell.number().unwrap_or(f64::NAN),
        };
        self.numbers.push(key);
    }

    fn ranks(self) -> Vec<f64> {
        if self.texts.is_empty() {
            return self.numbers;
        }
        // The map is ordered, so the place of a text in it is its rank.
        let mut rank = vec![0.0; self.texts.len()];
        for (place, number) in self.texts.values().enumerate() {
            rank[*number as usize] = place as f64;
        }
        let ranked = |key: f64| {
            if key.is_nan() {
                key
            } else {
                rank[key as usize]
            }
        };
        self.numbers.into_iter().map(ranked).collect()
    }
}

/// Returns the values of `rows`, in their order. Each row group is read at most once.
pub(crate) fn page(
    table: &TableGroups,
    columns: &[usize],
    rows: &[u32],
) -> Result<Vec<Vec<Value>>, TrialError> {
    let mut answer = vec![Vec::with_capacity(columns.len()); rows.len()];
    let mut first = 0_u32;
    for group in 0..table.count() {
        let count = table.rows(group) as u32;
        let within = first..first + count;
        let places: Vec<usize> = (0..rows.len())
            .filter(|&place| within.contains(&rows[place]))
            .collect();
        if !places.is_empty() {
            for &column in columns {
                let column = table.column(group, column)?;
                for &place in &places {
                    answer[place].push(value(column.cell((rows[place] - first) as usize)));
                }
            }
        }
        first += count;
    }
    Ok(answer)
}

/// Returns a column's index by name.
pub(crate) fn place(columns: &[ColumnInfo], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

/// Returns a table's row count.
pub(crate) fn count(table: &TableGroups) -> usize {
    (0..table.count()).map(|group| table.rows(group)).sum()
}
