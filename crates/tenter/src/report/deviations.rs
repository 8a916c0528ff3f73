//! Simulated beside measured values: trials beside measurement files, size by size.

use tenter_language::units::Time;
use tenter_results::{ComparisonRow, DeviationRow};

use crate::report::compare::{NamedSummary, comparison_rows, differ, job_of};
use crate::report::compare_tables::{difference, float};
use crate::report::measured::{Measured, MeasuredRow};
use crate::report::numbers::binary_size;
use crate::report::table::Section;
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::time_unit::TimeUnit;

/// Bus over algorithm bandwidth: ratios that differ by more than this share come from different
/// operations or rank counts.
const FACTOR_TOLERANCE: f64 = 0.02;

/// Inserts a measurement file's rows after the first trial's rows with the same collective and
/// size, with differences against them.
///
/// # Errors
/// A sentence, if the file's collective is unclear, or no size is in both.
pub fn add_measured(
    rows: &mut Vec<ComparisonRow>,
    measured: &Measured,
    collective: Option<&str>,
) -> Result<(), String> {
    let collective = collective_of(rows, measured, collective)?;
    let mut combined: Vec<ComparisonRow> = Vec::new();
    let mut found = false;
    let mut before = None;
    let job_of = job_of(rows);
    for row in rows.drain(..) {
        let group = (job_of(&row), row.collective.clone(), row.size_bytes);
        // Rows of one size are adjacent, and the first trial's row comes first.
        let is_first = before.as_ref() != Some(&group);
        before = Some(group);
        let is_of_it = is_first && row.collective.as_deref() == Some(&collective);
        let beside = is_of_it
            .then(|| at_size(measured, row.size_bytes))
            .flatten();
        let added = beside.map(|beside| {
            let mut added = ComparisonRow {
                trial: measured.name.clone(),
                job_name: row.job_name.clone(),
                collective: row.collective.clone(),
                size_bytes: row.size_bytes,
                time: measured_time(beside),
                busbw_gbytes_per_s: beside.busbw,
                ..ComparisonRow::default()
            };
            differ(&mut added, &row);
            added
        });
        combined.push(row);
        found |= added.is_some();
        combined.extend(added);
    }
    *rows = combined;
    if found {
        return Ok(());
    }
    let sizes = |sizes: &mut dyn Iterator<Item = u64>| {
        let names: Vec<String> = sizes.map(binary_size).collect();
        names.join(", ")
    };
    let own = rows
        .iter()
        .filter(|row| row.collective.as_deref() == Some(&collective));
    Err(format!(
        "no size of {collective} is in both: the file has {}, the trial {}",
        sizes(&mut measured.rows.iter().map(|row| row.size_bytes)),
        sizes(&mut own.filter_map(|row| row.size_bytes)),
    ))
}

fn at_size(measured: &Measured, size_bytes: Option<u64>) -> Option<&MeasuredRow> {
    let mut rows = measured.rows.iter();
    rows.find(|row| Some(row.size_bytes) == size_bytes)
}

fn measured_time(row: &MeasuredRow) -> Option<Time> {
    row.time_us
        .map(|time| Time::from_ps((time * 1e6).round() as u64))
}

/// Determines a file's collective: the one it names, the given one, or the only one in the trials
/// that it can be.
fn collective_of(
    rows: &[ComparisonRow],
    measured: &Measured,
    given: Option<&str>,
) -> Result<String, String> {
    let mut here: Vec<&str> = Vec::new();
    for collective in rows.iter().filter_map(|row| row.collective.as_deref()) {
        if !here.contains(&collective) {
            here.push(collective);
        }
    }
    let list = here.join(", ");
    let possible: Vec<&str> = here
        .iter()
        .copied()
        .filter(|collective| measured.may_be_of(collective))
        .collect();
    let named = measured.collective.as_deref().or(given);
    let collective = match (named, possible.as_slice()) {
        (Some(named), _) => named,
        (None, [one]) => one,
        (None, []) => {
            let what = if measured.reduces == Some(true) {
                "reduces"
            } else {
                "does not reduce"
            };
            return Err(format!(
                "the file is of an operation that {what}, and the trial has only {list}"
            ));
        }
        (None, _) => {
            return Err(format!(
                "the file does not say which operation it is of, and the trial has {list}: name one with --collective"
            ));
        }
    };
    if here.contains(&collective) {
        Ok(collective.to_owned())
    } else {
        Err(format!(
            "the file is of {collective}, and the trial has only {list}"
        ))
    }
}

/// Trials beside measurement files, with doubts about the comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// Sizes that a trial and a file share: file by file, size by size, trial by trial.
    pub rows: Vec<DeviationRow>,
    /// Reasons to doubt the comparison, each a sentence.
    pub doubts: Vec<String>,
}

impl Beside {
    /// Puts trials beside files. `collective` applies to files that name none.
    ///
    /// # Errors
    /// A sentence, if a file's collective is unclear.
    pub fn of(
        trials: &[NamedSummary],
        files: &[Measured],
        collective: Option<&str>,
    ) -> Result<Beside, String> {
        let rows = deviation_rows(trials, files, collective)?;
        let doubts = doubts(trials, files, &rows);
        Ok(Beside { rows, doubts })
    }
}

/// Returns the sizes that trials and files share.
fn deviation_rows(
    trials: &[NamedSummary],
    files: &[Measured],
    collective: Option<&str>,
) -> Result<Vec<DeviationRow>, String> {
    let rows = comparison_rows(trials);
    let mut all = Vec::new();
    for file in files {
        let found = collective_of(&rows, file, collective);
        let found = found.map_err(|error| format!("{}: {error}", file.name))?;
        let same = |row: &&ComparisonRow| row.collective.as_deref() == Some(&found);
        for row in rows.iter().filter(same) {
            let beside = at_size(file, row.size_bytes);
            all.extend(beside.map(|beside| deviation(row, file, beside)));
        }
    }
    Ok(all)
}

fn deviation(row: &ComparisonRow, file: &Measured, measured: &MeasuredRow) -> DeviationRow {
    let measured_time = measured_time(measured);
    let percent = |simulated: Option<f64>, measured: Option<f64>| {
        let measured = measured.filter(|&measured| measured > 0.0)?;
        Some((simulated? - measured) / measured * 100.0)
    };
    let ns = |time: Option<Time>| time.map(Time::as_ns);
    DeviationRow {
        measured: file.name.clone(),
        trial: row.trial.clone(),
        job_name: row.job_name.clone(),
        collective: row.collective.clone().unwrap_or_default(),
        size_bytes: measured.size_bytes,
        measured_time,
        time: row.time,
        time_deviation: percent(ns(row.time), ns(measured_time)),
        measured_busbw_gbytes_per_s: measured.busbw,
        busbw_gbytes_per_s: row.busbw_gbytes_per_s,
        busbw_deviation: percent(row.busbw_gbytes_per_s, measured.busbw),
    }
}

/// Returns reasons for doubt: different rank counts, sizes that only files have, and the files'
/// notes.
fn doubts(trials: &[NamedSummary], files: &[Measured], rows: &[DeviationRow]) -> Vec<String> {
    let mut doubts = Vec::new();
    for file in files {
        let own = rows.iter().filter(|row| row.measured == file.name);
        let own: Vec<&DeviationRow> = own.collect();
        doubts.extend(
            file.notes
                .iter()
                .map(|note| format!("{}: {note}", file.name)),
        );
        let missing = file.rows.iter().filter(|measured| {
            let mut sizes = own.iter().map(|row| row.size_bytes);
            !sizes.any(|size| size == measured.size_bytes)
        });
        let missing = missing.count();
        if missing > 0 {
            doubts.push(format!(
                "{}: {missing} of {} sizes are in no trial",
                file.name,
                file.rows.len()
            ));
        }
        doubts.extend(
            trials
                .iter()
                .filter_map(|trial| ranks_differ(trial, file, &own)),
        );
    }
    doubts
}

/// Returns a sentence if the trial has another rank count than the file.
fn ranks_differ(trial: &NamedSummary, file: &Measured, rows: &[&DeviationRow]) -> Option<String> {
    let beside = rows.iter().find(|row| row.trial == trial.name)?;
    let mut collectives = trial.summary.jobs.iter().flat_map(|job| &job.collectives);
    let same = collectives.find(|row| {
        (row.collective.as_str(), row.size_bytes) == (beside.collective.as_str(), beside.size_bytes)
    })?;
    let name = &file.name;
    if let Some(ranks) = file.ranks {
        return (ranks != same.ranks).then(|| {
            format!(
                "{name}: it is of {ranks} ranks, and {} has {}",
                trial.name, same.ranks
            )
        });
    }
    // Without a rank count, the ratio of bus to algorithm bandwidth reveals it: 2(n − 1)/n for
    // all-reduce, for instance.
    let own = same.busbw_gbytes_per_s? / same.algbw_gbytes_per_s?;
    // Printed bandwidths have two decimals, so the ratio of the file is not exact.
    let differs = (file.factor? / own - 1.0).abs() > FACTOR_TOLERANCE;
    differs.then(|| {
        format!(
            "{name}: its bus bandwidth is {} times its algorithm bandwidth, and that of {} {} times: numbers of ranks or operations differ",
            float(file.factor),
            trial.name,
            float(Some(own))
        )
    })
}

/// Distance between simulated and measured values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// Mean absolute deviation, in per cent.
    pub(crate) mean: f64,
    /// Deviation farthest from zero, in per cent.
    pub(crate) farthest: f64,
    /// Size in bytes at which `farthest` occurs.
    pub(crate) at_size: u64,
}

impl Spread {
    /// Summarises the rows' time deviations, or the bandwidth deviations where only these were
    /// measured.
    pub(crate) fn of(rows: &[&DeviationRow]) -> Option<Spread> {
        let deviations = rows.iter().filter_map(|row| {
            let deviation = row.time_deviation.or(row.busbw_deviation)?;
            Some((deviation, row.size_bytes))
        });
        let deviations: Vec<(f64, u64)> = deviations.collect();
        let farthest = deviations
            .iter()
            .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
        let sum: f64 = deviations
            .iter()
            .map(|(deviation, _)| deviation.abs())
            .sum();
        Some(Spread {
            mean: sum / deviations.len() as f64,
            farthest: farthest.0,
            at_size: farthest.1,
        })
    }

    /// Formats the spread as a phrase.
    pub(crate) fn words(&self) -> String {
        format!(
            "mean absolute deviation {:.1} %, farthest {:+.1} % at {}",
            self.mean,
            self.farthest,
            binary_size(self.at_size)
        )
    }
}

/// Splits rows into blocks with one file and one operation each.
pub(crate) fn blocks(rows: &[DeviationRow]) -> impl Iterator<Item = &[DeviationRow]> {
    rows.chunk_by(|a, b| {
        let key = |row: &DeviationRow| (row.measured.clone(), row.collective.clone());
        key(a) == key(b)
    })
}

/// Splits a block by trial.
pub(crate) fn by_trial(block: &[DeviationRow]) -> Vec<(&str, Vec<&DeviationRow>)> {
    let mut trials: Vec<(&str, Vec<&DeviationRow>)> = Vec::new();
    for row in block {
        match trials.iter_mut().find(|(name, _)| *name == row.trial) {
            Some((_, rows)) => rows.push(row),
            None => trials.push((&row.trial, vec![row])),
        }
    }
    trials
}

/// Returns the tables for people: a section for each file and operation.
pub(crate) fn deviation_sections(rows: &[DeviationRow]) -> Vec<Section> {
    let section = |block: &[DeviationRow]| {
        let first = block.first()?;
        let spreads = by_trial(block);
        let spreads = spreads
            .iter()
            .filter_map(|(trial, rows)| Some(format!("{trial}: {}", Spread::of(rows)?.words())));
        let title = format!(
            "simulated beside measured: {} of {}",
            first.collective, first.measured
        );
        Some(Section {
            remark: spreads.collect::<Vec<_>>().join("\n"),
            ..Section::of_table(title, block_table(block))
        })
    };
    blocks(rows).filter_map(section).collect()
}

/// Renders the tables for people as text, a section for each file and operation.
pub fn deviation_table(rows: &[DeviationRow]) -> String {
    let sections = deviation_sections(rows).into_iter();
    sections.map(|section| section.to_string()).collect()
}

fn block_table(block: &[DeviationRow]) -> TextTable {
    let times = block.iter().flat_map(|row| [row.time, row.measured_time]);
    let whole = TimeUnit::of(times);
    let columns = vec![
        TextColumn::number("size", ""),
        TextColumn::name("trial"),
        TextColumn::number("measured", whole.name),
        TextColumn::number("simulated", whole.name),
        TextColumn::number("deviation", "%"),
        TextColumn::number("measured", "GB/s"),
        TextColumn::number("simulated", "GB/s"),
        TextColumn::number("deviation", "%"),
    ];
    let mut table = TextTable::new(columns);
    for row in block {
        table.push(vec![
            binary_size(row.size_bytes),
            row.trial.clone(),
            whole.text(row.measured_time),
            whole.text(row.time),
            difference(row.time_deviation),
            float(row.measured_busbw_gbytes_per_s),
            float(row.busbw_gbytes_per_s),
            difference(row.busbw_deviation),
        ]);
    }
    table
}

#[cfg(test)]
mod tests;
