//! Answers of several trials to one query, in one table.

use std::collections::{BTreeSet, HashMap};

use crate::studies::{SweepAxis, SweepReading, SweepRecord, SweepValues};
use serde_json::{Value, json};
use tenter_results::{Answer, AnswerColumn, AnswerRow, Kind, Notes, Statistic};

use crate::report::csv::csv_field;
use crate::report::paired_compare::NamedRecord;
use crate::report::sweep_numbers::point_name;
use crate::report::text_table::{Align, TextColumn, TextTable};

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
    /// The trial's notes.
    pub notes: Notes,
    /// Rows and columns that the query returned.
    pub answer: Answer,
}

/// Answers to one query, folder by folder.
#[derive(Clone, Debug)]
pub struct AskedFolder {
    /// Name in tables; it differs from all other folders' names.
    pub name: String,
    /// The folder's trials, one for each seed.
    pub trials: Vec<AskedTrial>,
}

/// Records of folders' answers to one query, for [`paired_rows`](crate::report::paired_rows).
#[derive(Clone, Debug)]
pub struct AskedRecords {
    /// A record for each folder. Columns of `by` are axes, and all records have the groups of all
    /// folders as points, in one order, so that groups are compared whose keys are equal.
    pub records: Vec<NamedRecord>,
    /// For each folder behind the first, the groups that only one of the two has, as a sentence.
    pub alone: Vec<String>,
}

impl AskedRecords {
    /// Makes the records; greater values are better if `more_is_better` is true.
    ///
    /// # Errors
    /// If a folder has no value, or no group in common with the first.
    pub fn of(folders: &[AskedFolder], more_is_better: bool) -> Result<AskedRecords, String> {
        let mut places: HashMap<Vec<String>, usize> = HashMap::new();
        let mut points: Vec<Vec<String>> = Vec::new();
        let mut of_folders: Vec<Vec<SweepValues>> = Vec::new();
        for folder in folders {
            let mut values = Vec::new();
            for trial in &folder.trials {
                for row in &trial.answer.rows {
                    let key = row.key.iter().map(|key| key.cell().to_text().into_owned());
                    let key: Vec<String> = key.collect();
                    let point = *places.entry(key).or_insert_with_key(|key| {
                        points.push(key.clone());
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
            of_folders.push(values);
        }
        let like = SweepRecord {
            points,
            ..design(folders, more_is_better)
        };
        let alone = alone(folders, &like, &of_folders)?;
        let records = folders
            .iter()
            .zip(of_folders)
            .map(|(folder, trials)| NamedRecord {
                name: folder.name.clone(),
                record: SweepRecord {
                    name: folder.name.clone(),
                    notes: vec![Notes::of_all(folder.trials.iter().map(|of| &of.notes)).0],
                    trials,
                    ..like.clone()
                },
            });
        Ok(AskedRecords {
            records: records.collect(),
            alone,
        })
    }
}

/// Makes a record that has only axes and readings: the columns of the query.
fn design(folders: &[AskedFolder], more_is_better: bool) -> SweepRecord {
    let first = folders.iter().flat_map(|folder| &folder.trials).next();
    let first = first.map(|trial| &trial.answer);
    let axis = |column: &AnswerColumn| SweepAxis {
        path: column.name.clone(),
        name: column.name.clone(),
        log: false,
    };
    let reading = |column: &AnswerColumn| SweepReading {
        name: column.name.clone(),
        of: column.name.clone(),
        unit: column.unit.clone(),
        against: String::new(),
        more_is_better,
        statistic: Statistic::Median.to_string(),
    };
    let axes = first.iter().flat_map(|of| of.keys.iter().map(axis));
    let readings = first.iter().flat_map(|of| of.values.iter().map(reading));
    SweepRecord {
        axes: axes.collect(),
        readings: readings.collect(),
        variants: vec![String::new()],
        ..SweepRecord::default()
    }
}

/// Says which groups only one of two folders has: the first, and each other.
///
/// # Errors
/// If a folder has no value, or no group in common with the first.
fn alone(
    folders: &[AskedFolder],
    like: &SweepRecord,
    of_folders: &[Vec<SweepValues>],
) -> Result<Vec<String>, String> {
    let groups = of_folders.iter().map(|values| {
        let known = values
            .iter()
            .filter(|of| of.values.iter().any(Option::is_some));
        known.map(|of| of.point).collect::<BTreeSet<usize>>()
    });
    let groups: Vec<(&AskedFolder, BTreeSet<usize>)> = folders.iter().zip(groups).collect();
    if let Some((folder, _)) = groups.iter().find(|(_, own)| own.is_empty()) {
        return Err(format!("the query has no value in {}", folder.name));
    }
    let Some(((first, base), others)) = groups.split_first() else {
        return Ok(Vec::new());
    };
    let example = |points: &BTreeSet<usize>| {
        let point = points.first().copied().unwrap_or_default();
        point_name(like, point)
    };
    let mut lines = Vec::new();
    for (folder, own) in others {
        if own.is_disjoint(base) {
            return Err(format!(
                "{} and {} have no group in common (for instance {} and {})",
                first.name,
                folder.name,
                example(base),
                example(own)
            ));
        }
        for (of, name, other, lacks) in [
            (own, &folder.name, base, &first.name),
            (base, &first.name, own, &folder.name),
        ] {
            let alone: BTreeSet<usize> = of.difference(other).copied().collect();
            if !alone.is_empty() {
                let groups = if alone.len() == 1 { "group" } else { "groups" };
                lines.push(format!(
                    "note: {} {groups} of {name} that {lacks} lacks, for instance {}",
                    alone.len(),
                    example(&alone)
                ));
            }
        }
    }
    Ok(lines)
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
