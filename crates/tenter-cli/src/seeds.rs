//! `tenter run --seeds N`: one trial per seed, and what their times come to.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use tenter_record::{Names, SeedRow, Summary};
use tenter_report::{
    TrialError, clear_seeds, csv, seed_folder, seed_rows, seed_table, take_folder, takes_seeds,
    write_seed_rows,
};
use tenter_scenario::Loaded;
use tenter_sim::{Interference, Simulation};

use crate::arguments::{OutputFormat, Run};
use crate::failure::{Failure, print, say};
use crate::interference;
use crate::progress::on_interrupt;
use crate::run::{self, Circumstances, Ended, INTERRUPTED, NOT_COMPLETE};
use crate::source::Source;
use crate::threads;

/// One trial that was carried out.
struct Trial {
    summary: Summary,
    path: PathBuf,
}

/// Runs the seeds from the scenario's (or `--seed`) on, one after the other.
pub(crate) fn run(arguments: &Run, count: u32) -> Result<ExitCode, Failure> {
    let scenario = &arguments.scenario;
    let source = Source::open(&scenario.file)?;
    let first = source.load(&scenario.overrides, scenario.seed)?;
    say(&first.warnings.render_as("warning"));
    let seed = first.plan.seed;
    if seed.checked_add(u64::from(count) - 1).is_none() {
        let message = format!("there are no {count} seeds from {seed} on; give a smaller `--seed`");
        return Err(Failure::input(message));
    }
    run::check_memory(&first.plan, arguments.force)?;
    // What cannot be built must leave no folder.
    drop(
        Simulation::new(&first.plan, threads::options(arguments.threads))
            .map_err(|error| run::unrunnable(&error))?,
    );
    let folder = run::folder_path(arguments, &first.plan)?;
    check_folder(&folder)?;
    let _lock = take_folder(&folder).map_err(|error| Failure::of_trial(&error))?;
    let last = seed + u64::from(count) - 1;
    clear_seeds(&folder, |old| (seed..=last).contains(&old)).map_err(|error| other(&error))?;
    let interrupted = on_interrupt();
    let mut trials = Vec::new();
    for number in 0..count {
        let seed = seed + u64::from(number);
        let started = Instant::now();
        let loaded = source.load(&scenario.overrides, Some(seed))?;
        let path = seed_folder(&folder, seed);
        let title = format!("seed {seed} ({} of {count})", number + 1);
        if let Some(trial) = kept(arguments, &loaded, &path, &title) {
            trials.push(trial);
            continue;
        }
        let ended = carry_out(arguments, &loaded, &path, &title, started, &interrupted)?;
        ended.written.map_err(|error| other(&error))?;
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        run::say_failures(&ended.outcome.summary, true);
        trials.push(Trial {
            summary: ended.outcome.summary,
            path,
        });
    }
    let summaries: Vec<Summary> = trials.iter().map(|trial| trial.summary.clone()).collect();
    let rows = seed_rows(&summaries);
    write_seed_rows(&folder, &rows).map_err(|error| other(&error))?;
    print(&match arguments.format {
        OutputFormat::Table => table(&first, &trials, &rows, &folder),
        OutputFormat::Json => json(&trials, &rows)?,
        OutputFormat::Csv => csv(&rows, &Names::default()),
    });
    if interrupted.load(Ordering::Relaxed) {
        let done = trials.len();
        say(&format!(
            "error: stopped by the user after {done} of {count} seeds\n"
        ));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let complete = trials.iter().all(|trial| trial.summary.complete);
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_COMPLETE)
    })
}

/// The trial of a seed that an earlier run has finished, if it is the same.
fn kept(arguments: &Run, loaded: &Loaded, path: &Path, title: &str) -> Option<Trial> {
    if interference::asked(arguments, &loaded.plan) != Interference::None {
        return None;
    }
    let summary = run::finished(path, loaded)?;
    run::say_kept(title, path);
    Some(Trial {
        summary,
        path: path.to_owned(),
    })
}

fn other(error: &TrialError) -> Failure {
    Failure::other(error.to_string())
}

/// A folder that holds something else is left alone.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    if !takes_seeds(folder).map_err(|error| Failure::input(error.to_string()))? {
        let folder = folder.display();
        return Err(Failure::input(format!(
            "{folder} holds something else than the trials of several seeds; name another folder, or an empty one"
        )));
    }
    Ok(())
}

fn carry_out(
    arguments: &Run,
    loaded: &Loaded,
    path: &Path,
    title: &str,
    started: Instant,
    interrupted: &Arc<AtomicBool>,
) -> Result<Ended, Failure> {
    let circumstances = Circumstances {
        loaded,
        path,
        is_claimed: false,
        title,
        set_up_s: started.elapsed().as_secs_f64(),
        interference: interference::asked(arguments, &loaded.plan),
        threads: arguments.threads,
        interrupted: Arc::clone(interrupted),
    };
    let (plan, options) = (&loaded.plan, threads::options(arguments.threads));
    let unrunnable = |error| run::unrunnable(&error);
    if plan.queue_changes.is_some() {
        let simulation = Simulation::recording(plan, options);
        return run::carry_out(&mut simulation.map_err(unrunnable)?, &circumstances);
    }
    let simulation = Simulation::new(plan, options);
    run::carry_out(&mut simulation.map_err(unrunnable)?, &circumstances)
}

fn table(first: &Loaded, trials: &[Trial], rows: &[SeedRow], folder: &Path) -> String {
    let plan = &first.plan;
    let name = if plan.name.is_empty() {
        String::new()
    } else {
        format!("{}, ", plan.name)
    };
    let seeds = match (trials.first(), trials.last()) {
        (Some(first), Some(last)) => format!("{} to {}", first.summary.seed, last.summary.seed),
        _ => "none".to_owned(),
    };
    let fabric = run::describe(plan);
    let rows = seed_table(rows);
    let folder = folder.display();
    let mut remarks = String::new();
    for warning in of_all(trials, |summary| &summary.warnings) {
        let _ = writeln!(remarks, "warning  {warning}");
    }
    for note in of_all(trials, |summary| &summary.notes) {
        let _ = writeln!(remarks, "note: {note}");
    }
    format!("{name}seeds {seeds}\n{fabric}\n{rows}\n{remarks}trials   {folder}\n")
}

/// What is said of any trial, each sentence once, in the order in which they come.
fn of_all(trials: &[Trial], list: impl Fn(&Summary) -> &Vec<String>) -> Vec<&String> {
    let mut said = Vec::new();
    for sentence in trials.iter().flat_map(|trial| list(&trial.summary)) {
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said
}

fn json(trials: &[Trial], rows: &[SeedRow]) -> Result<String, Failure> {
    let of_trial = |trial: &Trial| {
        json!({
            "seed": trial.summary.seed,
            "complete": trial.summary.complete,
            "digest": trial.summary.engine.digest,
            "trial": trial.path.display().to_string(),
        })
    };
    let document = json!({
        "trials": trials.iter().map(of_trial).collect::<Vec<_>>(),
        "seeds": rows,
        "warnings": of_all(trials, |summary| &summary.warnings),
        "notes": of_all(trials, |summary| &summary.notes),
    });
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::other(error.to_string()))
}
