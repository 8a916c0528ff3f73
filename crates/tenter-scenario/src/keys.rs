//! What a key is: one table per section says which keys there are, what they mean and what holds
//! when they are left out.
//!
//! The tables are the one source of truth: the reader refuses every key that is not in them and
//! takes defaults from them as text, and the tables of `docs/scenario.md` are printed from them.

use std::fmt::Write as _;

/// What holds when a key is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Presence {
    /// Nothing: it must be given.
    Required,
    /// This value, read as if it had been written.
    Default(&'static str),
    /// It depends; the words say on what.
    Depends(&'static str),
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What may be written: "time", "count", or the words to choose from.
    pub(crate) form: &'static str,
    pub(crate) presence: Presence,
    pub(crate) meaning: &'static str,
    /// Where the default comes from; empty where it means "off" or is a matter of course.
    pub(crate) origin: &'static str,
}

/// The keys of one section, or of one variant of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyTable {
    /// What the table is called in the reference.
    pub(crate) title: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key without an origin; [`Key::from`] adds one.
pub(crate) const fn key(
    name: &'static str,
    form: &'static str,
    presence: Presence,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        form,
        presence,
        meaning,
        origin: "",
    }
}

impl Key {
    /// The same key with the origin of its default.
    pub(crate) const fn from(self, origin: &'static str) -> Key {
        Key { origin, ..self }
    }
}

impl KeyTable {
    /// The key of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The table in Markdown.
    pub(crate) fn markdown(&self) -> String {
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
            let form = key.form.replace('|', "\\|");
            let _ = writeln!(
                out,
                "| `{}` | {form} | {default} | {}.{origin} |",
                key.name, key.meaning
            );
        }
        out
    }
}
