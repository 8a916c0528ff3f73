//! Reads the records that sweeps and seed folders leave.

use std::path::Path;

use crate::studies::{SweepChart, SweepReading, SweepRecord, SweepValues};
use serde::Deserialize;
use tenter_results::{FlowSizeRow, JobSummary, Notes, Summary};

use crate::report::answers::SWEEP_FILE;
use crate::report::numbers::binary_size;
use crate::report::own_file::{has_own, read_own_text};
use crate::report::seed_folder::seed_folders;
use crate::report::seeds::{
    FLOW_STATISTICS, SEEDS_FILE, all_flows, bus_bytes, mean_of_iterations, time_ns,
};
use crate::report::table::{FLOWS, is_load_of_flows};
use crate::report::trial_files::SUMMARY_FILE;
use crate::report::{TrialError, read_summary};

/// A folder with several seeds' trials.
#[derive(Clone, Debug)]
pub struct SeedsFolder {
    /// Folder name, under which tables show it.
    pub name: String,
    /// Summaries by seed, one for each trial.
    pub trials: Vec<Summary>,
}

/// The record within a sweep's file; `None` in files by earlier versions.
#[derive(Deserialize)]
struct SweepFile {
    sweep: Option<SweepRecord>,
}

/// Reads the record of the sweep in a folder; `None` if the folder has none.
///
/// # Errors
/// If its file is damaged, or from a version that kept no record.
pub fn read_sweep(folder: &Path) -> Result<Option<SweepRecord>, TrialError> {
    let path = folder.join(SWEEP_FILE);
    if !has_own(&path) {
        return Ok(None);
    }
    let text = read_own_text(&path).map_err(TrialError::io("read", &path))?;
    let file: SweepFile = serde_json::from_str(&text).map_err(TrialError::content(&path))?;
    let record = file.sweep.filter(is_sound);
    record.map(Some).ok_or_else(|| TrialError::Unusable {
        path: folder.to_owned(),
        reason: "its sweep.json has no values by seed, because an earlier version of Tenter wrote it; the same `tenter sweep` rewrites it and runs no trial twice".to_owned(),
    })
}

/// True if all indices in a record are in range. In an edited file they may not be, and the
/// record's users index without a check.
fn is_sound(record: &SweepRecord) -> bool {
    let trial = |trial: &SweepValues| {
        trial.point < record.points.len()
            && trial.variant < record.variants.len()
            && trial.values.len() == record.readings.len()
    };
    let mut points = record.points.iter();
    let chart = |chart: &SweepChart| {
        let mut axes = chart.x.iter().chain(&chart.y);
        let mut readings = chart.readings.iter();
        axes.all(|&axis| axis < record.axes.len())
            && readings.all(|&reading| reading < record.readings.len())
    };
    let mut readings = record.readings.iter();
    !record.variants.is_empty()
        && readings.all(|reading| reading.known_statistic().is_some())
        && record.charts.iter().all(chart)
        && points.all(|point| point.len() == record.axes.len())
        && record.trials.iter().all(trial)
}

/// Reads the summaries of a seed folder's trials; `None` if it is no such folder.
///
/// # Errors
/// If a trial is damaged.
pub fn read_seeds(folder: &Path) -> Result<Option<Vec<Summary>>, TrialError> {
    if !has_own(&folder.join(SEEDS_FILE)) {
        return Ok(None);
    }
    // A trial that was killed has no summary and is left out.
    let trials = seed_folders(folder)?.into_iter();
    let trials = trials.filter(|trial| has_own(&trial.join(SUMMARY_FILE)));
    trials
        .map(|trial| read_summary(&trial))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// A trial's variant and summary, with reading values by index.
type Found<'t> = (usize, &'t Summary, Vec<(usize, f64)>);

/// Makes a record from seed folders, with a variant for each folder and readings for each job and
/// collective.
pub fn seeds_record(folders: &[SeedsFolder]) -> SweepRecord {
    let mut readings: Vec<SweepReading> = Vec::new();
    let mut found: Vec<Found<'_>> = Vec::new();
    for (variant, folder) in folders.iter().enumerate() {
        for summary in &folder.trials {
            let mut values = Vec::new();
            for (reading, value) in values_of(summary) {
                // Folders may have different jobs: where one lacks a reading, it has no value.
                let place = readings.iter().position(|known| known.of == reading.of);
                let place = place.unwrap_or_else(|| {
                    readings.push(reading);
                    readings.len() - 1
                });
                values.extend(value.map(|value| (place, value)));
            }
            found.push((variant, summary, values));
        }
    }
    let trials = found.into_iter().map(|(variant, summary, values)| {
        let mut all = vec![None; readings.len()];
        for (place, value) in values {
            all[place] = Some(value);
        }
        SweepValues {
            point: 0,
            variant,
            seed: summary.seed,
            digest: summary.engine.digest.clone(),
            values: all,
        }
    });
    let names: Vec<String> = folders.iter().map(|folder| folder.name.clone()).collect();
    SweepRecord {
        name: names.join(", "),
        scenario: scenarios(folders),
        trials: trials.collect(),
        notes: folders
            .iter()
            .map(|folder| Notes::of_all(folder.trials.iter().map(|of| &of.notes)).0)
            .collect(),
        variants: names,
        points: vec![Vec::new()],
        readings,
        ..SweepRecord::default()
    }
}

/// Returns the scenarios' names, each once.
fn scenarios(folders: &[SeedsFolder]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for trial in folders.iter().flat_map(|folder| &folder.trials) {
        if !trial.scenario.is_empty() && !names.contains(&trial.scenario.as_str()) {
            names.push(&trial.scenario);
        }
    }
    names.join(", ")
}

/// Returns a trial's readings: completion times for measured jobs and their collectives, bus
/// bandwidths, and flow statistics.
fn values_of(summary: &Summary) -> Vec<(SweepReading, Option<f64>)> {
    // Background jobs are load, not results.
    let under_test = summary.jobs.iter().filter(|job| !job.job.background);
    let single = under_test.clone().count() == 1;
    let mut values = Vec::new();
    for job in under_test {
        // With one job, its name says nothing, and records of differently named jobs can be
        // compared.
        let name = if single { "" } else { job.job.name.as_str() };
        let lead = match name {
            "" => String::new(),
            name => format!("{name}: "),
        };
        let jct = job.job.jct.map(tenter_language::units::Time::as_ns);
        let end = if is_load_of_flows(job) {
            "end of the last flow"
        } else {
            "job completion time"
        };
        values.push((reading(format!("{lead}{end}"), "ns", false), jct));
        of_collectives(job, &lead, &mut values);
        if let Some(flows) = all_flows(summary, job.job.job) {
            of_flows(flows, &lead, &mut values);
        }
    }
    values
}

/// Adds a load's flow statistics. Each seed draws other flows, so only statistics are comparable.
fn of_flows(flows: &FlowSizeRow, lead: &str, values: &mut Vec<(SweepReading, Option<f64>)>) {
    for (name, time) in FLOW_STATISTICS {
        let time = time(flows).map(tenter_language::units::Time::as_ns);
        values.push((reading(format!("{lead}flows, {name}"), "ns", false), time));
    }
    let slowdowns = [
        ("P50", flows.slowdown_p50),
        ("P99", flows.slowdown_p99),
        ("max", flows.slowdown_max),
    ];
    for (name, slowdown) in slowdowns {
        let read = reading(format!("{lead}flows, slowdown {name}"), "", false);
        values.extend(slowdown.map(|slowdown| (read, Some(slowdown))));
    }
}

fn of_collectives(job: &JobSummary, lead: &str, values: &mut Vec<(SweepReading, Option<f64>)>) {
    let mut seen: Vec<u32> = Vec::new();
    for row in &job.collectives {
        if seen.contains(&row.index) || row.collective == FLOWS {
            continue;
        }
        seen.push(row.index);
        let alike = job.collectives.iter().filter(|other| {
            let is_same =
                (&other.collective, other.size_bytes) == (&row.collective, row.size_bytes);
            is_same && other.index < row.index && other.iteration == row.iteration
        });
        // Equal collectives of one run order are numbered.
        let which = match alike.count() {
            0 => String::new(),
            before => format!(" ({})", before + 1),
        };
        let size = binary_size(row.size_bytes);
        let name = format!("{lead}{} of {size}{which}", row.collective);
        let time = mean_of_iterations(job, row.index, time_ns);
        let moved = mean_of_iterations(job, row.index, bus_bytes);
        let busbw = time.zip(moved).map(|(time, moved)| moved / time);
        let read = reading(format!("{name}, completion time"), "ns", false);
        values.push((read, time));
        let read = reading(format!("{name}, bus bandwidth"), "GB/s", true);
        values.extend(busbw.map(|busbw| (read, Some(busbw))));
    }
}

fn reading(name: String, unit: &str, more_is_better: bool) -> SweepReading {
    SweepReading {
        of: name.clone(),
        name,
        unit: unit.to_owned(),
        against: String::new(),
        more_is_better,
        statistic: "median".to_owned(),
    }
}
