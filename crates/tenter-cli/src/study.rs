//! `tenter study`: list, show and run published studies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use tenter::{StudyEstimate, StudyRun, Summary};
use tenter_report::{ANSWERS_FILE, duration_s, si, take_folder, write_whole};
use tenter_study::{Answers, Extent, STUDIES, Study, StudyError, select};

use crate::arguments::{
    OutputFormat, Study as Arguments, StudyCommand, StudyRun as Request, TextFormat,
};
use crate::exit::ExitCode;
use crate::fabric_line::counted;
use crate::failure::{Failure, print, print_tables, say};
use crate::progress::on_interrupt;
use crate::study_table;
use crate::sweep::Terminal;

pub(crate) fn study(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        StudyCommand::List { format } => list(*format),
        StudyCommand::Show { name, format } => show(name, *format),
        StudyCommand::Run(arguments) => run(arguments),
    }
}

fn list(format: TextFormat) -> Result<ExitCode, Failure> {
    let studies: Result<Vec<Study>, StudyError> = STUDIES.iter().map(Study::embedded).collect();
    let studies = studies.map_err(|error| broken(&error))?;
    match format {
        TextFormat::Text => print(&study_table::list(&studies)),
        TextFormat::Json => {
            let documents: Vec<_> = studies.iter().map(study_table::document).collect();
            print(&format!("{:#}\n", json!({ "studies": documents })));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, format: TextFormat) -> Result<ExitCode, Failure> {
    let studies = read(&[name.to_owned()])?;
    match format {
        TextFormat::Text => {
            for study in &studies {
                print_tables(&study_table::show(study));
            }
        }
        TextFormat::Json => {
            let page = |study| {
                let mut document = study_table::document(study);
                document["page"] = json!(study.readme);
                document
            };
            let documents: Vec<_> = studies.iter().map(page).collect();
            print(&format!("{:#}\n", json!({ "studies": documents })));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run(arguments: &Request) -> Result<ExitCode, Failure> {
    let studies = asked(arguments)?;
    let extent = if arguments.quick {
        Extent::Quick
    } else {
        Extent::Full
    };
    let interrupted = on_interrupt();
    let _lock = match &arguments.output {
        Some(folder) => begin(folder)?,
        None => None,
    };
    let mut answers = Answers::default();
    let mut text = String::new();
    for study in &studies {
        let started = Instant::now();
        let mut run = StudyRun::new(study.clone())
            .extent(extent)
            .threads(arguments.threads.count)
            .workers(arguments.workers.unwrap_or(1).into());
        if let Some(folder) = &arguments.output {
            run = run.folder(folder);
        }
        say_cost(study, &run.estimate()?);
        let mut terminal = Terminal::of(Arc::clone(&interrupted)).remark(report);
        let Some(answer) = run.answer(&mut terminal)? else {
            say("error: stopped by the user; no study is judged by a part of its trials\n");
            return Ok(ExitCode::INTERRUPTED);
        };
        let wall_s = started.elapsed().as_secs_f64();
        text.push_str(&study_table::answer(study, &answer, extent, wall_s));
        answers.studies.push(answer);
    }
    let json = serde_json::to_string_pretty(&answers)
        .map_err(|error| Failure::other(error.to_string()))?
        + "\n";
    match arguments.format {
        OutputFormat::Table => print_tables(&text),
        OutputFormat::Json => print(&json),
        OutputFormat::Csv => print(&study_table::csv(&answers)),
    }
    if let Some(folder) = &arguments.output {
        let file = write(folder, &json)?;
        if arguments.format == OutputFormat::Table {
            print(&format!("answers  {}\n", file.display()));
        }
    }
    Ok(if answers.hold() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Shorter studies are over before anyone has read how long they take.
const WORTH_SAYING_S: f64 = 10.0;

/// Says how long a study will take.
fn say_cost(study: &Study, cost: &StudyEstimate) {
    if cost.wall_s < WORTH_SAYING_S {
        return;
    }
    let trials = counted(cost.trials, "trial", "trials");
    let hops = si(cost.packet_hops);
    say(&format!(
        "{}: {trials}, {} packet-hops, about {} on one thread\n",
        study.name,
        hops.trim_end(),
        duration_s(cost.wall_s)
    ));
}

/// The studies that are meant, with the seeds and the variants that are.
fn asked(arguments: &Request) -> Result<Vec<Study>, Failure> {
    let mut studies = read(&arguments.names)?;
    if let Some(most) = arguments.seeds {
        for seeds in studies.iter_mut().filter_map(|study| study.seeds.as_mut()) {
            seeds.runs = seeds.runs.min(most as usize);
            seeds.quick_runs = seeds.quick_runs.min(most as usize);
        }
    }
    for study in &mut studies {
        let kept = study.keep_variants(&arguments.variants);
        kept.map_err(|error| Failure::input(error.to_string()))?;
        if arguments.quick && study.has(Extent::Quick) && !study.has_variants(Extent::Quick) {
            let names = arguments.variants.join("`, `");
            let message = format!(
                "{}: `{names}` has no quick form; leave out --quick",
                study.name
            );
            return Err(Failure::input(message));
        }
    }
    Ok(studies)
}

/// The studies of these names or groups, and those in folders of the user's.
pub(crate) fn read(names: &[String]) -> Result<Vec<Study>, Failure> {
    let mut studies: Vec<Study> = Vec::new();
    // Folders of the user's, and what their studies are called.
    let mut folders: BTreeMap<PathBuf, String> = BTreeMap::new();
    for name in names {
        if StudyRun::is_folder(name) {
            let study = StudyRun::of_folder(name)?.study().clone();
            let folder = std::fs::canonicalize(name).unwrap_or_else(|_| name.into());
            if folders.insert(folder, study.name.clone()).is_none() {
                studies.push(study);
            }
            continue;
        }
        // A group of the program's studies may be the name of a folder here, too.
        let is_path = name.contains(['.', '\\']) || Path::new(name).is_absolute();
        if is_path && Path::new(name).exists() {
            return Err(Failure::input(format!(
                "{name} is no folder of a study, which has a `study.toml`; `tenter sweep FILE` runs the description of a sweep, with published values, too"
            )));
        }
        let texts = select([name]).map_err(|error| Failure::input(error.to_string()))?;
        for texts in texts {
            studies.push(Study::embedded(texts).map_err(|error| broken(&error))?);
        }
    }
    for name in folders.values() {
        if studies.iter().filter(|study| study.name == *name).count() > 1 {
            return Err(Failure::input(format!(
                "two studies are called `{name}`, and a study has the name of its folder; rename one, or run them one after the other"
            )));
        }
    }
    // A group and its member may be named together.
    let mut seen = BTreeSet::new();
    studies.retain(|study: &Study| seen.insert(study.name.clone()));
    Ok(studies)
}

/// A study that is part of the program does not hold: the program is at fault, not its user.
fn broken(error: &StudyError) -> Failure {
    Failure::other(error.to_string())
}

/// Takes a folder for this run, and removes the answers of an older one, which a run that is
/// stopped must not leave behind.
fn begin(folder: &Path) -> Result<Option<File>, Failure> {
    let lock = take_folder(folder).map_err(|error| Failure::of_trial(&error))?;
    let file = folder.join(ANSWERS_FILE);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::input(format!(
            "cannot remove {}: {error}; choose another folder with -o",
            file.display()
        ))),
        _ => Ok(lock),
    }
}

fn write(folder: &Path, json: &str) -> Result<PathBuf, Failure> {
    let file = folder.join(ANSWERS_FILE);
    write_whole(&file, json).map_err(|error| Failure::other(error.to_string()))?;
    Ok(file)
}

/// What a reader of the comparison must know of a trial.
fn report(title: &str, summary: &Summary) {
    let jobs = summary.jobs.iter();
    let failures = jobs.filter_map(|job| job.job.failure.as_ref());
    // What stopped it says more than what each job was waiting for.
    if let Some(reason) = summary.stopped.iter().chain(failures).next() {
        say(&format!("error: {title} was not completed: {reason}\n"));
    }
}
