//! Where the values of keys come from.

use std::ops::RangeInclusive;

use tenter_units::{Bytes, Rate, Time};

use crate::{Key, KeyTable, Presence, Share, Written};

/// Where a component is read from: a section of a scenario, or [`Texts`]. Each method takes one
/// key; what is wrong is noted with its place, and reading goes on.
pub trait Reader {
    /// A time within bounds.
    fn time(&mut self, key: &str, range: RangeInclusive<Time>) -> Option<Time>;

    /// A rate within bounds.
    fn rate(&mut self, key: &str, range: RangeInclusive<Rate>) -> Option<Rate>;

    /// A size within bounds.
    fn size(&mut self, key: &str, range: RangeInclusive<Bytes>) -> Option<Bytes>;

    /// A share of one.
    fn share(&mut self, key: &str) -> Option<Share>;

    /// A whole number within bounds.
    fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64>;

    /// `true` or `false`.
    fn flag(&mut self, key: &str) -> Option<bool>;

    /// One of several words: its position.
    fn choice(&mut self, key: &str, words: &[&str]) -> Option<usize>;

    /// A list of some of several words, each at most once and one at least: their positions. `why`
    /// is the remedy where the list is empty.
    fn words(&mut self, key: &str, words: &[&str], why: &str) -> Option<Vec<usize>>;

    /// Whether the value is this word; it is taken if so, and left for another call if not.
    fn is_word(&mut self, key: &str, word: &str) -> bool;

    /// A word that `read` can read; else it is wrong, and the words before it in the message and
    /// the remedy are these.
    fn word(&mut self, key: &str, wrong: [&str; 2], read: &mut dyn FnMut(&str) -> bool);

    /// A text of at most so many characters.
    fn text(&mut self, key: &str, longest: usize) -> Option<String>;

    /// A mapping: `read` is called with the reader of its keys, where there is one.
    fn mapping(
        &mut self,
        key: &str,
        table: &'static KeyTable,
        read: &mut dyn FnMut(&mut dyn Reader),
    );

    /// A list: `read` is called for each item with a reader that has it under the key `""`.
    /// Whether it is a list.
    fn list(&mut self, key: &str, read: &mut dyn FnMut(&mut dyn Reader)) -> bool;

    /// A mapping whose keys are names of the user's: `read` is called for each with its name and a
    /// reader that has its value under the key `""`. Whether it is a mapping.
    fn names(&mut self, key: &str, read: &mut dyn FnMut(&str, &mut dyn Reader)) -> bool;

    /// Any value.
    fn any(&mut self, key: &str) -> Option<Written>;

    /// Forgets one of two keys that say the same thing in two ways, where both are given.
    fn either(&mut self, one: &str, other: &str);

    /// Adds the keys of a table, once it is known which of several variants this is.
    fn extend(&mut self, table: &'static KeyTable);

    /// Reads what is given as if this were the likeliest of several variants, and passes over the
    /// keys of all: the word that chooses is wrong. `read` is called with the number of that one.
    fn guess(&mut self, tables: &[&'static KeyTable], read: &mut dyn FnMut(usize, &mut dyn Reader));

    /// Whether a key was written that has not been read yet.
    fn has(&self, _key: &str) -> bool {
        false
    }

    /// The value of a key that was written and has not been read yet.
    fn peek(&self, _key: &str) -> Option<Written> {
        None
    }

    /// The same as a word, in quotes or not; JSON and TOML have all words in quotes.
    fn peek_word(&self, key: &str) -> Option<String> {
        match self.peek(key)? {
            Written::Word(word) | Written::Text(word) => Some(word),
            Written::List(_) | Written::Map(_) => None,
        }
    }

    /// Whether the value of a key is a mapping.
    fn is_mapping(&self, _key: &str) -> bool {
        false
    }

    /// Gives a key a value, as if it had been written, where it was not; a mapping that was written
    /// gets the keys that it lacks.
    fn fill(&mut self, _key: &str, _value: Written) {}

    /// Whether there is a value for a key: one that was written, or its default.
    fn is_there(&self, key: &str) -> bool;

    /// Puts what follows from other keys into the effective configuration.
    fn write(&mut self, key: &str, value: Written);

    /// Whether a key that was read, or one within it (`switch.classes`), had been written, and not
    /// only its default.
    fn was_given(&self, key: &str) -> bool;

    /// Leaves a key out of the effective configuration: it means nothing beside the others.
    fn leave_out(&mut self, key: &str);

    /// Refuses the component as a whole: what is wrong with it, and the remedy.
    fn refuse_all(&mut self, what: &str, remedy: &str);

    /// Refuses the value of a key that was read: what is wrong with it, and the remedy.
    fn refuse(&mut self, key: &str, what: &str, remedy: &str);
}

/// The texts of some keys, and of the defaults of the others: they are read as if they had been
/// written.
pub struct Texts<'a> {
    /// The keys of the component, then those that its choices add.
    keys: Vec<&'static [Key]>,
    given: &'a [(&'a str, String)],
}

impl<'a> Texts<'a> {
    /// The texts of keys that are given, and the defaults of the other ones of these keys.
    pub fn new(keys: &'static [Key], given: &'a [(&'a str, String)]) -> Texts<'a> {
        let keys = vec![keys];
        Texts { keys, given }
    }

    fn text_of(&self, key: &str) -> Option<&str> {
        if let Some((_, text)) = self.given.iter().find(|(name, _)| *name == key) {
            return Some(text);
        }
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
        if let Some(text) = self.text_of(key) {
            read(text);
        }
    }

    fn text(&mut self, key: &str, longest: usize) -> Option<String> {
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

    fn guess(&mut self, _: &[&'static KeyTable], _: &mut dyn FnMut(usize, &mut dyn Reader)) {}

    fn is_there(&self, key: &str) -> bool {
        self.text_of(key).is_some()
    }

    fn write(&mut self, _: &str, _: Written) {}

    fn was_given(&self, _: &str) -> bool {
        false
    }

    fn leave_out(&mut self, _: &str) {}

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
