//! `tenter run`: runs one trial, or hands over to several seeds or both levels.

use std::path::Path;

use tenter::report::{TRACE_FILE, TrialData, TrialError, TrialReport, write_trace};
use tenter::{Run, Trial, forced_budget, run_budget};

use crate::command::arguments::{self, Fidelity, OutputFormat};
use crate::command::both_levels;
use crate::command::exit::ExitCode;
use crate::command::fabric_line::describe;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::progress::Terminal;
use crate::command::trial::{carry_out, exit_code, say_failures};
use crate::command::{seeds, source, watch};

pub(crate) fn run(arguments: &arguments::Run) -> Result<ExitCode, Failure> {
    if arguments.scenario.fidelity == Some(Fidelity::Both) {
        return both_levels::run(arguments);
    }
    if let Some(count) = arguments.seeds {
        return seeds::run(arguments, count);
    }
    let budget = if arguments.force {
        forced_budget()
    } else {
        run_budget()
    };
    let plan = source::read(&arguments.scenario, &budget)?;
    let mut run = Run::new(&plan)
        .threads(arguments.threads.count)
        .force(arguments.force);
    if let Some(asked) = arguments.asked_interference() {
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
        None => run.new_folder("trials", arguments.folder_name(&plan)),
    };
    let (trial, unwritten) = carry_out(run, &mut Terminal::new())?;
    if arguments.watch.is_some() {
        let events = watch::text(trial.watched(), &plan.resolved().topology);
        // A program reads exactly one document from standard output, so events go to standard
        // error.
        match arguments.format {
            OutputFormat::Table => print(&events),
            OutputFormat::Json | OutputFormat::Csv => say(&events),
        }
    }
    finish(arguments, &trial, unwritten)
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
    if limits.operations_left_out > 0 {
        say(&format!(
            "note: {TRACE_FILE} has the first operations and leaves out {} others\n",
            limits.operations_left_out
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

/// Prints a trial's summary, and writes its trace if the user asked for it.
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
        OutputFormat::Table => print_tables(&report.render(tenter::report::Format::Table)),
        OutputFormat::Json => print(&report.render(tenter::report::Format::Json)),
        OutputFormat::Csv => print(&report.render(tenter::report::Format::Csv)),
    }
    // The summary is printed even if a file could not be written.
    written?;
    // The table has stated the reason already.
    say_failures(summary, arguments.format != OutputFormat::Table);
    Ok(exit_code(summary))
}
