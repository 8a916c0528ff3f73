//! Keys, their tables, and what may be written for them.

use std::borrow::Cow;
use std::fmt::Write as _;

use tenter_units::{Bytes, Rate, Time};

use crate::Written;

/// What holds when a key is left out.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    /// Nothing: it must be given.
    Required,
    /// This value, read as if it had been written.
    Default(&'static str),
    /// It depends, or there is no value; the words say on what.
    Depends(&'static str),
    /// A value that follows from other keys; the words say how, and the function which.
    Follows(&'static str, Follow),
}

/// The value of a key that follows from those beside it, which it asks for by name; `None` where
/// that cannot be seen from them.
pub type Follow = fn(&dyn Fn(&str) -> Option<Written>) -> Option<Written>;

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What may be written for it.
    pub shape: fn() -> Shape,
    /// What holds when it is left out.
    pub presence: Presence,
    /// What it means: sentences, the last one without its full stop where a table gives it.
    pub meaning: &'static str,
    /// Where the default comes from; empty where it means "off" or is a matter of course.
    pub origin: &'static str,
}

/// A key without an origin; [`Key::from`] adds one.
pub const fn key(
    name: &'static str,
    shape: fn() -> Shape,
    presence: Presence,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        shape,
        presence,
        meaning,
        origin: "",
    }
}

impl Key {
    /// What may be written for it, as the reference has it.
    pub fn form(&self) -> Cow<'static, str> {
        (self.shape)().text()
    }

    /// The same key with the origin of its default.
    #[must_use]
    pub const fn from(self, origin: &'static str) -> Key {
        Key { origin, ..self }
    }

    /// What it means, without the full stop.
    pub fn sentence(&self) -> &'static str {
        self.meaning.trim().trim_end_matches('.')
    }
}

/// Several lists of keys as one; `N` is how many keys there are.
pub const fn joined<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    let blank = key("", || Shape::Any, Presence::Required, "");
    let mut keys = [blank; N];
    let (mut list, mut count) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            keys[count] = lists[list][at];
            count += 1;
            at += 1;
        }
        list += 1;
    }
    assert!(count == N, "N is the sum of the lengths");
    keys
}

/// What a value may be.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A time with its unit, within bounds.
    Time {
        /// No shorter.
        least: Time,
        /// No longer.
        most: Time,
    },
    /// A rate with its unit, within bounds.
    Rate {
        /// No slower.
        least: Rate,
        /// No faster.
        most: Rate,
    },
    /// A size with its unit, within bounds.
    Bytes {
        /// No smaller.
        least: Bytes,
        /// No larger.
        most: Bytes,
    },
    /// A decimal from 0 to 1.
    Share,
    /// A whole number within bounds.
    Integer {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A whole number of per cent within bounds.
    Percent {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// `true` or `false`.
    Flag,
    /// One of several words.
    Choice(&'static [&'static str]),
    /// A list of some of several words, each at most once.
    Words(&'static [&'static str]),
    /// A word of the first shape, or one of the second.
    Either(Box<Shape>, Box<Shape>),
    /// One of another shape, or this word.
    OrWord(Box<Shape>, &'static str),
    /// A word of which this is said.
    Parsed(&'static str),
    /// Any text.
    Text,
    /// A mapping with these keys.
    Mapping(&'static KeyTable),
    /// A mapping in which one key chooses the others.
    Variants(&'static Variants),
    /// A mapping with these keys, the first of which choose further ones.
    Led(&'static KeyTable, fn() -> Vec<Choice>),
    /// A list of one shape.
    List(Box<Shape>),
    /// A mapping from names of the user's to values of one shape.
    Named(Box<Shape>),
    /// Anything.
    Any,
}

impl Shape {
    /// The words that it takes in place of a value of another shape, if any, as a text.
    pub fn words(self) -> Option<String> {
        match self {
            Shape::Either(words, _) => Some(words.text().into_owned()),
            Shape::OrWord(_, word) => Some(format!("`{word}`")),
            _ => None,
        }
    }

    /// The keys of the mapping that it is, or is a list of: one table, or those of its variants.
    pub fn tables(&self) -> Vec<&'static KeyTable> {
        match self {
            Shape::Mapping(table) => vec![table],
            Shape::Variants(variants) => {
                let members = variants.members.iter().map(|(_, table)| *table);
                let own = (!variants.are_told_apart).then_some(variants.own);
                own.into_iter().chain(members).collect()
            }
            Shape::Led(own, members) => {
                let members = members().into_iter().map(|member| member.table);
                [*own].into_iter().chain(members).collect()
            }
            Shape::Either(_, inner)
            | Shape::OrWord(inner, _)
            | Shape::List(inner)
            | Shape::Named(inner) => inner.tables(),
            _ => Vec::new(),
        }
    }
}

/// The keys of one section, or of one variant of it.
#[derive(Clone, Copy, Debug)]
pub struct KeyTable {
    /// What the table is called in the reference.
    pub title: &'static str,
    /// The keys in the order of the reference.
    pub keys: &'static [Key],
}

/// A mapping in which one key chooses the others, or tells which kind of mapping it is.
#[derive(Debug)]
pub struct Variants {
    /// The table of the key that chooses, or of all keys that tell.
    pub own: &'static KeyTable,
    /// The word of each variant, and the keys that it has.
    pub members: &'static [(&'static str, &'static KeyTable)],
    /// Whether no key chooses: each variant has all of its keys, one of which tells it.
    pub are_told_apart: bool,
}

/// One of the mappings that keys choose among.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The keys that choose, their words for this one, and whether they must be written.
    pub words: Vec<(&'static str, &'static str, bool)>,
    /// The keys that it has.
    pub table: &'static KeyTable,
}

impl Variants {
    /// Its members, where a key chooses them.
    pub fn choices(&self) -> Vec<Choice> {
        let key = &self.own.keys[0];
        let choice = |(word, table): &(&'static str, &'static KeyTable)| Choice {
            words: vec![(
                key.name,
                *word,
                !matches!(key.presence, Presence::Default(default) if default == *word),
            )],
            table,
        };
        self.members.iter().map(choice).collect()
    }
}

/// The table of a variant without keys.
pub const NO_KEYS: KeyTable = KeyTable {
    title: "",
    keys: &[],
};

impl KeyTable {
    /// The key of that name.
    pub fn get(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The table, and those of the mappings in it, each once.
    pub fn with_inner(&'static self) -> Vec<&'static KeyTable> {
        let mut tables: Vec<&KeyTable> = vec![self];
        let mut next = 0;
        while next < tables.len() {
            let shapes = tables[next].keys.iter().map(|key| (key.shape)());
            let inner: Vec<_> = shapes.flat_map(|shape| shape.tables()).collect();
            for table in inner {
                if !tables.iter().any(|known| known.title == table.title) {
                    tables.push(table);
                }
            }
            next += 1;
        }
        tables
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!(
            "### {}\n\n| key | value | default | meaning |\n",
            self.title
        );
        out.push_str("| --- | --- | --- | --- |\n");
        for key in self.keys {
            let default = match key.presence {
                Presence::Required => "*required*".to_owned(),
                Presence::Default(text) => format!("`{text}`"),
                Presence::Depends(words) | Presence::Follows(words, _) => words.to_owned(),
            };
            let origin = if key.origin.is_empty() {
                String::new()
            } else {
                format!(" *Origin:* {}.", key.origin)
            };
            let form = key.form().replace('|', "\\|");
            let _ = writeln!(
                out,
                "| `{}` | {form} | {default} | {}.{origin} |",
                key.name,
                key.sentence()
            );
        }
        out
    }
}
