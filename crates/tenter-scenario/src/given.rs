//! What a scenario says itself, as opposed to what its defaults say.

use crate::tree::{Node, Value};

/// Lists of single things that describe a fabric; there may be a hundred thousand of them.
const LISTS_OF_PARTS: [&str; 2] = ["fabric.nodes", "fabric.links"];

/// The paths of all keys that were written, in the file or as overrides, in their order and as an
/// override would write them: `jobs[0].gap`. Mappings stand before what is in them.
pub(crate) fn paths(root: &Node) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, "", &mut found);
    found
}

fn walk(node: &Node, path: &str, found: &mut Vec<String>) {
    match &node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => {
            if LISTS_OF_PARTS.contains(&path) {
                return;
            }
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{path}[{index}]"), found);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                let path = if path.is_empty() {
                    entry.key.clone()
                } else {
                    format!("{path}.{}", entry.key)
                };
                found.push(path.clone());
                walk(&entry.node, &path, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::paths;
    use crate::diagnostics::Problems;
    use crate::yaml;

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
        assert_eq!(paths(&root), expected);
    }
}
