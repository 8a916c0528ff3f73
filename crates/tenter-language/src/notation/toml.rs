//! TOML input, which becomes the same tree as YAML.

use ::toml::de::{DeTable, DeValue};

use crate::notation::diagnostics::{Location, Problems};
use crate::notation::tree::{DEPTH_MAX, Entry, Node, Value};

/// Reads a TOML document as source 0; reports a syntax error and returns `None`.
pub fn parse(text: &str, problems: &Problems) -> Option<Node> {
    match DeTable::parse(text) {
        Ok(table) => {
            let at = location(table.span());
            map(table.get_ref(), at, 0, problems)
        }
        Err(error) => {
            let message = format!("this is not valid TOML: {}", error.message());
            let help = if error.message().contains("duplicate") {
                "keep one of them"
            } else {
                "check brackets, quotes and commas up to here"
            };
            problems.push(error.span().map(location), message, Some(help.to_owned()));
            None
        }
    }
}

fn location(span: std::ops::Range<usize>) -> Location {
    Location {
        source: 0,
        start: span.start,
        end: span.end,
    }
}

fn map(table: &DeTable<'_>, at: Location, depth: usize, problems: &Problems) -> Option<Node> {
    let entries = table
        // Entries come in alphabetical order: the parser's table is sorted by key.
        .iter()
        .map(|(key, value)| {
            let node = node(value.get_ref(), location(value.span()), depth + 1, problems)?;
            let key_at = Some(location(key.span()));
            Some(Entry {
                key: key.get_ref().to_string(),
                key_at,
                node,
            })
        })
        .collect::<Option<Vec<Entry>>>()?;
    Some(Node {
        at: Some(at),
        value: Value::Map(entries),
    })
}

fn node(value: &DeValue<'_>, at: Location, depth: usize, problems: &Problems) -> Option<Node> {
    // As for YAML: later passes over the tree recurse.
    if depth >= DEPTH_MAX {
        let message = format!("lists and tables nest more than {DEPTH_MAX} deep");
        let help = "a scenario needs no more than seven levels";
        problems.push(Some(at), message, Some(help.to_owned()));
        return None;
    }
    let scalar = |text: String, quoted| Value::Scalar { text, quoted };
    let value = match value {
        // Strings are always quoted in TOML, so words and quantities are, too.
        DeValue::String(text) => scalar(text.to_string(), true),
        DeValue::Integer(number) => scalar(number.to_string(), false),
        DeValue::Float(number) => scalar(number.to_string(), false),
        DeValue::Boolean(truth) => scalar(truth.to_string(), false),
        DeValue::Datetime(moment) => scalar(moment.to_string(), false),
        DeValue::Array(items) => {
            let items = items
                .iter()
                .map(|item| node(item.get_ref(), location(item.span()), depth + 1, problems));
            Value::List(items.collect::<Option<Vec<Node>>>()?)
        }
        DeValue::Table(table) => return map(table, at, depth, problems),
    };
    Some(Node {
        at: Some(at),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tables_and_lists_with_places() {
        let problems = Problems::default();
        let text = "name = \"x\"\n[fabric]\nleaves = 8\n";
        let root = parse(text, &problems).unwrap();
        let Value::Map(entries) = root.value else {
            panic!("a mapping")
        };
        assert_eq!(entries[0].key, "fabric");
        let Value::Map(fabric) = &entries[0].node.value else {
            panic!("a mapping")
        };
        assert_eq!(fabric[0].key_at.unwrap().start, 20);
        assert_eq!(
            fabric[0].node.value,
            Value::Scalar {
                text: "8".into(),
                quoted: false
            }
        );
        assert!(problems.is_empty());
    }

    #[test]
    fn refuses_what_is_no_toml() {
        for text in ["a = ", "a = 1\na = 2\n", "=", "a = [", &"[".repeat(100_000)] {
            let problems = Problems::default();
            assert!(parse(text, &problems).is_none() && !problems.is_empty());
        }
    }
}
