//! `tenter bench`: prints the nccl-tests table for a simulated fabric.

mod assumptions;
mod collectives;
mod layout;
mod letters;
mod sizes;

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;
use tenter::report::{BenchReport, BenchRow, BenchStep, TrialError, duration_s, si};
use tenter::{Interference, Plan, Run, Trial, run_budget};
use tenter_formats::read_algorithm;
use tenter_language::units::suggestion;
use tenter_results::{CollectiveRow, Severity, StopKind, Summary};
use tenter_sim::plan::Plan as Resolved;
use tenter_workload::collective::{CollectiveKind, write_program};

use crate::command::arguments::{Bench, RankOrder, TextFormat};
use crate::command::exit::ExitCode;
use crate::command::fabric::Fabric;
use crate::command::fabric_line::describe;
use crate::command::failure::{Failure, print, say, say_notes};
use crate::command::progress::Terminal;
use crate::command::source;
use crate::command::trial::{carry_out, exit_code, say_failures};
use collectives::Collective;
use layout::Layout;
use sizes::{Sized, Step};

pub(crate) use letters::Letters;
pub(crate) use sizes::parse as parse_size;

/// A benchmark that has been checked and can run.
struct Prepared {
    report: BenchReport,
    algorithm: String,
    fabric: String,
    sizes: Vec<Sized>,
    layout: Layout,
    plan: Plan,
}

pub(crate) fn bench(arguments: &Bench) -> Result<ExitCode, Failure> {
    let started_at = SystemTime::now();
    let prepared = prepare(arguments)?;
    // A missing folder is found now, not after a long simulation.
    if let Some(folder) = arguments.json.as_deref().and_then(Path::parent)
        && !folder.as_os_str().is_empty()
        && !folder.is_dir()
    {
        let folder = folder.display();
        let message = format!("-J: there is no folder {folder}; make it, or name another file");
        return Err(Failure::input(message));
    }
    say(&prepared.plan.warnings().render_as("warning"));
    let Some((trial, lacking)) = simulate(&prepared, arguments)? else {
        let rows = rows(&prepared, None);
        if arguments.format == TextFormat::Text {
            print(&format!(
                "{}{}# Nothing was sent: no size has a share for every rank, so there is no trial folder\n",
                prepared.report.header(),
                table(&prepared.report, &rows)
            ));
        }
        answer(arguments, &prepared, &rows, started_at, None)?;
        return Ok(ExitCode::SUCCESS);
    };
    let summary = trial.summary();
    let path = trial.folder().unwrap_or(Path::new(""));
    let rows = rows(&prepared, Some(summary));
    let mut text = table(&prepared.report, &rows);
    let engine = &summary.engine;
    let hops = si(engine.packet_hops as f64);
    let jumped = match engine.jumped_packet_hops {
        0 => String::new(),
        jumped => format!(", {} of them jumped over,", si(jumped as f64).trim_end()),
    };
    let hops = hops.trim_end();
    let wall = duration_s(engine.wall_s);
    let _ = writeln!(
        text,
        "# Simulated {hops} packet-hops{jumped} in {wall}, digest {}",
        engine.digest
    );
    let _ = writeln!(text, "# Trial folder: {}", path.display());
    for note in summary.notes.iter() {
        let word = match note.severity {
            Severity::Warning => "Warning",
            Severity::Note => "Note",
        };
        let _ = writeln!(text, "# {word}: {}", note.text);
    }
    if arguments.format == TextFormat::Text {
        print(&text);
    }
    let ran = Some((summary, path));
    answer(arguments, &prepared, &rows, started_at, ran)?;
    if let Some(failure) = lacking {
        return Err(failure);
    }
    // Ctrl-C is no error: the table just has fewer rows.
    if let Some(stopped) = &summary.stopped
        && summary.stopped_by != Some(StopKind::User)
    {
        say(&format!("error: {stopped}\n"));
    }
    say_failures(summary, true);
    Ok(exit_code(summary))
}

/// Checks everything that the user typed, and lays the job over the fabric.
fn prepare(arguments: &Bench) -> Result<Prepared, Failure> {
    let refused = |message: String| Failure::input(message);
    say_notes(&arguments.letters.check().map_err(refused)?);
    let collective = Collective::of_name(&arguments.collective).map_err(refused)?;
    let element_bytes = collectives::element_bytes(&arguments.datatype).map_err(refused)?;
    collectives::check_reduction(&arguments.reduction).map_err(refused)?;
    let scan = &arguments.scan;
    let step = scan.factor.map_or(Step::Bytes(scan.step), Step::Factor);
    let asked = sizes::scan(scan.min, scan.max, step).map_err(refused)?;
    check_overrides(&arguments.overrides).map_err(refused)?;
    let fabric = Fabric::find(&arguments.fabric)?;
    // The layout and the algorithm depend on the fabric, so it is resolved once without jobs and
    // again with the job.
    let alone = fabric.alone(&arguments.overrides)?;
    let algorithm = algorithm(arguments, collective, alone.resolved()).map_err(refused)?;
    let within_hosts = algorithm.tells_hosts_apart;
    let layout = Layout::of(&arguments.ranks, alone.resolved(), within_hosts).map_err(refused)?;
    let root = root(arguments, collective, layout.ranks()).map_err(refused)?;
    if algorithm.is_file && arguments.root != "0" {
        let message = "`-r` has no effect on an algorithm from a file, which has its own root";
        return Err(refused(format!("{message}; leave it out")));
    }
    let cut = |&size: &u64| sizes::cut(size, collective.share, layout.ranks(), element_bytes);
    let sizes: Vec<Sized> = asked.iter().map(cut).collect();
    let mut keys = format!(
        "name: bench-{}-{}\n",
        collective.name,
        quotable(&fabric.name)
    );
    // An algorithm from a file has its own root.
    let root_key = root.filter(|_| !algorithm.is_file);
    let more = job_keys(&algorithm, &layout, alone.resolved(), root_key);
    keys.push_str(&job(
        arguments, collective, &algorithm, &layout, &more, &sizes,
    ));
    let mut overrides = arguments.overrides.clone();
    if let Some(fidelity) = arguments.fidelity {
        overrides.push(source::fidelity(fidelity)?.to_owned());
    }
    let plan = fabric.with(&keys, &overrides, arguments.seed)?;
    Ok(Prepared {
        report: report(
            arguments,
            collective,
            &algorithm.name,
            &layout,
            root,
            plan.resolved(),
        ),
        algorithm: algorithm.name,
        fabric: fabric.name,
        sizes,
        layout,
        plan,
    })
}

/// Rejects a `--set` that changes what the table states by its flags: its rows would belong to
/// another run.
fn check_overrides(overrides: &[String]) -> Result<(), String> {
    for text in overrides {
        let path = text.split('=').next().unwrap_or_default().trim();
        let Some(rest) = path.strip_prefix("jobs") else {
            continue;
        };
        let key = rest.strip_prefix("[0].").unwrap_or_default();
        let of_run = key.strip_prefix("collectives[0].");
        let free = match (key, of_run) {
            (_, Some(key)) => !["collective", "algorithm", "size", "sizes", "root"].contains(&key),
            ("queue_pairs" | "queue_pair_scope" | "start" | "gap" | "name", _) => true,
            _ => false,
        };
        if !free {
            return Err(format!(
                "`--set {path}` changes a value that this command sets: use COLLECTIVE, --algorithm, -b, -e, -f, -i, -n, -w, -r, --nodes, -t and -g"
            ));
        }
    }
    Ok(())
}

/// The algorithm that a benchmark runs.
struct Chosen {
    /// Name that the table's header shows.
    name: String,
    /// The algorithm as the scenario's text has it.
    written: String,
    /// True if the ranks on one server must be consecutive, because the algorithm counts them.
    tells_hosts_apart: bool,
    /// True if it was read from a file.
    is_file: bool,
}

fn algorithm(
    arguments: &Bench,
    collective: &Collective,
    plan: &Resolved,
) -> Result<Chosen, String> {
    let usual = || {
        let generation = plan.scale_up.and_then(|domain| domain.generation);
        let ranks = &arguments.ranks;
        let npus = plan.scale_up.map_or(1, |domain| domain.npus_per_host);
        let has_several = ranks.has_several_nodes() && plan.topology.hosts > npus as usize;
        let of_servers = CollectiveKind::algorithm_of_servers(collective.scenario);
        let of_servers = of_servers.filter(|name| has_several || *name != "pxn");
        // NCCL's choice assumes that GPUs on one server have consecutive ranks.
        let by_hosts = ranks.order != Some(RankOrder::Rails);
        let of_servers = of_servers.filter(|_| generation.is_some() && by_hosts);
        of_servers.unwrap_or(collective.algorithm)
    };
    let given = arguments.algorithm.as_deref().unwrap_or_else(usual);
    let known: Vec<&str> = CollectiveKind::algorithms_of(collective.scenario).collect();
    if known.contains(&given) {
        let kind = CollectiveKind::parse(collective.scenario, given);
        return Ok(Chosen {
            name: given.to_owned(),
            written: given.to_owned(),
            // An algorithm with this key depends on the ranks per server.
            tells_hosts_apart: kind.is_ok_and(|kind| kind.has_key("npus_per_host")),
            is_file: false,
        });
    }
    if Path::new(given).is_file() {
        return from_file(given);
    }
    Err(format!(
        "{} has no algorithm `{given}`, nor is there a file of that name; {}",
        collective.name,
        suggestion(given, known.into_iter())
    ))
}

/// Reads an algorithm from a file, for example from MSCCL. Such algorithms assume that GPUs on one
/// server have consecutive ranks.
fn from_file(name: &str) -> Result<Chosen, String> {
    let bytes = fs::read(name).map_err(|error| format!("cannot read `{name}`: {error}"))?;
    let read =
        read_algorithm(&bytes, &run_budget()).map_err(|error| error.in_file(name).to_string())?;
    say_notes(&read.notes);
    Ok(Chosen {
        name: name.to_owned(),
        written: format!("{{programs: [\"{}\"]}}", write_program(&read.program, ';')),
        tells_hosts_apart: true,
        is_file: true,
    })
}

/// Parses the root; `None` if the collective has none.
fn root(arguments: &Bench, collective: &Collective, ranks: u32) -> Result<Option<u32>, String> {
    let given = arguments.root.as_str();
    if !collective.shown.root {
        if given == "0" {
            return Ok(None);
        }
        return Err(format!("{} has no root; leave `-r` out", collective.name));
    }
    // nccl-tests accepts both for every root in turn.
    if matches!(given, "all" | "-1") {
        return Err("`-r all`: give one root at a time, such as `-r 0`".to_owned());
    }
    match given.parse() {
        Ok(root) if root < ranks => Ok(Some(root)),
        _ => Err(format!(
            "`-r {given}` is not a rank; choose from 0 to {}",
            ranks - 1
        )),
    }
}

/// Turns a name into a plain YAML word, whatever characters the file name has.
fn quotable(name: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    name.chars().map(plain).collect()
}

/// Writes the collective's keys besides algorithm and sizes, one to a line.
fn job_keys(algorithm: &Chosen, layout: &Layout, plan: &Resolved, root: Option<u32>) -> String {
    let mut keys = String::new();
    let mut add = |key: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(keys, "        {key}: {value}");
    };
    if let Some(root) = root {
        add("root", &root);
    }
    // With a scale-up domain the fabric states these numbers itself.
    let unsaid = plan.scale_up.is_none();
    if unsaid && algorithm.tells_hosts_apart && !algorithm.is_file {
        add("npus_per_host", &layout.per_node);
        if algorithm.name == "nccl" {
            add("nics_per_host", &layout.per_node);
        }
    }
    keys
}

/// Writes the job as scenario text.
fn job(
    arguments: &Bench,
    collective: &Collective,
    algorithm: &Chosen,
    layout: &Layout,
    more: &str,
    sizes: &[Sized],
) -> String {
    let listed = |items: Vec<String>| items.join(", ");
    let hosts = listed(layout.hosts.iter().map(ToString::to_string).collect());
    // Sizes without bytes are not run, but a scenario's job must run something. The plan is then
    // only checked.
    let mut bytes: Vec<String> = sent(sizes)
        .map(|(_, sized)| format!("{}B", sized.bytes))
        .collect();
    if bytes.is_empty() {
        bytes.push("1B".to_owned());
    }
    let algorithm = &algorithm.written;
    format!(
        "jobs:\n  - name: {}\n    ranks: [{hosts}]\n    iterations: {}\n    warm_up: {}\n    \
         collectives:\n      - collective: {}\n        algorithm: {algorithm}\n{more}        \
         sizes: [{}]\n",
        collective.name,
        arguments.iterations,
        arguments.warm_up,
        collective.scenario,
        listed(bytes),
    )
}

/// Iterates over the sizes that are run, each with its row's index.
fn sent(sizes: &[Sized]) -> impl Iterator<Item = (usize, &Sized)> {
    sizes
        .iter()
        .enumerate()
        .filter(|(_, sized)| sized.bytes > 0)
}

fn report(
    arguments: &Bench,
    collective: &Collective,
    algorithm: &str,
    layout: &Layout,
    root: Option<u32>,
    plan: &Resolved,
) -> BenchReport {
    let scan = &arguments.scan;
    let shown = collective.shown;
    let mut about = vec![
        format!(
            "tenter {}, simulated: {}",
            env!("CARGO_PKG_VERSION"),
            describe(plan)
        ),
        format!(
            "Fabric {}, algorithm {algorithm}, seed {}",
            arguments.fabric, plan.seed
        ),
    ];
    about.extend(assumptions::lines(plan, layout));
    BenchReport {
        program: format!("{}_perf", collective.name),
        about,
        threads: layout.threads_per_node,
        gpus: layout.gpus,
        min_bytes: scan.min,
        max_bytes: scan.max,
        step: scan
            .factor
            .map_or(BenchStep::Bytes(scan.step), BenchStep::Factor),
        warm_up: arguments.warm_up,
        iterations: arguments.iterations,
        devices: layout.devices(plan),
        datatype: arguments.datatype.clone(),
        redop: if shown.redop {
            arguments.reduction.clone()
        } else {
            "none".to_owned()
        },
        root: root.map_or(-1, i64::from),
    }
}

/// Runs the job and writes its trial folder; prints the table's header first. Returns `None` if no
/// size has anything to send.
fn simulate(
    prepared: &Prepared,
    arguments: &Bench,
) -> Result<Option<(Trial, Option<Failure>)>, Failure> {
    if sent(&prepared.sizes).next().is_none() {
        return Ok(None);
    }
    let run = Run::new(&prepared.plan)
        .threads(arguments.threads.count)
        .force(arguments.force)
        .interference(Interference::None);
    let run = match &arguments.output {
        Some(path) => run.folder(path),
        None => run.new_folder("trials", prepared.plan.name()),
    };
    let heading = match arguments.format {
        TextFormat::Text => prepared.report.header(),
        // Standard output holds the JSON document alone.
        TextFormat::Json => String::new(),
    };
    let mut terminal = Terminal::new().heading(heading);
    Ok(Some(carry_out(run, &mut terminal)?))
}

/// Builds one row per size, up to the first size whose iterations did not all finish.
fn rows(prepared: &Prepared, summary: Option<&Summary>) -> Vec<BenchRow> {
    let job = &prepared.plan.resolved().jobs[0];
    // Warm-up iterations do not count, as in nccl-tests.
    let judged: Vec<&CollectiveRow> = summary
        .iter()
        .flat_map(|summary| &summary.jobs[0].collectives)
        .filter(|row| !row.warm_up)
        .collect();
    // Sizes without bytes have a row but no collective, so the two are counted apart.
    let mut next = 0;
    let row = |sized: &Sized| {
        if sized.bytes == 0 {
            return Some(row_of(sized, 0.0, 0.0, 0.0));
        }
        let index = next;
        next += 1;
        let iterations = judged.iter().filter(|row| row.index as usize == index);
        let done: Option<Vec<(f64, f64)>> = iterations.map(|row| time_and_moved(row)).collect();
        // A mean over fewer iterations would look like a full result.
        let done = done.filter(|done| done.len() == prepared.report.iterations as usize)?;
        let time_us: f64 = done.iter().map(|done| done.0).sum();
        let moved: f64 = done.iter().map(|done| done.1).sum();
        let algbw = if time_us > 0.0 { moved / time_us } else { 0.0 };
        let busbw = algbw * job.sequence[index].traffic.busbw_factor(job.ranks());
        Some(row_of(sized, time_us / done.len() as f64, algbw, busbw))
    };
    prepared.sizes.iter().map_while(row).collect()
}

/// Returns an iteration's time in µs, and the data that its algorithm bandwidth counts, in kB. That
/// is less than the size if frames were lost and not sent again.
fn time_and_moved(row: &CollectiveRow) -> Option<(f64, f64)> {
    let time_us = row.completion_time?.as_ns() / 1e3;
    Some((time_us, row.algbw_gbytes_per_s? * time_us))
}

fn row_of(sized: &Sized, time_us: f64, algbw: f64, busbw: f64) -> BenchRow {
    BenchRow {
        size_bytes: sized.bytes,
        count: sized.count,
        time_us,
        algbw,
        busbw,
    }
}

/// Formats the rows and the lines below them.
fn table(report: &BenchReport, rows: &[BenchRow]) -> String {
    let mut text: String = rows.iter().map(|row| report.row(row)).collect();
    text.push_str(&report.footer(rows));
    text
}

/// Prints or writes the JSON if the user asked for it, and says where it went.
fn answer(
    arguments: &Bench,
    prepared: &Prepared,
    rows: &[BenchRow],
    started: SystemTime,
    trial: Option<(&Summary, &Path)>,
) -> Result<(), Failure> {
    let typed = typed();
    let more = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "fabric": prepared.fabric,
        "algorithm": prepared.algorithm,
        "seed": prepared.plan.resolved().seed,
        "assumptions": assumptions::json(prepared.plan.resolved(), &prepared.layout),
        "digest": trial.map(|(summary, _)| &summary.engine.digest),
        "trial": trial.map(|(_, path)| path.display().to_string()),
    });
    let text = prepared.report.json(rows, &typed, started, &more);
    if arguments.format == TextFormat::Json {
        print(&format!("{}\n", text.trim_end()));
    }
    let Some(asked) = &arguments.json else {
        return Ok(());
    };
    let path = write_beside(asked, &text).map_err(|source| {
        let (action, path) = ("write", asked.to_owned());
        Failure::of_trial(&TrialError::Io {
            action,
            path,
            source,
        })
    })?;
    let written = format!("# JSON: {}\n", path.display());
    match arguments.format {
        TextFormat::Text => print(&written),
        // Standard output holds the JSON document alone.
        TextFormat::Json => say(&written),
    }
    Ok(())
}

/// Writes a new file. If the name is taken, `.0`, `.1`, … are appended until it is free, as
/// nccl-tests does.
fn write_beside(asked: &Path, text: &str) -> std::io::Result<PathBuf> {
    let mut path = asked.to_owned();
    for number in 0_u64.. {
        // `create_new` makes the test and the creation one step, so that no file is overwritten.
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        match created {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                break;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let mut name = asked.as_os_str().to_owned();
                name.push(format!(".{number}"));
                path = PathBuf::from(name);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

/// Returns the command line as typed. Bytes that are not UTF-8 are replaced.
fn typed() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}
