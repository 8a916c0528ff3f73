//! Which rows of which published tables a sweep is about.

use std::collections::BTreeMap;

use tenter_config::{Named, Written};

use super::bundle;
use super::keys::{Design, ReadingKeys, SweepKeys, TableKeys, plain};
use super::table::Table;
use crate::error::StudyError;

/// The tables of a sweep and what it says of their rows.
pub(super) struct Lookup<'k> {
    keys: &'k SweepKeys,
    tables: Vec<Table>,
}

impl<'k> Lookup<'k> {
    /// Reads the tables that a description names; `text` gives the text of a table by its name.
    pub(super) fn read(
        keys: &'k SweepKeys,
        text: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Lookup<'k>, StudyError> {
        let own = keys.published.iter().map(|published| &published.table);
        let further = keys.readings.iter().flat_map(|reading| &reading.tables);
        let mut tables: Vec<Table> = Vec::new();
        for name in own.chain(further) {
            if tables.iter().all(|table| table.name != *name) {
                let text = text(name).ok_or_else(|| StudyError::Published {
                    table: name.clone(),
                    line: None,
                    message: format!("there is no such table; put it beside as `{name}.csv`"),
                })?;
                tables.push(Table::read(name, &text)?);
            }
        }
        Ok(Lookup { keys, tables })
    }

    fn published(&self) -> Option<&'k TableKeys> {
        self.keys.published.as_ref()
    }

    /// The table of the study.
    pub(super) fn own(&self) -> Option<&Table> {
        self.tables.first().filter(|_| self.published().is_some())
    }

    /// The tables that may have the row of a reading.
    pub(super) fn tables<'a>(
        &'a self,
        reading: &'a ReadingKeys,
    ) -> impl Iterator<Item = &'a Table> {
        let own = self.own().filter(|_| reading.tables.is_empty());
        let named = reading.tables.iter();
        let named = named.filter_map(|name| self.tables.iter().find(|of| of.name == *name));
        own.into_iter().chain(named)
    }

    /// The positions of the rows of the study with these values.
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

    /// The row of a reading, and its table.
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

    /// The column of published values, and those of the ends of the band.
    pub(super) fn columns<'a>(&'a self, reading: &'a ReadingKeys) -> (&'a str, [&'a str; 2]) {
        let of_study = match self.published().map(|of| of.band.as_slice()) {
            Some([low, high]) => [low.as_str(), high],
            _ => ["band_low", "band_high"],
        };
        // Other tables than that of the study have the usual columns.
        let usual = ["band_low", "band_high"];
        let otherwise = if reading.tables.is_empty() {
            of_study
        } else {
            usual
        };
        let value = self.published().map_or("published", |of| &of.value);
        (value, reading.columns().unwrap_or(otherwise))
    }

    /// Whether a row is left out.
    pub(super) fn is_left_out(&self, cells: &BTreeMap<&str, &str>) -> Result<bool, String> {
        for left_out in &self.keys.left_out {
            if has(&left_out.rows, cells)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the quick form has a row.
    pub(super) fn is_quick(&self, cells: &BTreeMap<&str, &str>) -> Result<bool, String> {
        let quick = self.keys.quick.as_ref();
        quick.map_or(Ok(true), |quick| has(&quick.rows, cells))
    }

    /// The values of the axes at which a row was run, where columns say so.
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

    /// The points that the rows of the study have, and which of them a quick run has.
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
            if points.iter().all(|(known, _)| *known != point) {
                points.push((point, quick));
            }
        }
        Ok(points)
    }
}

/// Whether a row has one of the values in each of the columns.
fn has(columns: &Named<Vec<Written>>, cells: &BTreeMap<&str, &str>) -> Result<bool, String> {
    let mut has = true;
    for (column, values) in &columns.0 {
        let value = value_of(cells, column)?;
        has &= values.iter().any(|of| plain(of) == Some(value));
    }
    Ok(has)
}

fn value_of<'r>(cells: &BTreeMap<&str, &'r str>, column: &str) -> Result<&'r str, String> {
    let value = cells.get(column).copied();
    value.ok_or_else(|| format!("the table has no column `{column}`, which the study names"))
}

/// A text with the values of names in braces.
///
/// # Errors
/// When there is no such name.
pub(super) fn filled(text: &str, names: &BTreeMap<&str, &str>) -> Result<String, String> {
    let mut parts = text.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part
            .split_once('}')
            .ok_or_else(|| format!("`{text}` has a brace that is not closed"))?;
        let value = names.get(name).ok_or_else(|| {
            let help = tenter_units::suggestion(name, names.keys().copied());
            format!("`{text}` names `{name}`, which there is not; {help}")
        })?;
        out.push_str(value);
        out.push_str(rest);
    }
    Ok(out)
}
