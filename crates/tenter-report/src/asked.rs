//! Answers of several trials to one query, in one table.

use serde_json::{Value, json};
use tenter_record::{Answer, AnswerColumn, AnswerRow, Kind, Statistic};
use tenter_study::{SweepAxis, SweepReading, SweepRecord, SweepValues};

use crate::csv::csv_field;
use crate::text_table::{Align, TextColumn, TextTable};

/// One trial's answer to a query.
#[derive(Clone, Debug)]
pub struct NamedAnswer {
    /// Trial name, which becomes the first column.
    pub trial: String,
    /// Rows and columns that the query returned.
    pub answer: Answer,
}

/// One trial among others whose answers to a query are compared.
#[derive(Clone, Debug)]
pub struct AskedTrial {
    /// Seed by which the trial is paired with one elsewhere.
    pub seed: u64,
    /// Digest over the trial's tables.
    pub digest: String,
    /// Rows and columns that the query returned.
    pub answer: Answer,
}

/// Makes the record of a folder's answers to one query, in which the columns of `by` are axes and
/// each group is a point: [`paired_rows`](crate::paired_rows) then compares folders group by group
/// and seed by seed.
pub fn asked_record(name: &str, trials: &[AskedTrial], more_is_better: bool) -> SweepRecord {
    let first = trials.first().map(|trial| &trial.answer);
    let axes = first.iter().flat_map(|answer| &answer.keys);
    let readings = first.iter().flat_map(|answer| &answer.values);
    let mut points: Vec<Vec<String>> = Vec::new();
    let mut values = Vec::new();
    for trial in trials {
        for row in &trial.answer.rows {
            let key = row.key.iter().map(|key| key.cell().to_text().into_owned());
            let key: Vec<String> = key.collect();
            let known = points.iter().position(|point| *point == key);
            let point = known.unwrap_or_else(|| {
                points.push(key);
                points.len() - 1
            });
            values.push(SweepValues {
                point,
                variant: 0,
                seed: trial.seed,
                digest: trial.digest.clone(),
                values: row.values.clone(),
            });
        }
    }
    SweepRecord {
        name: name.to_owned(),
        axes: axes
            .map(|column| SweepAxis {
                path: column.name.clone(),
                name: column.name.clone(),
                log: false,
            })
            .collect(),
        variants: vec![String::new()],
        points,
        readings: readings
            .map(|column| SweepReading {
                name: column.name.clone(),
                of: column.name.clone(),
                unit: column.unit.clone(),
                against: String::new(),
                more_is_better,
                statistic: Statistic::Median.to_string(),
            })
            .collect(),
        trials: values,
        ..SweepRecord::default()
    }
}

/// Returns the query's columns, which are the same in all answers.
fn columns(answers: &[NamedAnswer]) -> impl Iterator<Item = &AnswerColumn> {
    let first = answers.first().into_iter();
    first.flat_map(|first| first.answer.keys.iter().chain(&first.answer.values))
}

/// Iterates over the rows of all answers, each with its trial's name.
fn rows(answers: &[NamedAnswer]) -> impl Iterator<Item = (&str, &AnswerRow)> {
    answers.iter().flat_map(|named| {
        let rows = named.answer.rows.iter();
        rows.map(|row| (named.trial.as_str(), row))
    })
}

/// Formats answers as a table for people, with six significant digits.
pub fn answer_table(answers: &[NamedAnswer]) -> String {
    let mut heads = vec![TextColumn::name("trial")];
    heads.extend(columns(answers).map(|column| TextColumn {
        name: column.name.clone(),
        unit: unit_text(&column.unit),
        align: match column.kind {
            Kind::Text | Kind::Flag => Align::Left,
            Kind::Integer | Kind::Unsigned | Kind::Float => Align::Right,
        },
    }));
    let mut table = TextTable::new(heads);
    for (trial, row) in rows(answers) {
        let mut cells = vec![trial.to_owned()];
        cells.extend(row.key.iter().map(|key| key.cell().to_text().into_owned()));
        let values = row.values.iter();
        cells.extend(values.map(|value| value.map_or_else(|| "-".to_owned(), six_digits)));
        table.push(cells);
    }
    table.to_string()
}

fn unit_text(unit: &str) -> String {
    if unit.is_empty() {
        return String::new();
    }
    format!("({unit})")
}

/// Formats a number with six significant digits, or more where its integer part needs them.
fn six_digits(value: f64) -> String {
    // Counts and bytes are whole numbers and are shown exactly.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    // Digits before the point; 0 or less for a number below 1.
    let before = value.abs().log10().floor() as i32 + 1;
    // Beyond these magnitudes a plain number would consist mostly of zeros.
    if !(-5..=15).contains(&before) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.*}", (6 - before).max(0) as usize);
    if text.contains('.') {
        let text = text.trim_end_matches('0');
        return text.trim_end_matches('.').to_owned();
    }
    text
}

/// Formats answers as CSV, with all digits.
pub fn answer_csv(answers: &[NamedAnswer]) -> String {
    let names = columns(answers).map(|column| csv_field(&column.name).into_owned());
    let names: Vec<String> = std::iter::once("trial".to_owned()).chain(names).collect();
    let mut text = names.join(",") + "\n";
    for (trial, row) in rows(answers) {
        let mut cells = vec![csv_field(trial).into_owned()];
        let keys = row.key.iter().map(|key| key.cell().to_text().into_owned());
        cells.extend(keys.map(|key| csv_field(&key).into_owned()));
        let values = row.values.iter();
        cells.extend(values.map(|value| value.map_or_else(String::new, |value| value.to_string())));
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// Returns each column's name and unit as JSON objects.
pub fn answer_columns(answer: &Answer) -> Vec<Value> {
    let columns = answer.keys.iter().chain(&answer.values);
    let columns = columns.map(|column| json!({"name": column.name, "unit": column.unit}));
    columns.collect()
}

/// Returns the rows as JSON, with a value for each column.
pub fn answer_rows(answer: &Answer) -> Vec<Vec<Value>> {
    let row = |row: &AnswerRow| {
        let keys = row.key.iter().map(|key| json!(key.cell()));
        keys.chain(row.values.iter().map(|value| json!(value)))
            .collect()
    };
    answer.rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1_234_567.0, "1234567"),
            (1_234_567.8, "1234568"),
            (123_456.75, "123457"),
            (12.345_678_9, "12.3457"),
            (12.5, "12.5"),
            (-0.001_234_567, "-0.00123457"),
            (1e-9, "1.00000e-9"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
