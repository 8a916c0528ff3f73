//! Output: the effective configuration as a file that people can read and the scenario reader can
//! read back, and scenarios in other notations.

use std::fmt::Write as _;

use crate::notation::location::Location;
use crate::notation::tree::{Node, Value};

/// Writes the tree as YAML: blocks indented by two, lists of words on one line. Sets each node's
/// place in the new text, as if it had been read from there.
pub fn yaml(node: &mut Node) -> String {
    let mut out = String::new();
    if is_block(node) {
        block(node, 0, &mut out);
    } else {
        inline(node, &mut out);
        out.push('\n');
    }
    out
}

/// Writes the tree, which must be a mapping, as TOML with a line for each key.
pub fn toml(node: &Node) -> String {
    let mut out = String::new();
    if let Value::Map(entries) = &node.value {
        for entry in entries {
            key(&entry.key, &mut out);
            out.push_str(" = ");
            toml_inline(&entry.node, &mut out);
            out.push('\n');
        }
    }
    out
}

fn toml_inline(node: &Node, out: &mut String) {
    match &node.value {
        Value::Scalar { text, quoted } => {
            // TOML readers need not accept integers beyond 2⁶³ − 1; Tenter does.
            let is_number = text
                .parse::<u64>()
                .is_ok_and(|number| number.to_string() == *text);
            let is_plain = is_number || ["true", "false"].contains(&text.as_str());
            scalar_as(text, is_plain && !quoted, out);
        }
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                toml_inline(item, out);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (index, entry) in entries.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                key(&entry.key, out);
                out.push_str(" = ");
                toml_inline(&entry.node, out);
            }
            out.push('}');
        }
    }
}

/// Writes a TOML key, quoted if necessary.
fn key(text: &str, out: &mut String) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    scalar_as(text, !text.is_empty() && text.bytes().all(plain), out);
}

/// Writes a mapping or list over several lines; the caller has written the first line's indent.
fn block(node: &mut Node, indent: usize, out: &mut String) {
    let lead = " ".repeat(indent);
    // An empty range at the beginning, which is the place that the parser would give.
    node.at = Some(since(out.len(), out));
    match &mut node.value {
        Value::Map(entries) => {
            for (index, entry) in entries.iter_mut().enumerate() {
                if index > 0 {
                    out.push_str(&lead);
                }
                let start = out.len();
                scalar(&entry.key, false, out);
                entry.key_at = Some(since(start, out));
                out.push(':');
                nested(&mut entry.node, indent, out);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                if index > 0 {
                    out.push_str(&lead);
                }
                out.push_str("- ");
                // The item's first line follows its dash, so only the others are indented.
                if is_block(item) {
                    block(item, indent + 2, out);
                } else {
                    inline(item, out);
                    out.push('\n');
                }
            }
        }
        Value::Scalar { .. } => inline(node, out),
    }
}

/// Writes the value that follows `key:`.
fn nested(node: &mut Node, indent: usize, out: &mut String) {
    if is_block(node) {
        let _ = write!(out, "\n{}", " ".repeat(indent + 2));
        block(node, indent + 2, out);
    } else {
        out.push(' ');
        inline(node, out);
        out.push('\n');
    }
}

/// Returns true for values that take several lines: mappings that are not empty, and lists with
/// items other than words.
fn is_block(node: &Node) -> bool {
    match &node.value {
        Value::Scalar { .. } => false,
        Value::List(items) => items
            .iter()
            .any(|item| !matches!(item.value, Value::Scalar { .. })),
        Value::Map(entries) => !entries.is_empty(),
    }
}

fn inline(node: &mut Node, out: &mut String) {
    let start = out.len();
    match &mut node.value {
        Value::Scalar { text, quoted } => scalar(text, *quoted, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter_mut().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                inline(item, out);
            }
            out.push(']');
        }
        // Any other mapping is a block, so this one is empty.
        Value::Map(_) => out.push_str("{}"),
    }
    // A list is marked at its bracket only: underlining all of it would hide the place.
    let end = match node.value {
        Value::Scalar { .. } => out.len(),
        Value::List(_) | Value::Map(_) => start + 1,
    };
    let at = since(start, out);
    node.at = Some(Location { end, ..at });
}

/// Returns the location from byte `start` to the end of `out`.
fn since(start: usize, out: &str) -> Location {
    Location {
        source: 0,
        start,
        end: out.len(),
    }
}

/// Writes a word plainly if YAML cannot take it for anything else, and otherwise in double quotes
/// with JSON's escapes.
pub fn scalar(text: &str, quoted: bool, out: &mut String) {
    scalar_as(text, !quoted && is_plain(text), out);
}

fn scalar_as(text: &str, plain: bool, out: &mut String) {
    if plain {
        out.push_str(text);
        return;
    }
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // Line separators would be folded, and other controls are not printable in YAML.
            other
                if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}' | '\u{feff}') =>
            {
                // All of these characters fit four digits.
                let _ = write!(out, "\\u{:04X}", other as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn is_plain(text: &str) -> bool {
    // A sign at the start could have a meaning in YAML, as `-` and `---` have.
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    starts_well
        && text
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"._/-+".contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::diagnostics::Problems;

    #[test]
    fn reads_back_the_same() {
        let text = "a: {b: [1, x-y], c: [{d: 1, e: [[2], {}]}, \"5\"], \"k: k\": []}\nf: |\n  two\n  \"lines\"\t\\\n";
        let problems = Problems::default();
        let once = yaml(&mut crate::notation::yaml::parse(text, 0, 0, &problems).unwrap());
        let mut read = crate::notation::yaml::parse(&once, 0, 0, &problems).unwrap();
        let before = read.clone();
        let twice = yaml(&mut read);
        assert!(problems.is_empty());
        assert_eq!(once, twice);
        assert_eq!(read, before, "values get the places at which they are read");
        assert!(
            once.contains("b: [1, x-y]") && once.contains(r#"f: "two\n\"lines\"\t\\\n""#),
            "{once}"
        );
    }
}
