//! Lookup of published rows: which row of which table belongs to a reading or a point.

use std::collections::BTreeMap;

use tenter_language::config::{Named, Written};

use super::bundle;
use super::keys::{Design, ReadingKeys, SweepKeys, TableKeys, plain};
use super::table::Table;
use crate::studies::error::StudyError;

/// Source of published tables: returns a table's text by its name, `None` if there is no such
/// table, and an error if there is one that cannot be read.
pub type TableText<'t> = dyn Fn(&str) -> Result<Option<String>, String> + 't;

/// The published tables of a sweep, with the keys that select rows. The study's own table comes
/// first.
pub(super) struct Lookup<'k> {
    keys: &'k SweepKeys,
    tables: Vec<Table>,
}

impl<'k> Lookup<'k> {
    /// Reads the tables that the description names; `text` returns a table's text by its name.
    ///
    /// # Errors
    /// Fails if a table does not exist, cannot be read or is no CSV.
    pub(super) fn read(
        keys: &'k SweepKeys,
        text: &TableText<'_>,
    ) -> Result<Lookup<'k>, StudyError> {
        let own = keys.published.iter().map(|published| &published.table);
        let further = keys.readings.iter().flat_map(|reading| &reading.tables);
        let mut tables: Vec<Table> = Vec::new();
        for name in own.chain(further) {
            if tables.iter().all(|table| table.name != *name) {
                let nothing = || format!("there is no such table; put it beside as `{name}.csv`");
                let text = text(name).and_then(|text| text.ok_or_else(nothing));
                let text = text.map_err(|message| StudyError::Published {
                    table: name.clone(),
                    line: None,
                    message,
                });
                tables.push(Table::read(name, &text?)?);
            }
        }
        Ok(Lookup { keys, tables })
    }

    fn published(&self) -> Option<&'k TableKeys> {
        self.keys.published.as_ref()
    }

    /// Returns the study's own table, the one under `published`.
    pub(super) fn own(&self) -> Option<&Table> {
        self.tables.first().filter(|_| self.published().is_some())
    }

    /// Returns the tables that may have a reading's row, in the order in which they are searched.
    pub(super) fn tables<'a>(
        &'a self,
        reading: &'a ReadingKeys,
    ) -> impl Iterator<Item = &'a Table> {
        let own = self.own().filter(|_| reading.tables.is_empty());
        let named = reading.tables.iter();
        let named = named.filter_map(|name| self.tables.iter().find(|of| of.name == *name));
        own.into_iter().chain(named)
    }

    /// Returns the indices of a table's rows that have these `values`, besides the values under
    /// `published.rows`.
    ///
    /// # Errors
    /// Fails if a table lacks one of the columns.
    pub(super) fn rows(
        &self,
        table: &Table,
        values: &[(String, String)],
    ) -> Result<Vec<usize>, StudyError> {
        let of_study = self.published().map_or(&[][..], |of| &of.rows.0);
        let of_study = of_study
            .iter()
            .map(|(column, value)| (column.clone(), plain(value).unwrap_or_default().to_owned()));
        let values: Vec<_> = of_study.chain(values.iter().cloned()).collect();
        table.with(&values)
    }

    /// Finds the one row with the values `row` for a reading, in the first table that has it. With
    /// `may_lack`, no such row is no error.
    ///
    /// # Errors
    /// Fails if several rows of a table have the values, or if none has and `may_lack` is false.
    pub(super) fn find<'a>(
        &'a self,
        reading: &'a ReadingKeys,
        row: &[(String, String)],
        may_lack: bool,
    ) -> Result<Option<(&'a Table, usize)>, StudyError> {
        let mut names = Vec::new();
        for table in self.tables(reading) {
            match self.rows(table, row)?[..] {
                [at] => return Ok(Some((table, at))),
                // With several tables, one may lack the row and the next have it.
                [] if may_lack || reading.tables.len() > 1 => names.push(table.name.as_str()),
                _ => {
                    let message = format!(
                        "not exactly one row is that of the reading `{}`",
                        reading.case
                    );
                    return Err(table.wrong(None, message));
                }
            }
        }
        if may_lack {
            return Ok(None);
        }
        Err(StudyError::Published {
            table: names.join(", "),
            line: None,
            message: format!("no row is that of the reading `{}`", reading.case),
        })
    }

    /// Returns the column with the published value, and the two with the ends of the band.
    pub(super) fn columns<'a>(&'a self, reading: &'a ReadingKeys) -> (&'a str, [&'a str; 2]) {
        let of_study = match self.published().map(|of| of.band.as_slice()) {
            Some([low, high]) => [low.as_str(), high],
            _ => ["band_low", "band_high"],
        };
        // `published.band` names columns of the study's own table; other tables have the usual
        // names.
        let usual = ["band_low", "band_high"];
        let otherwise = if reading.tables.is_empty() {
            of_study
        } else {
            usual
        };
        let value = self.published().map_or("published", |of| &of.value);
        (value, reading.columns().unwrap_or(otherwise))
    }

    /// Returns true if `left_out` has the row with these cells.
    pub(super) fn is_left_out(&self, cells: &BTreeMap<&str, &str>) -> Result<bool, String> {
        for left_out in &self.keys.left_out {
            if has(&left_out.rows, cells)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if the quick form has the row with these cells.
    pub(super) fn is_quick(&self, cells: &BTreeMap<&str, &str>) -> Result<bool, String> {
        let quick = self.keys.quick.as_ref();
        quick.map_or(Ok(true), |quick| has(&quick.rows, cells))
    }

    /// Returns the axis values at which a row was published, if the design takes points from rows.
    /// An axis name lists the columns whose values, joined by commas, name its value.
    pub(super) fn point(
        &self,
        cells: &BTreeMap<&str, &str>,
    ) -> Result<Option<Vec<String>>, String> {
        if self.keys.design != Design::Rows {
            return Ok(None);
        }
        let axes = self.keys.axes.0.iter();
        let values = axes.map(|(columns, written)| {
            let parts = columns
                .split(',')
                .map(|column| value_of(cells, column.trim()));
            let value = parts.collect::<Result<Vec<_>, _>>()?.join(",");
            let known = bundle::named(written).unwrap_or_default();
            if known.iter().all(|(name, _)| *name != value) {
                return Err(format!(
                    "the axis `{columns}` has no value `{value}`, which a row has"
                ));
            }
            Ok(value)
        });
        values.collect::<Result<_, _>>().map(Some)
    }

    /// Returns the distinct points of the study's rows, in table order, each with a flag for the
    /// quick form.
    pub(super) fn points(&self) -> Result<Vec<(Vec<String>, bool)>, StudyError> {
        let mut points: Vec<(Vec<String>, bool)> = Vec::new();
        let Some(table) = self.own() else {
            return Ok(points);
        };
        for at in self.rows(table, &[])? {
            let cells = table.cells(at);
            let wrong = |what: String| table.wrong(Some(at), what);
            if self.is_left_out(&cells).map_err(wrong)? {
                continue;
            }
            let quick = self.is_quick(&cells).map_err(wrong)?;
            let point = self.point(&cells).map_err(wrong)?.unwrap_or_default();
            // Several rows may describe one point; the first decides on the quick form.
            if points.iter().all(|(known, _)| *known != point) {
                points.push((point, quick));
            }
        }
        Ok(points)
    }
}

/// Returns true if the row has, in each of `columns`, one of the listed values.
fn has(columns: &Named<Vec<Written>>, cells: &BTreeMap<&str, &str>) -> Result<bool, String> {
    let mut has = true;
    for (column, values) in &columns.0 {
        let value = value_of(cells, column)?;
        has &= values.iter().any(|of| plain(of) == Some(value));
    }
    Ok(has)
}

/// Returns the row's value in a column.
///
/// # Errors
/// Fails if the table has no such column.
fn value_of<'r>(cells: &BTreeMap<&str, &'r str>, column: &str) -> Result<&'r str, String> {
    let value = cells.get(column).copied();
    value.ok_or_else(|| format!("the table has no column `{column}`, which the study names"))
}

/// Replaces each `{name}` in `text` by the value of the name.
///
/// # Errors
/// Fails at a name without a value, and at a brace that is not closed.
pub(super) fn filled(text: &str, names: &BTreeMap<&str, &str>) -> Result<String, String> {
    // The part before the first brace has no name; each further part begins with one.
    let mut parts = text.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part
            .split_once('}')
            .ok_or_else(|| format!("`{text}` has a brace that is not closed"))?;
        let value = names.get(name).ok_or_else(|| {
            let help = tenter_language::units::suggestion(name, names.keys().copied());
            format!("`{text}` names `{name}`, which there is not; {help}")
        })?;
        out.push_str(value);
        out.push_str(rest);
    }
    Ok(out)
}
