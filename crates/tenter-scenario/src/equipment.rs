//! `equipment`: a file with the switches, the NICs and the endpoints that several scenarios share.
//! It has the keys that a scenario leaves out.

use std::collections::HashMap;

use tenter_notation::diagnostics::{Location, Problems, Source, quote};
use tenter_notation::tree::{Entry, Node, Value};
use tenter_notation::yaml;

use crate::files::{Files, MAX_SOURCE_BYTES, text_of};
use crate::findings::Findings;

/// The key of a scenario, and of a file that begins with another one.
const KEY: &str = "equipment";
/// What the file may describe; topology, workload and records are those of scenarios.
const SECTIONS: [&str; 2] = ["fabric", "endpoint"];
/// The longest chain of files of which each begins with the next one.
const CHAIN_MAX: usize = 8;

/// Whether an override, `PATH=VALUE`, names the file. Such ones come before all others, which may
/// change what the file has.
pub(crate) fn is_named_by(change: &str) -> bool {
    let path = change.split_once('=').map(|(path, _)| path.trim());
    path == Some(KEY)
}

/// Adds the keys of the file that a scenario names, those of the file that this one names, and so
/// on, where nothing before has them. Problems point into the files, which are added to `sources`.
pub(crate) fn fill_in(
    root: &mut Node,
    files: &Files<'_>,
    findings: Findings<'_>,
    sources: &mut Vec<Source>,
) {
    let problems = findings.problems;
    problems.fill_in_from(sources.len());
    let mut folder = String::new();
    for _ in 0..CHAIN_MAX {
        let Some((name, at)) = take_name(root, problems) else {
            return;
        };
        let path = if name.starts_with('/') {
            name
        } else {
            format!("{folder}{name}")
        };
        let slash = path.rfind('/').map_or(0, |slash| slash + 1);
        path[..slash].clone_into(&mut folder);
        let Some(entries) = read(&path, at, files, findings, sources) else {
            return;
        };
        if let Value::Map(given) = &mut root.value {
            fill(given, entries);
        }
    }
    if let Some((_, at)) = take_name(root, problems) {
        let message = format!("more than {CHAIN_MAX} files of equipment begin with each other");
        let help = "put what they share into one file".to_owned();
        problems.push(at, message, Some(help));
    }
}

/// Refuses a file where every key is written already, so that it would have no effect.
pub(crate) fn refuse(root: &mut Node, problems: &Problems) {
    if let Some((name, at)) = take_name(root, problems) {
        let message = format!(
            "the equipment {} has no effect on a typed scenario, which has all keys",
            quote(&name)
        );
        let help = "name it in the text of a scenario, or set its keys".to_owned();
        problems.push(at, message, Some(help));
    }
}

/// Takes the key out: the path that it names, where it names one.
fn take_name(root: &mut Node, problems: &Problems) -> Option<(String, Option<Location>)> {
    let entry = root.entry(KEY)?;
    let (at, node) = (entry.place(), entry.node.clone());
    root.remove(&[KEY]);
    match node.value {
        Value::Scalar { text, .. } if text.is_empty() => None,
        Value::Scalar { text, .. } => Some((text, at)),
        Value::List(_) | Value::Map(_) => {
            let message = format!("`{KEY}` is the path of a file, not {}", node.describe());
            let help = format!("write for example `{KEY}: lab.yaml`");
            problems.push(at, message, Some(help));
            None
        }
    }
}

/// The keys of a file, which becomes one of the sources.
fn read(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    findings: Findings<'_>,
    sources: &mut Vec<Source>,
) -> Option<Vec<Entry>> {
    let problems = findings.problems;
    let text = text_of(name, at, files, findings)?;
    if text.len() > MAX_SOURCE_BYTES {
        let message = format!(
            "the file {} has more than {MAX_SOURCE_BYTES} bytes",
            quote(name)
        );
        let help = "name a file of a few dozen lines".to_owned();
        problems.push(at, message, Some(help));
        return None;
    }
    let node = yaml::parse(&text, sources.len(), 0, problems);
    sources.push(Source {
        name: name.to_owned(),
        text,
    });
    let node = node?;
    let what = node.describe();
    let Value::Map(entries) = node.value else {
        let message = format!("equipment is a mapping, not {what}");
        let help = "write `fabric:` and `endpoint:`".to_owned();
        problems.push(node.at.or(at), message, Some(help));
        return None;
    };
    for entry in &entries {
        if entry.key != KEY && !SECTIONS.contains(&entry.key.as_str()) {
            let message = format!("{} is no equipment", quote(&entry.key));
            let help = "equipment has `fabric` and `endpoint`; put the rest into the scenario";
            problems.push(entry.key_at, message, Some(help.to_owned()));
        }
        if let Some(kind) = entry.node.entry("kind").filter(|_| entry.key == "fabric") {
            let message = "equipment has no topology: `fabric.kind` is the scenario's".to_owned();
            let help = "put `kind` and its keys into the scenario".to_owned();
            problems.push(kind.key_at, message, Some(help));
        }
    }
    Some(entries)
}

/// Adds the entries whose keys are missing, mapping by mapping. A mapping of another `kind` has
/// other keys, and stays as it is.
fn fill(given: &mut Vec<Entry>, equipment: Vec<Entry>) {
    // A file may have a million keys, none of them twice.
    let places = given.iter().enumerate();
    let places: HashMap<String, usize> = places.map(|(at, own)| (own.key.clone(), at)).collect();
    for entry in equipment {
        let Some(&at) = places.get(&entry.key) else {
            given.push(entry);
            continue;
        };
        let own = &mut given[at];
        if entry.node.is_map() && own.node.is_null() {
            own.node = entry.node;
            continue;
        }
        let kinds = [own.node.word("kind"), entry.node.word("kind")];
        let is_another = matches!(kinds, [Some(own), Some(of_equipment)] if own != of_equipment);
        if let (Value::Map(own), Value::Map(of_equipment), false) =
            (&mut own.node.value, entry.node.value, is_another)
        {
            fill(own, of_equipment);
        }
    }
}
