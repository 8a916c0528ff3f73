//! Keys, their tables, and the values that may be written for them.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::units::{Bytes, Rate, Time};

use crate::config::Written;

/// The value of a key that is left out.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    /// There is none: the key must be given.
    Required,
    /// A fixed default, read as if it had been written.
    Default(&'static str),
    /// No value, or one that depends on other things; the words say which.
    Depends(&'static str),
    /// A value derived from other keys; the words describe it, and the function computes it.
    Follows(&'static str, Follow),
}

/// Computes a derived default. The argument returns the values beside the key by name; the result
/// is `None` if it does not follow from those.
pub type Follow = fn(&dyn Fn(&str) -> Option<Written>) -> Option<Written>;

/// A key in a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name as it is written in scenarios.
    pub name: &'static str,
    /// Returns the values that may be written for it.
    pub shape: fn() -> Shape,
    /// The value if the key is left out.
    pub presence: Presence,
    /// Meaning for the reference: sentences, the last one without its full stop if it stands in a
    /// table.
    pub meaning: &'static str,
    /// The default's source; empty if the default means "off" or is self-evident.
    pub origin: &'static str,
}

/// Makes a key without an origin; [`Key::from`] adds one.
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
    /// Returns the valid values in words, as in the reference.
    pub fn form(&self) -> Cow<'static, str> {
        (self.shape)().text()
    }

    /// Returns the meaning without its last full stop.
    pub fn sentence(&self) -> &'static str {
        self.meaning.trim().trim_end_matches('.')
    }
}

/// Joins lists of keys; `N` is the total number of keys.
// A `const fn` has no iterators, hence the loops.
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

/// The values that a key may have.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A time with its unit, within bounds.
    Time {
        /// Shortest time that is accepted.
        least: Time,
        /// Longest time that is accepted.
        most: Time,
    },
    /// A rate with its unit, within bounds.
    Rate {
        /// Slowest rate that is accepted.
        least: Rate,
        /// Fastest rate that is accepted.
        most: Rate,
    },
    /// A size with its unit, within bounds.
    Bytes {
        /// Smallest size that is accepted.
        least: Bytes,
        /// Largest size that is accepted.
        most: Bytes,
    },
    /// A decimal from 0 to 1, with up to six decimals.
    Share,
    /// A whole number within bounds.
    Integer {
        /// Smallest number that is accepted.
        least: u64,
        /// Largest number that is accepted.
        most: u64,
    },
    /// A whole percentage within bounds.
    Percent {
        /// Smallest percentage that is accepted.
        least: u64,
        /// Largest percentage that is accepted.
        most: u64,
    },
    /// The word `true` or `false`.
    Flag,
    /// One word from a fixed list.
    Choice(&'static [&'static str]),
    /// A list with words from a fixed list, each at most once.
    Words(&'static [&'static str]),
    /// A word in the first shape, or a value in the second.
    Either(Box<Shape>, Box<Shape>),
    /// A value in another shape, or this word.
    OrWord(Box<Shape>, &'static str),
    /// A word that is parsed by its type; the text describes it.
    Parsed(&'static str),
    /// Any text, which notations quote.
    Text,
    /// A mapping with the keys in this table.
    Mapping(&'static KeyTable),
    /// A mapping in which one key chooses the others.
    Variants(&'static Variants),
    /// A mapping with these keys, the first of which choose further ones.
    Led(&'static KeyTable, fn() -> Vec<Choice>),
    /// A list whose items have one shape.
    List(Box<Shape>),
    /// A mapping from names that the user chooses to values in one shape.
    Named(Box<Shape>),
    /// Any value in any shape.
    Any,
}

impl Shape {
    /// Returns in words what may replace a value in the main shape: the words in `Either` or
    /// `OrWord`.
    pub(crate) fn words(self) -> Option<String> {
        match self {
            Shape::Either(words, _) => Some(words.text().into_owned()),
            Shape::OrWord(_, word) => Some(format!("`{word}`")),
            _ => None,
        }
    }

    /// Returns the key tables if the shape is a mapping, a list with mappings, or has variants.
    pub fn tables(&self) -> Vec<&'static KeyTable> {
        match self {
            Shape::Mapping(table) => vec![table],
            Shape::Variants(variants) => {
                let members = variants.members.iter().map(|(_, table)| *table);
                // Without a choosing key each variant's table is complete.
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

/// The keys in a section, or in one variant.
#[derive(Clone, Copy, Debug)]
pub struct KeyTable {
    /// The table's heading in the reference.
    pub title: &'static str,
    /// The keys in the reference's order.
    pub keys: &'static [Key],
}

/// A mapping in which one key chooses the others, or in which a key reveals the mapping's kind.
#[derive(Debug)]
pub struct Variants {
    /// The table with the choosing key, or with all revealing keys.
    pub own: &'static KeyTable,
    /// Each variant's word and keys.
    pub members: &'static [(&'static str, &'static KeyTable)],
    /// True if no key chooses: each variant has a key that no other has, and its table is complete.
    pub are_told_apart: bool,
}

/// A member among which keys choose.
#[derive(Clone, Debug)]
pub struct Choice {
    /// For each choosing key: its name, its word for this member, and true if it must be written.
    pub words: Vec<(&'static str, &'static str, bool)>,
    /// The keys that this member has.
    pub table: &'static KeyTable,
}

impl Variants {
    /// Returns the members; only for variants that a key chooses.
    pub fn choices(&self) -> Vec<Choice> {
        let key = &self.own.keys[0];
        let choice = |(word, table): &(&'static str, &'static KeyTable)| Choice {
            words: vec![(
                key.name,
                *word,
                // Only the word that is the default may be left out.
                !matches!(key.presence, Presence::Default(default) if default == *word),
            )],
            table,
        };
        self.members.iter().map(choice).collect()
    }
}

/// The table for a variant without keys.
pub const NO_KEYS: KeyTable = KeyTable {
    title: "",
    keys: &[],
};

impl KeyTable {
    /// Returns the key with this name.
    pub fn get(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns this table and those for all mappings inside, each once.
    pub fn with_inner(&'static self) -> Vec<&'static KeyTable> {
        // Mappings may contain each other: the list grows while it is walked, and no table enters
        // twice.
        let mut tables: Vec<&KeyTable> = vec![self];
        let mut next = 0;
        while next < tables.len() {
            let shapes = tables[next].keys.iter().map(|key| (key.shape)());
            let inner: Vec<_> = shapes.flat_map(|shape| shape.tables()).collect();
            for table in inner {
                // Titles identify tables, as in the reference.
                if !tables.iter().any(|known| known.title == table.title) {
                    tables.push(table);
                }
            }
            next += 1;
        }
        tables
    }

    /// Formats the table in Markdown, as in the reference.
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
            // A bare pipe would end the table's cell.
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
