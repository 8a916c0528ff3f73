//! Files that a scenario names: their contents replace the names in the tree, and long contents go
//! back into files.

use tenter_workload::pattern::CommunicationMatrix;

use tenter_formats::{Content, Form, ImportError, matrix, size_law, steps};
use tenter_language::notation::diagnostics::{Location, quote};
use tenter_language::notation::tree::{Entry, Node, Value};
use tenter_language::units::Bytes;

use crate::resolve::findings::Findings;

/// Longest text that is read as a scenario, in bytes: a hundred times what a thousand listed hosts
/// take.
pub const MAX_SOURCE_BYTES: usize = 8 << 20;

/// Opens a file by the path in a scenario, or returns a remedy if it cannot be read. Relative paths
/// count from the scenario's folder.
pub type Files<'f> = dyn Fn(&str) -> Result<Content<'static>, String> + 'f;

/// Replaces file names by contents: a matrix pattern's `file` by `sends`, a collective's `file` by
/// `steps`, and the file that a workload's `points` name by its points.
pub(crate) fn write_out(root: &mut Node, files: &Files<'_>, findings: Findings<'_>) {
    let Some(Node {
        value: Value::List(jobs),
        ..
    }) = root.entry_mut("jobs")
    else {
        return;
    };
    for job in jobs {
        if let Some(pattern) = job.entry_mut("pattern") {
            write_out_sends(pattern, files, findings);
        }
        if let Some(Value::List(collectives)) = job.entry_mut("collectives").map(|of| &mut of.value)
        {
            for collective in collectives {
                write_out_steps(collective, files, findings);
            }
        }
        let Some(workload) = job.entry_mut("workload") else {
            continue;
        };
        if let Some(points) = workload.entry_mut("points") {
            write_out_points(points, files, findings);
        }
        if let Some(pattern) = workload.entry_mut("pattern") {
            write_out_sends(pattern, files, findings);
        }
    }
}

/// Byte limit for `sends` in a scenario; longer matrices become files.
const SENDS_WRITTEN_OUT: usize = 256 << 10;
/// Step limit for `steps` in a scenario; longer lists become files.
const STEPS_WRITTEN_OUT: usize = 2_000;

/// Moves long matrices and step lists into files and names these in the scenario: the inverse of
/// [`write_out`]. Returns the file names and contents.
pub(crate) fn take_out(root: &mut Node) -> Vec<(String, Vec<u8>)> {
    let mut taken = Vec::new();
    let Some(Node {
        value: Value::List(jobs),
        ..
    }) = root.entry_mut("jobs")
    else {
        return taken;
    };
    for job in jobs {
        if let Some(pattern) = job.entry_mut("pattern") {
            take_out_sends(pattern, &mut taken);
        }
        if let Some(Value::List(collectives)) = job.entry_mut("collectives").map(|of| &mut of.value)
        {
            for collective in collectives {
                take_out_steps(collective, &mut taken);
            }
        }
        let workload = job.entry_mut("workload");
        if let Some(pattern) = workload.and_then(|workload| workload.entry_mut("pattern")) {
            take_out_sends(pattern, &mut taken);
        }
    }
    taken
}

fn take_out_sends(pattern: &mut Node, taken: &mut Vec<(String, Vec<u8>)>) {
    let Value::Map(entries) = &mut pattern.value else {
        return;
    };
    let Some(entry) = entries.iter_mut().find(|entry| entry.key == "sends") else {
        return;
    };
    let Value::Scalar { text, quoted } = &mut entry.node.value else {
        return;
    };
    if text.len() <= SENDS_WRITTEN_OUT {
        return;
    }
    let name = format!("sends-{}.csv", taken.len());
    // `sends` has `source destination bytes` for each pair, with semicolons between.
    let sends = text.split(';').map(|send| {
        let words: Vec<&str> = send.split_whitespace().collect();
        format!("{}\n", words.join(","))
    });
    let heading = "source,destination,bytes\n".to_owned();
    let sends: String = std::iter::once(heading).chain(sends).collect();
    text.clone_from(&name);
    *quoted = false;
    "file".clone_into(&mut entry.key);
    taken.push((name, sends.into_bytes()));
}

fn write_out_sends(pattern: &mut Node, files: &Files<'_>, findings: Findings<'_>) {
    let Value::Map(entries) = &mut pattern.value else {
        return;
    };
    let is = |entry: &Entry, key: &str, word: &str| match &entry.node.value {
        Value::Scalar { text, .. } => entry.key == key && (word.is_empty() || text == word),
        _ => false,
    };
    let of_matrix = entries.iter().any(|entry| is(entry, "kind", "matrix"));
    let named = entries.iter().position(|entry| is(entry, "file", ""));
    let (true, Some(place)) = (of_matrix, named) else {
        return;
    };
    if entries.iter().any(|entry| entry.key == "sends") {
        let message = "the pattern has a `file` and `sends`, which say the same".to_owned();
        let help = "leave one of them out".to_owned();
        findings
            .problems
            .push(entries[place].node.at, message, Some(help));
        entries.remove(place);
        return;
    }
    let entry = &mut entries[place];
    if let Value::Scalar { text: name, .. } = &entry.node.value {
        let word = read(name, entry.node.at, files, findings);
        "sends".clone_into(&mut entry.key);
        entry.node.value = Value::Scalar {
            // A readable stand-in: the file's problem is noted, and the reader should add no other.
            text: word.unwrap_or_else(|| "0 1 1".to_owned()),
            quoted: true,
        };
    }
}

/// Replaces a collective's `file` by the steps in it.
fn write_out_steps(collective: &mut Node, files: &Files<'_>, findings: Findings<'_>) {
    if collective.word("collective") != Some("steps") {
        return;
    }
    let Some(name) = collective.word("file").map(str::to_owned) else {
        return;
    };
    let at = collective.entry("file").and_then(Entry::place);
    if collective.entry("steps").is_some() {
        let message = "the collective has a `file` and `steps`, which say the same".to_owned();
        findings
            .problems
            .push(at, message, Some("leave one of them out".to_owned()));
        collective.remove(&["file"]);
        return;
    }
    let found = text_of(&name, at, files, findings).and_then(|text| {
        let read = steps::read(&text, findings.budget);
        read.map_err(|error| tell(&name, at, &error, findings)).ok()
    });
    // A readable stand-in: the file's problem is noted, and the reader should add no other.
    let found = found.unwrap_or_else(|| {
        vec![steps::Step {
            rank: 0,
            peer: 1,
            bytes: 1,
            after: Vec::new(),
        }]
    });
    let list = found.into_iter().map(|step| {
        let after = step
            .after
            .iter()
            .map(|other| Node::plain(other.to_string()));
        let after = Node::unplaced(Value::List(after.collect()));
        let mut node = Node::mapping([
            ("rank", Node::plain(step.rank.to_string())),
            ("peer", Node::plain(step.peer.to_string())),
            ("bytes", Node::plain(format!("{}B", step.bytes))),
            ("after", after),
        ]);
        // Problems of a step point to the key that names the file, where users can act.
        node.at = at;
        node
    });
    let list = Node {
        at,
        value: Value::List(list.collect()),
    };
    collective.remove(&["file"]);
    collective.add(Entry {
        key: "steps".to_owned(),
        key_at: at,
        node: list,
    });
}

/// Moves a long step list into a file, whose name takes its place.
fn take_out_steps(collective: &mut Node, taken: &mut Vec<(String, Vec<u8>)>) {
    let Some(list) = collective.entry("steps").map(|entry| entry.node.items()) else {
        return;
    };
    if list.len() <= STEPS_WRITTEN_OUT {
        return;
    }
    let number = |node: &Node, key: &str| node.word(key).and_then(|word| word.parse().ok());
    let step = |node: &Node| {
        let bytes: Bytes = node.word("bytes")?.parse().ok()?;
        let after = node.entry("after").map(|entry| entry.node.items());
        let places = after
            .unwrap_or_default()
            .iter()
            .map(|place| match &place.value {
                Value::Scalar { text, .. } => text.parse().ok(),
                Value::List(_) | Value::Map(_) => None,
            });
        Some(steps::Step {
            rank: number(node, "rank")?,
            peer: number(node, "peer")?,
            bytes: bytes.count(),
            after: places.collect::<Option<_>>()?,
        })
    };
    let text = steps::write(list.iter().filter_map(step));
    let name = format!("steps-{}.csv", taken.len());
    collective.remove(&["steps"]);
    collective.put(&["file"], Node::plain(name.clone()));
    taken.push((name, text.into_bytes()));
}

/// Replaces a file name by the points in its size distribution; a point list stays.
fn write_out_points(points: &mut Node, files: &Files<'_>, findings: Findings<'_>) {
    let Value::Scalar { text: name, .. } = &points.value else {
        return;
    };
    let at = points.at;
    let found = text_of(name, at, files, findings).and_then(|text| {
        let read = size_law::read(&text, findings.budget);
        read.map_err(|error| tell(name, at, &error, findings)).ok()
    });
    // A readable stand-in: the file's problem is noted, and the reader should add no other.
    let found = found.unwrap_or_else(|| vec![(1, 1.0)]);
    let point = |(size, share): (u64, f64)| {
        let mut point = Node::mapping([
            ("size", Node::plain(format!("{size}B"))),
            ("cumulative", Node::plain(share.to_string())),
        ]);
        point.at = at;
        point
    };
    points.value = Value::List(found.into_iter().map(point).collect());
}

/// Reads the bytes in a file that a scenario names.
pub(crate) fn bytes_of(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    findings: Findings<'_>,
) -> Option<Vec<u8>> {
    let read = files(name).and_then(|content| content.whole(Form::Text, findings.budget));
    read.map_err(|remedy| tell_unreadable(name, at, remedy, findings))
        .ok()
}

/// Reads the UTF-8 text in a file that a scenario names.
pub(crate) fn text_of(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    findings: Findings<'_>,
) -> Option<String> {
    let text = String::from_utf8(bytes_of(name, at, files, findings)?);
    let remedy = || "save it with UTF-8 encoding".to_owned();
    text.map_err(|_| tell_unreadable(name, at, remedy(), findings))
        .ok()
}

fn tell_unreadable(name: &str, at: Option<Location>, remedy: String, findings: Findings<'_>) {
    let message = format!("cannot read the file {}", quote(name));
    findings.problems.push(at, message, Some(remedy));
}

/// Notes a problem inside a file, with its place there.
pub(crate) fn tell(name: &str, at: Option<Location>, error: &ImportError, findings: Findings<'_>) {
    let message = format!("the file {}, {}: {}", quote(name), error.place, error.what);
    findings
        .problems
        .push(at, message, Some(error.remedy.clone()));
}

/// Reads a matrix file's sends, summed by rank pair.
fn read(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    findings: Findings<'_>,
) -> Option<String> {
    let text = text_of(name, at, files, findings)?;
    match matrix::read(name, &text, findings.budget) {
        Ok(found) => {
            let sums = CommunicationMatrix::of(found.ranks, found.sends);
            if sums.iter().next().is_none() {
                let message = format!("the file {} has no bytes between two ranks", quote(name));
                findings
                    .problems
                    .push(at, message, Some("name another file".to_owned()));
                return None;
            }
            Some(matrix::to_word(sums.iter()))
        }
        Err(error) => {
            tell(name, at, &error, findings);
            None
        }
    }
}
