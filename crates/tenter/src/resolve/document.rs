//! Documents beside scenarios, such as sweep descriptions: read by a component's keys, with the
//! same notations and messages.

use std::rc::Rc;

use tenter_language::config::{Component, KeyTable, Written};
use tenter_language::notation::decode::Section;
use tenter_language::notation::diagnostics::{Diagnostics, Problems};
use tenter_language::notation::overrides;
use tenter_language::notation::tree::Node;
use tenter_language::units::Budget;
use tenter_workload::spec::WorkloadKind;

use crate::resolve::algorithm_files;
use crate::resolve::files::Files;
use crate::resolve::findings::Findings;
use crate::resolve::jobs;
use crate::resolve::load::{Format, parse, source};

/// Reads a document whose component is `T`.
///
/// # Errors
/// All problems in the text together.
pub fn read_document<T: Component>(
    text: &str,
    source_name: &str,
    format: Format,
) -> Result<T, Diagnostics> {
    let sources = vec![source(text, source_name)?];
    let problems = Problems::default();
    let read = parse(text, format, &problems).and_then(|root| {
        problems.know(&Rc::new(root.clone()));
        if report_scenario(&root, &T::TABLE, &problems) {
            return None;
        }
        let mut section = Section::root(root, &T::TABLE, &problems);
        let read = T::read(&mut section);
        section.finish();
        read
    });
    match read.filter(|_| problems.is_empty()) {
        Some(read) => Ok(read),
        None => Err(problems.into_diagnostics(sources)),
    }
}

/// Reports a scenario in place of a document that names one, instead of each of its keys; returns
/// true if it is one.
fn report_scenario(root: &Node, table: &KeyTable, problems: &Problems) -> bool {
    let has = |key: &str| table.keys.iter().any(|of| of.name == key);
    let fabric = root.entry("fabric");
    let is_other = root.entry("scenario").is_none() && has("scenario") && !has("fabric");
    let Some(fabric) = fabric.filter(|_| is_other) else {
        return false;
    };
    let needed = table.title.replacen("the ", "a ", 1);
    let message = format!("this file is a scenario, and {needed} is needed");
    let help = "run it with `tenter run`, or name it in `scenario` of such a file";
    problems.push(fabric.key_at, message, Some(help.to_owned()));
    true
}

/// Reads a `kind` workload from `file`, with `settings` in the form `PATH=VALUE`. Returns it with
/// notes, a sentence each, on the algorithm files that settings name.
///
/// # Errors
/// All problems in the settings and those files together.
pub fn read_workload(
    kind: &str,
    file: &str,
    settings: &[String],
    files: &Files<'_>,
    budget: &Budget,
) -> Result<(WorkloadKind, Vec<String>), Diagnostics> {
    // Kind and file come from the command, which has no text to point into.
    let mut sources = vec![source("", "the import")?];
    for setting in settings {
        sources.push(source(setting, "--set")?);
    }
    let (problems, warnings) = (Problems::default(), Problems::default());
    let mut root = Node::written(Written::mapping(vec![
        ("kind", Written::word(kind)),
        ("file", Written::Text(file.to_owned())),
    ]));
    for (place, setting) in (1..).zip(settings) {
        overrides::apply(&mut root, setting, place, &problems);
    }
    let findings = Findings {
        problems: &problems,
        warnings: &warnings,
        budget,
    };
    // No scenario is at hand that could name the NPUs of hosts.
    jobs::fill_algorithms(&mut root, false);
    algorithm_files::write_out_workload(&mut root, files, findings);
    problems.know(&Rc::new(root.clone()));
    let mut section = Section::root(root, &WorkloadKind::TABLE, &problems);
    let read = WorkloadKind::read(&mut section);
    section.finish();
    match read.filter(|_| problems.is_empty()) {
        Some(read) => {
            let warnings = warnings.into_diagnostics(sources);
            let notes = warnings.problems().iter().map(|of| of.message.clone());
            Ok((read, notes.collect()))
        }
        None => Err(problems.into_diagnostics(sources)),
    }
}
