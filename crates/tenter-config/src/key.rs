//! Keys and their tables.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::Shape;

/// What holds when a key is left out.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    /// Nothing: it must be given.
    Required,
    /// This value, read as if it had been written.
    Default(&'static str),
    /// It depends; the words say on what.
    Depends(&'static str),
}

/// What may be written for a key.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// In words: "time", "count", or the words to choose from.
    Words(&'static str),
    /// By the type of the field that it becomes.
    Typed(fn() -> Shape),
}

impl Form {
    /// As the reference has it.
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Form::Words(words) => Cow::Borrowed(words),
            Form::Typed(shape) => shape().text(),
        }
    }
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What may be written for it.
    pub form: Form,
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
    form: &'static str,
    presence: Presence,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        form: Form::Words(form),
        presence,
        meaning,
        origin: "",
    }
}

impl Key {
    /// The same key with a type.
    #[must_use]
    pub const fn typed(self, shape: fn() -> Shape) -> Key {
        Key {
            form: Form::Typed(shape),
            ..self
        }
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
    let blank = key("", "", Presence::Required, "");
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

/// The keys of one section, or of one variant of it.
#[derive(Clone, Copy, Debug)]
pub struct KeyTable {
    /// What the table is called in the reference.
    pub title: &'static str,
    /// The keys in the order of the reference.
    pub keys: &'static [Key],
}

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
            let shapes = tables[next].keys.iter().filter_map(|key| match key.form {
                Form::Typed(shape) => Some(shape()),
                Form::Words(_) => None,
            });
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
                Presence::Depends(words) => words.to_owned(),
            };
            let origin = if key.origin.is_empty() {
                String::new()
            } else {
                format!(" *Origin:* {}.", key.origin)
            };
            let form = key.form.text().replace('|', "\\|");
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
