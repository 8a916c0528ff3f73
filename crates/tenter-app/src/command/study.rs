//! `tenter study`: lists, shows, copies and runs published studies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use tenter::report::{ANSWERS_FILE, take_folder, write_whole};
use tenter::studies::{Answers, STUDIES, Study, StudyError, published_table, select};
use tenter::{StudyRun, Summary, Sweep, SweepRun};

use crate::command::arguments::{
    OutputFormat, Study as Arguments, StudyCommand, StudyRun as Request, TextFormat,
};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::progress::on_interrupt;
use crate::command::sweep::Terminal;
use crate::command::{orders, study_table};

/// Runs the subcommand of `tenter study`.
pub(crate) fn study(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        StudyCommand::List { format } => list(*format),
        StudyCommand::Show { name, format } => show(name, *format),
        StudyCommand::Run(arguments) => run(arguments),
        StudyCommand::Copy {
            name,
            folder,
            format,
        } => copy(name, folder.as_deref(), *format),
    }
}

fn list(format: TextFormat) -> Result<ExitCode, Failure> {
    let studies: Result<Vec<Study>, StudyError> = STUDIES.iter().map(Study::embedded).collect();
    let studies = studies.map_err(|error| broken(&error))?;
    match format {
        TextFormat::Text => print(&study_table::list(studies.iter())),
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
            for run in &studies {
                print_tables(&study_table::show(&run.study));
            }
        }
        TextFormat::Json => {
            let page = |run: &StudyRun| {
                let mut document = study_table::document(&run.study);
                document["page"] = json!(run.study.readme);
                document
            };
            let documents: Vec<_> = studies.iter().map(page).collect();
            print(&format!("{:#}\n", json!({ "studies": documents })));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Copies an embedded study with its tables into a new folder, in which the user can change it. The
/// equipment is not copied: the scenario finds the embedded files.
fn copy(name: &str, folder: Option<&Path>, format: TextFormat) -> Result<ExitCode, Failure> {
    let texts = select([name]).map_err(|error| Failure::input(error.to_string()))?;
    let [texts] = texts.as_slice() else {
        return Err(Failure::input(format!(
            "`{name}` is a group of studies; name one of them"
        )));
    };
    let last = texts.name.rsplit('/').next().unwrap_or(texts.name);
    let folder = folder.unwrap_or(Path::new(last));
    if folder.exists() {
        return Err(Failure::input(format!(
            "{} exists and is not overwritten; name another folder",
            folder.display()
        )));
    }
    let study = Study::embedded(texts).map_err(|error| broken(&error))?;
    let tables = study.sweep.tables().into_iter();
    let tables = tables.filter_map(|name| Some((format!("{name}.csv"), published_table(name)?)));
    let files = [
        ("README.md", texts.readme),
        ("study.yaml", texts.description),
        ("scenario.yaml", texts.scenario),
    ];
    let files = files
        .into_iter()
        .map(|(file, text)| (file.to_owned(), text));
    std::fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
    for (file, text) in files.chain(tables) {
        let file = folder.join(file);
        std::fs::write(&file, text).map_err(|error| cannot("write", &file, &error))?;
    }
    let shown = folder.display();
    match format {
        TextFormat::Text => print(&format!(
            "{shown} is written; `tenter study run {shown}` runs it\n"
        )),
        TextFormat::Json => print(&format!("{:#}\n", json!({"folder": folder}))),
    }
    Ok(ExitCode::SUCCESS)
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!(
        "cannot {what} {}: {error}; check the path",
        path.display()
    ))
}

/// Runs the studies one after the other and prints their answers; the exit code is 1 if a required
/// row does not match.
fn run(arguments: &Request) -> Result<ExitCode, Failure> {
    let studies = asked(arguments)?;
    // One flag for all studies: Ctrl-C ends the command, not only the study that runs.
    let interrupted = on_interrupt();
    let _lock = match &arguments.output {
        Some(folder) => begin(folder)?,
        None => None,
    };
    let mut answers = Answers::default();
    let mut text = String::new();
    for study in &studies {
        let started = Instant::now();
        let settings = arguments.settings.iter();
        let run = study
            .run(arguments.output.clone())
            .in_processes(orders::program());
        let run = settings.fold(run, SweepRun::with_setting);
        let run = run
            .threads(arguments.threads.count)
            .workers(arguments.workers.unwrap_or(1).into());
        let mut terminal = Terminal::of(Arc::clone(&interrupted)).remark(report);
        let results = run.run_with(&mut terminal)?;
        // The progress line is removed before anything else is printed.
        drop(terminal);
        // A part of the trials would give medians over fewer seeds, so no verdict is shown.
        if results.was_cancelled {
            say("error: stopped by the user; no study is judged by a part of its trials\n");
            return Ok(ExitCode::INTERRUPTED);
        }
        if let Some((_, why)) = results.failures.first() {
            return Err(Failure::input(format!("{}: {why}", study.study.name())));
        }
        let wall_s = started.elapsed().as_secs_f64();
        text.push_str(&study_table::answer(
            &results.sweep,
            &results.answer,
            wall_s,
        ));
        answers.studies.push(results.answer);
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

/// Returns the studies that the arguments name, restricted to the variants and seeds that they
/// name.
fn asked(arguments: &Request) -> Result<Vec<StudyRun>, Failure> {
    let mut studies = read(&arguments.names)?;
    for run in &mut studies {
        let sweep = &mut run.study.sweep;
        let kept = sweep.keep(&arguments.variants);
        kept.map_err(|error| Failure::input(error.to_string()))?;
        // Variants come first: their names are those of the full form.
        *sweep = part(sweep.clone(), arguments)?;
    }
    Ok(studies)
}

/// Applies `--set`, `--quick` and `--seeds` to a sweep.
fn part(mut sweep: Sweep, arguments: &Request) -> Result<Sweep, Failure> {
    if !arguments.settings.is_empty() {
        sweep = sweep.otherwise_set();
    }
    if arguments.quick {
        sweep = sweep.quick();
        // A study without any quick form has no rows and says so in its answer. Here rows are left,
        // and all their cells are among those that `--variant` left out.
        if sweep.is_empty() && !sweep.rows().is_empty() {
            return Err(Failure::input(format!(
                "{}: `{}` has no quick form; leave out --quick",
                sweep.keys.name,
                arguments.variants.join("`, `")
            )));
        }
    }
    Ok(match arguments.seeds {
        // After the quick form, so `--seeds` may reduce its seeds further.
        Some(most) => sweep.with_seeds(most as usize),
        None => sweep,
    })
}

/// Reads the studies that `names` mean: names and groups of embedded studies, and paths of the
/// user's own study folders. Each study appears once.
pub(crate) fn read(names: &[String]) -> Result<Vec<StudyRun>, Failure> {
    let mut studies: Vec<StudyRun> = Vec::new();
    // Canonical paths of the user's folders, with the names of their studies.
    let mut folders: BTreeMap<PathBuf, String> = BTreeMap::new();
    for name in names {
        if StudyRun::is_folder(name) {
            let run = StudyRun::of_folder(name)?;
            let folder = std::fs::canonicalize(name).unwrap_or_else(|_| name.into());
            let name = run.study.name().to_owned();
            if folders.insert(folder, name).is_none() {
                studies.push(run);
            }
            continue;
        }
        // A word without dots may be a group of embedded studies although a folder here has the
        // same name; a file or path is clearly meant as such.
        let is_path = name.contains(['.', '\\']) || Path::new(name).is_absolute();
        if is_path && Path::new(name).exists() {
            return Err(Failure::input(format!(
                "{name} is no folder of a study, which has a `study.yaml`; `tenter sweep FILE` runs the description of a sweep, with published values, too"
            )));
        }
        let texts = select([name]).map_err(|error| Failure::input(error.to_string()))?;
        for texts in texts {
            studies.push(StudyRun::embedded(texts)?);
        }
    }
    // Answers and trial folders go by the study's name, so two studies with one name would mix.
    for name in folders.values() {
        if studies
            .iter()
            .filter(|run| run.study.name() == name)
            .count()
            > 1
        {
            return Err(Failure::input(format!(
                "two studies are called `{name}`, and a study has the name of its folder; rename one, or run them one after the other"
            )));
        }
    }
    // A group and one of its members may be named together.
    let mut seen = BTreeSet::new();
    studies.retain(|run: &StudyRun| seen.insert(run.study.name().to_owned()));
    Ok(studies)
}

/// Makes a failure for an embedded study that is invalid: the program is at fault, not its user.
fn broken(error: &StudyError) -> Failure {
    Failure::other(error.to_string())
}

/// Locks the output folder for this run and removes the answers of an older run there, which a run
/// that is stopped must not leave behind.
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

/// Reports on standard error that a trial did not complete, and why.
fn report(title: &str, summary: &Summary) {
    let jobs = summary.jobs.iter();
    let failures = jobs.filter_map(|job| job.job.failure.as_ref());
    // The reason that stopped the trial says more than what each job was waiting for.
    if let Some(reason) = summary.stopped.iter().chain(failures).next() {
        say(&format!("error: {title} was not completed: {reason}\n"));
    }
}
