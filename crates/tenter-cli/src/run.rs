//! `tenter run`.

use std::path::Path;

use tenter::{Error, Interference, Plan, Run, Summary, Trial};
use tenter_record::StopKind;
use tenter_report::{TRACE_FILE, TrialData, TrialError, TrialReport, write_trace};
use tenter_units::Rate;

use crate::arguments::{self, OutputFormat};
use crate::exit::ExitCode;
use crate::failure::{Failure, print, print_tables, say};
use crate::progress::Terminal;
use crate::{seeds, source, watch};

/// The exit code of a run that was interrupted, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;
/// That of a run in which some job did not come to its end: a QP gave up, or time was up.
pub(crate) const NOT_COMPLETE: u8 = 1;

pub(crate) fn run(arguments: &arguments::Run) -> Result<ExitCode, Failure> {
    if let Some(count) = arguments.seeds {
        return seeds::run(arguments, count);
    }
    let plan = source::read(&arguments.scenario)?;
    let mut run = Run::new(&plan)
        .threads(arguments.threads)
        .force(arguments.force);
    if let Some(asked) = asked_interference(arguments) {
        run = run.interference(asked);
    }
    if let Some(target) = &arguments.watch {
        run = run.watch(
            watch::parse(target, plan.resolved())?,
            arguments.watch_limit,
        );
    }
    run = match &arguments.output {
        Some(path) => run.folder(path),
        None => run.new_folder("trials", folder_name(arguments, &plan)),
    };
    let (trial, unwritten) = carry_out(run, &mut Terminal::new())?;
    if arguments.watch.is_some() {
        let events = watch::text(trial.watched(), &plan.resolved().topology);
        // What a program reads on standard output is one document.
        match arguments.format {
            OutputFormat::Table => print(&events),
            OutputFormat::Json | OutputFormat::Csv => say(&events),
        }
    }
    finish(arguments, &trial, unwritten)
}

/// What the flags ask for; otherwise the scenario says.
pub(crate) fn asked_interference(arguments: &arguments::Run) -> Option<Interference> {
    if arguments.interference {
        Some(Interference::Pairs)
    } else if arguments.baseline {
        Some(Interference::Alone)
    } else {
        None
    }
}

/// Runs it with its progress on the terminal; the trial, and why its files or its further runs are
/// not whole.
pub(crate) fn carry_out(
    run: Run,
    terminal: &mut Terminal,
) -> Result<(Trial, Option<Failure>), Failure> {
    match run.run_with(terminal) {
        Ok(trial) => Ok((trial, None)),
        Err(Error::NotWritten { trial, source }) => {
            Ok((*trial, Some(Failure::other(source.to_string()))))
        }
        Err(Error::NotMeasured { trial, source }) => Ok((*trial, Some(Failure::of_run(*source)))),
        Err(error) => Err(Failure::of_run(error)),
    }
}

/// What a command that ran this trial and nothing else ends with.
pub(crate) fn exit_code(summary: &Summary) -> ExitCode {
    if summary.complete {
        ExitCode::SUCCESS
    } else if summary.stopped_by == Some(StopKind::User) {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::from(NOT_COMPLETE)
    }
}

/// Writes the trace of a trial whose folder is complete.
fn trace(path: &Path) -> Result<(), TrialError> {
    let limits = write_trace(&TrialData::read(path)?, path)?;
    if limits.chunks_left_out > 0 {
        say(&format!(
            "note: {TRACE_FILE} leaves out {} chunks: it has the first 200,000, with a limit for each rank at a time\n",
            limits.chunks_left_out
        ));
    }
    if limits.ports_left_out > 0 {
        say(&format!(
            "note: {TRACE_FILE} has the deepest queues and leaves out those of {} ports; a longer observe.sample_interval makes room\n",
            limits.ports_left_out
        ));
    }
    Ok(())
}

/// Prints the summary of a trial, and writes its trace where that was asked for.
fn finish(
    arguments: &arguments::Run,
    trial: &Trial,
    lacking: Option<Failure>,
) -> Result<ExitCode, Failure> {
    let written = match (lacking, trial.folder()) {
        (Some(failure), _) => Err(failure),
        (None, Some(folder)) if arguments.perfetto => {
            trace(folder).map_err(|error| Failure::other(error.to_string()))
        }
        (None, _) => Ok(()),
    };
    let summary = trial.summary();
    let fabric = describe(trial.plan().resolved());
    let report = TrialReport {
        summary,
        fabric: &fabric,
        folder: trial.folder(),
        ideal: arguments.ideal,
    };
    match arguments.format {
        OutputFormat::Table => print_tables(&report.render(tenter_report::Format::Table)),
        OutputFormat::Json => print(&report.render(tenter_report::Format::Json)),
        OutputFormat::Csv => print(&report.render(tenter_report::Format::Csv)),
    }
    written?;
    // The table has given the reason already.
    say_failures(summary, arguments.format != OutputFormat::Table);
    Ok(exit_code(summary))
}

pub(crate) fn say_failures(summary: &Summary, with_reason: bool) {
    if let Some(stopped) = &summary.stopped
        && summary.stopped_by == Some(StopKind::User)
    {
        say(&format!("{stopped}: the trial is partial\n"));
        return;
    }
    for job in &summary.jobs {
        if let Some(failure) = &job.job.failure {
            let reason = if with_reason {
                format!(": {failure}")
            } else {
                String::new()
            };
            say(&format!(
                "error: job `{}` was not completed{reason}\n",
                job.job.name
            ));
        }
    }
}

/// What a new folder under `trials/` is called.
pub(crate) fn folder_name(arguments: &arguments::Run, plan: &Plan) -> String {
    match plan.name() {
        "" => {
            let stem = arguments.scenario.file.file_stem();
            stem.unwrap_or_default().to_string_lossy().into_owned()
        }
        name => name.to_owned(),
    }
}

/// The command as it was typed; bytes that are not UTF-8 show as such.
pub(crate) fn typed() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// The fabric in one line.
pub(crate) fn describe(plan: &tenter_plan::Plan) -> String {
    let topology = &plan.topology;
    let mut rates: Vec<_> = topology.cables.iter().map(|cable| cable.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let gbps = |rate: &Rate| format!("{} Gb/s", rate.bits_per_second() as f64 / 1e9);
    let rates: Vec<String> = rates.iter().map(gbps).collect();
    format!(
        "{}, {} at {}",
        plan.topology_spec.word(),
        parts(plan),
        rates.join(" and "),
    )
}

/// How many NPUs NICs have, to be said of them where it is more than one.
pub(crate) fn shared_by(npus_per_nic: u32) -> String {
    match npus_per_nic {
        1 => String::new(),
        npus => format!(" with {npus} NPUs each"),
    }
}

/// What the fabric consists of.
pub(crate) fn parts(plan: &tenter_plan::Plan) -> String {
    let topology = &plan.topology;
    let shared = shared_by(plan.npus_per_nic);
    format!(
        "{}{shared}, {}, {}",
        counted(topology.hosts, "NIC", "NICs"),
        counted(topology.switches(), "switch", "switches"),
        counted(topology.cables.len(), "cable", "cables"),
    )
}

/// A number and what it counts.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
