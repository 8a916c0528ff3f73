//! `tenter report`: writes trials, sweeps or studies as one page.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::server::{NamedTrial, Report, report_of_studies, report_of_sweeps, report_of_trials};
use serde_json::json;
use tenter::report::{
    Beside, Drawn, NamedSummary, available_memory_bytes, binary_size, read_answers,
    report_memory_bytes, study_drawings, write_whole_with,
};
use tenter::studies::{Answers, StudyAnswer};
use tenter::{Budget, forced_budget};

use crate::command::arguments::{Report as Arguments, TextFormat};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, say};
use crate::command::folders::{Several, refuse_twice, short_names};
use crate::command::measured;

pub(crate) fn report(arguments: &Arguments) -> Result<ExitCode, Failure> {
    refuse_twice(&arguments.folders)?;
    let page = if let Some(several) = Several::read_for_report(&arguments.folders)? {
        only_beside_trials(arguments)?;
        report_of_sweeps(&several.0, &several.1, &rows(&arguments.folders)?)
    } else if let Some((answers, drawings)) = answers(&arguments.folders)? {
        only_beside_trials(arguments)?;
        report_of_studies(&answers, &drawings)
    } else {
        // Before any table is read: the estimate needs only the tables' row counts.
        check_memory(arguments)?;
        if arguments.force {
            of_trials(arguments, &forced_budget())?
        } else {
            let allowance = arguments.allowance;
            allowance.within(|budget| of_trials(arguments, budget))?
        }
    };
    let Report { text, left_out } = page;
    write(&arguments.output, &text)?;
    let left_out: Vec<String> = left_out.iter().map(ToString::to_string).collect();
    if arguments.format == TextFormat::Json {
        let document = json!({
            "report": arguments.output,
            "bytes": text.len(),
            "left_out": left_out,
        });
        print(&format!("{document:#}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!(
        "report   {} ({})\n",
        arguments.output.display(),
        binary_size(text.len() as u64)
    ));
    if !left_out.is_empty() {
        say(&format!(
            "left out {}, so that the page does not get too large; `tenter ui` shows them\n",
            left_out.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the page for trials, beside measurement files if the user named any.
fn of_trials(arguments: &Arguments, budget: &Budget) -> Result<Report, Failure> {
    let folders = arguments.folders.iter();
    let trials = folders.map(|folder| tenter::read_for_report(folder, budget));
    let trials: Result<Vec<_>, _> = trials.collect();
    let trials = trials.map_err(|error| Failure::input(error.to_string()))?;
    // Trials of several runs may lie in folders of one name.
    let trials = short_names(&arguments.folders).into_iter().zip(trials);
    let trials = trials.map(|(name, data)| NamedTrial { name, data });
    let trials: Vec<NamedTrial> = trials.collect();
    if arguments.measured.is_empty() {
        return Ok(report_of_trials(trials, None)?);
    }
    let named = trials.iter().map(|trial| NamedSummary {
        name: trial.name.clone(),
        summary: trial.data.summary.clone(),
    });
    let named: Vec<NamedSummary> = named.collect();
    let files = measured::read(&arguments.measured)?;
    let collective = measured::collective(arguments.collective.as_deref());
    let beside = Beside::of(&named, &files, collective.as_deref()).map_err(Failure::input)?;
    if beside.rows.is_empty() {
        return Err(Failure::input(
            "no size is both in a trial and in a file of measurements; `tenter compare --measured` lists them",
        ));
    }
    Ok(report_of_trials(trials, Some(&beside))?)
}

/// Rejects measurements beside anything but trials.
fn only_beside_trials(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.measured.is_empty() {
        return Ok(());
    }
    Err(Failure::input(
        "--measured goes with folders of trials; name some of those below this one",
    ))
}

/// Rejects a report that would take more memory than is available.
fn check_memory(arguments: &Arguments) -> Result<(), Failure> {
    let needed = report_memory_bytes(&arguments.folders);
    match available_memory_bytes() {
        Some(available) if needed > available && !arguments.force => Err(Failure::input(format!(
            "the report would take about {} of memory, and {} are available: report fewer trials at once, or use a machine with more memory; `--force` makes it anyway",
            binary_size(needed),
            binary_size(available),
        ))),
        _ => Ok(()),
    }
}

/// Studies' answers, and the drawings for each study.
type DrawnAnswers = (Answers, Vec<Vec<Drawn>>);

/// Reads studies' answers and drawings; `None` if no folder holds studies.
fn answers(folders: &[PathBuf]) -> Result<Option<DrawnAnswers>, Failure> {
    let read =
        |folder: &PathBuf| read_answers(folder).map_err(|error| Failure::input(error.to_string()));
    let found: Vec<Option<Answers>> = folders.iter().map(read).collect::<Result<_, _>>()?;
    // Folders of trials are no mistake here: the caller reads those.
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut studies = Vec::new();
    let mut drawings = Vec::new();
    for (folder, answers) in folders.iter().zip(found) {
        let Some(answers) = answers else {
            return Err(Failure::input(format!(
                "{} is not a folder of studies, but others are; give folders of `tenter study run -o`, or folders of trials, but not both",
                folder.display()
            )));
        };
        for study in answers.studies {
            let drawn = study_drawings(folder, &study);
            drawings.push(drawn.map_err(|error| Failure::input(error.to_string()))?);
            studies.push(study);
        }
    }
    Ok(Some((Answers { studies }, drawings)))
}

/// Reads the rows in each sweep's folder; some may be published ones.
fn rows(folders: &[PathBuf]) -> Result<Vec<Option<StudyAnswer>>, Failure> {
    let rows = |folder: &PathBuf| {
        let answers = read_answers(folder).map_err(|error| Failure::input(error.to_string()))?;
        Ok(answers.and_then(|answers| answers.studies.into_iter().next()))
    };
    folders.iter().map(rows).collect()
}

/// Writes a text, and creates missing folders.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file, and creates missing folders.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_with(path, |to| to.write_all(bytes))
}

/// Like [`write_bytes`], for long content that is written piece by piece.
pub(crate) fn write_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let made = parent.map_or(Ok(()), fs::create_dir_all);
    made.map_err(|error| {
        Failure::input(format!(
            "cannot write {}: {error}; name another file with -o",
            path.display()
        ))
    })?;
    write_whole_with(path, write).map_err(|error| Failure::of_trial(&error))
}
