//! Tables with published values, which are read and never edited to fit.

use std::collections::{BTreeMap, BTreeSet};

use crate::studies::error::StudyError;
use crate::studies::gate::{Gate, Origin};
use crate::studies::registry::origin_of;
use crate::studies::value::Value;

/// A published table: a CSV file's header and rows.
pub(super) struct Table {
    pub(super) name: String,
    header: csv::StringRecord,
    records: Vec<csv::StringRecord>,
}

/// Published value, band and gate, as one table row has them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Published {
    pub(super) metric: String,
    pub(super) value: Option<Value>,
    pub(super) origin: Origin,
    pub(super) band: Option<[f64; 2]>,
    pub(super) gate: Gate,
    pub(super) reason: String,
}

impl Published {
    /// Stands for a row that no table has, with the band that the description itself expects.
    pub(super) fn expected(metric: &str, band: Option<[f64; 2]>) -> Published {
        let nothing = Published::nothing(metric);
        match band {
            None => nothing,
            Some(_) => Published {
                origin: Origin::Own,
                gate: Gate::Required,
                band,
                ..nothing
            },
        }
    }

    /// Stands for a row that no table has: no value, no band, for information.
    pub(super) fn nothing(metric: &str) -> Published {
        Published {
            metric: metric.to_owned(),
            value: None,
            origin: Origin::Published,
            band: None,
            gate: Gate::Info,
            reason: "not published".to_owned(),
        }
    }
}

/// Columns, with the value that a row must have in each.
pub(super) type Values = [(String, String)];

impl Table {
    pub(super) fn read(name: &str, text: &str) -> Result<Table, StudyError> {
        let unreadable = |error: csv::Error| StudyError::Published {
            table: name.to_owned(),
            line: error.position().map(csv::Position::line),
            message: error.to_string(),
        };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(unreadable)?.clone();
        let mut names = BTreeSet::new();
        if let Some(twice) = header.iter().find(|name| !names.insert(*name)) {
            return Err(StudyError::Published {
                table: name.to_owned(),
                line: Some(1),
                message: format!("two columns are called `{twice}`; rename one of them"),
            });
        }
        let records: Result<Vec<_>, _> = reader.records().collect();
        Ok(Table {
            name: name.to_owned(),
            header,
            records: records.map_err(unreadable)?,
        })
    }

    /// Makes an error about the row with index `at`, or about the whole table.
    pub(super) fn wrong(&self, at: Option<usize>, message: impl Into<String>) -> StudyError {
        let record = at.map(|at| &self.records[at]);
        let place = record.and_then(csv::StringRecord::position);
        StudyError::Published {
            table: self.name.clone(),
            line: place.map(csv::Position::line),
            message: message.into(),
        }
    }

    /// Returns true if the table has the column in which [`Table::published`] looks for the value.
    pub(super) fn has_value(&self, value: Option<&str>, otherwise: &str) -> bool {
        let has = |name: &str| self.header.iter().any(|other| other == name);
        match value {
            Some(name) => has(name),
            None if has("metric") => has("published"),
            None => has(otherwise),
        }
    }

    fn column(&self, name: &str) -> Result<usize, StudyError> {
        let found = self.header.iter().position(|other| other == name);
        found.ok_or_else(|| StudyError::Published {
            table: self.name.clone(),
            line: Some(1),
            message: format!(
                "there is no column `{name}`, which a study asks for; name the column in `value`"
            ),
        })
    }

    /// Returns the indices of the rows with these values.
    ///
    /// # Errors
    /// Fails if there is no such column.
    pub(super) fn with(&self, values: &Values) -> Result<Vec<usize>, StudyError> {
        let values = values.iter();
        let values = values.map(|(name, value)| Ok((self.column(name)?, value.as_str())));
        let values = values.collect::<Result<Vec<_>, StudyError>>()?;
        let has = |record: &csv::StringRecord| {
            let mut wanted = values.iter();
            wanted.all(|(column, value)| record.get(*column) == Some(*value))
        };
        let found = (0..self.records.len()).filter(|&at| has(&self.records[at]));
        Ok(found.collect())
    }

    /// Returns a row's values by column.
    pub(super) fn cells(&self, at: usize) -> BTreeMap<&str, &str> {
        self.header.iter().zip(self.records[at].iter()).collect()
    }

    /// Reads the row with index `at`: its value, band, gate and reason. The value is in column
    /// `value`, if one is named; else in `published`, if the table has a column `metric`; else in
    /// column `otherwise`. The metric's name is in column `metric` in the second case, and the
    /// column's own name in the others.
    ///
    /// # Errors
    /// Fails if a column is missing, a number or the gate is invalid, or a judged row has no band.
    pub(super) fn published(
        &self,
        at: usize,
        value: Option<&str>,
        otherwise: &str,
        band: [&str; 2],
    ) -> Result<Published, StudyError> {
        let text = |name: &str| Ok(self.text(at, self.column(name)?));
        // Tables with a column `metric` hold several metrics in one column; others have a column
        // for each.
        let has_metrics = self.header.iter().any(|name| name == "metric");
        let (value, metric) = match value {
            Some(name) => (text(name)?, name),
            None if has_metrics => (text("published")?, text("metric")?),
            None => (text(otherwise)?, otherwise),
        };
        let gate = match text("gate")? {
            "required" => Gate::Required,
            "open" => Gate::Open,
            "info" => Gate::Info,
            other => {
                let message = format!("the gate `{other}` is not required, open or info");
                return Err(self.wrong(Some(at), message));
            }
        };
        Ok(Published {
            origin: origin_of(&self.name),
            metric: metric.to_owned(),
            value: Value::read(value),
            band: self.band(at, band, gate)?,
            gate,
            reason: text("reason")?.to_owned(),
        })
    }

    fn text(&self, at: usize, column: usize) -> &str {
        self.records[at].get(column).unwrap_or_default()
    }

    fn number(&self, at: usize, name: &str) -> Result<Option<f64>, StudyError> {
        let text = self.text(at, self.column(name)?);
        match text.parse::<f64>() {
            _ if text.is_empty() => Ok(None),
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(self.wrong(
                Some(at),
                format!("`{text}` in column `{name}` is no number"),
            )),
        }
    }

    fn band(
        &self,
        at: usize,
        [low, high]: [&str; 2],
        gate: Gate,
    ) -> Result<Option<[f64; 2]>, StudyError> {
        match (self.number(at, low)?, self.number(at, high)?) {
            (Some(low), Some(high)) if low <= high => Ok(Some([low, high])),
            // A row that is only shown needs no band; any other would silently never miss.
            (None, None) if gate == Gate::Info => Ok(None),
            (None, None) => Err(self.wrong(Some(at), "a row that is judged needs a band")),
            _ => {
                let message = "the band needs two ends, the lower one first";
                Err(self.wrong(Some(at), message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "case,metric,published,band_low,band_high,gate,reason\n";

    fn read(rows: &str) -> Result<Vec<Published>, StudyError> {
        let table = Table::read("made-up", &format!("{HEADER}{rows}"))?;
        let mine = table.with(&[("case".to_owned(), "a".to_owned())])?;
        let band = ["band_low", "band_high"];
        let each = mine.into_iter();
        each.map(|at| table.published(at, None, "published", band))
            .collect()
    }

    #[test]
    fn rows_are_read_and_others_are_not() {
        let rows = "a,time_ms,1.5,1.4,1.6,required,\"two, reasons\"\n\
                    b,time_ms,9,8,10,required,\n\
                    a,qps,4+5,,,info,\n";
        let read = read(rows).expect("a good table");
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].metric, "time_ms");
        assert_eq!(read[0].value, Some(Value::Number(1.5)));
        assert_eq!(
            (read[0].band, read[0].gate),
            (Some([1.4, 1.6]), Gate::Required)
        );
        assert_eq!(read[0].reason, "two, reasons");
        assert_eq!(read[1].value, Some(Value::Text("4+5".to_owned())));
        assert_eq!((read[1].band, read[1].gate), (None, Gate::Info));
    }

    #[test]
    fn broken_rows_are_refused_with_their_line() {
        let at = |row: &str| {
            let rows = format!("a,time_ms,1,0,2,open,\n{row}");
            read(&rows).expect_err("a broken table").to_string()
        };
        assert_eq!(
            at("a,time_ms,1,low,2,open,\n"),
            "made-up.csv, line 3: `low` in column `band_low` is no number"
        );
        assert!(at("a,time_ms,1,NaN,2,open,\n").contains("`NaN` in column"));
        assert!(at("a,time_ms,1,0,2,maybe,\n").contains("the gate `maybe`"));
        assert!(at("a,time_ms,1,,,open,\n").contains("needs a band"));
        assert!(at("a,time_ms,1,2,,required,\n").contains("two ends"));
        assert!(at("a,time_ms,1,2,0,required,\n").contains("the lower one first"));
        assert!(at("a,time_ms\n").contains("line: 3"));
        let twice = Table::read("made-up", "case,gate,case\n").err();
        let message = twice.expect("two columns of one name").to_string();
        assert!(
            message.contains("two columns are called `case`"),
            "{message}"
        );
        let table = Table::read("made-up", HEADER).expect("no rows");
        let missing = table.with(&[("size".to_owned(), String::new())]);
        let message = missing.expect_err("no column").to_string();
        assert!(message.contains("there is no column `size`"), "{message}");
    }
}
