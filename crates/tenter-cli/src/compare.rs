//! `tenter compare`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;
use tenter_record::{ComparisonRow, Names};
use tenter_report::{
    NamedRecord, NamedSummary, NcclLog, add_log, check_is_trial, collective_of_program,
    comparison_rows, comparison_table, csv, paired_rows, paired_table, read_summary,
};

use crate::arguments::{Compare, OutputFormat};
use crate::exit::ExitCode;
use crate::failure::{Failure, print, print_tables};
use crate::folders::{Several, short_name};

/// No log of nccl-tests is longer.
const LOG_BYTES_MAX: u64 = 64 << 20;

/// What the columns of a comparison seed by seed mean.
const PAIRED_REMARK: &str = "The difference is the geometric mean of the ratios of trials with equal seeds; * marks p < 0.05 (two-sided sign test).";

pub(crate) fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    if let Some(several) = Several::read(&arguments.trials)? {
        return seed_by_seed(several, arguments);
    }
    if arguments.trials.len() < 2 && arguments.nccl_tests.is_none() {
        return Err(Failure::input(
            "there is one trial and nothing to compare it with; name another, or a log with --nccl-tests",
        ));
    }
    let mut trials = Vec::new();
    for folder in &arguments.trials {
        check_is_trial(folder).map_err(|error| Failure::input(error.to_string()))?;
        let summary = read_summary(folder).map_err(|error| Failure::input(error.to_string()))?;
        trials.push(NamedSummary {
            name: short_name(folder, &arguments.trials),
            summary,
        });
    }
    let mut rows = comparison_rows(&trials);
    if let Some(path) = &arguments.nccl_tests {
        add_nccl_tests(&mut rows, path, arguments.collective.as_deref())?;
    }
    let text = match arguments.format {
        OutputFormat::Table => table(&trials, &rows),
        OutputFormat::Json => json(arguments, &trials, &rows)?,
        OutputFormat::Csv => csv(&rows, &Names::default()),
    };
    match arguments.format {
        OutputFormat::Table => print_tables(&text),
        OutputFormat::Json | OutputFormat::Csv => print(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Folders of several trials each.
fn seed_by_seed(several: Several, arguments: &Compare) -> Result<ExitCode, Failure> {
    if arguments.nccl_tests.is_some() {
        return Err(Failure::input(
            "--nccl-tests goes with one trial; name one of the folders `seed-…`",
        ));
    }
    several.say_scenarios();
    let records = several.records();
    let rows = paired_rows(&records).map_err(Failure::input)?;
    match arguments.format {
        OutputFormat::Table => print_tables(&format!(
            "{}\n{PAIRED_REMARK}\n",
            paired_table(&rows).trim_start_matches('\n')
        )),
        OutputFormat::Json => {
            let of_folder = |(of, path): (&NamedRecord, &std::path::PathBuf)| {
                json!({
                    "folder": of.name,
                    "path": path.display().to_string(),
                    "trials": of.record.trials.len(),
                })
            };
            let document = json!({
                "folders": records.iter().zip(&arguments.trials).map(of_folder).collect::<Vec<_>>(),
                "comparison": rows,
            });
            print(&format!("{document:#}\n"));
        }
        OutputFormat::Csv => print(&csv(&rows, &Names::default())),
    }
    Ok(ExitCode::SUCCESS)
}

fn add_nccl_tests(
    rows: &mut Vec<ComparisonRow>,
    path: &Path,
    collective: Option<&str>,
) -> Result<(), Failure> {
    let place = path.display();
    let unreadable = |error: std::io::Error| {
        Failure::input(format!(
            "cannot read {place}: {error}; name a log of nccl-tests"
        ))
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.len() > LOG_BYTES_MAX {
        return Err(Failure::input(format!(
            "{place} is longer than any log of nccl-tests; name a log of at most 64 MiB"
        )));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let log = NcclLog::parse(&String::from_utf8_lossy(&bytes));
    let log = log.map_err(|error| Failure::input(format!("{place}: {error}")))?;
    let collective = match collective {
        None => None,
        Some(name) => Some(collective_of_program(name).ok_or_else(|| {
            Failure::input(format!(
                "--collective {name}: nccl-tests has no such program; write all_reduce, alltoall, …"
            ))
        })?),
    };
    let name = path.file_name().unwrap_or(path.as_os_str());
    add_log(rows, &log, &name.to_string_lossy(), collective)
        .map_err(|error| Failure::input(format!("{place}: {error}")))
}

fn table(trials: &[NamedSummary], rows: &[ComparisonRow]) -> String {
    let mut text = comparison_table(rows).trim_start_matches('\n').to_owned();
    for trial in trials.iter().filter(|trial| !trial.summary.complete) {
        let reason = trial.summary.stopped.as_deref();
        let _ = write!(
            text,
            "\nwarning: {} is not complete: {}\n",
            trial.name,
            reason.unwrap_or("a job was not completed")
        );
    }
    text
}

fn json(
    arguments: &Compare,
    trials: &[NamedSummary],
    rows: &[ComparisonRow],
) -> Result<String, Failure> {
    let of_trial = |(trial, path): (&NamedSummary, &std::path::PathBuf)| {
        json!({
            "trial": trial.name,
            "path": path.display().to_string(),
            "scenario": trial.summary.scenario,
            "seed": trial.summary.seed,
            "complete": trial.summary.complete,
            "digest": trial.summary.engine.digest,
        })
    };
    let document = json!({
        "trials": trials.iter().zip(&arguments.trials).map(of_trial).collect::<Vec<_>>(),
        "comparison": rows,
    });
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::other(error.to_string()))
}
