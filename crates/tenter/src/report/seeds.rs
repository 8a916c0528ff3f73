//! Statistics over one scenario's trials with different seeds.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tenter_language::units::Time;
use tenter_results::{
    CollectiveRow, FlowSizeRow, JobSummary, Names, Seed, SeedRow, Spread, Statistic, Summary,
};

use crate::report::numbers::{binary_size, decimals_for};
use crate::report::parquet_table::{DIGEST_NOTE, SEED_NOTE};
use crate::report::table::FLOWS;
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::time_unit::TimeUnit;
use crate::report::{ParquetTable, TrialError};

/// Table file, in the folder that holds the trial folders.
pub(crate) const SEEDS_FILE: &str = "seeds.parquet";

/// Returns a row for each measured job, and one for each collective and size in it, in scenario
/// order. A job or collective that no trial completed has none.
pub(crate) fn seed_rows(trials: &[Summary]) -> Vec<SeedRow> {
    let Some(first) = trials.first() else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    // Background jobs are load: the bytes that they moved are not a result.
    let jobs = first.jobs.iter().enumerate();
    for (position, job) in jobs.filter(|(_, job)| !job.job.background) {
        // All trials ran one scenario, so job positions are the same in each.
        let of_job = |trial: &Summary| -> Option<f64> {
            let jct = trial.jobs[position].job.jct?;
            Some(jct.as_ns())
        };
        let blank = SeedRow {
            job: job.job.job,
            job_name: job.job.name.clone(),
            ranks: job.job.ranks,
            ..SeedRow::default()
        };
        rows.extend(row(trials, of_job, blank.clone()));
        let mut seen = Vec::new();
        for collective in &job.collectives {
            if seen.contains(&collective.index) {
                continue;
            }
            seen.push(collective.index);
            if collective.collective == FLOWS {
                rows.extend(rows_of_flows(trials, collective, &blank));
                continue;
            }
            let index = collective.index;
            let of_collective =
                |trial: &Summary| mean_of_iterations(&trial.jobs[position], index, time_ns);
            let moved =
                |trial: &Summary| mean_of_iterations(&trial.jobs[position], index, bus_bytes);
            let blank = SeedRow {
                index: Some(collective.index),
                collective: Some(collective.collective.clone()),
                algorithm: Some(collective.algorithm.clone()),
                size_bytes: Some(collective.size_bytes),
                ..blank.clone()
            };
            let found = row(trials, of_collective, blank);
            rows.extend(found.map(|row| with_bandwidth(row, trials, moved)));
        }
    }
    rows
}

/// Name and value for a statistic over the completion times in a load of flows.
pub(crate) type FlowStatistic = (&'static str, fn(&FlowSizeRow) -> Option<Time>);

/// Flow statistics that are reported over seeds. Each seed draws other flows, so rows have no size.
pub(crate) const FLOW_STATISTICS: [FlowStatistic; 5] = [
    ("FCT mean", |row| row.fct_mean),
    ("FCT P50", |row| row.fct_p50),
    ("FCT P99", |row| row.fct_p99),
    ("FCT P99.9", |row| row.fct_p999),
    ("FCT max", |row| row.fct_max),
];

/// Returns the row that covers all flows in a job.
pub(crate) fn all_flows(trial: &Summary, job: u32) -> Option<&FlowSizeRow> {
    let mut rows = trial.flow_sizes.iter();
    rows.find(|row| row.job == job && row.bucket.is_none())
}

/// Returns a row for each statistic over a load's flows.
fn rows_of_flows(trials: &[Summary], flows: &CollectiveRow, blank: &SeedRow) -> Vec<SeedRow> {
    let of_statistic = |&(name, value): &FlowStatistic| {
        let time = |trial: &Summary| Some(value(all_flows(trial, flows.job)?)?.as_ns());
        let blank = SeedRow {
            index: Some(flows.index),
            collective: Some(format!("{FLOWS}, {name}")),
            algorithm: Some(flows.algorithm.clone()),
            ..blank.clone()
        };
        row(trials, time, blank)
    };
    FLOW_STATISTICS.iter().filter_map(of_statistic).collect()
}

/// Returns the name of the flow statistic in a row.
fn statistic_of(row: &SeedRow) -> Option<&str> {
    let name = row.collective.as_deref()?.strip_prefix(FLOWS)?;
    name.strip_prefix(", ")
}

/// Averages a value over a collective's measured iterations; `None` if one lacks it.
pub(crate) fn mean_of_iterations(
    job: &JobSummary,
    index: u32,
    value: fn(&CollectiveRow) -> Option<f64>,
) -> Option<f64> {
    let judged = job.collectives.iter();
    let judged = judged.filter(|row| row.index == index && !row.warm_up);
    let values: Option<Vec<f64>> = judged.map(value).collect();
    Statistic::Mean.of(values?)
}

pub(crate) fn time_ns(row: &CollectiveRow) -> Option<f64> {
    row.completion_time.map(Time::as_ns)
}

/// Returns the bytes that the bus bandwidth counts as moved. They differ from trial to trial if
/// lost frames are not retransmitted.
pub(crate) fn bus_bytes(row: &CollectiveRow) -> Option<f64> {
    Some(row.busbw_gbytes_per_s? * time_ns(row)?)
}

fn row(
    trials: &[Summary],
    time: impl Fn(&Summary) -> Option<f64>,
    blank: SeedRow,
) -> Option<SeedRow> {
    let times = trials.iter();
    let times: Vec<(f64, u64)> = times
        .filter_map(|trial| Some((time(trial)?, trial.seed)))
        .collect();
    let spread = Spread::of(&times)?;
    Some(SeedRow {
        seeds: times.len() as u32,
        mean: spread.mean,
        ci95: spread.ci95,
        worst: spread.greatest.0,
        worst_seed: Seed(spread.greatest.1),
        best: spread.least.0,
        best_seed: Seed(spread.least.1),
        ..blank
    })
}

/// Adds the bus bandwidth: mean moved bytes over the mean time.
fn with_bandwidth(
    row: SeedRow,
    trials: &[Summary],
    moved: impl Fn(&Summary) -> Option<f64>,
) -> SeedRow {
    let moved: Vec<f64> = trials.iter().filter_map(moved).collect();
    SeedRow {
        busbw_gbytes_per_s: Statistic::Mean.of(moved).map(|bytes| bytes / row.mean),
        ..row
    }
}

/// Writes `seeds.parquet` into a folder; `trials` has each trial's seed and digest.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write_seed_rows(
    folder: &Path,
    rows: &[SeedRow],
    trials: &[(u64, &str)],
) -> Result<(), TrialError> {
    let (path, beside) = (
        folder.join(SEEDS_FILE),
        folder.join("seeds.parquet.partial"),
    );
    let mut table = ParquetTable::create(&beside, Arc::new(Names::default()))?;
    let seeds: Vec<String> = trials.iter().map(|(seed, _)| seed.to_string()).collect();
    let digests: Vec<&str> = trials.iter().map(|(_, digest)| *digest).collect();
    table.note(SEED_NOTE, &seeds.join(","));
    table.note(DIGEST_NOTE, &digests.join(","));
    table.append(rows)?;
    table.finish()?;
    // The rename lets readers see the old table or the new one, never a part.
    fs::rename(&beside, &path).map_err(TrialError::io("write", &path))
}

/// Formats the rows for people: a block for each job, a table for each collective.
pub fn seed_table(rows: &[SeedRow]) -> String {
    let mut text = String::new();
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let (jct, collectives): (Vec<&SeedRow>, Vec<&SeedRow>) =
            job.iter().partition(|row| row.index.is_none());
        let is_load =
            !collectives.is_empty() && collectives.iter().all(|row| statistic_of(row).is_some());
        let ranks = job[0].ranks;
        let _ = writeln!(text, "\n{}: {ranks} ranks\n", job[0].job_name);
        let end = if is_load { "last flow ended" } else { "JCT" };
        let _ = write!(text, "{}", times(&jct, Some(end)));
        let operation = |row: &SeedRow| match statistic_of(row) {
            Some(_) => FLOWS.to_owned(),
            None => row.collective.clone().unwrap_or_default(),
        };
        let of = |row: &SeedRow| (operation(row), row.algorithm.clone().unwrap_or_default());
        for group in collectives.chunk_by(|a, b| of(a) == of(b)) {
            let (collective, algorithm) = of(group[0]);
            let _ = writeln!(text, "\n  {collective}, {algorithm}");
            let _ = write!(text, "{}", times(group, None));
        }
    }
    text
}

/// Makes the table for a job's end, whose label is `end`, or for sizes or flow statistics.
fn times(rows: &[&SeedRow], end: Option<&str>) -> TextTable {
    let of_sizes = rows.iter().any(|row| row.size_bytes.is_some());
    let has_busbw = rows.iter().any(|row| row.busbw_gbytes_per_s.is_some());
    let unit = TimeUnit::of_all_ns(rows.iter().map(|row| row.worst));
    let mut columns = vec![if of_sizes {
        TextColumn::number("size", "")
    } else {
        TextColumn::name("")
    }];
    columns.extend([
        TextColumn::number("seeds", ""),
        TextColumn::number("mean", unit.name),
        TextColumn::number("± 95 %", unit.name),
        TextColumn::number("worst", unit.name),
        TextColumn::number("seed", ""),
        TextColumn::number("best", unit.name),
        TextColumn::number("seed", ""),
    ]);
    if has_busbw {
        columns.push(TextColumn::number("busbw", "GB/s"));
    }
    // All rows get the decimals that the shortest time needs.
    let least = rows.iter().map(|row| row.best);
    let least = least.fold(f64::INFINITY, f64::min) / unit.ns;
    let decimals = decimals_for(least, 4).clamp(3, 6);
    let in_unit = |time_ns: f64| format!("{:.decimals$}", time_ns / unit.ns);
    let mut table = TextTable::new(columns);
    for row in rows {
        let first = match (row.size_bytes, end.or_else(|| statistic_of(row))) {
            (Some(size), _) => binary_size(size),
            (None, name) => name.unwrap_or_default().to_owned(),
        };
        let mut cells = vec![
            first,
            row.seeds.to_string(),
            in_unit(row.mean),
            row.ci95.map_or_else(|| "-".to_owned(), in_unit),
            in_unit(row.worst),
            row.worst_seed.0.to_string(),
            in_unit(row.best),
            row.best_seed.0.to_string(),
        ];
        if has_busbw {
            let busbw = row.busbw_gbytes_per_s;
            cells.push(busbw.map_or_else(|| "-".to_owned(), |busbw| format!("{busbw:.2}")));
        }
        table.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use tenter_results::JobRow;

    use super::*;

    /// A trial whose collective of 1 MiB takes a number of microseconds in each iteration.
    fn trial(seed: u64, times_us: &[u64], jct_us: Option<u64>) -> Summary {
        let collective = |(iteration, &us): (usize, &u64)| CollectiveRow {
            iteration: iteration as u32,
            warm_up: iteration == 0,
            collective: "all-reduce".to_owned(),
            algorithm: "ring".to_owned(),
            size_bytes: 1 << 20,
            ranks: 4,
            completion_time: (us > 0).then_some(Time::from_us(us)),
            busbw_gbytes_per_s: (us > 0).then(|| 100.0 / us as f64),
            ..CollectiveRow::default()
        };
        Summary {
            seed,
            jobs: vec![JobSummary {
                job: JobRow {
                    name: "training".to_owned(),
                    ranks: 4,
                    jct: jct_us.map(Time::from_us),
                    ..JobRow::default()
                },
                collectives: times_us.iter().enumerate().map(collective).collect(),
            }],
            ..Summary::default()
        }
    }

    #[test]
    fn iterations_are_averaged_first_and_warm_up_is_left_out() {
        let trials = [
            trial(5, &[90, 10, 30], Some(100)),
            trial(6, &[90, 20, 40], Some(120)),
        ];
        let rows = seed_rows(&trials);
        assert_eq!(rows.len(), 2);
        let (jct, collective) = (&rows[0], &rows[1]);
        assert_eq!((jct.index, jct.seeds), (None, 2));
        // Means of 20 and 30 us; t of one degree of freedom is 12.706, and the mean's standard
        // error is 5 us.
        assert!((collective.mean - 25_000.0).abs() < 1e-6);
        assert!((collective.ci95.expect("two seeds") - 63_531.0).abs() < 1.0);
        assert_eq!(
            (collective.worst_seed, collective.best_seed),
            (Seed(6), Seed(5))
        );
        // 100/us at 25 us.
        assert!((collective.busbw_gbytes_per_s.expect("a time") - 4.0).abs() < 1e-9);
        let text = seed_table(&rows);
        for part in [
            "training: 4 ranks",
            "JCT",
            "110.000",
            "all-reduce, ring",
            "1 MiB",
            "4.00",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn what_was_not_done_does_not_count() {
        let trials = [trial(1, &[1, 0], None), trial(2, &[1, 7], Some(9))];
        let rows = seed_rows(&trials);
        assert_eq!(rows.len(), 2);
        assert!(rows.iter().all(|row| row.seeds == 1 && row.ci95.is_none()));
        assert!(rows.iter().all(|row| row.worst_seed == Seed(2)));
        assert!(seed_rows(&[]).is_empty());
    }
}
