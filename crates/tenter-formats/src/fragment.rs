//! Part of a scenario whose lines name their origin in another system's configuration.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use tenter_language::notation::emit;

/// Keys for `fabric.switch` made from another configuration, with warnings about the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// Text of the comment above the YAML, without `#`.
    pub(super) heading: String,
    /// Entries below `fabric.switch`, in the order in which they are written.
    pub(super) switch: Vec<Part>,
    /// Settings without a counterpart in a scenario, one line each: place and reason.
    pub warnings: Vec<String>,
}

/// An entry in a mapping, with its origin: a place in the source, or empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Word {
        key: &'static str,
        value: String,
        origin: String,
    },
    Map {
        key: &'static str,
        parts: Vec<Part>,
        origin: String,
    },
    /// A list whose items are mappings, with origins for their entries.
    List {
        key: &'static str,
        items: Vec<Vec<Part>>,
    },
}

/// Makes an entry with a single word.
pub(super) fn word(key: &'static str, value: impl Into<String>, origin: impl Into<String>) -> Part {
    Part::Word {
        key,
        value: value.into(),
        origin: origin.into(),
    }
}

/// Makes an entry with a size in bytes.
pub(super) fn size(key: &'static str, bytes: u64, origin: impl Into<String>) -> Part {
    word(key, format!("{bytes}B"), origin)
}

impl Fragment {
    /// Writes YAML: `fabric:` with `switch:` in it, each line with its origin as a comment.
    pub fn yaml(&self) -> String {
        let mut out = format!("# {}\nfabric:\n  switch:\n", self.heading);
        for part in &self.switch {
            out.push_str("    ");
            write_part(part, 4, &mut out);
        }
        out
    }

    /// Writes JSON, which is a scenario as well. JSON has no comments, so origins are left out.
    pub fn json(&self) -> String {
        let whole = serde_json::json!({"fabric": {"switch": object(&self.switch)}});
        format!("{whole:#}\n")
    }

    /// Writes an override for `--set` on one line: `fabric.switch={…}`.
    pub fn as_override(&self) -> String {
        format!("fabric.switch={}\n", object(&self.switch))
    }
}

/// Writes an entry. The caller has indented its first line.
fn write_part(part: &Part, indent: usize, out: &mut String) {
    match part {
        Part::Word { key, value, origin } => {
            let _ = write!(out, "{key}: ");
            emit::scalar(value, false, out);
            write_origin(origin, out);
        }
        Part::Map { key, parts, origin } => {
            let _ = write!(out, "{key}:");
            write_origin(origin, out);
            for part in parts {
                let _ = write!(out, "{:1$}", "", indent + 2);
                write_part(part, indent + 2, out);
            }
        }
        Part::List { key, items } => {
            let _ = writeln!(out, "{key}:");
            for item in items {
                for (index, part) in item.iter().enumerate() {
                    let lead = if index == 0 { "- " } else { "  " };
                    let _ = write!(out, "{:1$}{lead}", "", indent + 2);
                    write_part(part, indent + 4, out);
                }
            }
        }
    }
}

fn write_origin(origin: &str, out: &mut String) {
    if !origin.is_empty() {
        let _ = write!(out, "  # {origin}");
    }
    out.push('\n');
}

/// Turns entries into a JSON mapping. The YAML is made from the same entries, so the two forms
/// cannot differ.
fn object(parts: &[Part]) -> Value {
    let entries = parts.iter().map(|part| match part {
        Part::Word { key, value, .. } => ((*key).to_owned(), json_word(value)),
        Part::Map { key, parts, .. } => ((*key).to_owned(), object(parts)),
        Part::List { key, items } => {
            let items = items.iter().map(|item| object(item)).collect();
            ((*key).to_owned(), Value::Array(items))
        }
    });
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Turns a word into JSON: a number without quotation marks, as scenarios want it, else a string.
fn json_word(word: &str) -> Value {
    let digits = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = digits.then(|| serde_json::from_str(word).ok()).flatten();
    number.unwrap_or_else(|| Value::String(word.to_owned()))
}
