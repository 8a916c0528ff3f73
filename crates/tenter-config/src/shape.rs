//! What may be written for a key, by its type.

use std::borrow::Cow;

use tenter_units::{Bytes, Rate, Time};

use crate::KeyTable;

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
    /// `none`, one of several words, or a mapping.
    WordOrMapping(&'static [&'static str]),
    /// One of another shape, or the word `none`.
    OrNone(Box<Shape>),
    /// Any text.
    Text,
    /// A mapping with these keys.
    Mapping(&'static KeyTable),
    /// A list of one shape.
    List(Box<Shape>),
    /// A mapping from names of the user's to values of one shape.
    Named(Box<Shape>),
    /// Anything.
    Any,
}

impl Shape {
    /// As the reference has it.
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Shape::Time { .. } => Cow::Borrowed("time"),
            Shape::Rate { .. } => Cow::Borrowed("rate"),
            Shape::Bytes { .. } => Cow::Borrowed("size"),
            Shape::Share => Cow::Borrowed("0 to 1, up to six decimals"),
            Shape::WordOrMapping(words) => {
                let words = quoted(words).join(", ");
                Cow::Owned(format!("`none`, {words} or mapping"))
            }
            Shape::OrNone(shape) => Cow::Owned(format!("{} or `none`", shape.text())),
            Shape::Integer { least, most } => Cow::Owned(format!("{least} to {most}")),
            Shape::Percent { least, most } => Cow::Owned(format!("percent, {least} to {most}")),
            Shape::Text => Cow::Borrowed("text"),
            Shape::Any => Cow::Borrowed("value"),
            Shape::Named(_) => Cow::Borrowed("mapping of names"),
            Shape::Mapping(_) => Cow::Borrowed("mapping"),
            Shape::List(_) => Cow::Borrowed("list"),
            Shape::Flag => Cow::Borrowed("`true` or `false`"),
            Shape::Choice(words) => Cow::Owned(listed(words)),
            Shape::Words(words) => Cow::Owned(format!("list of {}", quoted(words).join(", "))),
        }
    }

    /// The keys of the mapping that it is, or is a list of.
    pub fn keys(&self) -> Option<&'static KeyTable> {
        match self {
            Shape::Mapping(table) => Some(table),
            Shape::OrNone(inner) | Shape::List(inner) | Shape::Named(inner) => inner.keys(),
            _ => None,
        }
    }
}

/// `a`, `b` or `c`.
fn listed(words: &[&str]) -> String {
    match quoted(words).as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

fn quoted(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("`{word}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(Shape::Choice(&["a"]).text(), "`a`");
        assert_eq!(Shape::Choice(&["a", "b"]).text(), "`a` or `b`");
        assert_eq!(Shape::Choice(&["a", "b", "c"]).text(), "`a`, `b` or `c`");
        assert_eq!(Shape::Integer { least: 1, most: 7 }.text(), "1 to 7");
    }
}
