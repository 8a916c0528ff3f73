//! A scenario as it was written: a tree with mappings, lists and words, each with its place in the
//! text.

use std::collections::BTreeSet;

use crate::config::Written;

use crate::notation::location::Location;
use crate::notation::quote::quote;

/// Most nesting levels in a scenario; real ones have seven.
pub const DEPTH_MAX: usize = 64;

/// Most values in a text; an explicit fabric with 100,000 links has half as many.
pub const VALUES_MAX: usize = 1_000_000;

/// A value and its place; values that the user did not write (defaults) have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value's place in the text.
    pub at: Option<Location>,
    /// The value itself, without its place.
    pub value: Value,
}

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word, number or text; if `quoted`, it is a text whatever it looks like.
    Scalar {
        /// The content without quotation marks.
        text: String,
        /// True if it stood in quotation marks.
        quoted: bool,
    },
    /// A list with its items.
    List(Vec<Node>),
    /// A mapping in text order, without duplicate keys.
    Map(Vec<Entry>),
}

/// A key in a mapping, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key's name, without quotation marks.
    pub key: String,
    /// The key's place in the text.
    pub key_at: Option<Location>,
    /// The value under the key.
    pub node: Node,
}

impl Entry {
    /// Makes an entry that the user did not write.
    pub fn unplaced(key: &str, node: Node) -> Entry {
        Entry {
            key: key.to_owned(),
            key_at: None,
            node,
        }
    }

    /// Returns the place to point at if the value is wrong. That is the key if the value takes
    /// several lines or is missing after the colon.
    pub fn place(&self) -> Option<Location> {
        // An empty value has an empty range, which carets cannot mark.
        let word = matches!(self.node.value, Value::Scalar { .. });
        let visible = self.node.at.is_some_and(|at| at.start < at.end);
        if word && visible {
            self.node.at
        } else {
            self.key_at
        }
    }
}

/// Adds the entries of `defaults` whose keys are missing in `given`, also in nested mappings.
pub(crate) fn fill(given: &mut Vec<Entry>, defaults: &[Entry]) {
    for default in defaults {
        match given.iter_mut().find(|entry| entry.key == default.key) {
            None => given.push(default.clone()),
            Some(entry) => {
                if let (Value::Map(given), Value::Map(defaults)) =
                    (&mut entry.node.value, &default.node.value)
                {
                    fill(given, defaults);
                }
            }
        }
    }
}

/// Removes duplicate keys below `path`, and adds their paths to `taken`.
fn take_duplicates(node: &mut Node, path: &str, taken: &mut Vec<String>) {
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                take_duplicates(item, &format!("{path}[{index}]"), taken);
            }
        }
        Value::Map(entries) => {
            // The first entry stays, as in lookups by key.
            let mut seen = BTreeSet::new();
            entries.retain_mut(|entry| {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{}", entry.key);
                take_duplicates(&mut entry.node, &path, taken);
                let is_first = seen.insert(entry.key.clone());
                if !is_first {
                    taken.push(path);
                }
                is_first
            });
        }
    }
}

impl Node {
    /// Makes a value without a place.
    pub fn unplaced(value: Value) -> Node {
        Node { at: None, value }
    }

    /// Makes an unquoted word without a place.
    pub fn plain(text: impl Into<String>) -> Node {
        Node::unplaced(Value::Scalar {
            text: text.into(),
            quoted: false,
        })
    }

    /// Makes a mapping without a place.
    pub fn mapping(entries: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
        let entries = entries.into_iter().map(|(key, node)| Entry {
            key: key.to_owned(),
            key_at: None,
            node,
        });
        Node::unplaced(Value::Map(entries.collect()))
    }

    /// Makes the empty word, which counts as null.
    pub fn empty() -> Node {
        Node::plain("")
    }

    /// Makes a tree from a component's written value, without places.
    pub fn written(value: Written) -> Node {
        match value {
            Written::Word(word) => Node::plain(word),
            Written::Text(text) => Node::unplaced(Value::Scalar { text, quoted: true }),
            Written::List(items) => {
                let items = items.into_iter().map(Node::written);
                Node::unplaced(Value::List(items.collect()))
            }
            Written::Map(keys) => {
                let entries = keys.into_iter().map(|(key, value)| Entry {
                    key,
                    key_at: None,
                    node: Node::written(value),
                });
                Node::unplaced(Value::Map(entries.collect()))
            }
        }
    }

    /// Removes keys that occur a second time in a mapping, and returns their paths. Trees from
    /// texts have none, because the parsers refuse them.
    pub fn take_duplicates(&mut self) -> Vec<String> {
        let mut taken = Vec::new();
        take_duplicates(self, "", &mut taken);
        taken
    }

    /// Returns the value without places, as components read it.
    pub fn to_written(&self) -> Written {
        match &self.value {
            Value::Scalar { text, quoted: true } => Written::Text(text.clone()),
            Value::Scalar { text, .. } => Written::Word(text.clone()),
            Value::List(items) => Written::List(items.iter().map(Node::to_written).collect()),
            Value::Map(entries) => {
                let entries = entries.iter();
                let written = entries.map(|entry| (entry.key.clone(), entry.node.to_written()));
                Written::Map(written.collect())
            }
        }
    }

    /// Sets the value at `path`, replacing any other; missing keys are added, and the mappings on
    /// the way must exist.
    pub fn put(&mut self, path: &[&str], node: Node) {
        let ([key, ..], Value::Map(entries)) = (path, &mut self.value) else {
            *self = node;
            return;
        };
        match entries.iter_mut().find(|entry| entry.key == *key) {
            Some(entry) => entry.node.put(&path[1..], node),
            None => entries.push(Entry {
                key: (*key).to_owned(),
                key_at: None,
                node,
            }),
        }
    }

    /// Returns the entry for `key` in this mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Value::Scalar { .. } | Value::List(_) => None,
        }
    }

    /// Returns the value for `key` in this mapping, for changes.
    pub fn entry_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Value::Map(entries) = &mut self.value else {
            return None;
        };
        let entry = entries.iter_mut().find(|entry| entry.key == key)?;
        Some(&mut entry.node)
    }

    /// Returns item `index` in the list under `key`, for changes.
    pub fn item_mut(&mut self, key: &str, index: usize) -> Option<&mut Node> {
        match &mut self.entry_mut(key)?.value {
            Value::List(items) => items.get_mut(index),
            _ => None,
        }
    }

    /// Adds an entry to a mapping that lacks its key.
    pub fn add(&mut self, entry: Entry) {
        if let Value::Map(entries) = &mut self.value {
            entries.push(entry);
        }
    }

    /// Adds the entries whose keys are missing, also in nested mappings.
    pub fn fill(&mut self, defaults: &[Entry]) {
        if let Value::Map(entries) = &mut self.value {
            fill(entries, defaults);
        }
    }

    /// Returns the word under `key` in this mapping.
    pub fn word(&self, key: &str) -> Option<&str> {
        match &self.entry(key)?.node.value {
            Value::Scalar { text, .. } => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the items in the list under `key`, for changes; none if it is no list.
    pub fn items_mut(&mut self, key: &str) -> &mut [Node] {
        match self.entry_mut(key).map(|node| &mut node.value) {
            Some(Value::List(items)) => items,
            _ => &mut [],
        }
    }

    /// Removes the key at `path`.
    pub fn remove(&mut self, path: &[&str]) {
        let ([key, rest @ ..], Value::Map(entries)) = (path, &mut self.value) else {
            return;
        };
        if rest.is_empty() {
            entries.retain(|entry| entry.key != *key);
        } else if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *key) {
            entry.node.remove(rest);
        }
    }

    /// Returns a list's items; none for other values.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Scalar { .. } | Value::Map(_) => &[],
        }
    }

    /// Returns true if the value is a mapping.
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Returns true if nothing was written: the empty word, `~` or `null`, unquoted.
    pub fn is_null(&self) -> bool {
        let Value::Scalar {
            text,
            quoted: false,
        } = &self.value
        else {
            return false;
        };
        matches!(text.as_str(), "" | "~" | "null")
    }

    /// Describes the value in a few words, for messages.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Scalar { .. } if self.is_null() => "nothing".into(),
            Value::Scalar {
                text,
                quoted: false,
            } => quote(text),
            Value::Scalar { text, .. } => {
                format!("the text {}", quote(&format!("\"{text}\"")))
            }
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
        }
    }
}
