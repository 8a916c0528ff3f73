//! The room's entry: text and overrides become a plan, or a list with all their problems.

use crate::resolve::files::{self, Files, MAX_SOURCE_BYTES};
use crate::resolve::findings::{Findings, Found};
use crate::resolve::graphs::Graphs;
use crate::resolve::scenario::Scenario;
use crate::resolve::{algorithm_files, assemble, copies, equipment, given};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tenter_formats::{Content, graph_file};
use tenter_language::config::Written;
use tenter_language::notation::diagnostics::{Diagnostics, Problems, Source, quote};
use tenter_language::notation::tree::{Node, Value};
use tenter_language::notation::{emit, overrides, toml, yaml};
use tenter_language::units::Budget;
use tenter_sim::plan::Plan;
use tenter_workload::graph::Graph;

/// Longest override that is accepted, in bytes.
const MAX_OVERRIDE_BYTES: usize = 64 << 10;

/// Notation in which a scenario is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2, which includes JSON as a part.
    Yaml,
    /// JSON, which the YAML parser reads.
    Json,
    /// TOML in its current version 1.1.
    Toml,
}

impl Format {
    /// Chooses by a file name's ending: `.toml` is TOML, `.json` JSON, everything else YAML.
    pub fn of_name(name: &str) -> Format {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if ending.eq_ignore_ascii_case("toml") {
            Format::Toml
        } else if ending.eq_ignore_ascii_case("json") {
            Format::Json
        } else {
            Format::Yaml
        }
    }
}

/// A scenario that has no errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Everything that the simulation takes.
    pub plan: Plan,
    /// The scenario as YAML, with overrides applied and every default filled in. Read again beside
    /// the files of [`Loaded::files_beside`], it gives the same plan.
    pub effective: String,
    /// Files with lists that are too long for it; it names them.
    lists: Vec<(String, Vec<u8>)>,
    /// Operation graphs in files that it names.
    graphs: Vec<(String, Arc<Graph>)>,
    /// Paths of the keys that the file or overrides have, in their order and as overrides write
    /// them (`jobs[0].gap`). For a typed scenario, keys that differ from their defaults. Parts of
    /// an explicit fabric are left out, and so is equipment, of which a scenario need not use all.
    pub given: Vec<String>,
    /// Oddities that stop nothing; may be empty.
    pub warnings: Diagnostics,
}

impl Loaded {
    /// Returns the files that [`effective`](Loaded::effective) names: long lists and operation
    /// graphs.
    pub(crate) fn files_beside(&self) -> impl Iterator<Item = FileBeside<'_>> {
        let lists = self.lists.iter().map(|(name, bytes)| FileBeside {
            name,
            holds: Holds::Bytes(bytes),
        });
        let graphs = self.graphs.iter().map(|(name, graph)| FileBeside {
            name,
            holds: Holds::Graph(graph),
        });
        lists.chain(graphs)
    }

    /// Returns the memory that these files take, in bytes; graphs are about as long when written.
    pub(crate) fn bytes_beside(&self) -> u64 {
        let lists = self.lists.iter().map(|(_, bytes)| bytes.len() as u64);
        let graphs = self.graphs.iter().map(|(_, graph)| graph.size_bytes());
        lists.chain(graphs).sum()
    }

    /// Returns these files with their bytes. Each call writes out the graphs, which may be long.
    pub fn beside(&self) -> Vec<(String, Vec<u8>)> {
        let files = self.files_beside();
        files
            .map(|file| (file.name.to_owned(), file.bytes()))
            .collect()
    }
}

/// A file that an effective configuration names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileBeside<'l> {
    /// File name; the file must be in the configuration's folder.
    pub name: &'l str,
    holds: Holds<'l>,
}

#[derive(Clone, Copy, Debug)]
enum Holds<'l> {
    Bytes(&'l [u8]),
    Graph(&'l Graph),
}

impl FileBeside<'_> {
    /// Writes the contents, which may be long.
    ///
    /// # Errors
    /// The writer's error.
    pub(crate) fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        match self.holds {
            Holds::Bytes(bytes) => to.write_all(bytes),
            Holds::Graph(graph) => graph_file::write_to(graph, to),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A `Vec` takes any bytes, so this cannot fail.
        let _ = self.write_to(&mut bytes);
        bytes
    }
}

/// Keys that a command lays over a scenario, such as a benchmark's jobs over any fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlay<'a> {
    /// The text's name in messages.
    pub source_name: &'a str,
    /// A mapping in YAML; each of its keys replaces the scenario's as a whole.
    pub text: &'a str,
}

/// Decodes a file's bytes as text.
///
/// # Errors
/// More than [`MAX_SOURCE_BYTES`], or bytes that are not UTF-8.
pub fn text_of<'b>(bytes: &'b [u8], source_name: &str) -> Result<&'b str, Diagnostics> {
    check_length(bytes.len(), source_name)?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("the text is not UTF-8: byte {at} does not belong to any character");
        Diagnostics::of_input(source_name, message, "save the file with UTF-8 encoding")
    })?;
    // Some editors put a byte order mark in front of UTF-8.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reads the program's own scenario, or a test's, and resolves it into a plan without a budget.
///
/// Messages call the text `source_name`. Each override is `PATH=VALUE`; they apply in order. `seed`
/// replaces the scenario's seed.
///
/// # Errors
/// All problems in the text and the overrides together.
pub fn load(
    text: &str,
    source_name: &str,
    format: Format,
    overrides: &[String],
    seed: Option<u64>,
) -> Result<Loaded, Diagnostics> {
    // The caller has written the text; texts of others come with a budget.
    let budget = Budget::unlimited();
    load_beside(
        text,
        source_name,
        format,
        overrides,
        seed,
        &no_files,
        &budget,
    )
}

fn no_files(_: &str) -> Result<Content<'static>, String> {
    Err("write what it holds into the scenario".to_owned())
}

/// Does the same as [`load`] within a budget; `files` opens the files that the scenario names.
///
/// # Errors
/// All problems in the text, the overrides and the files together, or the first need beyond the
/// budget.
pub fn load_beside(
    text: &str,
    source_name: &str,
    format: Format,
    overrides: &[String],
    seed: Option<u64>,
    files: &Files<'_>,
    budget: &Budget,
) -> Result<Loaded, Diagnostics> {
    let input = Input::Text(text, format);
    load_overlaid(input, source_name, &[], overrides, seed, files, budget)
}

/// Form in which a scenario is given.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Text in one of the notations.
    Text(&'a str, Format),
    /// A typed value, however large; problems point into the YAML that it is written as.
    Typed(&'a Scenario),
}

/// Does the same as [`load_beside`] for any [`Input`]. Keys in `overlay` replace the scenario's,
/// later ones replace earlier ones, and overrides come last. Everything that is read or built is
/// first taken from `budget`.
///
/// # Errors
/// All problems in the scenario, the overlays, the overrides and the files together.
pub fn load_overlaid(
    input: Input<'_>,
    source_name: &str,
    overlay: &[Overlay<'_>],
    overrides: &[String],
    seed: Option<u64>,
    files: &Files<'_>,
    budget: &Budget,
) -> Result<Loaded, Diagnostics> {
    let change = &mut |_: &mut Node| {};
    let given = Given {
        seed,
        files,
        budget,
    };
    load_changed(input, source_name, overlay, overrides, given, change)
}

/// Does the same as [`load`] without the key or list item at `path`, one of [`Loaded::given`]: the
/// difference shows what the setting does. Returns `None` if there is nothing at that path.
///
/// # Errors
/// All problems in the text, the overrides and the rest together.
pub fn load_without(
    text: &str,
    source_name: &str,
    overrides: &[String],
    path: &str,
    budget: &Budget,
) -> Option<Result<Loaded, Diagnostics>> {
    let input = Input::Text(text, Format::Yaml);
    let mut found = false;
    let mut leave_out = |root: &mut Node| found = given::remove(root, path);
    let change = &mut leave_out;
    let given = Given {
        seed: None,
        files: &no_files,
        budget,
    };
    let loaded = load_changed(input, source_name, &[], overrides, given, change);
    // A text with errors may not have reached the removal; its problems are the answer then.
    (found || loaded.is_err()).then_some(loaded)
}

/// Inputs beside a scenario's texts.
#[derive(Clone, Copy)]
struct Given<'a> {
    seed: Option<u64>,
    files: &'a Files<'a>,
    budget: &'a Budget,
}

fn load_changed(
    input: Input<'_>,
    source_name: &str,
    overlay: &[Overlay<'_>],
    overrides: &[String],
    beside: Given<'_>,
    change: &mut dyn FnMut(&mut Node),
) -> Result<Loaded, Diagnostics> {
    let Given {
        seed,
        files,
        budget,
    } = beside;
    let found = Found::within(budget);
    let findings = found.findings();
    let (root, sources) = overlaid(input, source_name, overlay, overrides, files, findings)?;
    let Some(mut root) = root else {
        return Err(found.problems.into_diagnostics(sources));
    };
    change(&mut root);
    // Paths come before the contents of files, which the user has not written in the scenario.
    let given = match input {
        Input::Text(..) => given::paths(&root, 1 + overlay.len() + overrides.len()),
        Input::Typed(_) => given::unusual_paths(&root),
    };
    files::write_out(&mut root, files, findings);
    algorithm_files::write_out(&mut root, files, findings);
    let graphs = Graphs::new(files, findings);
    // From here on problems find their places by paths in this tree.
    let written = Rc::new(root.clone());
    found.problems.know(&written);
    found.warnings.know(&written);
    let (plan, mut effective) = assemble::resolve(root, seed, &graphs, findings);
    match plan {
        Some(plan) => {
            let mut lists = files::take_out(&mut effective);
            algorithm_files::take_out(&mut effective, &mut lists);
            let graphs = graphs.take_out(&mut effective);
            let effective = format!("{}{}", heading(&plan), emit::yaml(&mut effective));
            warn_of_length(effective.len(), &found.warnings);
            Ok(Loaded {
                plan,
                effective,
                lists,
                graphs,
                given,
                warnings: found.warnings.into_diagnostics(sources),
            })
        }
        None => Err(found.problems.into_diagnostics(sources)),
    }
}

/// Warns of a configuration that is too long to be read again.
fn warn_of_length(length: usize, warnings: &Problems) {
    if length > MAX_SOURCE_BYTES {
        let message = format!(
            "the effective configuration has {length} bytes, and a scenario at most {MAX_SOURCE_BYTES}: `config.yaml` of a trial cannot be run again"
        );
        let help = "keep the scenario beside its trials, or describe the fabric by `kind`";
        warnings.push(None, message, Some(help.to_owned()));
    }
}

/// Reads any [`Input`] into the typed scenario, with overlays, overrides and files as in
/// [`load_overlaid`]. Defaults are filled in; sections are not checked against each other.
///
/// # Errors
/// All problems in single sections together.
pub fn load_typed(
    input: Input<'_>,
    source_name: &str,
    overlay: &[Overlay<'_>],
    overrides: &[String],
    files: &Files<'_>,
    budget: &Budget,
) -> Result<Scenario, Diagnostics> {
    let found = Found::within(budget);
    let findings = found.findings();
    let (root, sources) = overlaid(input, source_name, overlay, overrides, files, findings)?;
    let read = root.and_then(|mut root| {
        files::write_out(&mut root, files, findings);
        algorithm_files::write_out(&mut root, files, findings);
        typed(root, &found.problems)
    });
    read.ok_or_else(|| found.problems.into_diagnostics(sources))
}

/// Paths of a scenario's keys, as overrides write them, by their origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPaths {
    /// Keys that the scenario itself has.
    pub own: Vec<String>,
    /// Keys that its equipment adds.
    pub of_equipment: Vec<String>,
}

/// Tells a scenario's keys from its equipment's, which `files` opens as in [`load_beside`].
///
/// # Errors
/// All problems in the notation of these texts together.
pub fn written_paths(
    text: &str,
    source_name: &str,
    format: Format,
    files: &Files<'_>,
    budget: &Budget,
) -> Result<WrittenPaths, Diagnostics> {
    let found = Found::within(budget);
    let findings = found.findings();
    let mut sources = vec![source(text, source_name)?];
    let mut written = WrittenPaths::default();
    if let Some(mut root) = parse(text, format, &found.problems) {
        written.own = given::paths(&root, 1);
        equipment::fill_in(&mut root, files, findings, &mut sources);
        let all = given::paths(&root, sources.len()).into_iter();
        written.of_equipment = all.filter(|path| !written.own.contains(path)).collect();
    }
    if found.problems.is_empty() {
        return Ok(written);
    }
    Err(found.problems.into_diagnostics(sources))
}

/// Reads the typed scenario from values.
///
/// # Errors
/// All problems in single sections together.
pub(crate) fn typed_of(values: Written) -> Result<Scenario, Diagnostics> {
    let problems = Problems::default();
    let mut root = Node::written(values);
    // Parsers refuse duplicate keys of texts; values from serde have passed none.
    for path in root.take_duplicates() {
        let message = format!("the key {} is given twice", quote(&path));
        problems.push(None, message, Some("keep one of them".to_owned()));
    }
    copies::write_out(&mut root, &problems);
    let read = typed(root, &problems);
    read.ok_or_else(|| problems.into_diagnostics(Vec::new()))
}

fn typed(root: Node, problems: &Problems) -> Option<Scenario> {
    problems.know(&Rc::new(root.clone()));
    assemble::typed(root, problems)
}

/// Returns a scenario's tree with equipment, overlays and overrides, and the texts that problems
/// point into; no tree if a text is no mapping.
fn overlaid(
    input: Input<'_>,
    source_name: &str,
    overlay: &[Overlay<'_>],
    overrides: &[String],
    files: &Files<'_>,
    findings: Findings<'_>,
) -> Result<(Option<Node>, Vec<Source>), Diagnostics> {
    let problems = findings.problems;
    let (root, mut sources) = match input {
        Input::Text(text, format) => {
            check_length(text.len(), source_name)?;
            let sources = sources(text.to_owned(), source_name, overlay, overrides)?;
            (parse(text, format, problems), sources)
        }
        Input::Typed(scenario) => {
            let mut root = scenario.tree();
            let text = emit::yaml(&mut root);
            (Some(root), sources(text, source_name, overlay, overrides)?)
        }
    };
    let Some(mut root) = root else {
        return Ok((None, sources));
    };
    if !root.is_map() {
        report_no_scenario(&root, problems);
        return Ok((None, sources));
    }
    if report_sweep(&root, problems) {
        return Ok((None, sources));
    }
    for (overlay, source) in overlay.iter().zip(1..) {
        lay(&mut root, overlay.text, source, problems);
    }
    let placed = || overrides.iter().zip(overlay.len() + 1..);
    // The file must be known before its keys are filled in, and other overrides may change them.
    for (text, source) in placed().filter(|(text, _)| equipment::is_named_by(text)) {
        overrides::apply(&mut root, text, source, problems);
    }
    if let Input::Typed(_) = input {
        equipment::refuse(&mut root, problems);
    }
    equipment::fill_in(&mut root, files, findings, &mut sources);
    for (text, source) in placed().filter(|(text, _)| !equipment::is_named_by(text)) {
        overrides::apply(&mut root, text, source, problems);
    }
    copies::write_out(&mut root, problems);
    Ok((Some(root), sources))
}

/// Parses a text into a tree.
pub(crate) fn parse(text: &str, format: Format, problems: &Problems) -> Option<Node> {
    match format {
        Format::Yaml => yaml::parse(text, 0, 0, problems),
        // JSON is a part of YAML 1.2, but messages should name JSON.
        Format::Json => yaml::parse_as("JSON", text, 0, 0, problems),
        Format::Toml => toml::parse(text, problems),
    }
}

/// Replaces keys in the scenario by those in a text.
fn lay(root: &mut Node, text: &str, source: usize, problems: &Problems) {
    let Some(node) = yaml::parse(text, source, 0, problems) else {
        return;
    };
    let what = node.describe();
    if let Value::Map(entries) = node.value {
        for entry in entries {
            // Replaced as a whole: a mixture of both values would mean neither.
            root.remove(&[&entry.key]);
            root.add(entry);
        }
    } else {
        let message = format!("keys of a scenario are a mapping, not {what}");
        let help = "write `KEY: VALUE`, for instance `limits: {time: 1ms}`";
        problems.push(node.at, message, Some(help.to_owned()));
    }
}

/// Lists the texts that problems point into: the scenario, the overlays, each override.
fn sources(
    text: String,
    source_name: &str,
    overlay: &[Overlay<'_>],
    overrides: &[String],
) -> Result<Vec<Source>, Diagnostics> {
    let mut sources = vec![Source {
        name: source_name.to_owned(),
        text,
    }];
    for overlay in overlay {
        sources.push(source(overlay.text, overlay.source_name)?);
    }
    for change in overrides {
        if change.len() > MAX_OVERRIDE_BYTES {
            let message = format!("an override is longer than {MAX_OVERRIDE_BYTES} bytes");
            let help = "put it into the file";
            return Err(Diagnostics::of_input("--set", message, help));
        }
        sources.push(Source {
            name: "--set".to_owned(),
            text: change.clone(),
        });
    }
    Ok(sources)
}

/// Makes a source from a text, so that problems can point into it.
///
/// # Errors
/// A text that is too long.
pub(crate) fn source(text: &str, name: &str) -> Result<Source, Diagnostics> {
    check_length(text.len(), name)?;
    Ok(Source {
        name: name.to_owned(),
        text: text.to_owned(),
    })
}

/// Reports a text that is no mapping, instead of each missing key.
fn report_no_scenario(root: &Node, problems: &Problems) {
    let message = if root.is_null() {
        "the scenario is empty".to_owned()
    } else {
        format!("a scenario is a mapping, not {}", root.describe())
    };
    let help = "write `fabric:` and `jobs:`; `scenarios/quickstart.yaml` is a good first one";
    problems.push(root.at, message, Some(help.to_owned()));
}

/// Reports a sweep in place of a scenario, instead of each of its keys; returns true if it is one.
fn report_sweep(root: &Node, problems: &Problems) -> bool {
    let named = root.entry("scenario");
    let Some(named) = named.filter(|_| root.entry("fabric").is_none()) else {
        return false;
    };
    let message = "this file describes a sweep, and a scenario is needed";
    let help = "run it with `tenter sweep`, or give the scenario that it names";
    problems.push(named.key_at, message.to_owned(), Some(help.to_owned()));
    true
}

/// Summarises the configuration in YAML comments.
fn heading(plan: &Plan) -> String {
    let fabric = &plan.topology;
    let ranks: usize = plan.jobs.iter().map(|job| job.hosts.len()).sum();
    let counted = |count: usize, one: &str, many: &str| {
        let noun = if count == 1 { one } else { many };
        format!("{count} {noun}")
    };
    format!(
        "# The effective configuration: overrides applied, defaults filled in. It is a scenario itself.\n\
         # Derived: {}, {}, {}; {} with {}; frames of up to {} bytes.\n",
        counted(fabric.hosts, "host", "hosts"),
        counted(fabric.switches(), "switch", "switches"),
        counted(fabric.cables.len(), "cable", "cables"),
        counted(plan.jobs.len(), "job", "jobs"),
        counted(ranks, "rank", "ranks"),
        u64::from(plan.nic.longest_frame_bytes()),
    )
}

fn check_length(length: usize, source_name: &str) -> Result<(), Diagnostics> {
    if length <= MAX_SOURCE_BYTES {
        return Ok(());
    }
    let message = format!("the text has more than {MAX_SOURCE_BYTES} bytes");
    Err(Diagnostics::of_input(
        source_name,
        message,
        "a scenario is a few hundred lines",
    ))
}
