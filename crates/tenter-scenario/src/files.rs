//! Files that a scenario names: read by whoever loads it, and written out in its place.

use tenter_workload::pattern::CommunicationMatrix;

use crate::diagnostics::{Location, Problems, quote};
use crate::import::matrix;
use crate::tree::{Entry, Node, Value};

/// Gives the text of a file whose path is as a scenario has it, or says what to do where it cannot
/// be read. Relative paths count from the folder of the scenario.
pub type Files<'f> = dyn Fn(&str) -> Result<String, String> + 'f;

/// Replaces the `file` of every pattern that is a matrix by its `sends`.
pub(crate) fn write_out(root: &mut Node, files: &Files<'_>, problems: &Problems) {
    let Some(Node {
        value: Value::List(jobs),
        ..
    }) = root.entry_mut("jobs")
    else {
        return;
    };
    for job in jobs {
        let Some(Value::Map(entries)) = job.entry_mut("pattern").map(|node| &mut node.value) else {
            continue;
        };
        let is = |entry: &Entry, key: &str, word: &str| match &entry.node.value {
            Value::Scalar { text, .. } => entry.key == key && (word.is_empty() || text == word),
            _ => false,
        };
        let of_matrix = entries.iter().any(|entry| is(entry, "kind", "matrix"));
        let named = entries.iter().position(|entry| is(entry, "file", ""));
        let (true, Some(place)) = (of_matrix, named) else {
            continue;
        };
        if entries.iter().any(|entry| entry.key == "sends") {
            let message = "the pattern has a `file` and `sends`, which say the same".to_owned();
            let help = "leave one of them out".to_owned();
            problems.push(entries[place].node.at, message, Some(help));
            entries.remove(place);
            continue;
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
}

/// The sends of a file, those between the same ranks added up.
fn read(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    problems: &Problems,
) -> Option<String> {
    let text = match files(name) {
        Ok(text) => text,
        Err(remedy) => {
            let message = format!("cannot read the file {}", quote(name));
            problems.push(at, message, Some(remedy));
            return None;
        }
    };
    match matrix::read(name, &text) {
        Ok(found) => {
            let sums = CommunicationMatrix::of(found.ranks, found.sends);
            Some(matrix::to_word(sums.iter()))
        }
        Err(error) => {
            let message = format!(
                "the file {}, line {}: {}",
                quote(name),
                error.line,
                error.what
            );
            problems.push(at, message, Some(error.remedy));
            None
        }
    }
}
