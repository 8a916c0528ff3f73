//! Pages of large tables: conditions, order, and the rows of one page.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;
use tenter_report::{ColumnValues, GroupColumn, TableColumn, TableGroups, TrialError};

use crate::cells::{has, number, value};
use crate::conditions::{Condition, passes};

/// Which rows of a table are meant, and in which order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) conditions: Vec<Condition>,
    /// The column that they are in the order of, and whether the greatest comes first.
    pub(crate) order: Option<(usize, bool)>,
}

/// The numbers of the rows that are meant, in their order; `None`: all, in the order of the file.
pub(crate) fn selected(
    table: &TableGroups,
    selection: &Selection,
) -> Result<Option<Vec<u32>>, TrialError> {
    if selection.conditions.is_empty() && selection.order.is_none() {
        return Ok(None);
    }
    let mut rows = Vec::new();
    let mut keys = Keys::default();
    let mut first = 0_u32;
    for group in 0..table.count() {
        let count = table.rows(group);
        let fit = fitting(table, group, &selection.conditions)?;
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
    // Equal ones stay in the order of the file, and those without a value come last.
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

/// Which rows of a group fit; `None`: all.
pub(crate) fn fitting(
    table: &TableGroups,
    group: usize,
    conditions: &[Condition],
) -> Result<Option<Vec<bool>>, TrialError> {
    let mut fit: Option<Vec<bool>> = None;
    for condition in conditions {
        let column = table.column(group, condition.column)?;
        let fit = fit.get_or_insert_with(|| vec![true; table.rows(group)]);
        for (row, fits) in fit.iter_mut().enumerate() {
            *fits = *fits && passes(condition, &column, row);
        }
    }
    Ok(fit)
}

/// What rows are sorted by: numbers as they are, texts by their rank.
#[derive(Default)]
struct Keys {
    numbers: Vec<f64>,
    texts: BTreeMap<String, u32>,
}

impl Keys {
    fn push(&mut self, column: &GroupColumn, row: usize) {
        if !has(column, row) {
            self.numbers.push(f64::NAN);
            return;
        }
        let key = match &column.values {
            ColumnValues::Text(texts) => {
                let next = self.texts.len() as u32;
                f64::from(*self.texts.entry(texts[row].clone()).or_insert(next))
            }
            _ => number(column, row).unwrap_or(f64::NAN),
        };
        self.numbers.push(key);
    }

    fn ranks(self) -> Vec<f64> {
        if self.texts.is_empty() {
            return self.numbers;
        }
        // The texts are in their order by now.
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

/// The values of some rows, in their order; each group of rows is read once.
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
                    answer[place].push(value(&column, (rows[place] - first) as usize));
                }
            }
        }
        first += count;
    }
    Ok(answer)
}

/// The place of a column by its name.
pub(crate) fn place(columns: &[TableColumn], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

/// All rows of a table.
pub(crate) fn count(table: &TableGroups) -> usize {
    (0..table.count()).map(|group| table.rows(group)).sum()
}
