//! Keys that a scenario sets itself, as opposed to those that defaults filled in.

use tenter_language::config::{Component, KeyTable, Shape, Written};
use tenter_language::notation::tree::{Node, Value};

use crate::resolve::scenario::Scenario;

/// Lists with a fabric's single parts. They may have a hundred thousand entries, which would swamp
/// any report.
const LISTS_OF_PARTS: [&str; 2] = ["fabric.nodes", "fabric.links"];

/// Returns the paths of keys written in the first `sources` texts, in their order and as overrides
/// write them: `jobs[0].gap`. A mapping comes before its keys.
pub(crate) fn paths(root: &Node, sources: usize) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, "", sources, &mut found);
    found
}

/// Returns the paths of keys that differ from their defaults, for a typed scenario, in which every
/// key is written.
pub(crate) fn unusual_paths(root: &Node) -> Vec<String> {
    let mut found = Vec::new();
    let tables = [&Scenario::TABLE];
    walk_unusual(&root.to_written(), "", &tables, None, &mut found);
    found
}

/// Collects such keys below `path`: in a mapping by `tables`, in a list by the shape of its
/// `items`.
fn walk_unusual(
    value: &Written,
    path: &str,
    tables: &[&KeyTable],
    items: Option<&Shape>,
    found: &mut Vec<String>,
) {
    match (value, items) {
        (Written::Map(entries), _) => {
            let beside = |name: &str| {
                let mut entries = entries.iter();
                entries.find_map(|(own, value)| (own == name).then(|| value.clone()))
            };
            for (name, value) in entries {
                let Some(key) = tables.iter().find_map(|table| table.get(name)) else {
                    continue;
                };
                if key.has_as_default(value, &beside) {
                    continue;
                }
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{name}");
                found.push(path.clone());
                let shape = (key.shape)();
                let tables = tables_of(&shape, value);
                walk_unusual(value, &path, &tables, Some(&shape), found);
            }
        }
        (Written::List(values), Some(shape)) if !LISTS_OF_PARTS.contains(&path) => {
            for (index, value) in values.iter().enumerate() {
                let tables = tables_of(shape, value);
                let path = format!("{path}[{index}]");
                walk_unusual(value, &path, &tables, None, found);
            }
        }
        _ => {}
    }
}

/// Returns the key tables for a mapping with this shape, or for one in a list with this shape.
fn tables_of(shape: &Shape, value: &Written) -> Vec<&'static KeyTable> {
    match value {
        Written::Map(entries) => shape.tables_of(entries),
        Written::Word(_) | Written::Text(_) | Written::List(_) => Vec::new(),
    }
}

fn walk(node: &Node, path: &str, sources: usize, found: &mut Vec<String>) {
    match &node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => {
            if LISTS_OF_PARTS.contains(&path) {
                return;
            }
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{path}[{index}]"), sources, found);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                let path = if path.is_empty() {
                    entry.key.clone()
                } else {
                    format!("{path}.{}", entry.key)
                };
                if entry.key_at.is_none_or(|at| at.source < sources) {
                    found.push(path.clone());
                }
                walk(&entry.node, &path, sources, found);
            }
        }
    }
}

/// Removes the key or list item at `path`; returns false if there was none.
pub(crate) fn remove(root: &mut Node, path: &str) -> bool {
    let mut node = root;
    let mut rest = path;
    loop {
        let is_index = rest.starts_with('[');
        let end = if is_index {
            rest.find(']').map_or(rest.len(), |end| end + 1)
        } else {
            rest.find(['.', '[']).unwrap_or(rest.len())
        };
        let (step, after) = rest.split_at(end);
        let after = after.strip_prefix('.').unwrap_or(after);
        let place = match &node.value {
            // `end.max(2)` keeps the range valid for a path that ends in `[`.
            Value::List(items) if is_index => step[1..end.max(2) - 1]
                .parse()
                .ok()
                .filter(|&index: &usize| index < items.len()),
            Value::Map(entries) => entries.iter().position(|entry| entry.key == step),
            _ => None,
        };
        let Some(place) = place else {
            return false;
        };
        match &mut node.value {
            Value::List(items) if after.is_empty() => {
                items.remove(place);
                return true;
            }
            Value::Map(entries) if after.is_empty() => {
                entries.remove(place);
                return true;
            }
            Value::List(items) => node = &mut items[place],
            Value::Map(entries) => node = &mut entries[place].node,
            Value::Scalar { .. } => return false,
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::{paths, remove};
    use tenter_language::notation::diagnostics::Problems;
    use tenter_language::notation::yaml;

    #[test]
    fn keys_in_the_order_of_the_text() {
        let text = "a: 1\nfabric: {nodes: [{name: x}], k: {l: 2}}\njobs: [{gap: 1}, [{b: 3}]]\n";
        let root = yaml::parse(text, 0, 0, &Problems::default()).expect("it is YAML");
        let expected = [
            "a",
            "fabric",
            "fabric.nodes",
            "fabric.k",
            "fabric.k.l",
            "jobs",
            "jobs[0].gap",
            "jobs[1][0].b",
        ];
        assert_eq!(paths(&root, 1), expected);
    }

    #[test]
    fn what_is_taken_out_is_not_there_any_more() {
        let text = "a: 1\nfabric: {k: {l: 2}}\njobs: [{gap: 1}, {b: 3, c: 4}]\n";
        let root = yaml::parse(text, 0, 0, &Problems::default()).expect("it is YAML");
        let without = |path: &str| {
            let mut root = root.clone();
            remove(&mut root, path).then(|| paths(&root, 1).join(" "))
        };
        let all = "a fabric fabric.k fabric.k.l jobs jobs[0].gap jobs[1].b jobs[1].c";
        assert_eq!(paths(&root, 1).join(" "), all);
        assert_eq!(
            without("fabric.k").expect("it is there"),
            "a fabric jobs jobs[0].gap jobs[1].b jobs[1].c"
        );
        assert_eq!(
            without("jobs[1].b").expect("it is there"),
            all.replace(" jobs[1].b", "")
        );
        assert_eq!(
            without("jobs[0]").expect("it is there"),
            "a fabric fabric.k fabric.k.l jobs jobs[0].b jobs[0].c"
        );
        for path in ["", "b", "a.b", "jobs[2]", "jobs[", "jobs.gap", "fabric[0]"] {
            assert_eq!(without(path), None, "{path}");
        }
    }
}
