//! Published values, read from a table and never edited to fit.

use std::collections::BTreeMap;

use tenter_units::Bytes;

use crate::description::{Description, Judged, PublishedRows};
use crate::error::StudyError;
use crate::gate::{Gate, Origin};
use crate::reading_of_row::ReadingOfRow;
use crate::readings::ReadingRow;
use crate::registry::origin_of;
use crate::value::Value;

/// One published row.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The size of the collective.
    pub size: Bytes,
    /// The published value of each metric of the study, in their order; `None` where none was
    /// published.
    pub published: Vec<Option<f64>>,
    /// Lower and upper end of the band of the judged metric, both inside.
    pub band: Option<[f64; 2]>,
    /// What the band decides.
    pub gate: Gate,
    /// Why this band and this gate.
    pub reason: String,
}

impl Case {
    /// The name of the case, for instance `16MiB`.
    pub fn name(&self) -> String {
        self.size.to_string()
    }
}

/// The rows of `text` that a description asks for, in the order of the table.
pub(crate) fn read(
    text: &str,
    description: &Description,
    judged: &Judged,
) -> Result<Vec<Case>, StudyError> {
    let table = &description.published.table;
    let (header, records) = records(text, table)?;
    let columns = Columns::find(&header, description, judged)?;
    let mut cases: Vec<Case> = Vec::new();
    for record in records {
        let selected = |(column, value): &(usize, &str)| record.get(*column) == Some(*value);
        if !columns.selection.iter().all(selected) {
            continue;
        }
        let row = Row {
            table,
            header: &header,
            record: &record,
        };
        let case = row.case(&columns)?;
        if cases.iter().any(|other| other.size == case.size) {
            return Err(row.error(format!("the case {} is there twice", case.name())));
        }
        cases.push(case);
    }
    if cases.is_empty() {
        let message = "no row is of this study; check `published.rows` in its study.toml";
        return Err(StudyError::Published {
            table: table.clone(),
            line: None,
            message: message.to_owned(),
        });
    }
    Ok(cases)
}

/// The header and the records of a table.
fn records(
    text: &str,
    table: &str,
) -> Result<(csv::StringRecord, Vec<csv::StringRecord>), StudyError> {
    let unreadable = |error: csv::Error| StudyError::Published {
        table: table.to_owned(),
        line: error.position().map(csv::Position::line),
        message: error.to_string(),
    };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(unreadable)?.clone();
    let records: Result<Vec<_>, _> = reader.records().collect();
    Ok((header, records.map_err(unreadable)?))
}

/// The rows of a table that a study has, as columns with their values.
pub(crate) struct Records<'a> {
    table: Table<'a>,
    chosen: Vec<usize>,
}

impl<'a> Records<'a> {
    /// Those that `published` asks for.
    pub(crate) fn read(
        text: &str,
        published: &'a PublishedRows,
    ) -> Result<Records<'a>, StudyError> {
        let table = Table::read(&published.table, text)?;
        let chosen = table.with(&published.rows)?;
        Ok(Records { table, chosen })
    }

    /// Each row, column by column.
    pub(crate) fn rows(&self) -> impl Iterator<Item = BTreeMap<&str, &str>> {
        self.chosen.iter().map(|&at| {
            let record = self.table.records[at].iter();
            self.table.header.iter().zip(record).collect()
        })
    }
}

/// A published table, read.
struct Table<'a> {
    name: &'a str,
    header: csv::StringRecord,
    records: Vec<csv::StringRecord>,
}

impl<'a> Table<'a> {
    fn read(name: &'a str, text: &str) -> Result<Table<'a>, StudyError> {
        let (header, records) = records(text, name)?;
        Ok(Table {
            name,
            header,
            records,
        })
    }

    /// The positions of the records with these values.
    fn with<'t>(
        &self,
        values: impl IntoIterator<Item = (&'t String, &'t String)>,
    ) -> Result<Vec<usize>, StudyError> {
        let values = values.into_iter();
        let values = values
            .map(|(name, value)| Ok((column(&self.header, self.name, name)?, value.as_str())));
        let values = values.collect::<Result<Vec<_>, StudyError>>()?;
        let has = |record: &csv::StringRecord| {
            let mut wanted = values.iter();
            wanted.all(|(column, value)| record.get(*column) == Some(*value))
        };
        let found = (0..self.records.len()).filter(|&at| has(&self.records[at]));
        Ok(found.collect())
    }

    fn row(&self, at: usize) -> Row<'_> {
        Row {
            table: self.name,
            header: &self.header,
            record: &self.records[at],
        }
    }
}

/// The rows that the readings of a description are compared with, in the order of the readings.
/// Each reading has exactly one, or, if it names its metric, at most one; `text` gives the text of
/// a table by its name.
pub(crate) fn read_readings<'t>(
    text: impl Fn(&str) -> Option<&'t str>,
    description: &Description,
) -> Result<Vec<ReadingRow>, StudyError> {
    let published = &description.published;
    let mut names: Vec<&str> = vec![&published.table];
    let further = description.readings.iter().flat_map(|row| &row.tables);
    names.extend(further.map(String::as_str));
    let mut tables: Vec<Table<'_>> = Vec::new();
    for name in names {
        if tables.iter().all(|table| table.name != name) {
            let text = text(name).ok_or_else(|| StudyError::Published {
                table: name.to_owned(),
                line: None,
                message: "there is no such table".to_owned(),
            })?;
            tables.push(Table::read(name, text)?);
        }
    }
    let mut used = Vec::new();
    let mut rows = Vec::new();
    for reading in &description.readings {
        let found = find(&tables, reading, published)?;
        rows.push(match found {
            Some((table, at)) => table.row(at).reading(reading, description)?,
            None => unpublished(reading, description),
        });
        used.extend(found.map(|(table, at)| (table.name, at)));
    }
    if let Some(matrix) = &description.matrix {
        let must = |table: &&Table<'_>| matrix.tables().iter().any(|name| name == table.name);
        for table in tables.iter().filter(must) {
            let of_study = table.with(&published.rows)?;
            if let Some(&at) = of_study
                .iter()
                .find(|&&at| !used.contains(&(table.name, at)))
            {
                let message = "no reading is compared with this row of the study".to_owned();
                return Err(table.row(at).error(message));
            }
        }
    }
    Ok(rows)
}

/// The row of a reading: the table and the position of the record.
fn find<'a, 'n>(
    tables: &'a [Table<'n>],
    reading: &ReadingOfRow,
    published: &PublishedRows,
) -> Result<Option<(&'a Table<'n>, usize)>, StudyError> {
    let own = std::slice::from_ref(&published.table);
    let names = if reading.tables.is_empty() {
        own
    } else {
        &reading.tables
    };
    if reading.row.is_empty() && reading.metric.is_some() {
        return Ok(None);
    }
    for name in names {
        let Some(table) = tables.iter().find(|table| table.name == *name) else {
            continue;
        };
        match table.with(published.rows.iter().chain(&reading.row))?[..] {
            [at] => return Ok(Some((table, at))),
            [] if reading.metric.is_some() || names.len() > 1 => {}
            _ => {
                return Err(StudyError::Published {
                    table: name.clone(),
                    line: None,
                    message: format!(
                        "not exactly one row is that of the reading `{}`",
                        reading.case
                    ),
                });
            }
        }
    }
    if reading.metric.is_some() {
        return Ok(None);
    }
    Err(StudyError::Published {
        table: names.join(", "),
        line: None,
        message: format!("no row is that of the reading `{}`", reading.case),
    })
}

/// A reading that no source has a value for.
fn unpublished(reading: &ReadingOfRow, description: &Description) -> ReadingRow {
    let metric = reading.metric.as_deref().unwrap_or_default();
    let what = Published {
        origin: Origin::Published,
        metric,
        value: None,
        band: None,
        gate: Gate::Info,
        reason: "not published",
    };
    what.with(reading, description)
}

/// What a table says of a reading.
struct Published<'a> {
    origin: Origin,
    metric: &'a str,
    value: Option<Value>,
    band: Option<[f64; 2]>,
    gate: Gate,
    reason: &'a str,
}

impl Published<'_> {
    fn with(self, reading: &ReadingOfRow, description: &Description) -> ReadingRow {
        let variants = description.variants.iter();
        let all = || variants.map(|variant| variant.name.clone()).collect();
        ReadingRow {
            case: reading.case.clone(),
            bar: reading.bar.clone(),
            reading: reading.reading,
            query: reading.query.clone(),
            against: reading.against.clone(),
            metric: self.metric.to_owned(),
            leaf: reading.leaf.clone(),
            job: reading.job.clone(),
            port: reading.port.clone(),
            constants: reading.constants.clone(),
            window_us: reading.window_us,
            statistic: reading.statistic,
            variant: reading.variant.clone(),
            shown: reading.shown.clone().unwrap_or_else(all),
            seeds: reading.seeds,
            quick_judged: reading.quick_judged,
            published: self.value,
            origin: self.origin,
            band: self.band,
            gate: self.gate,
            reason: self.reason.to_owned(),
        }
    }
}

/// Where in a record the column of that name is.
fn column(header: &csv::StringRecord, table: &str, name: &str) -> Result<usize, StudyError> {
    let found = header.iter().position(|other| other == name);
    found.ok_or_else(|| StudyError::Published {
        table: table.to_owned(),
        line: Some(1),
        message: format!("there is no column `{name}`, which a study asks for"),
    })
}

/// Where the size of a case is written.
enum SizeOfCase {
    /// In a column.
    Column(usize),
    /// In the description, for all rows.
    Fixed(Bytes),
}

/// Where in a record things are.
struct Columns<'a> {
    /// Columns by which rows are selected, with the value wanted.
    selection: Vec<(usize, &'a str)>,
    size: SizeOfCase,
    /// `None` for what the source does not have.
    metrics: Vec<Option<usize>>,
    band: [usize; 2],
    gate: usize,
    reason: usize,
}

impl<'a> Columns<'a> {
    fn find(
        header: &csv::StringRecord,
        description: &'a Description,
        judged: &Judged,
    ) -> Result<Columns<'a>, StudyError> {
        let published = &description.published;
        let column = |name: &str| column(header, &published.table, name);
        let wrong = |message: String| StudyError::Published {
            table: published.table.clone(),
            line: None,
            message: format!("the size of a case, `published.size` in study.toml: {message}"),
        };
        let selection = published
            .rows
            .iter()
            .map(|(name, value)| Ok((column(name)?, value.as_str())));
        let published_metrics = description
            .metrics
            .iter()
            .map(|name| column(name).map(Some));
        let metrics = published_metrics.chain(description.unpublished.iter().map(|_| Ok(None)));
        let [low, high] = &judged.band;
        Ok(Columns {
            selection: selection.collect::<Result<_, _>>()?,
            size: match (&published.cases, &published.size) {
                (Some(name), None) => SizeOfCase::Column(column(name)?),
                (None, Some(size)) => SizeOfCase::Fixed(
                    size.parse()
                        .map_err(|error: tenter_units::UnitError| wrong(error.to_string()))?,
                ),
                _ => return Err(wrong("give either `cases` or `size`".to_owned())),
            },
            metrics: metrics.collect::<Result<_, _>>()?,
            band: [column(low)?, column(high)?],
            gate: column("gate")?,
            reason: column("reason")?,
        })
    }
}

/// One record with its place.
struct Row<'a> {
    table: &'a str,
    header: &'a csv::StringRecord,
    record: &'a csv::StringRecord,
}

impl Row<'_> {
    fn error(&self, message: String) -> StudyError {
        StudyError::Published {
            table: self.table.to_owned(),
            line: self.record.position().map(csv::Position::line),
            message,
        }
    }

    fn text(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    fn number(&self, column: usize) -> Result<Option<f64>, StudyError> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(self.error(format!(
                "`{text}` in column `{}` is no number",
                self.header.get(column).unwrap_or_default()
            ))),
        }
    }

    fn size(&self, size: &SizeOfCase) -> Result<Bytes, StudyError> {
        match size {
            SizeOfCase::Fixed(size) => Ok(*size),
            SizeOfCase::Column(column) => {
                let text = self.text(*column);
                let bytes = text.parse().map(Bytes::new);
                bytes.map_err(|_| self.error(format!("`{text}` is no size in bytes")))
            }
        }
    }

    fn case(&self, columns: &Columns<'_>) -> Result<Case, StudyError> {
        let size = self.size(&columns.size)?;
        let published = columns
            .metrics
            .iter()
            .map(|column| column.map_or(Ok(None), |column| self.number(column)));
        let gate = self.gate(columns.gate)?;
        Ok(Case {
            size,
            published: published.collect::<Result<_, _>>()?,
            band: self.band(columns.band, gate)?,
            gate,
            reason: self.text(columns.reason).to_owned(),
        })
    }

    fn reading(
        &self,
        reading: &ReadingOfRow,
        description: &Description,
    ) -> Result<ReadingRow, StudyError> {
        let column = |name: &str| column(self.header, self.table, name);
        let [low, high] = &reading.band;
        let gate = self.gate(column("gate")?)?;
        // Only a table without a column of metrics has one column for each.
        let has_metrics = self.header.iter().any(|name| name == "metric");
        let of_study = description.published.value.as_ref();
        let of_study = of_study.filter(|_| !has_metrics);
        let (value, metric) = match reading.value.as_ref().or(of_study) {
            Some(name) => (column(name)?, name.as_str()),
            None => (column("published")?, self.text(column("metric")?)),
        };
        let what = Published {
            origin: origin_of(self.table),
            metric,
            value: Value::read(self.text(value)),
            band: self.band([column(low)?, column(high)?], gate)?,
            gate,
            reason: self.text(column("reason")?),
        };
        Ok(what.with(reading, description))
    }

    fn gate(&self, column: usize) -> Result<Gate, StudyError> {
        match self.text(column) {
            "required" => Ok(Gate::Required),
            "open" => Ok(Gate::Open),
            "info" => Ok(Gate::Info),
            other => Err(self.error(format!("the gate `{other}` is not required, open or info"))),
        }
    }

    fn band(&self, [low, high]: [usize; 2], gate: Gate) -> Result<Option<[f64; 2]>, StudyError> {
        match (self.number(low)?, self.number(high)?) {
            (Some(low), Some(high)) if low <= high => Ok(Some([low, high])),
            (None, None) if gate == Gate::Info => Ok(None),
            (None, None) => Err(self.error("a row that is judged needs a band".to_owned())),
            _ => Err(self.error("the band needs two ends, the lower one first".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::DESCRIPTION;

    const HEADER: &str = "case,size,completion_time_ms,ideal_percent,low,high,gate,reason\n";

    fn cases(rows: &str) -> Result<Vec<Case>, StudyError> {
        let description: Description = toml::from_str(DESCRIPTION).expect("a description");
        let judged = description.judged.clone().expect("it is by sizes");
        read(&format!("{HEADER}{rows}"), &description, &judged)
    }

    fn message(rows: &str) -> String {
        cases(rows).expect_err("a broken table").to_string()
    }

    #[test]
    fn rows_of_the_case_are_read_and_others_are_not() {
        let rows = "a,1024,1.5,,1.4,1.6,required,\"two, reasons\"\n\
                    b,1024,9,9,8,10,required,\n\
                    a,2048,3,0.25,,,info,\n";
        let expected = [
            Case {
                size: Bytes::new(1024),
                published: vec![Some(1.5), None],
                band: Some([1.4, 1.6]),
                gate: Gate::Required,
                reason: "two, reasons".to_owned(),
            },
            Case {
                size: Bytes::new(2048),
                published: vec![Some(3.0), Some(0.25)],
                band: None,
                gate: Gate::Info,
                reason: String::new(),
            },
        ];
        let read = cases(rows).expect("a good table");
        assert_eq!(read, expected);
        assert_eq!(read[0].name(), "1KiB");
    }

    #[test]
    fn broken_rows_are_refused_with_their_line() {
        let good = "a,1024,1,1,0,2,open,\n";
        let at = |row: &str| message(&format!("{good}{row}"));
        assert_eq!(
            at("a,2048,fast,1,0,2,open,\n"),
            "made-up.csv, line 3: `fast` in column `completion_time_ms` is no number"
        );
        assert!(at("a,2048,NaN,1,0,2,open,\n").contains("`NaN` in column"));
        assert!(at("a,2KiB,1,1,0,2,open,\n").contains("`2KiB` is no size"));
        assert!(at("a,2048,1,1,0,2,maybe,\n").contains("the gate `maybe`"));
        assert!(at("a,2048,1,1,,,open,\n").contains("needs a band"));
        assert!(at("a,2048,1,1,2,,required,\n").contains("two ends"));
        assert!(at("a,2048,1,1,2,0,required,\n").contains("the lower one first"));
        assert!(at(good).contains("the case 1KiB is there twice"));
        assert!(at("a,2048\n").contains("line: 3"));
        assert!(message("b,1024,1,1,0,2,open,\n").contains("no row is of this study"));
    }

    #[test]
    fn a_missing_column_is_named() {
        let description: Description = toml::from_str(DESCRIPTION).expect("a description");
        let judged = description.judged.clone().expect("it is by sizes");
        let error = read(
            "case,size,completion_time_ms,low,high,gate,reason\n",
            &description,
            &judged,
        );
        let message = error.expect_err("no column").to_string();
        assert!(
            message.contains("there is no column `ideal_percent`"),
            "{message}"
        );
    }
}
