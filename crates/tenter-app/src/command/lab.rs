//! `tenter lab` and `tenter agent`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::server::{NamedTrial, report_of_trials};
use serde_json::json;
use tenter::report::{
    Beside, Measured, NamedSummary, TrialData, TrialReport, claim_free_folder, write_whole,
};
use tenter_lab::{
    AgentOptions, Calibration, Constants, LabError, LabFile, LabTrial, Observed, Twin, twin_text,
};

use crate::command::arguments::{Agent, Lab, LabCommand, LabRun, LabTwin, OutputFormat};
use crate::command::exit::ExitCode;
use crate::command::fabric_line::describe;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::trial::{exit_code, say_failures};

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        match error {
            LabError::Trial(error) => Failure::of_run(error),
            error if error.is_input() => Failure::input(error.to_string()),
            error => Failure::other(error.to_string()),
        }
    }
}

/// `tenter agent`: serves coordinators until the process is killed.
pub(crate) fn agent(arguments: &Agent) -> Result<ExitCode, Failure> {
    let options = AgentOptions {
        listen: arguments.listen,
        secret_file: arguments.secret_file.clone(),
        lab: arguments.lab.clone(),
        user: arguments.user.clone(),
        max_rate: arguments.max_rate,
        max_time: arguments.max_time,
    };
    tenter_lab::start(&options, |address| {
        say(&format!("agent listens at {address}\n"));
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `tenter lab`: dispatches the subcommands.
pub(crate) fn lab(arguments: &Lab) -> Result<ExitCode, Failure> {
    match &arguments.command {
        LabCommand::Up { lab } => up(lab),
        LabCommand::Down { lab } => down(lab),
        LabCommand::Run(run) => run_on_lab(run),
        LabCommand::Twin(twin) => run_twin(twin),
        LabCommand::Calibrate(run) => compare(run, Constants::Fit),
        LabCommand::Plan { study } => crate::command::lab_plan::plan(study),
        LabCommand::Counters(of) => crate::command::lab_counters::counters(of),
        LabCommand::Collect(collect) => crate::command::lab_plan::collect(collect),
    }
}

fn up(path: &Path) -> Result<ExitCode, Failure> {
    let lab = LabFile::read(path)?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::other(format!("cannot find this program itself: {error}")))?;
    let state = tenter_lab::up(&lab, &program)?;
    say(&format!(
        "lab `{}` is up: {} namespaces, {} agents; `tenter lab down {}` removes it\n",
        lab.keys.name,
        state.namespaces.len(),
        state.agents.len(),
        path.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn down(path: &Path) -> Result<ExitCode, Failure> {
    let lab = LabFile::read(path)?;
    let removed = tenter_lab::down(&lab.keys.name)?;
    let name = &lab.keys.name;
    say(&if removed == 0 {
        format!("lab `{name}` was not up\n")
    } else {
        format!("lab `{name}` is down: {removed} namespaces removed\n")
    });
    Ok(ExitCode::SUCCESS)
}

/// Reports a lab trial's progress on the terminal, and stops it at Ctrl-C.
struct Shown {
    stop: Arc<AtomicBool>,
}

impl Shown {
    fn new() -> Shown {
        let stop = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&stop);
        // If no handler can be set, Ctrl-C kills this process. The agents notice that too, and
        // stop.
        let _ = ctrlc::set_handler(move || set.store(true, Ordering::Release));
        Shown { stop }
    }
}

impl Observed for Shown {
    fn collective(&mut self, ended: u32, of: u32) -> bool {
        say(&format!("measured {ended} of {of} collectives\n"));
        self.goes_on()
    }

    fn problem(&mut self, what: &str) {
        say(&format!("error: {what}\n"));
    }

    fn goes_on(&mut self) -> bool {
        !self.stop.load(Ordering::Acquire)
    }
}

fn prepare(arguments: &LabRun) -> Result<(LabTrial, tenter_lab::LabRun), Failure> {
    let lab = LabFile::read(&arguments.lab)?;
    let trial = tenter_lab::load(&lab, &arguments.scenario, &arguments.overrides)?;
    let folder = match &arguments.output {
        Some(path) => path.clone(),
        None => new_folder(&trial)?,
    };
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let options = tenter_lab::LabRun {
        folder,
        command: command.collect(),
    };
    Ok((trial, options))
}

fn new_folder(trial: &LabTrial) -> Result<PathBuf, Failure> {
    let name = match trial.measured.name() {
        "" => "lab",
        name => name,
    };
    claim_free_folder(Path::new("trials"), name).map_err(|error| Failure::of_trial(&error))
}

fn run_on_lab(arguments: &LabRun) -> Result<ExitCode, Failure> {
    let (trial, options) = prepare(arguments)?;
    let outcome = tenter_lab::run(&trial, &options, &mut Shown::new())?;
    let summary = &outcome.summary;
    let fabric = describe(trial.measured.resolved());
    let report = TrialReport {
        summary,
        fabric: &fabric,
        folder: Some(&options.folder),
        ideal: false,
    };
    match arguments.format {
        OutputFormat::Table => print_tables(&report.render(tenter::report::Format::Table)),
        OutputFormat::Json => print(&report.render(tenter::report::Format::Json)),
        OutputFormat::Csv => print(&report.render(tenter::report::Format::Csv)),
    }
    say_failures(summary, arguments.format != OutputFormat::Table);
    Ok(exit_code(summary))
}

fn run_twin(arguments: &LabTwin) -> Result<ExitCode, Failure> {
    let constants = match &arguments.calibration {
        Some(path) => Constants::Known(Calibration::read(path)?),
        None => Constants::Stated,
    };
    compare(&arguments.run, constants)
}

fn compare(arguments: &LabRun, constants: Constants) -> Result<ExitCode, Failure> {
    let (trial, options) = prepare(arguments)?;
    let twin = tenter_lab::twin(&trial, constants, &options, &mut Shown::new())?;
    write_page(&twin)?;
    match arguments.format {
        OutputFormat::Table => print_tables(&twin_text(&twin)),
        OutputFormat::Json => print(&format!("{:#}\n", document(&twin))),
        OutputFormat::Csv => print(&csv(&twin)),
    }
    // The sizes to which constants were fitted match by construction, so they prove nothing.
    let judged = twin.sizes.iter().filter(|row| !row.is_fitted_to);
    let all_match = judged.clone().all(tenter_lab::SizeRow::matches);
    let paths_agree = twin.paths.iter().all(tenter_lab::PathRow::agrees);
    Ok(if twin.complete && all_match && paths_agree {
        ExitCode::SUCCESS
    } else {
        ExitCode::NOT_COMPLETE
    })
}

/// Writes the page with measured and simulated results side by side, if they have a size in common.
fn write_page(twin: &Twin) -> Result<(), Failure> {
    let of_trial = |error| Failure::of_trial(&error);
    let trials = twin.simulated.iter().map(|folder| TrialData::read(folder));
    let trials: Vec<TrialData> = trials.collect::<Result<_, _>>().map_err(of_trial)?;
    let table = std::fs::read_to_string(&twin.table).unwrap_or_default();
    let files = Measured::parse("lab", &table).unwrap_or_default();
    let named: Vec<NamedSummary> = trials.iter().map(NamedSummary::of).collect();
    if let Ok(beside) = Beside::of(&named, &files, None) {
        let trials = trials.into_iter().map(NamedTrial::from);
        let page = report_of_trials(trials.collect(), Some(&beside))?;
        write_whole(&twin.page, &page.text).map_err(of_trial)?;
    }
    Ok(())
}

fn document(twin: &Twin) -> serde_json::Value {
    let sizes = twin.sizes.iter().map(|row| {
        json!({
            "job": row.job,
            "collective_index": row.index,
            "collective": row.collective,
            "size_bytes": row.size_bytes,
            "measured_ns": row.measured.as_ns(),
            "stated_ns": row.stated.as_ns(),
            "stated_deviation_percent": row.stated_percent(),
            "fitted_ns": row.fitted.map(tenter_language::units::Time::as_ns),
            "fitted_deviation_percent": row.fitted_percent(),
            "is_fitted_to": row.is_fitted_to,
            "verdict": if row.matches() { "match" } else { "miss" },
        })
    });
    let paths = twin.paths.iter().map(|row| {
        json!({
            "from": row.from,
            "to": row.to,
            "udp_source_port": row.source_port,
            "simulated_port": row.simulated,
            "kernel_port": row.kernel,
        })
    });
    json!({
        "complete": twin.complete,
        "sizes": sizes.collect::<Vec<_>>(),
        "paths": paths.collect::<Vec<_>>(),
        "page": twin.page,
    })
}

fn csv(twin: &Twin) -> String {
    let mut text = "job,collective_index,collective,size_bytes,measured_ns,stated_ns,stated_deviation_percent,fitted_ns,fitted_deviation_percent,is_fitted_to,verdict\n".to_owned();
    for row in &twin.sizes {
        let optional =
            |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let fields = [
            tenter::report::csv_field(&row.job).to_string(),
            row.index.to_string(),
            tenter::report::csv_field(&row.collective).to_string(),
            row.size_bytes.to_string(),
            row.measured.as_ns().to_string(),
            row.stated.as_ns().to_string(),
            row.stated_percent().to_string(),
            optional(row.fitted.map(tenter_language::units::Time::as_ns)),
            optional(row.fitted_percent()),
            row.is_fitted_to.to_string(),
            if row.matches() { "match" } else { "miss" }.to_owned(),
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}
