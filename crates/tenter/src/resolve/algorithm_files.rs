//! Collective algorithms that a scenario names by their files.

use tenter_formats::read_algorithm;
use tenter_language::notation::diagnostics::quote;
use tenter_language::notation::tree::{Entry, Node, Value};
use tenter_workload::collective::write_program;

use crate::resolve::files::{Files, bytes_of, tell};
use crate::resolve::findings::Findings;

/// Byte limit for one algorithm's programs in a scenario; longer ones become files.
const WRITTEN_OUT: usize = 2 << 10;

/// Replaces each algorithm's `file` or `files` by its `programs`, and notes problems and warnings.
pub(crate) fn write_out(root: &mut Node, files: &Files<'_>, findings: Findings<'_>) {
    each(root, &mut |mapping, key| {
        write_out_of(mapping, key, files, findings);
    });
}

/// Does the same as [`write_out`] for one workload.
pub(crate) fn write_out_workload(workload: &mut Node, files: &Files<'_>, findings: Findings<'_>) {
    each_of_workload(workload, &mut |mapping, key| {
        write_out_of(mapping, key, files, findings);
    });
}

fn write_out_of(mapping: &mut Node, key: &str, files: &Files<'_>, findings: Findings<'_>) {
    let read = mapping
        .entry_mut(key)
        .is_none_or(|algorithm| write_out_programs(algorithm, files, findings));
    // The problem has been noted. Without the key the reader assumes the default algorithm, and can
    // report what else is wrong.
    if !read {
        mapping.remove(&[key]);
    }
}

/// Moves long algorithms into files and names these in the scenario: the inverse of [`write_out`].
/// `taken` receives file names and contents.
pub(crate) fn take_out(root: &mut Node, taken: &mut Vec<(String, Vec<u8>)>) {
    each(root, &mut |mapping, key| {
        if let Some(algorithm) = mapping.entry_mut(key) {
            take_out_programs(algorithm, taken);
        }
    });
}

/// Calls `act` for each algorithm that a scenario writes as a mapping, with its parent and key.
fn each(root: &mut Node, act: &mut dyn FnMut(&mut Node, &str)) {
    for job in root.items_mut("jobs") {
        for collective in job.items_mut("collectives") {
            if is_mapping(collective, "algorithm") {
                act(collective, "algorithm");
            }
        }
        if let Some(workload) = job.entry_mut("workload") {
            each_of_workload(workload, act);
        }
    }
}

/// Does the same as [`each`] for the algorithms in one workload.
fn each_of_workload(workload: &mut Node, act: &mut dyn FnMut(&mut Node, &str)) {
    let Some(algorithms) = workload.entry_mut("algorithms") else {
        return;
    };
    let Value::Map(entries) = &algorithms.value else {
        return;
    };
    // `act` may change the mapping, so the keys are copied first.
    let keys: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for key in &keys {
        if is_mapping(algorithms, key) {
            act(algorithms, key);
        }
    }
}

fn is_mapping(node: &Node, key: &str) -> bool {
    node.entry(key).is_some_and(|entry| entry.node.is_map())
}

/// Returns the words in a node that is a text or a list.
fn names(node: &Node) -> Vec<String> {
    let word = |node: &Node| match &node.value {
        Value::Scalar { text, .. } => Some(text.clone()),
        Value::List(_) | Value::Map(_) => None,
    };
    let listed = || node.items().iter().filter_map(word).collect();
    word(node).map_or_else(listed, |name| vec![name])
}

fn text(text: String) -> Node {
    Node::unplaced(Value::Scalar { text, quoted: true })
}

/// Reads one algorithm's files into its `programs`; returns false if a file is missing or wrong.
fn write_out_programs(algorithm: &mut Node, files: &Files<'_>, findings: Findings<'_>) -> bool {
    let Findings {
        problems, warnings, ..
    } = findings;
    let ways = ["file", "files", "programs"];
    let given: Vec<&str> = ways
        .into_iter()
        .filter(|key| algorithm.entry(key).is_some())
        .collect();
    let key = match given[..] {
        [key @ ("file" | "files")] => key,
        [one, other, ..] => {
            let at = algorithm.entry(other).and_then(Entry::place);
            let message = format!("the algorithm has `{one}` and `{other}`, which say the same");
            problems.push(at, message, Some("leave one of them out".to_owned()));
            return false;
        }
        _ => return true,
    };
    let Some(entry) = algorithm.entry(key) else {
        return true;
    };
    let (at, names) = (entry.place(), names(&entry.node));
    let mut programs = Vec::new();
    for name in &names {
        let Some(bytes) = bytes_of(name, at, files, findings) else {
            return false;
        };
        match read_algorithm(&bytes, findings.budget) {
            Ok(read) => {
                for note in read.notes {
                    let message = format!("the file {}, {note}", quote(name));
                    warnings.push(at, message, None);
                }
                programs.push(text(write_program(&read.program, ';')));
            }
            Err(error) => {
                tell(name, at, &error, findings);
                return false;
            }
        }
    }
    if programs.is_empty() {
        let message = format!("`{key}` of the algorithm names no file");
        let help = "write for example `file: algorithm.xml`";
        problems.push(at, message, Some(help.to_owned()));
        return false;
    }
    algorithm.remove(&[key]);
    // Programs take the place of the key, so that errors found in them later point to it.
    for program in &mut programs {
        program.at = at;
    }
    let node = Node {
        at,
        value: Value::List(programs),
    };
    algorithm.add(Entry {
        key: "programs".to_owned(),
        key_at: at,
        node,
    });
    true
}

fn take_out_programs(algorithm: &mut Node, taken: &mut Vec<(String, Vec<u8>)>) {
    let programs = algorithm.entry("programs").map(|entry| names(&entry.node));
    let Some(programs) = programs else {
        return;
    };
    if programs.iter().map(String::len).sum::<usize>() <= WRITTEN_OUT {
        return;
    }
    let mut names = Vec::new();
    for program in programs {
        // In YAML a program is one line; in a file each statement has its own.
        let bytes = program.replace(';', "\n").into_bytes();
        // Collectives with the same algorithm share its file.
        let known = taken.iter().find(|(_, of)| *of == bytes);
        let name = known.map_or_else(
            || format!("algorithm-{}.txt", taken.len()),
            |(name, _)| name.clone(),
        );
        if known.is_none() {
            taken.push((name.clone(), bytes));
        }
        names.push(Node::plain(name));
    }
    algorithm.remove(&["programs"]);
    match names.pop() {
        Some(only) if names.is_empty() => algorithm.put(&["file"], only),
        last => {
            names.extend(last);
            algorithm.put(&["files"], Node::unplaced(Value::List(names)));
        }
    }
}
