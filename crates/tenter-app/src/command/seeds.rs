//! `tenter run --seeds N`: runs one trial per seed, and prints statistics over them.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use tenter::report::{csv, seed_table};
use tenter::{Error, Experiment, Point, Trial};
use tenter_results::{Names, Notes, SeedRow, Severity};
use tenter_sim::plan::Plan;

use crate::command::arguments::{OutputFormat, Run};
use crate::command::exit::ExitCode;
use crate::command::fabric_line::describe;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::progress::Terminal;
use crate::command::source;
use crate::command::trial::say_failures;

/// Runs `count` seeds one after the other, starting from the scenario's (or `--seed`).
pub(crate) fn run(arguments: &Run, count: u32) -> Result<ExitCode, Failure> {
    let scenario = source::scenario(&arguments.scenario)?;
    let plan = scenario.resolve()?;
    say(&plan.warnings().render_as("warning"));
    let experiment = Experiment::new(&scenario)
        .seeds(count)
        .threads(arguments.threads.count)
        .force(arguments.force);
    let mut experiment = match &arguments.output {
        Some(path) => experiment.folder(path),
        None => experiment.new_folder("trials", arguments.folder_name(&plan)),
    };
    if let Some(asked) = arguments.asked_interference() {
        experiment = experiment.interference(asked);
    }
    let mut terminal = Terminal::new().remark(|_, summary| say_failures(summary, true));
    // If a trial fails, those that have run before it are still shown.
    let (results, failed) = match experiment.run_with(&mut terminal) {
        Ok(results) => (results, None),
        Err(Error::Experiment { results, source }) => {
            let failure = Failure::of_run(*source);
            if results.points.iter().all(|point| point.trials.is_empty()) {
                return Err(failure);
            }
            (*results, Some(failure))
        }
        Err(error) => return Err(Failure::of_run(error)),
    };
    let points = &results.points;
    let trials: &[Trial] = points.first().map_or(&[], |point| &point.trials);
    let rows = points.first().map(Point::rows).unwrap_or_default();
    match arguments.format {
        OutputFormat::Table => {
            let folder = results.folder.as_deref();
            print_tables(&table(plan.resolved(), trials, &rows, folder));
        }
        OutputFormat::Json => print(&json(trials, &rows)?),
        OutputFormat::Csv => print(&csv(&rows, &Names::default())),
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    if results.was_cancelled {
        let done = trials.len();
        say(&format!(
            "error: stopped by the user after {done} of {count} seeds\n"
        ));
        return Ok(ExitCode::INTERRUPTED);
    }
    Ok(if trials.iter().all(Trial::is_complete) {
        ExitCode::SUCCESS
    } else {
        ExitCode::NOT_COMPLETE
    })
}

fn table(plan: &Plan, trials: &[Trial], rows: &[SeedRow], folder: Option<&Path>) -> String {
    let name = if plan.name.is_empty() {
        String::new()
    } else {
        format!("{}, ", plan.name)
    };
    let seeds = match (trials.first(), trials.last()) {
        (Some(first), Some(last)) => {
            format!("{} to {}", first.summary().seed, last.summary().seed)
        }
        _ => "none".to_owned(),
    };
    let fabric = describe(plan);
    let rows = seed_table(rows);
    let folder = folder.unwrap_or(Path::new("")).display();
    let mut remarks = String::new();
    for note in of_all(trials).iter() {
        match note.severity {
            Severity::Warning => writeln!(remarks, "warning  {}", note.text),
            Severity::Note => writeln!(remarks, "note: {}", note.text),
        }
        .unwrap_or_default();
    }
    format!("{name}seeds {seeds}\n{fabric}\n{rows}\n{remarks}trials   {folder}\n")
}

/// Returns all trials' notes, each sentence once, in order.
fn of_all(trials: &[Trial]) -> Notes {
    Notes::of_all(trials.iter().map(|trial| &trial.summary().notes))
}

fn json(trials: &[Trial], rows: &[SeedRow]) -> Result<String, Failure> {
    let of_trial = |trial: &Trial| {
        json!({
            "seed": trial.summary().seed,
            "complete": trial.is_complete(),
            "digest": trial.digest(),
            "trial": trial.folder().map(|folder| folder.display().to_string()),
        })
    };
    let notes = of_all(trials);
    let document = json!({
        "trials": trials.iter().map(of_trial).collect::<Vec<_>>(),
        "seeds": rows,
        "warnings": notes.warnings().collect::<Vec<_>>(),
        "notes": *notes,
    });
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::other(error.to_string()))
}
