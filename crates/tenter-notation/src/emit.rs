//! Texts out: the effective configuration as a file a person can read and a scenario reader can
//! read back, and scenarios in other notations.

use std::fmt::Write as _;

use crate::tree::{Node, Value};

/// The tree as YAML, blocks indented by two, lists of words on one line.
pub fn yaml(node: &Node) -> String {
    let mut out = String::new();
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => block(node, 0, &mut out),
        _ => {
            inline(node, &mut out);
            out.push('\n');
        }
    }
    out
}

/// The tree, which is a mapping, as TOML: a line for each of its keys.
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
            let is_number = text
                .parse::<i64>()
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

/// A key of TOML.
fn key(text: &str, out: &mut String) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    scalar_as(text, !text.is_empty() && text.bytes().all(plain), out);
}

/// A mapping or list over several lines; the caller has written the indent of the first.
fn block(node: &Node, indent: usize, out: &mut String) {
    let lead = " ".repeat(indent);
    match &node.value {
        Value::Map(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(&lead);
                }
                scalar(&entry.key, false, out);
                out.push(':');
                nested(&entry.node, indent, out);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(&lead);
                }
                out.push_str("- ");
                if fits_one_line(item) {
                    inline(item, out);
                    out.push('\n');
                } else {
                    block(item, indent + 2, out);
                }
            }
        }
        Value::Scalar { .. } => inline(node, out),
    }
}

/// The value after a `key:`.
fn nested(node: &Node, indent: usize, out: &mut String) {
    if fits_one_line(node) {
        out.push(' ');
        inline(node, out);
        out.push('\n');
    } else {
        let _ = write!(out, "\n{}", " ".repeat(indent + 2));
        block(node, indent + 2, out);
    }
}

/// Words, lists of words, and what is empty.
fn fits_one_line(node: &Node) -> bool {
    match &node.value {
        Value::Scalar { .. } => true,
        Value::List(items) => items
            .iter()
            .all(|item| matches!(item.value, Value::Scalar { .. })),
        Value::Map(entries) => entries.is_empty(),
    }
}

fn inline(node: &Node, out: &mut String) {
    match &node.value {
        Value::Scalar { text, quoted } => scalar(text, *quoted, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                inline(item, out);
            }
            out.push(']');
        }
        Value::Map(_) => out.push_str("{}"),
    }
}

/// A word as it is where YAML cannot take it for anything else, else in double quotes with JSON's
/// escapes.
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
                let _ = write!(out, "\\u{:04X}", other as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn is_plain(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    starts_well
        && text
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"._/-+".contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Problems;

    #[test]
    fn reads_back_the_same() {
        let text = "a: {b: [1, x-y], c: [{d: 1, e: [[2], {}]}, \"5\"], \"k: k\": []}\nf: |\n  two\n  \"lines\"\t\\\n";
        let problems = Problems::default();
        let once = yaml(&crate::yaml::parse(text, 0, 0, &problems).unwrap());
        let twice = yaml(&crate::yaml::parse(&once, 0, 0, &problems).unwrap());
        assert!(problems.is_empty());
        assert_eq!(once, twice);
        assert!(
            once.contains("b: [1, x-y]") && once.contains(r#"f: "two\n\"lines\"\t\\\n""#),
            "{once}"
        );
    }
}
