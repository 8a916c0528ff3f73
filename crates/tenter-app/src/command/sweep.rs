//! `tenter sweep`: runs many trials of one scenario and compares them.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use tenter::report::{TextColumn, TextTable, duration_s};
use tenter::studies::{Answers, CaseAnswer, ReadingKeys, Value};
use tenter::{
    Control, Error, StudyAnswer, Summary, Sweep, SweepObserver, SweepProgress, SweepResults,
    SweepRun, SweepWorker, Winner, WorkerResults,
};

use crate::command::arguments::{
    MORE_MEMORY, MORE_TIME, OutputFormat, Sweep as Arguments, SweepCommand, SweepOf,
    SweepWorker as Worker,
};
use crate::command::exit::ExitCode;
use crate::command::fabric_line::counted;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::progress::{on_interrupt, say_kept};
use crate::command::{orders, source, study_table};

/// Failed trials that are reported one by one; the rest are counted.
const FAILURES_SHOWN: usize = 10;

/// Runs a sweep, queues it for workers, or works as one, and prints the results.
pub(crate) fn sweep(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(SweepCommand::Worker(worker)) = &arguments.command {
        return work(worker);
    }
    let arguments = &arguments.run;
    // The parser requires a file unless there is a subcommand, which has returned above.
    let file = arguments.file.as_deref().unwrap_or(Path::new(""));
    let mut run = SweepRun::read(file)?
        .resume(arguments.resume)
        .retry_failed(arguments.retry_failed)
        .force(arguments.force)
        .limits(arguments.allowance.limits())
        .in_processes(orders::program())
        .only(&arguments.only)?;
    if let Some(fidelity) = arguments.fidelity {
        run = run.with_setting(source::fidelity(fidelity)?);
    }
    if let Some(folder) = &arguments.output {
        run = run.folder(folder);
    }
    if let Some(workers) = arguments.workers {
        run = run.workers(workers.into());
    }
    if arguments.queue {
        return queue(&run, arguments);
    }
    let started = Instant::now();
    let results = run.run_with(&mut Terminal::new());
    let results = results.map_err(|error| refused(&run, error))?;
    match arguments.format {
        OutputFormat::Table => {
            let wall_s = started.elapsed().as_secs_f64();
            print_tables(&if results.sweep.is_study() {
                study_table::answer(&results.sweep, &results.answer, wall_s)
            } else {
                text(&results, wall_s)
            });
        }
        OutputFormat::Json => {
            let mut document = document(&results);
            document["wall_s"] = json!(started.elapsed().as_secs_f64());
            document["trials_wall_s"] = json!(results.progress.trials_wall_s);
            print(&format!("{document:#}\n"));
        }
        OutputFormat::Csv => print(&study_table::csv(&Answers {
            studies: vec![results.answer.clone()],
        })),
    }
    say_failures(&results);
    // The order counts: a sweep that was stopped or has failed trials is not judged by its bands.
    Ok(if results.was_cancelled {
        ExitCode::INTERRUPTED
    } else if !results.failures.is_empty() {
        ExitCode::NOT_COMPLETE
    } else if results.answer.holds() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Makes a failure that also says how to allow more time or memory, if a plan was refused for them.
fn refused(run: &SweepRun, error: Error) -> Failure {
    Failure::from(error).or(run.way_to_more(MORE_TIME, MORE_MEMORY))
}

/// Writes all trials that have not run into the sweep's folder, for workers.
fn queue(run: &SweepRun, arguments: &SweepOf) -> Result<ExitCode, Failure> {
    let queued = run.queue(Duration::from_secs(arguments.patience.into()));
    let queued = queued.map_err(|error| refused(run, error))?;
    let folder = run.in_folder().display();
    match arguments.format {
        OutputFormat::Table => print(&format!(
            "queued   {}\nworkers  tenter sweep worker --ledger {folder}\n",
            counted(queued, "trial", "trials")
        )),
        OutputFormat::Json => {
            let document = json!({"queued": queued, "folder": run.in_folder()});
            print(&format!("{document:#}\n"));
        }
        OutputFormat::Csv => print(&format!("queued\n{queued}\n")),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs trials from a queue until none is left for this worker.
fn work(arguments: &Worker) -> Result<ExitCode, Failure> {
    let mut worker = SweepWorker::new(&arguments.ledger).in_processes(orders::program());
    if let Some(workers) = arguments.workers {
        worker = worker.workers(workers.into());
    }
    let WorkerResults {
        run,
        failed,
        elsewhere,
        was_cancelled,
    } = worker.run(&mut Terminal::new())?;
    match arguments.format {
        OutputFormat::Table => print(&format!(
            "run      {}, {failed} of them failed\nothers   {elsewhere} left to other workers\n",
            counted(run, "trial", "trials")
        )),
        OutputFormat::Json => {
            let document = json!({"run": run, "failed": failed, "elsewhere": elsewhere});
            print(&format!("{document:#}\n"));
        }
        OutputFormat::Csv => print(&format!(
            "run,failed,elsewhere\n{run},{failed},{elsewhere}\n"
        )),
    }
    if was_cancelled {
        say("error: stopped by the user; its trials wait for another worker\n");
        return Ok(ExitCode::INTERRUPTED);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the results as JSON: answers, winners, folder and failures.
fn document(results: &SweepResults) -> serde_json::Value {
    let mut document = json!(Answers {
        studies: vec![results.answer.clone()],
    });
    document["winners"] = json!(results.winners);
    document["folder"] = json!(results.folder);
    let failures = results.failures.iter();
    document["failures"] = failures
        .map(|(trial, why)| json!({"trial": results.sweep.trial_name(trial), "error": why}))
        .collect();
    document
}

/// Reports failed trials, and a stop by the user, on standard error.
fn say_failures(results: &SweepResults) {
    for (trial, why) in results.failures.iter().take(FAILURES_SHOWN) {
        say(&format!(
            "error: {}: {why}\n",
            results.sweep.trial_name(trial)
        ));
    }
    let more = results.failures.len().saturating_sub(FAILURES_SHOWN);
    if more > 0 {
        say(&format!("error: {more} more trials have failed\n"));
    }
    if results.was_cancelled {
        say("error: stopped by the user; the same command resumes the sweep\n");
    }
}

/// Formats the results: a table for each reading, notes, trial count, digest and file names.
fn text(results: &SweepResults, wall_s: f64) -> String {
    let mut out = String::new();
    let at = results.progress;
    // Without any trial no table has a value.
    let shown = if at.done > 0 {
        &results.sweep.keys.readings[..]
    } else {
        &[]
    };
    for reading in shown {
        out.push_str(&table(results, reading));
        out.push('\n');
    }
    out.push_str(&study_table::noted(
        &results.answer.noted(),
        results.answer.variants.len(),
    ));
    let kept = match at.kept {
        0 => String::new(),
        kept => format!(", {kept} of them from before"),
    };
    let trials = counted(at.done, "trial", "trials");
    let _ = writeln!(out, "trials   {trials}{kept} in {}", duration_s(wall_s));
    // A digest over some of the trials is comparable with nothing.
    if !results.was_cancelled && at.done > 0 {
        let _ = writeln!(out, "digest   {}", results.answer.digest);
    }
    let _ = writeln!(
        out,
        "results  {}",
        results.folder.join(tenter::RESULTS_FILE).display()
    );
    out
}

/// Makes a reading's table: a row for each point, a column for each variant.
fn table(results: &SweepResults, reading: &ReadingKeys) -> String {
    let sweep = &results.sweep;
    let cases = of_reading(sweep, &results.answer, reading);
    let values = cases.iter().flatten().filter_map(|case| number(case));
    let scale = Scale::of(reading, values.fold(0.0, f64::max));
    let variants: Vec<&str> = sweep.variants().collect();
    let mut columns: Vec<TextColumn> = sweep
        .axis_names()
        .into_iter()
        .map(TextColumn::name)
        .collect();
    // With `--only`, rows and columns of other parts are left out.
    let is_shown =
        |variant: &usize| (0..sweep.points().len()).any(|point| results.is_meant(point, *variant));
    let shown: Vec<usize> = (0..variants.len()).filter(is_shown).collect();
    for &variant in &shown {
        columns.push(TextColumn::number(variants[variant], &scale.unit));
    }
    let winners = results.winners.iter();
    let winners: Vec<&Winner> = winners.filter(|of| of.reading == reading.name).collect();
    if !winners.is_empty() {
        columns.push(TextColumn::name("best"));
        columns.push(TextColumn::name("wins (p)"));
    }
    let mut table = TextTable::new(columns);
    for (point, cases) in cases.chunks(variants.len()).enumerate() {
        if !shown
            .iter()
            .any(|&variant| results.is_meant(point, variant))
        {
            continue;
        }
        let mut row = sweep.points()[point].clone();
        let none = || "-".to_owned();
        let value = |&variant: &usize| cases[variant].map_or_else(none, |case| scale.shown(case));
        row.extend(shown.iter().map(value));
        let name = sweep.point_name(point);
        match winners.iter().find(|of| of.point == name) {
            Some(winner) => {
                row.push(winner.variant.clone());
                let Winner { wins, pairs, .. } = winner;
                row.push(format!("{wins} of {pairs} ({:.3})", winner.p_value));
            }
            // No winner here: two variants are equally good, or only one has run.
            None if !winners.is_empty() => row.extend(["-".to_owned(), "-".to_owned()]),
            None => {}
        }
        table.push(row);
    }
    let against = match reading.divisor() {
        None => String::new(),
        Some(other) => format!(", over that of {other} with the same seed"),
    };
    format!("{}{against}\n{table}", reading.name)
}

/// Returns the answer's rows for a reading, by point and variant; `None` for a cell without one.
fn of_reading<'a>(
    sweep: &Sweep,
    answer: &'a StudyAnswer,
    reading: &ReadingKeys,
) -> Vec<Option<&'a CaseAnswer>> {
    let variants = sweep.variants().len();
    let mut cases = vec![None; sweep.points().len() * variants];
    let place = sweep.keys.readings.iter().position(|of| of == reading);
    for (case, (row, cell)) in answer.cases.iter().zip(sweep.shown_cells()) {
        let cell = &sweep.cells()[cell];
        if Some(sweep.rows()[row].reading) == place {
            cases[cell.point * variants + cell.variant] = Some(case);
        }
    }
    cases
}

fn number(case: &CaseAnswer) -> Option<f64> {
    case.measured.as_ref().and_then(Value::number)
}

/// Unit in which a table shows a reading's values.
struct Scale {
    unit: String,
    divisor: f64,
}

impl Scale {
    /// Chooses the unit: times are shown in the largest unit of which the greatest value has at
    /// least one.
    fn of(reading: &ReadingKeys, greatest: f64) -> Scale {
        let unit = if reading.divisor().is_none() {
            reading.unit()
        } else {
            String::new()
        };
        let (unit, divisor) = match unit.as_str() {
            "ns" if greatest >= 1e9 => ("s", 1e9),
            "ns" if greatest >= 1e6 => ("ms", 1e6),
            "ns" if greatest >= 1e3 => ("us", 1e3),
            unit => (unit, 1.0),
        };
        Scale {
            unit: unit.to_owned(),
            divisor,
        }
    }

    /// Formats a value, with the seeds' range in brackets if they differ.
    fn shown(&self, case: &CaseAnswer) -> String {
        let digits = |value: f64| {
            let value = value / self.divisor;
            match value.abs() {
                size if size >= 1000.0 => format!("{value:.0}"),
                size if size >= 100.0 => format!("{value:.1}"),
                size if size >= 10.0 => format!("{value:.2}"),
                _ => format!("{value:.3}"),
            }
        };
        let Some(value) = number(case) else {
            return "-".to_owned();
        };
        let range = case.spread.filter(|spread| spread.least < spread.greatest);
        let range =
            range.map(|spread| format!(" [{}-{}]", digits(spread.least), digits(spread.greatest)));
        digits(value) + &range.unwrap_or_default()
    }
}

/// Interval of progress lines, in s of wall time, if standard error is no terminal.
const LINE_EVERY_S: f64 = 60.0;

/// Progress display, which stops the run on Ctrl-C.
pub(crate) struct Terminal {
    interrupted: Arc<AtomicBool>,
    started: Instant,
    /// Wall time in s, since the start, at which the next line is written without a terminal.
    next_line_s: f64,
    line: Option<ProgressBar>,
    /// Called for each trial that has ended, with its title and summary.
    remark: fn(&str, &Summary),
}

impl Terminal {
    fn new() -> Terminal {
        Terminal::of(on_interrupt())
    }

    /// Makes a display that stops when `interrupted` is set; several displays may share the flag.
    pub(crate) fn of(interrupted: Arc<AtomicBool>) -> Terminal {
        Terminal {
            interrupted,
            started: Instant::now(),
            next_line_s: LINE_EVERY_S,
            line: None,
            remark: |_, _| (),
        }
    }

    /// Sets the function that is called for each trial that has ended.
    pub(crate) fn remark(mut self, remark: fn(&str, &Summary)) -> Terminal {
        self.remark = remark;
        self
    }

    /// Runs `write` while the progress line is hidden, so that its text stands above the line.
    fn above(&self, write: impl FnOnce()) {
        match &self.line {
            Some(line) => line.suspend(write),
            None => write(),
        }
    }

    /// Returns the text of the progress line.
    fn message(&self, at: &SweepProgress) -> String {
        let elapsed = self.started.elapsed().as_secs_f64();
        let left = at.expected_packet_hops - at.packet_hops;
        // The remaining time is estimated from packet-hops: trials differ too much in size to be
        // counted.
        let left = match at.packet_hops {
            hops if hops > 0.0 && left > 0.0 => {
                format!(", about {} left", duration_s(elapsed * left / hops))
            }
            _ => String::new(),
        };
        let failed = match at.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        format!("{} of {} trials{failed}{left}", at.done, at.trials)
    }
}

impl SweepObserver for Terminal {
    fn progress(&mut self, at: &SweepProgress) -> Control {
        let message = self.message(at);
        if std::io::stderr().is_terminal() {
            let line = self.line.get_or_insert_with(|| {
                let target = ProgressDrawTarget::stderr();
                let line = ProgressBar::with_draw_target(Some(at.trials as u64), target);
                let style = ProgressStyle::with_template("{bar:16} {percent:>3} %  {wide_msg}");
                line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                line
            });
            line.set_position((at.done + at.failed) as u64);
            line.set_message(message);
        } else if self.started.elapsed().as_secs_f64() >= self.next_line_s {
            self.next_line_s += LINE_EVERY_S;
            say(&format!("{message}\n"));
        }
        if self.interrupted.load(Ordering::Relaxed) {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        self.above(|| (self.remark)(title, summary));
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        // A sweep says at its end how many trials it kept, and passes no title.
        if !title.is_empty() {
            self.above(|| say_kept(title, folder));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
    }
}
