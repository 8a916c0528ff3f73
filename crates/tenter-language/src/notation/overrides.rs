//! Overrides `PATH=VALUE`, which replace single values from outside the file, such as
//! `jobs[0].collectives[0].size=1GiB`. The value `default` removes the key.

use crate::notation::diagnostics::{Location, Problems, quote};
use crate::notation::tree::{Entry, Node, Value};
use crate::notation::yaml;

/// A step in a path.
enum Step<'t> {
    Key(&'t str),
    Index(usize),
}

/// A step, and the override's bytes from which it was read.
struct PlacedStep<'t> {
    step: Step<'t>,
    at: Location,
}

/// Applies the override `text`, which is source number `source`, to the tree. Missing keys are
/// added, and so is a mapping right behind the last item of a list; other missing items are an
/// error.
pub fn apply(root: &mut Node, text: &str, source: usize, problems: &Problems) {
    let whole = Location {
        source,
        start: 0,
        end: text.len(),
    };
    // The first `=` separates, because a value may contain others.
    let Some(equals) = text.find('=') else {
        let help = "write `PATH=VALUE`, for example `fabric.spines=8`";
        problems.push(
            Some(whole),
            "this override has no `=`".into(),
            Some(help.into()),
        );
        return;
    };
    let Some(steps) = steps(&text[..equals], source, problems) else {
        return;
    };
    // Parsed in place, so that problems point into the override's text.
    let Some(value) = yaml::parse(text, source, equals + 1, problems) else {
        return;
    };
    if value.is_null() {
        let help = "write `none` to switch something off, or `default` to take the key out";
        problems.push(
            Some(whole),
            "this override sets nothing".into(),
            Some(help.into()),
        );
        return;
    }
    if is_default(&value) {
        take_out(root, &steps, problems);
    } else {
        set(root, &steps, value, problems);
    }
}

/// Returns true for the unquoted word `default`, which removes a key from the scenario.
fn is_default(value: &Node) -> bool {
    matches!(&value.value, Value::Scalar { text, quoted: false } if text == "default")
}

/// Removes a key, so that it has its default; a key that is missing has it already.
fn take_out(root: &mut Node, steps: &[PlacedStep<'_>], problems: &Problems) {
    let Some((last, before)) = steps.split_last() else {
        return;
    };
    let Step::Key(name) = last.step else {
        let help = "only keys have defaults: name one of the item";
        let message = "an item of a list has no default".to_owned();
        return problems.push(Some(last.at), message, Some(help.into()));
    };
    let mut node = root;
    for placed in before {
        let next = match (&placed.step, &mut node.value) {
            (Step::Key(key), Value::Map(entries)) => {
                let found = entries.iter_mut().find(|entry| entry.key == *key);
                found.map(|entry| &mut entry.node)
            }
            (Step::Index(index), Value::List(items)) => items.get_mut(*index),
            _ => None,
        };
        // The path leads nowhere, so the key is not there and has its default.
        let Some(next) = next else {
            return;
        };
        node = next;
    }
    node.remove(&[name]);
}

/// Splits `path` into steps; reports a malformed part.
fn steps<'t>(path: &'t str, source: usize, problems: &Problems) -> Option<Vec<PlacedStep<'t>>> {
    let mut steps = Vec::new();
    let mut start = 0;
    for part in path.split('.') {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        let at = |from: usize, length| Location {
            source,
            start: from,
            end: from + length,
        };
        let mut well_formed = !key.trim().is_empty();
        steps.push(PlacedStep {
            step: Step::Key(key.trim()),
            at: at(start, key.len()),
        });
        while well_formed && !rest.is_empty() {
            let offset = start + part.len() - rest.len();
            let index = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            match index.and_then(|(digits, after)| Some((digits.parse().ok()?, after))) {
                Some((index, after)) => {
                    let length = rest.len() - after.len();
                    steps.push(PlacedStep {
                        step: Step::Index(index),
                        at: at(offset, length),
                    });
                    rest = after;
                }
                None => well_formed = false,
            }
        }
        if !well_formed {
            let message = format!("{} is not part of a path", quote(part));
            let help = "join keys with dots and count list items from 0: `jobs[0].gap=20us`";
            problems.push(Some(at(start, part.len())), message, Some(help.into()));
            return None;
        }
        start += part.len() + 1;
    }
    Some(steps)
}

/// Sets the value to which `steps` lead; mappings on the way are created.
fn set(root: &mut Node, steps: &[PlacedStep<'_>], value: Node, problems: &Problems) {
    let is_mapping = matches!(value.value, Value::Map(_));
    let mut node = root;
    for (place, placed) in steps.iter().enumerate() {
        let is_last = place + 1 == steps.len();
        if let Step::Key(_) = placed.step {
            // A section that is missing or empty begins here.
            if node.is_null() {
                node.value = Value::Map(Vec::new());
            }
        }
        // Described beforehand, because the match below borrows the value for changes.
        let what = node.describe();
        let refuse = |message: String, help: Option<String>| {
            problems.push(Some(placed.at), message, help);
        };
        match (&placed.step, &mut node.value) {
            (Step::Key(name), Value::Map(entries)) => {
                node = entry(entries, name, placed.at);
            }
            (Step::Index(index), Value::List(items)) => {
                let count = items.len();
                // Only a whole mapping makes an item: one key of it would leave the others out, and
                // in a list of numbers the place is more likely a mistake.
                if is_last && is_mapping && *index == count {
                    items.push(value);
                    return;
                }
                let Some(item) = items.get_mut(*index) else {
                    let help = if count == 0 {
                        "the list is empty".to_owned()
                    } else {
                        format!("the list has items 0 to {}", count - 1)
                    };
                    return refuse(format!("there is no item {index}"), Some(help));
                };
                node = item;
            }
            (Step::Key(name), Value::List(_)) => {
                let help = "choose an item first, for example `jobs[0]`".to_owned();
                return refuse(format!("{} of a list", quote(name)), Some(help));
            }
            (Step::Key(name), Value::Scalar { .. }) => {
                return refuse(
                    format!("{} of {what}, which has no keys", quote(name)),
                    None,
                );
            }
            (Step::Index(index), _) => {
                return refuse(format!("item {index} of {what}, which is no list"), None);
            }
        }
    }
    *node = value;
}

/// Returns the value for `name`; a missing key is added with an empty value.
fn entry<'n>(entries: &'n mut Vec<Entry>, name: &str, at: Location) -> &'n mut Node {
    let index = entries
        .iter()
        .position(|entry| entry.key == name)
        .unwrap_or_else(|| {
            let node = Node {
                at: Some(at),
                value: Node::plain("").value,
            };
            entries.push(Entry {
                key: name.to_owned(),
                key_at: Some(at),
                node,
            });
            entries.len() - 1
        });
    // Problems with the value now point at the override, not at the file.
    entries[index].key_at = Some(at);
    &mut entries[index].node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::diagnostics::Source;

    fn overridden(text: &str, change: &str) -> (Node, String) {
        let problems = Problems::default();
        let mut root = yaml::parse(text, 0, 0, &problems).unwrap();
        apply(&mut root, change, 1, &problems);
        let sources = vec![
            Source {
                name: "s.yaml".into(),
                text: text.into(),
            },
            Source {
                name: "--set".into(),
                text: change.into(),
            },
        ];
        (root, problems.into_diagnostics(sources).render())
    }

    fn emitted(text: &str, change: &str) -> String {
        let (mut root, errors) = overridden(text, change);
        assert_eq!(errors, "");
        crate::notation::emit::yaml(&mut root)
    }

    #[test]
    fn replaces_and_adds() {
        let text = "jobs:\n  - size: 1MiB\n";
        assert_eq!(
            emitted(text, "jobs[0].size=1GiB"),
            "jobs:\n  - size: 1GiB\n"
        );
        assert_eq!(
            emitted(text, "jobs[0].sizes=[1B, 2B]"),
            "jobs:\n  - size: 1MiB\n    sizes: [1B, 2B]\n"
        );
        assert_eq!(
            emitted("a: 1\n", "fabric.switch.x=y"),
            "a: 1\nfabric:\n  switch:\n    x: y\n"
        );
        assert_eq!(
            emitted(text, "jobs[1]={size: 2MiB}"),
            "jobs:\n  - size: 1MiB\n  - size: 2MiB\n"
        );
    }

    #[test]
    fn default_takes_a_key_out() {
        let text = "a: {b: 1, c: 2}\njobs:\n  - size: 1MiB\n    gap: 5us\n";
        for (change, expected) in [
            (
                "a.b=default",
                "a:\n  c: 2\njobs:\n  - size: 1MiB\n    gap: 5us\n",
            ),
            (
                "jobs[0].gap=default",
                "a:\n  b: 1\n  c: 2\njobs:\n  - size: 1MiB\n",
            ),
            (
                "x.y=default",
                "a:\n  b: 1\n  c: 2\njobs:\n  - size: 1MiB\n    gap: 5us\n",
            ),
            (
                "a.b=\"default\"",
                "a:\n  b: \"default\"\n  c: 2\njobs:\n  - size: 1MiB\n    gap: 5us\n",
            ),
        ] {
            assert_eq!(emitted(text, change), expected, "{change}");
        }
        let (_, errors) = overridden(text, "jobs[0]=default");
        assert!(
            errors.contains("an item of a list has no default"),
            "{errors}"
        );
    }

    #[test]
    fn refuses_paths_that_lead_nowhere() {
        let text = "jobs:\n  - size: 1MiB\n";
        for (change, expected) in [
            ("jobs", "has no `=`"),
            ("jobs[1].size=1B", "no item 1"),
            ("jobs[1]=1B", "no item 1"),
            ("jobs[2]={size: 1B}", "no item 2"),
            ("jobs.size=1B", "`size` of a list"),
            ("jobs[0].size.x=1B", "which has no keys"),
            ("jobs[0][0]=1B", "which is no list"),
            ("jobs[x]=1B", "not part of a path"),
            ("a..b=1", "not part of a path"),
            ("a=", "sets nothing"),
            ("a=[", "not valid YAML"),
        ] {
            let (_, errors) = overridden(text, change);
            assert!(errors.contains(expected), "{change}: {errors}");
            assert!(errors.contains("--> --set:1:"), "{change}: {errors}");
        }
    }
}
