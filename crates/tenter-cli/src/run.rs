//! `tenter run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, UNIX_EPOCH};

use tenter_explain::{idle_settings, memory_bytes};
use tenter_record::{Names, StopKind, Summary};
use tenter_report::{
    RunIdentity, TRACE_FILE, TrialData, TrialError, TrialFolder, TrialReport,
    available_memory_bytes, binary_size, claim_free_folder, finished_trial, peak_rss_bytes,
    write_trace,
};
use tenter_scenario::{Loaded, Plan};
use tenter_sim::{Driver, Interference, Outcome, Simulation, SimulationError};
use tenter_units::Rate;

use crate::arguments::{OutputFormat, Run};
use crate::failure::{Failure, print, say};
use crate::progress::{Watched, on_interrupt};
use crate::{interference, seeds, source, threads, watch};

/// The exit code of a run that was interrupted, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;
/// That of a run in which some job did not come to its end: a QP gave up, or time was up.
pub(crate) const NOT_COMPLETE: u8 = 1;

pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    if let Some(count) = arguments.seeds {
        return seeds::run(arguments, count);
    }
    let loaded = source::read(&arguments.scenario)?;
    let options = threads::options(arguments.threads);
    check_memory(&loaded.plan, arguments.force)?;
    let started = Instant::now();
    match &arguments.watch {
        None if loaded.plan.queue_changes.is_some() => {
            let simulation = Simulation::recording(&loaded.plan, options);
            let simulation = simulation.map_err(|error| unrunnable(&error))?;
            conduct(simulation, &loaded, arguments, started, |_| ())
        }
        None => {
            let simulation =
                Simulation::new(&loaded.plan, options).map_err(|error| unrunnable(&error))?;
            conduct(simulation, &loaded, arguments, started, |_| ())
        }
        Some(_) if loaded.plan.queue_changes.is_some() => Err(Failure::input(
            "--watch and `observe.queue_changes` do not go together; leave out one of them"
                .to_owned(),
        )),
        Some(target) => {
            let target = watch::parse(target, &loaded.plan)?;
            let simulation = Simulation::watched(
                &loaded.plan,
                options,
                |context| target.resolve(context),
                arguments.watch_limit,
            );
            let simulation = simulation.map_err(|error| unrunnable(&error))?;
            conduct(simulation, &loaded, arguments, started, |driver| {
                let events = watch::text(driver, arguments.watch_limit);
                // What a program reads on standard output is one document.
                match arguments.format {
                    OutputFormat::Table => print(&events),
                    OutputFormat::Json | OutputFormat::Csv => say(&events),
                }
            })
        }
    }
}

/// Refuses a run that would take more memory than there is: the system would end it halfway, or
/// something else in its place.
pub(crate) fn check_memory(plan: &Plan, force: bool) -> Result<(), Failure> {
    let needed = memory_bytes(plan).map_err(|error| Failure::input(error.to_string()))?;
    let remedy = "use fewer ranks, sizes or iterations, or a machine with more memory; `tenter explain` says what the memory is for, and `--force` runs it all the same";
    refuse_beyond_memory("run", needed, force, remedy)
}

/// Refuses what would take more memory than there is, unless it is forced.
pub(crate) fn refuse_beyond_memory(
    what: &str,
    needed: u64,
    force: bool,
    remedy: &str,
) -> Result<(), Failure> {
    match available_memory_bytes() {
        Some(available) if needed > available && !force => Err(Failure::input(format!(
            "the {what} would take about {} of memory, and {} are available: {remedy}",
            binary_size(needed),
            binary_size(available),
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn unrunnable(error: &SimulationError) -> Failure {
    Failure::input(error.to_string())
}

/// A trial that has come to its end, or was stopped.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// Whether the last of its files could be written.
    pub(crate) written: Result<(), TrialError>,
    /// What a command that runs nothing else ends with.
    pub(crate) exit: ExitCode,
}

/// What a trial is carried out with.
pub(crate) struct Circumstances<'a> {
    pub(crate) loaded: &'a Loaded,
    /// Its folder.
    pub(crate) path: &'a Path,
    /// Whether the folder was made by this program a moment ago, and is nobody's trial.
    pub(crate) is_claimed: bool,
    /// What is said before its progress.
    pub(crate) title: &'a str,
    /// How long it took to read and build.
    pub(crate) set_up_s: f64,
    /// What else is run to say what jobs cost each other.
    pub(crate) interference: Interference,
    pub(crate) threads: u16,
    pub(crate) interrupted: Arc<AtomicBool>,
}

/// Runs a simulation that has been built and writes its folder.
pub(crate) fn carry_out<D: Driver>(
    simulation: &mut Simulation<D>,
    circumstances: &Circumstances<'_>,
) -> Result<Ended, Failure> {
    let Circumstances { loaded, path, .. } = *circumstances;
    let notes = idle_settings(&loaded.plan, &loaded.given).map_err(|error| {
        if circumstances.is_claimed {
            discard(path);
        }
        Failure::input(error.to_string())
    })?;
    let names = names(&loaded.plan);
    let folder = TrialFolder::create(path, &loaded.effective, names, identity(&loaded.plan));
    let mut folder = folder.map_err(|error| {
        if circumstances.is_claimed {
            discard(path);
        }
        Failure::of_trial(&error)
    })?;
    let kept = folder.keep_beside(&loaded.beside);
    kept.map_err(|error| Failure::other(error.to_string()))?;
    let interrupted = Arc::clone(&circumstances.interrupted);
    let running = Instant::now();
    let mut watched = Watched::new(&mut folder, &loaded.plan, Arc::clone(&interrupted))
        .titled(circumstances.title);
    let outcome = simulation.run(&mut watched);
    drop(watched);
    let mut outcome = outcome.map_err(|error| Failure::other(error.to_string()))?;
    outcome.summary.notes = notes.into_iter().map(|idle| idle.note).collect();
    let engine = &mut outcome.summary.engine;
    engine.set_up_s = circumstances.set_up_s;
    engine.wall_s = running.elapsed().as_secs_f64();
    engine.peak_rss_bytes = peak_rss_bytes();
    interference::measure(circumstances, &mut outcome)?;
    let written = folder.finish(&outcome.summary, &outcome.counts);
    let exit = if outcome.summary.complete {
        ExitCode::SUCCESS
    } else if interrupted.load(Ordering::Relaxed) {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::from(NOT_COMPLETE)
    };
    Ok(Ended {
        outcome,
        written,
        exit,
    })
}

/// Writes the trace of a trial whose folder is complete.
fn trace(path: &Path) -> Result<(), TrialError> {
    let limits = write_trace(&TrialData::read(path)?, path)?;
    if limits.chunks_left_out > 0 {
        say(&format!(
            "note: {TRACE_FILE} is without {} chunks: it has the first 200,000, and of a rank only so many at a time\n",
            limits.chunks_left_out
        ));
    }
    if limits.ports_left_out > 0 {
        say(&format!(
            "note: {TRACE_FILE} has the deepest queues, without those of {} ports; a longer observe.sample_interval makes room\n",
            limits.ports_left_out
        ));
    }
    Ok(())
}

/// Runs a simulation that has been built, writes its folder and prints its summary.
fn conduct<D: Driver>(
    mut simulation: Simulation<D>,
    loaded: &Loaded,
    arguments: &Run,
    started: Instant,
    after: impl Fn(&D),
) -> Result<ExitCode, Failure> {
    let path = folder_path(arguments, &loaded.plan)?;
    let circumstances = Circumstances {
        loaded,
        path: &path,
        is_claimed: arguments.output.is_none(),
        title: "",
        set_up_s: started.elapsed().as_secs_f64(),
        interference: interference::asked(arguments, &loaded.plan),
        threads: arguments.threads,
        interrupted: on_interrupt(),
    };
    let mut ended = carry_out(&mut simulation, &circumstances)?;
    after(simulation.driver());
    if arguments.perfetto && ended.written.is_ok() {
        ended.written = trace(&path);
    }
    let summary = &ended.outcome.summary;
    let fabric = describe(&loaded.plan);
    let report = TrialReport {
        summary,
        fabric: &fabric,
        folder: Some(&path),
        ideal: arguments.ideal,
    };
    print(&report.render(match arguments.format {
        OutputFormat::Table => tenter_report::Format::Table,
        OutputFormat::Json => tenter_report::Format::Json,
        OutputFormat::Csv => tenter_report::Format::Csv,
    }));
    ended
        .written
        .map_err(|error| Failure::other(error.to_string()))?;
    // The table has given the reason already.
    say_failures(summary, arguments.format != OutputFormat::Table);
    Ok(ended.exit)
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

/// The folder asked for, or a new one under `trials/`.
pub(crate) fn folder_path(arguments: &Run, plan: &Plan) -> Result<PathBuf, Failure> {
    if let Some(path) = &arguments.output {
        return Ok(path.clone());
    }
    let name = if plan.name.is_empty() {
        arguments
            .scenario
            .file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    } else {
        plan.name.clone()
    };
    claim_free_folder(Path::new("trials"), &name).map_err(|error| Failure::of_trial(&error))
}

/// Removes a folder of this program's own under `trials/`, and `trials` unless it holds others.
fn discard(path: &std::path::Path) {
    let _ = std::fs::remove_dir_all(path);
    if let Some(parent) = path.parent() {
        let _ = std::fs::remove_dir(parent);
    }
}

pub(crate) fn names(plan: &Plan) -> Names {
    Names {
        jobs: plan.jobs.iter().map(|job| job.name.clone()).collect(),
        nodes: plan
            .topology
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect(),
    }
}

pub(crate) fn identity(plan: &Plan) -> RunIdentity {
    RunIdentity {
        scenario: plan.name.clone(),
        seed: plan.seed,
        commit: option_env!("TENTER_COMMIT").map(str::to_owned),
        command: typed(),
        program: program(),
    }
}

/// The size of this program's own file and when it was written: two builds of one version may
/// answer differently.
fn program() -> Option<String> {
    let file = std::env::current_exe().ok()?.metadata().ok()?;
    let written = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns", file.len(), written.as_nanos()))
}

/// The trial that a folder holds, if it has come to its end with this very configuration and
/// program: to run it again would give the same.
pub(crate) fn finished(path: &Path, loaded: &Loaded) -> Option<Summary> {
    let identity = identity(&loaded.plan);
    identity.program.as_ref()?;
    finished_trial(path, &loaded.effective, &loaded.beside, &identity)
}

/// Tells that such a trial is not run again.
pub(crate) fn say_kept(title: &str, path: &Path) {
    say(&format!(
        "note: {title} is finished in {} with the same configuration and program, and is kept\n",
        path.display()
    ));
}

/// The command as it was typed; bytes that are not UTF-8 show as such.
pub(crate) fn typed() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// The fabric in one line.
pub(crate) fn describe(plan: &Plan) -> String {
    let topology = &plan.topology;
    let mut rates: Vec<_> = topology.cables.iter().map(|cable| cable.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let gbps = |rate: &Rate| format!("{} Gb/s", rate.bits_per_second() as f64 / 1e9);
    let rates: Vec<String> = rates.iter().map(gbps).collect();
    format!(
        "{}, {} at {}",
        plan.topology_spec.name(),
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
pub(crate) fn parts(plan: &Plan) -> String {
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
