//! Comparison of values with defaults.

use std::str::FromStr;

use crate::units::{Bytes, Rate, Time};

use crate::config::{Chance, Choice, Key, KeyTable, Presence, Shape, Written};

impl Key {
    /// Returns true if `value` is the default, however it is spelled, or follows from the keys
    /// beside it. `beside` returns those by name; if they do not suffice to compute it, the answer
    /// is true.
    pub fn has_as_default(
        &self,
        value: &Written,
        beside: &dyn Fn(&str) -> Option<Written>,
    ) -> bool {
        match self.presence {
            Presence::Default(text) => (self.shape)().means(text, value),
            Presence::Follows(_, follow) => follow(beside).is_none_or(|usual| {
                usual == *value || (self.shape)().means(&usual.to_string(), value)
            }),
            Presence::Required | Presence::Depends(_) => false,
        }
    }
}

impl Shape {
    /// Returns the tables with the keys that a mapping with these entries may have, if this shape
    /// is a mapping or a list whose items are.
    pub fn tables_of(&self, entries: &[(String, Written)]) -> Vec<&'static KeyTable> {
        let chosen = |members: Vec<Choice>| {
            // A member is excluded only if a word contradicts it; a missing word is its default.
            let members = members.into_iter().filter(|member| {
                let mut words = member.words.iter();
                words.all(|(key, word, must)| match value_of(entries, key) {
                    Some(value) => is_word(value, word),
                    None => !must,
                })
            });
            members.map(|member| member.table)
        };
        match self {
            // No word contradicts any member here.
            Shape::Variants(variants) if variants.are_told_apart => self.tables(),
            Shape::Variants(variants) => {
                let own = std::iter::once(variants.own);
                own.chain(chosen(variants.choices())).collect()
            }
            Shape::Led(own, members) => {
                let own = std::iter::once(*own);
                own.chain(chosen(members())).collect()
            }
            Shape::Either(_, inner) | Shape::OrWord(inner, _) | Shape::List(inner) => {
                inner.tables_of(entries)
            }
            Shape::Mapping(table) => vec![table],
            _ => Vec::new(),
        }
    }

    /// Returns true if the default text `text` means `value`.
    fn means(&self, text: &str, value: &Written) -> bool {
        match value {
            Written::Word(word) => word == text || self.are_equal(text, word),
            // Defaults are quoted as in a scenario.
            Written::Text(own) => own == text.trim_matches('"'),
            // As texts: another spelling of an item counts as another value.
            Written::List(_) => value.to_string() == text,
            Written::Map(entries) => {
                let tables = self.tables_of(entries);
                let key = |name: &str| tables.iter().find_map(|table| table.get(name));
                let beside = |name: &str| value_of(entries, name).cloned();
                let is_usual = |(name, value): &(String, Written)| {
                    key(name).is_some_and(|key| key.has_as_default(value, &beside))
                };
                // A default is never a mapping with keys.
                text == "{}" && entries.iter().all(is_usual)
            }
        }
    }

    /// Returns true if two words mean the same quantity, such as `1us` and `1000ns`.
    fn are_equal(&self, one: &str, other: &str) -> bool {
        fn parsed<T: FromStr + PartialEq>(one: &str, other: &str) -> bool {
            one.parse::<T>()
                .is_ok_and(|one| other.parse().is_ok_and(|other: T| one == other))
        }
        match self {
            Shape::Time { .. } => parsed::<Time>(one, other),
            Shape::Rate { .. } => parsed::<Rate>(one, other),
            Shape::Bytes { .. } => parsed::<Bytes>(one, other),
            // Chances may have an exponent or not; other parsed words must match literally.
            Shape::Parsed(_) => parsed::<Chance>(one, other),
            Shape::Either(first, second) => {
                first.are_equal(one, other) || second.are_equal(one, other)
            }
            // The words themselves have one spelling each.
            Shape::OrWord(inner, _) => inner.are_equal(one, other),
            _ => false,
        }
    }
}

/// Returns the value for `key` among a mapping's entries.
pub(crate) fn value_of<'e>(
    entries: &'e [(impl AsRef<str>, Written)],
    key: &str,
) -> Option<&'e Written> {
    let (_, value) = entries.iter().find(|(name, _)| name.as_ref() == key)?;
    Some(value)
}

fn is_word(value: &Written, word: &str) -> bool {
    matches!(value, Written::Word(own) | Written::Text(own) if own == word)
}

#[cfg(test)]
mod tests {
    use crate::units::{Bytes, Time};

    use crate::config::{Component, KeyTable, Written, component, variants};

    component! {
        /// A pause.
        struct Pause {
            /// How long.
            time: Time = "0ns", in Time::ZERO..=Time::from_us(9);
            /// A size, or none.
            size: Option<Bytes> = "4KiB", in Bytes::new(0)..=Bytes::new(9_000);
        }
    }

    component! {
        /// A rest, which is longer.
        struct Rest {
            /// How long.
            time: Time = "2us", in Time::ZERO..=Time::from_us(9);
        }
    }

    variants! {
        /// What is done.
        enum Deed as "`deed`", derive(Clone, Debug, PartialEq) {
            /// Which it is.
            kind = "pause";
            /// A pause.
            "pause" => Pause(Pause),
            /// A rest.
            "rest" => Rest(Rest),
        }
    }

    component! {
        /// Holds one.
        struct Holder as "`holder`", derive(Clone, Debug, PartialEq) {
            /// A deed.
            deed: Deed = "{}";
        }
    }

    fn entry(name: &str, word: &str) -> (String, Written) {
        (name.to_owned(), Written::word(word))
    }

    #[test]
    fn a_default_is_known_however_it_is_spelled() {
        let has = |table: &KeyTable, key: &str, value: &Written| {
            let key = table.get(key).expect("it has it");
            key.has_as_default(value, &|_| None)
        };
        for (key, word, expected) in [
            ("time", "0s", true),
            ("time", "1ps", false),
            ("size", "4096B", true),
            ("size", "none", false),
        ] {
            let word = Written::word(word);
            assert_eq!(has(&Pause::TABLE, key, &word), expected, "{key}");
        }
        for (entries, expected) in [
            (vec![entry("kind", "pause"), entry("time", "0s")], true),
            (vec![entry("kind", "rest"), entry("time", "2us")], false),
            (vec![entry("kind", "pause"), entry("time", "2us")], false),
            (vec![entry("time", "0ns")], true),
        ] {
            let map = Written::Map(entries);
            assert_eq!(has(&Holder::TABLE, "deed", &map), expected, "{map}");
        }
    }
}
