//! `equipment`: a file with switches, NICs and endpoints that several scenarios share. It fills in
//! keys that a scenario leaves out.

use std::collections::HashMap;

use tenter_language::notation::diagnostics::{Location, Problems, Source, quote};
use tenter_language::notation::tree::{Entry, Node, Value};
use tenter_language::notation::yaml;

use crate::resolve::files::{Files, MAX_SOURCE_BYTES, text_of};
use crate::resolve::findings::Findings;

/// Key in a scenario, or in an equipment file that builds on another.
const KEY: &str = "equipment";
/// Sections that the file may have; topology, workload and records belong to scenarios.
const SECTIONS: [&str; 2] = ["fabric", "endpoint"];
/// Longest file chain in which each builds on the next.
const CHAIN_MAX: usize = 8;

/// Returns true if an override, `PATH=VALUE`, names the file. Such overrides apply first, so that
/// the others can change what the file has.
pub(crate) fn is_named_by(change: &str) -> bool {
    let path = change.split_once('=').map(|(path, _)| path.trim());
    path == Some(KEY)
}

/// Fills in keys from the file that a scenario names, then from the file that this one names, and
/// so on; keys of earlier ones stay. Problems point into the files, which are added to `sources`.
pub(crate) fn fill_in(
    root: &mut Node,
    files: &Files<'_>,
    findings: Findings<'_>,
    sources: &mut Vec<Source>,
) {
    let problems = findings.problems;
    // If two keys exclude each other, the scenario's own wins over one from a file.
    problems.fill_in_from(sources.len());
    let mut folder = String::new();
    for _ in 0..CHAIN_MAX {
        let Some((name, at)) = take_name(root, problems) else {
            return;
        };
        // Relative names count from the folder of the file that has them.
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
    // The last file of the chain names yet another one.
    if let Some((_, at)) = take_name(root, problems) {
        let message = format!("more than {CHAIN_MAX} files of equipment begin with each other");
        let help = "put what they share into one file".to_owned();
        problems.push(at, message, Some(help));
    }
}

/// Refuses `equipment` in a scenario whose keys are all written: it would have no effect.
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

/// Removes the key from the tree, and returns the path in it with its place.
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

/// Reads a file's keys, and adds the file to `sources`.
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

/// Adds entries whose keys are missing, mapping by mapping. A mapping with another `kind` has other
/// keys, so nothing is added to it.
fn fill(given: &mut Vec<Entry>, equipment: Vec<Entry>) {
    // A file may have a million keys: a search for each would take quadratic time.
    let places = given.iter().enumerate();
    let places: HashMap<String, usize> = places.map(|(at, own)| (own.key.clone(), at)).collect();
    for entry in equipment {
        let Some(&at) = places.get(&entry.key) else {
            given.push(entry);
            continue;
        };
        let own = &mut given[at];
        // A key without a value (`endpoint:`) leaves everything to the equipment.
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
