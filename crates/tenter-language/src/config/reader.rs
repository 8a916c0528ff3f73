//! The trait through which components read their keys.

use std::ops::RangeInclusive;

use crate::units::{Bytes, Rate, Time};

use crate::config::{Key, KeyTable, Presence, Share, Written};

/// A source from which a component is read: a scenario's section, or [`Texts`]. Each method reads
/// one key; on an error it records the problem with its place and returns nothing, and reading goes
/// on.
pub trait Reader {
    /// Reads a time within `range`.
    fn time(&mut self, key: &str, range: RangeInclusive<Time>) -> Option<Time>;

    /// Reads a rate within `range`.
    fn rate(&mut self, key: &str, range: RangeInclusive<Rate>) -> Option<Rate>;

    /// Reads a size within `range`.
    fn size(&mut self, key: &str, range: RangeInclusive<Bytes>) -> Option<Bytes>;

    /// Reads a share from 0 to 1.
    fn share(&mut self, key: &str) -> Option<Share>;

    /// Reads a whole number within `range`.
    fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64>;

    /// Reads `true` or `false`.
    fn flag(&mut self, key: &str) -> Option<bool>;

    /// Reads a word from `words`; returns its position.
    fn choice(&mut self, key: &str, words: &[&str]) -> Option<usize>;

    /// Reads a list with at least one word from `words`, each at most once; returns their
    /// positions. `why` is the remedy for an empty list.
    fn words(&mut self, key: &str, words: &[&str], why: &str) -> Option<Vec<usize>>;

    /// Returns true if the value is `word`, and takes it then; otherwise leaves it for another
    /// call.
    fn is_word(&mut self, key: &str, word: &str) -> bool;

    /// Reads a word by `read`, which returns false if it cannot. `wrong` then has the message's
    /// words before the value, and the remedy.
    fn word(&mut self, key: &str, wrong: [&str; 2], read: &mut dyn FnMut(&str) -> bool);

    /// Reads a text with at most `longest` characters.
    fn text(&mut self, key: &str, longest: usize) -> Option<String>;

    /// Reads a mapping: calls `read` with a reader for its keys, if the value is a mapping.
    fn mapping(
        &mut self,
        key: &str,
        table: &'static KeyTable,
        read: &mut dyn FnMut(&mut dyn Reader),
    );

    /// Reads a list: calls `read` for each item with a reader that has the item under the key `""`.
    /// Returns true if the value is a list.
    fn list(&mut self, key: &str, read: &mut dyn FnMut(&mut dyn Reader)) -> bool;

    /// Reads a mapping whose keys are names that the user chose: calls `read` for each with the
    /// name and a reader that has its value under the key `""`. Returns true if the value is a
    /// mapping.
    fn names(&mut self, key: &str, read: &mut dyn FnMut(&str, &mut dyn Reader)) -> bool;

    /// Reads a value in any shape.
    fn any(&mut self, key: &str) -> Option<Written>;

    /// Drops one key if both are given: they say the same thing in two ways, and an override wins.
    fn either(&mut self, one: &str, other: &str);

    /// Adds the keys in `table`, once the reader's user knows which variant it reads.
    fn extend(&mut self, table: &'static KeyTable);

    /// Reads the keys as if they belonged to the likeliest among several variants, after the
    /// choosing word was wrong, and ignores the keys that other variants have. Calls `read` with
    /// that variant's number.
    fn guess(&mut self, tables: &[&'static KeyTable], read: &mut dyn FnMut(usize, &mut dyn Reader));

    /// Returns true if `key` was written and has not been read yet.
    fn has(&self, _key: &str) -> bool {
        false
    }

    /// Returns the value of `key` if it was written and has not been read yet.
    fn peek(&self, _key: &str) -> Option<Written> {
        None
    }

    /// Returns [`Reader::peek`]'s value as a word, quoted or not: JSON and TOML quote all words.
    fn peek_word(&self, key: &str) -> Option<String> {
        match self.peek(key)? {
            Written::Word(word) | Written::Text(word) => Some(word),
            Written::List(_) | Written::Map(_) => None,
        }
    }

    /// Returns true if the value of `key` is a mapping.
    fn is_mapping(&self, _key: &str) -> bool {
        false
    }

    /// Sets `key` to `value`, as if it had been written, if it was not; a mapping that was written
    /// gets the keys that it lacks.
    fn fill(&mut self, _key: &str, _value: Written) {}

    /// Returns true if `key` has a value, written or default.
    fn is_there(&self, key: &str) -> bool;

    /// Adds a derived value to the effective configuration.
    fn write(&mut self, key: &str, value: Written);

    /// Returns true if `key`, which was read, or a key within it (`switch.classes`), was written,
    /// and is not only a default.
    fn was_given(&self, key: &str) -> bool;

    /// Leaves `key` out of the effective configuration, because it means nothing beside the others.
    fn leave_out(&mut self, key: &str);

    /// Refuses the component as a whole; `what` is wrong with it.
    fn refuse_all(&mut self, what: &str, remedy: &str);

    /// Refuses the value that was read for `key`; `what` is wrong with it.
    fn refuse(&mut self, key: &str, what: &str, remedy: &str);
}

/// A reader for texts: some keys are given, the others have their defaults, and all are read as if
/// they had been written.
pub struct Texts<'a> {
    /// The component's keys, then those that its choices have added.
    keys: Vec<&'static [Key]>,
    given: &'a [(&'a str, String)],
}

impl<'a> Texts<'a> {
    /// Makes a reader for `keys`, with the texts `given` for some.
    pub fn new(keys: &'static [Key], given: &'a [(&'a str, String)]) -> Texts<'a> {
        let keys = vec![keys];
        Texts { keys, given }
    }

    fn text_of(&self, key: &str) -> Option<&str> {
        if let Some((_, text)) = self.given.iter().find(|(name, _)| *name == key) {
            return Some(text);
        }
        // A chosen member's keys come last, and win over keys with the same name.
        let mut keys = self.keys.iter().rev().copied().flatten();
        let key = keys.find(|known| known.name == key)?;
        match key.presence {
            Presence::Default(text) => Some(text),
            Presence::Required | Presence::Depends(_) | Presence::Follows(..) => None,
        }
    }

    fn parsed<T: std::str::FromStr + PartialOrd>(
        &self,
        key: &str,
        range: &RangeInclusive<T>,
    ) -> Option<T> {
        let value = self.text_of(key)?.parse().ok()?;
        range.contains(&value).then_some(value)
    }
}

impl Reader for Texts<'_> {
    fn time(&mut self, key: &str, range: RangeInclusive<Time>) -> Option<Time> {
        self.parsed(key, &range)
    }

    fn rate(&mut self, key: &str, range: RangeInclusive<Rate>) -> Option<Rate> {
        self.parsed(key, &range)
    }

    fn size(&mut self, key: &str, range: RangeInclusive<Bytes>) -> Option<Bytes> {
        self.parsed(key, &range)
    }

    fn share(&mut self, key: &str) -> Option<Share> {
        self.text_of(key)?.parse().ok()
    }

    fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        self.parsed(key, &range)
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        self.text_of(key)?.parse().ok()
    }

    fn choice(&mut self, key: &str, words: &[&str]) -> Option<usize> {
        let text = self.text_of(key)?;
        words.iter().position(|word| *word == text)
    }

    fn words(&mut self, key: &str, words: &[&str], _: &str) -> Option<Vec<usize>> {
        let list = self.text_of(key)?.strip_prefix('[')?.strip_suffix(']')?;
        let place = |text: &str| words.iter().position(|word| *word == text.trim());
        list.split(',').map(place).collect()
    }

    fn is_word(&mut self, key: &str, word: &str) -> bool {
        self.text_of(key) == Some(word)
    }

    fn word(&mut self, key: &str, _: [&str; 2], read: &mut dyn FnMut(&str) -> bool) {
        // Nobody is told of a wrong text: the caller finds that nothing was read.
        if let Some(text) = self.text_of(key) {
            read(text);
        }
    }

    fn text(&mut self, key: &str, longest: usize) -> Option<String> {
        // Defaults are quoted as in a scenario.
        let text = self.text_of(key)?.trim_matches('"');
        (text.chars().count() <= longest).then(|| text.to_owned())
    }

    fn mapping(
        &mut self,
        key: &str,
        table: &'static KeyTable,
        read: &mut dyn FnMut(&mut dyn Reader),
    ) {
        // A default is never a mapping with keys.
        if self.text_of(key) == Some("{}") {
            read(&mut Texts::new(table.keys, &[]));
        }
    }

    fn list(&mut self, key: &str, _: &mut dyn FnMut(&mut dyn Reader)) -> bool {
        // Items would need readers of their own, and no default has any.
        self.text_of(key) == Some("[]")
    }

    fn names(&mut self, key: &str, _: &mut dyn FnMut(&str, &mut dyn Reader)) -> bool {
        self.text_of(key) == Some("{}")
    }

    fn any(&mut self, key: &str) -> Option<Written> {
        self.text_of(key).map(Written::word)
    }

    fn either(&mut self, _: &str, _: &str) {}

    fn extend(&mut self, table: &'static KeyTable) {
        self.keys.push(table.keys);
    }

    // No problem is reported here, so there is no reason to read a likely member.
    fn guess(&mut self, _: &[&'static KeyTable], _: &mut dyn FnMut(usize, &mut dyn Reader)) {}

    fn is_there(&self, key: &str) -> bool {
        self.text_of(key).is_some()
    }

    // Texts are read for their values; there is no effective configuration to change.
    fn write(&mut self, _: &str, _: Written) {}

    fn was_given(&self, _: &str) -> bool {
        false
    }

    fn leave_out(&mut self, _: &str) {}

    // Without given texts the refusal is a mistake in the defaults themselves.
    fn refuse_all(&mut self, what: &str, _: &str) {
        assert!(
            !self.given.is_empty(),
            "the component of all defaults {what}"
        );
    }

    fn refuse(&mut self, key: &str, what: &str, _: &str) {
        assert!(!self.given.is_empty(), "the default of `{key}` {what}");
    }
}
