//! A scenario as it was written: a tree of mappings, lists and words, each with its place in the
//! text.

use std::collections::BTreeSet;

use tenter_config::Written;

use crate::location::Location;
use crate::quote::quote;

/// Levels of nesting a scenario may have; a real one has seven.
pub const DEPTH_MAX: usize = 64;

/// Values a scenario may have: an explicit fabric of 100,000 links has half of them.
pub const VALUES_MAX: usize = 1_000_000;

/// One value and where it stands; values nobody wrote (defaults) stand nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub at: Option<Location>,
    /// What it is.
    pub value: Value,
}

/// What a value is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word, number or text; `quoted` ones are text whatever they look like.
    Scalar {
        /// Without quotation marks.
        text: String,
        /// Whether it stood in quotation marks.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the text, without duplicate keys.
    Map(Vec<Entry>),
}

/// One key of a mapping and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_at: Option<Location>,
    /// Its value.
    pub node: Node,
}

impl Entry {
    /// A key that nobody wrote.
    pub fn unplaced(key: &str, node: Node) -> Entry {
        Entry {
            key: key.to_owned(),
            key_at: None,
            node,
        }
    }

    /// Where to point when the value is wrong: one over several lines, or nothing after the colon,
    /// is blamed on its key.
    pub fn place(&self) -> Option<Location> {
        let word = matches!(self.node.value, Value::Scalar { .. });
        let visible = self.node.at.is_some_and(|at| at.start < at.end);
        if word && visible {
            self.node.at
        } else {
            self.key_at
        }
    }
}

/// Adds the entries whose keys are missing, mapping by mapping.
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

/// The same for the value at a path.
fn take_duplicates(node: &mut Node, path: &str, taken: &mut Vec<String>) {
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                take_duplicates(item, &format!("{path}[{index}]"), taken);
            }
        }
        Value::Map(entries) => {
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
    /// A value that stands nowhere.
    pub fn unplaced(value: Value) -> Node {
        Node { at: None, value }
    }

    /// A plain word that stands nowhere.
    pub fn plain(text: impl Into<String>) -> Node {
        Node::unplaced(Value::Scalar {
            text: text.into(),
            quoted: false,
        })
    }

    /// A mapping that stands nowhere.
    pub fn mapping(entries: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
        let entries = entries.into_iter().map(|(key, node)| Entry {
            key: key.to_owned(),
            key_at: None,
            node,
        });
        Node::unplaced(Value::Map(entries.collect()))
    }

    /// Nothing.
    pub fn empty() -> Node {
        Node::plain("")
    }

    /// A value of a component.
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

    /// Takes out keys that stand in a mapping for the second time: their paths. Texts have none:
    /// their readers refuse them.
    pub fn take_duplicates(&mut self) -> Vec<String> {
        let mut taken = Vec::new();
        take_duplicates(self, "", &mut taken);
        taken
    }

    /// The value as whatever reads it next.
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

    /// Puts a value into a mapping, over the one that is there; `path` leads through mappings that
    /// are.
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

    /// A key of this mapping, with its value.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Value::Scalar { .. } | Value::List(_) => None,
        }
    }

    /// The value under a key of this mapping.
    pub fn entry_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Value::Map(entries) = &mut self.value else {
            return None;
        };
        let entry = entries.iter_mut().find(|entry| entry.key == key)?;
        Some(&mut entry.node)
    }

    /// An item of the list under a key of this mapping.
    pub fn item_mut(&mut self, key: &str, index: usize) -> Option<&mut Node> {
        match &mut self.entry_mut(key)?.value {
            Value::List(items) => items.get_mut(index),
            _ => None,
        }
    }

    /// Adds an entry to a mapping that does not have its key.
    pub fn add(&mut self, entry: Entry) {
        if let Value::Map(entries) = &mut self.value {
            entries.push(entry);
        }
    }

    /// Adds the entries whose keys are missing to a mapping, mapping by mapping.
    pub fn fill(&mut self, defaults: &[Entry]) {
        if let Value::Map(entries) = &mut self.value {
            fill(entries, defaults);
        }
    }

    /// The word under a key of this mapping.
    pub fn word(&self, key: &str) -> Option<&str> {
        match &self.entry(key)?.node.value {
            Value::Scalar { text, .. } => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The items of the list under a key of this mapping.
    pub fn items_mut(&mut self, key: &str) -> &mut [Node] {
        match self.entry_mut(key).map(|node| &mut node.value) {
            Some(Value::List(items)) => items,
            _ => &mut [],
        }
    }

    /// Takes a key out of the mapping that `path` leads to.
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

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Scalar { .. } | Value::Map(_) => &[],
        }
    }

    /// Whether it is a mapping.
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Whether nothing was written: the empty word, `~` or `null`.
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

    /// What the value is, for messages.
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
