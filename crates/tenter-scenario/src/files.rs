//! Files that a scenario names: read by whoever loads it, and written out in its place.

use tenter_workload::pattern::CommunicationMatrix;

use tenter_formats::matrix::LineError;
use tenter_formats::{matrix, size_law};
use tenter_notation::diagnostics::{Location, Problems, quote};
use tenter_notation::tree::{Entry, Node, Value};

/// Gives the text of a file whose path is as a scenario has it, or says what to do where it cannot
/// be read. Relative paths count from the folder of the scenario.
pub type Files<'f> = dyn Fn(&str) -> Result<String, String> + 'f;

/// Replaces the `file` of every pattern that is a matrix by its `sends`, and the file that `points`
/// of a workload names by the points in it.
pub(crate) fn write_out(root: &mut Node, files: &Files<'_>, problems: &Problems) {
    let Some(Node {
        value: Value::List(jobs),
        ..
    }) = root.entry_mut("jobs")
    else {
        return;
    };
    for job in jobs {
        if let Some(pattern) = job.entry_mut("pattern") {
            write_out_sends(pattern, files, problems);
        }
        let Some(workload) = job.entry_mut("workload") else {
            continue;
        };
        if let Some(points) = workload.entry_mut("points") {
            write_out_points(points, files, problems);
        }
        if let Some(pattern) = workload.entry_mut("pattern") {
            write_out_sends(pattern, files, problems);
        }
    }
}

/// Sends of a matrix that take more bytes have a file of their own.
const SENDS_WRITTEN_OUT: usize = 256 << 10;

/// Puts what would make a scenario too long into files, whose names take its place; gives their
/// names and texts. The inverse of [`write_out`].
pub(crate) fn take_out(root: &mut Node) -> Vec<(String, String)> {
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
        let workload = job.entry_mut("workload");
        if let Some(pattern) = workload.and_then(|workload| workload.entry_mut("pattern")) {
            take_out_sends(pattern, &mut taken);
        }
    }
    taken
}

fn take_out_sends(pattern: &mut Node, taken: &mut Vec<(String, String)>) {
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
    let sends = text.split(';').map(|send| {
        let words: Vec<&str> = send.split_whitespace().collect();
        format!("{}\n", words.join(","))
    });
    let heading = "source,destination,bytes\n".to_owned();
    let sends = std::iter::once(heading).chain(sends).collect();
    text.clone_from(&name);
    *quoted = false;
    "file".clone_into(&mut entry.key);
    taken.push((name, sends));
}

fn write_out_sends(pattern: &mut Node, files: &Files<'_>, problems: &Problems) {
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
        problems.push(entries[place].node.at, message, Some(help));
        entries.remove(place);
        return;
    }
    let entry = &mut entries[place];
    if let Value::Scalar { text: name, .. } = &entry.node.value {
        let word = read(name, entry.node.at, files, problems);
        "sends".clone_into(&mut entry.key);
        entry.node.value = Value::Scalar {
            // Something that can be read, so that nothing is said of it beside.
            text: word.unwrap_or_else(|| "0 1 1".to_owned()),
            quoted: true,
        };
    }
}

/// A list of points is left as it is.
fn write_out_points(points: &mut Node, files: &Files<'_>, problems: &Problems) {
    let Value::Scalar { text: name, .. } = &points.value else {
        return;
    };
    let at = points.at;
    let found = text_of(name, at, files, problems).and_then(|text| {
        let read = size_law::read(&text);
        read.map_err(|error| tell(name, at, &error, problems)).ok()
    });
    // Something that can be read, so that nothing is said of it beside.
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

/// The text of a file that a scenario names.
fn text_of(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    problems: &Problems,
) -> Option<String> {
    let told = |remedy| {
        let message = format!("cannot read the file {}", quote(name));
        problems.push(at, message, Some(remedy));
    };
    files(name).map_err(told).ok()
}

/// Says what is wrong in a line of a file.
fn tell(name: &str, at: Option<Location>, error: &LineError, problems: &Problems) {
    let message = format!(
        "the file {}, line {}: {}",
        quote(name),
        error.line,
        error.what
    );
    problems.push(at, message, Some(error.remedy.clone()));
}

/// The sends of a file, those between the same ranks added up.
fn read(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    problems: &Problems,
) -> Option<String> {
    let text = text_of(name, at, files, problems)?;
    match matrix::read(name, &text) {
        Ok(found) => {
            let sums = CommunicationMatrix::of(found.ranks, found.sends);
            if sums.iter().next().is_none() {
                let message = format!("the file {} has no bytes between two ranks", quote(name));
                problems.push(at, message, Some("name another file".to_owned()));
                return None;
            }
            Some(matrix::to_word(sums.iter()))
        }
        Err(error) => {
            tell(name, at, &error, problems);
            None
        }
    }
}
