//! Decoding a tree into values: sections, fields and their checks. Each problem is recorded, and
//! reading goes on.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::units::{Bytes, Rate, Time, UnitError, suggestion};

use crate::config::{Key, KeyTable, Presence, Reader, Shape, Share, Written, key};
use crate::notation::diagnostics::{Location, Problems, quote};
use crate::notation::tree::{Entry, Node, Value, fill};
use crate::notation::yaml;

/// Longest word, in bytes, that may be a quantity. Longer ones are refused without parsing.
const WORD_MAX: usize = 64;

/// The section for a list item: its only value has no name.
const ITEM: KeyTable = KeyTable {
    title: "",
    keys: &[key("", || Shape::Any, Presence::Required, "")],
};

/// A value that was read, or `None` if it was wrong and a problem was recorded.
pub type Read<T> = Option<T>;

/// A mapping that is being read key by key.
pub struct Section<'p> {
    problems: &'p Problems,
    /// The mapping's path as in an override; empty for the scenario itself.
    path: String,
    /// Place for problems that concern the whole mapping.
    at: Option<Location>,
    /// Written entries that have not been taken yet.
    given: Vec<Entry>,
    /// Tables with the keys that may occur: the section's, then those that variants add.
    tables: Vec<&'static KeyTable>,
    /// The mapping with defaults filled in, for the effective configuration.
    complete: Vec<Entry>,
    /// For each key that was taken: the value's place, and true if it was written.
    taken: Vec<(&'static str, Option<Location>, bool)>,
    /// Set while the kind of mapping is only guessed: missing required keys are then not reported.
    lenient: bool,
}

/// A value that is being read.
#[derive(Clone)]
pub struct Field<'p> {
    problems: &'p Problems,
    /// The value's path as a user would write it in an override.
    pub path: String,
    /// Place to point at if the value is wrong.
    pub at: Option<Location>,
    /// The value as a tree.
    pub node: Node,
    /// The valid values by the key's table; [`Shape::Any`] if there is no table.
    shape: fn() -> Shape,
}

impl<'p> Section<'p> {
    /// Opens the scenario itself as a section.
    pub fn root(node: Node, table: &'static KeyTable, problems: &'p Problems) -> Section<'p> {
        let field = Field {
            problems,
            path: String::new(),
            at: node.at,
            node,
            shape: || Shape::Any,
        };
        field.section(table)
    }

    /// Adds the keys of a variant, once it is known which one was written.
    pub(crate) fn extend(&mut self, table: &'static KeyTable) {
        self.tables.push(table);
    }

    /// Takes the value for `name`, a key in the section's tables: as written, or its default.
    /// Returns `None` if there is neither, and reports a required key that is missing.
    pub(crate) fn take(&mut self, name: &str) -> Option<Field<'p>> {
        let key = self.key(name);
        let given = self.given.iter().position(|entry| entry.key == name);
        let (node, at) = match (given, key.presence) {
            (Some(index), _) => {
                let entry = self.given.remove(index);
                let at = entry.place();
                (entry.node, at)
            }
            (None, Presence::Default(text)) => (default_node(text), self.at),
            (None, Presence::Required) => {
                if !self.lenient {
                    self.report_missing(key);
                }
                return None;
            }
            (None, Presence::Depends(_) | Presence::Follows(..)) => return None,
        };
        // As it was written, for now: whoever reads a mapping or a list puts the completed one in
        // its place.
        self.put(name, node.clone());
        self.taken.push((key.name, at, given.is_some()));
        Some(Field {
            problems: self.problems,
            path: self.path_of(name),
            at,
            node,
            shape: key.shape,
        })
    }

    /// Returns true if `name` was written and has not been taken yet.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|entry| entry.key == name)
    }

    /// Returns the value for `name` if it was written and has not been taken yet.
    pub(crate) fn peek(&self, name: &str) -> Option<&Node> {
        let entry = self.given.iter().find(|entry| entry.key == name)?;
        Some(&entry.node)
    }

    /// Adds entries that were not written, also in nested mappings that were, as if they had been
    /// written.
    pub(crate) fn fill(&mut self, defaults: &[Entry]) {
        fill(&mut self.given, defaults);
    }

    /// Ignores the keys in `table`, which cannot be read because something else is wrong.
    pub(crate) fn skip(&mut self, table: &KeyTable) {
        self.given.retain(|entry| table.get(&entry.key).is_none());
    }

    /// Reports a problem with the section as a whole.
    pub(crate) fn problem(&self, what: &str, help: impl Into<Option<String>>) {
        self.problems.push(
            self.at,
            format!("{} {what}", quote(&self.path)),
            help.into(),
        );
    }

    /// Reports a problem with the key `name`, which has been taken and stood at `at`.
    pub(crate) fn problem_of(&self, name: &str, at: Option<Location>, what: &str, help: &str) {
        let message = format!("{} {what}", quote(&self.path_of(name)));
        self.problems.push(at, message, Some(help.to_owned()));
    }

    /// Drops one of two keys that say the same thing in two ways, if both are given, and returns
    /// the one to take. An override wins over the file; if neither key wins, both together are
    /// reported as a problem.
    pub(crate) fn keep_either<'k>(&mut self, one: &'k str, other: &'k str) -> &'k str {
        let place = |name| {
            let entry = self.given.iter().find(|entry: &&Entry| entry.key == name)?;
            Some(entry.key_at)
        };
        match (place(one), place(other)) {
            (Some(first), Some(second)) => {
                let [rank, other_rank] = [first, second].map(|at| self.problems.rank(at));
                let (winner, loser) = if rank > other_rank {
                    (one, other)
                } else {
                    (other, one)
                };
                if rank == other_rank {
                    let message = format!("{} and {} exclude each other", quote(one), quote(other));
                    let help = "keep the one you mean".to_owned();
                    self.problems.push(second, message, Some(help));
                }
                self.given.retain(|entry| entry.key != loser);
                winner
            }
            (None, Some(_)) => other,
            _ => one,
        }
    }

    /// Sets a value in the effective configuration, replacing the one that was taken.
    pub fn put(&mut self, name: &str, node: Node) {
        match self.complete.iter_mut().find(|entry| entry.key == name) {
            Some(entry) => entry.node = node,
            None => self.complete.push(Entry {
                key: name.to_owned(),
                key_at: None,
                node,
            }),
        }
    }

    /// Leaves a key out of the effective configuration, because another key says the same. A path
    /// leads to a key in a nested mapping.
    pub(crate) fn drop_key(&mut self, name: &str) {
        let Some((mapping, rest)) = name.split_once('.') else {
            self.complete.retain(|entry| entry.key != name);
            return;
        };
        if let Some(entry) = self.complete.iter_mut().find(|entry| entry.key == mapping) {
            entry.node.remove(&rest.split('.').collect::<Vec<_>>());
        }
    }

    /// Reports the keys that were never taken, and returns the section with defaults filled in.
    pub fn finish(self) -> Node {
        for entry in &self.given {
            let within = if self.path.is_empty() {
                "the scenario".to_owned()
            } else {
                quote(&self.path)
            };
            let message = format!("unknown key {} in {within}", quote(&entry.key));
            // Searching a near word takes time, and a problem that is not kept needs no help.
            let help = (!self.problems.is_full()).then(|| {
                // Variants may have keys of the same name, which are listed once.
                let mut known: Vec<&str> = Vec::new();
                for key in self.tables.iter().flat_map(|table| table.keys) {
                    if !known.contains(&key.name) {
                        known.push(key.name);
                    }
                }
                suggestion(&entry.key, known.into_iter())
            });
            let at = entry.key_at.or(entry.node.at);
            self.problems.push(at, message, help);
        }
        Node {
            at: self.at,
            value: Value::Map(self.complete),
        }
    }

    /// Takes a subsection; if it is left out, all its keys have their defaults.
    pub fn section(&mut self, name: &str, table: &'static KeyTable) -> Option<Section<'p>> {
        Some(self.take(name)?.section(table))
    }

    /// Takes a value whose type has no bounds.
    pub fn value<T: crate::config::Value<Bounds = ()>>(&mut self, name: &str) -> Option<T> {
        T::read(self, name, ())
    }

    /// Takes a time within `range`.
    pub(crate) fn time(&mut self, name: &str, range: RangeInclusive<Time>) -> Option<Time> {
        self.take(name)?.quantity("a time", &range)
    }

    /// Takes a whole number within `range`.
    pub(crate) fn integer<T: TryFrom<u64>>(
        &mut self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Option<T> {
        self.take(name)?.integer(range)
    }

    /// Takes `true` or `false` as a flag.
    pub(crate) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.take(name)?.choice(&[("true", true), ("false", false)])
    }

    /// Takes a word from `choices`; returns the value beside it.
    pub(crate) fn choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        self.take(name)?.choice(choices)
    }

    fn key(&self, name: &str) -> &'static Key {
        let found = self.tables.iter().find_map(|table| table.get(name));
        found.expect("every key that is read stands in the table of its section")
    }

    fn path_of(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => format!("{path}.{name}"),
        }
    }

    fn report_missing(&self, key: &Key) {
        let message = if self.path.is_empty() {
            format!("the scenario lacks {}", quote(key.name))
        } else {
            format!("{} lacks {}", quote(&self.path), quote(key.name))
        };
        let help = format!(
            "add {} ({}): {}",
            quote(key.name),
            key.form(),
            key.sentence()
        );
        self.problems.push(self.at, message, Some(help));
    }
}

/// Components read their keys through this trait, by the types that they declare.
impl Reader for Section<'_> {
    fn time(&mut self, key: &str, range: RangeInclusive<Time>) -> Option<Time> {
        Section::time(self, key, range)
    }

    fn rate(&mut self, key: &str, range: RangeInclusive<Rate>) -> Option<Rate> {
        let field = self.take(key)?;
        // A rate of zero gets its own message: it is a common way to try to switch a link off.
        let zero = Rate::from_bits_per_second(0);
        let is_zero = field.word().and_then(|word| word.parse().ok()) == Some(zero);
        if is_zero && !range.contains(&zero) {
            let help = "give it a rate, for example `400Gbps`";
            field.problem(
                "is zero: a link without a rate carries nothing",
                help.to_owned(),
            );
            return None;
        }
        field.quantity("a rate", &range)
    }

    fn size(&mut self, key: &str, range: RangeInclusive<Bytes>) -> Option<Bytes> {
        self.take(key)?.quantity("a size", &range)
    }

    fn share(&mut self, key: &str) -> Option<Share> {
        let share = self.take(key)?.share()?;
        // Normalised, so that `0.20` and `0.2` give the same effective configuration.
        self.put(key, Node::plain(share.to_string()));
        Some(share)
    }

    fn is_word(&mut self, key: &str, word: &str) -> bool {
        let given = self.given.iter().find(|entry| entry.key == key);
        // Quoted or not: JSON and TOML quote all words.
        let text = match (given, self.key(key).presence) {
            (Some(entry), _) => match &entry.node.value {
                Value::Scalar { text, .. } => text.as_str(),
                Value::List(_) | Value::Map(_) => "",
            },
            (None, Presence::Default(text)) => text,
            (None, Presence::Required | Presence::Depends(_) | Presence::Follows(..)) => "",
        };
        // Only a match takes the value; otherwise another method reads it.
        text == word && self.take(key).is_some()
    }

    fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        Section::integer(self, key, range)
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        self.boolean(key)
    }

    fn choice(&mut self, key: &str, words: &[&str]) -> Option<usize> {
        let places: Vec<(&str, usize)> = words.iter().copied().zip(0..).collect();
        Section::choice(self, key, &places)
    }

    fn words(&mut self, key: &str, words: &[&str], why: &str) -> Option<Vec<usize>> {
        self.take(key)?.words(words, why)
    }

    fn word(&mut self, key: &str, [wrong, remedy]: [&str; 2], read: &mut dyn FnMut(&str) -> bool) {
        let Some(field) = self.take(key) else {
            return;
        };
        if !field.word().is_some_and(read) {
            let what = format!("{wrong} {}", field.node.describe());
            field.problem(&what, remedy.to_owned());
        }
    }

    fn text(&mut self, key: &str, longest: usize) -> Option<String> {
        self.take(key)?.text(longest)
    }

    fn mapping(
        &mut self,
        key: &str,
        table: &'static KeyTable,
        read: &mut dyn FnMut(&mut dyn Reader),
    ) {
        if let Some(mut own) = self.section(key, table) {
            read(&mut own);
            self.put(key, own.finish());
        }
    }

    fn list(&mut self, key: &str, read: &mut dyn FnMut(&mut dyn Reader)) -> bool {
        let Some(field) = self.take(key) else {
            return false;
        };
        let (items, node) = field.each(|_, item| {
            let mut item = item.alone();
            read(&mut item);
            (
                Some(()),
                // The item's section has a single entry, without a name.
                item.complete
                    .pop()
                    .map_or_else(Node::empty, |entry| entry.node),
            )
        });
        self.put(key, node);
        items.is_some()
    }

    fn names(&mut self, key: &str, read: &mut dyn FnMut(&str, &mut dyn Reader)) -> bool {
        let Some(field) = self.take(key) else {
            return false;
        };
        let Value::Map(entries) = &field.node.value else {
            let what = format!("must be a mapping, not {}", field.node.describe());
            field.problem(&what, "write `NAME: VALUE`, a line for each".to_owned());
            return false;
        };
        for entry in entries {
            let value = Field {
                path: format!("{}.{}", field.path, entry.key),
                at: entry.place(),
                node: entry.node.clone(),
                ..field.clone()
            };
            read(&entry.key, &mut value.alone());
        }
        true
    }

    fn any(&mut self, key: &str) -> Option<Written> {
        Some(self.take(key)?.node.to_written())
    }

    fn either(&mut self, one: &str, other: &str) {
        self.keep_either(one, other);
    }

    fn extend(&mut self, table: &'static KeyTable) {
        Section::extend(self, table);
    }

    fn guess(
        &mut self,
        tables: &[&'static KeyTable],
        read: &mut dyn FnMut(usize, &mut dyn Reader),
    ) {
        let given = |table: &KeyTable| table.keys.iter().filter(|key| self.has(key.name)).count();
        // `max_by_key` takes the last of equals; in reverse order that is the first table.
        let places = (0..tables.len()).rev();
        if let Some(likeliest) = places.max_by_key(|place| given(tables[*place])) {
            self.lenient = true;
            read(likeliest, self);
            self.lenient = false;
        }
        for table in tables {
            self.skip(table);
        }
    }

    fn has(&self, key: &str) -> bool {
        Section::has(self, key)
    }

    fn peek(&self, key: &str) -> Option<Written> {
        Section::peek(self, key).map(Node::to_written)
    }

    fn is_mapping(&self, key: &str) -> bool {
        Section::peek(self, key).is_some_and(Node::is_map)
    }

    fn fill(&mut self, key: &str, value: Written) {
        let node = Node::written(value);
        Section::fill(self, &[Entry::unplaced(key, node)]);
    }

    fn is_there(&self, key: &str) -> bool {
        self.has(key) || matches!(self.key(key).presence, Presence::Default(_))
    }

    fn write(&mut self, key: &str, value: Written) {
        self.put(key, Node::written(value));
    }

    fn was_given(&self, key: &str) -> bool {
        if key.contains('.') {
            // `taken` has only this section's keys, so the scenario as it was written decides.
            return self.problems.is_written(&self.path_of(key));
        }
        let taken = self.taken.iter().find(|(name, ..)| *name == key);
        taken.is_some_and(|(.., given)| *given)
    }

    fn leave_out(&mut self, key: &str) {
        self.drop_key(key);
    }

    fn refuse_all(&mut self, what: &str, remedy: &str) {
        self.problem(what, remedy.to_owned());
    }

    fn refuse(&mut self, key: &str, what: &str, remedy: &str) {
        let taken = self.taken.iter().find(|(name, ..)| *name == key);
        let at = taken.and_then(|(_, at, _)| *at);
        // Nested keys are not in `taken`; their place follows from the path.
        let at = at.or_else(|| self.problems.place(&self.path_of(key)));
        self.problem_of(key, at, what, remedy);
    }
}

impl<'p> Field<'p> {
    /// Makes a field for a value that was not written; problems with it point at `at`.
    pub fn derived(
        path: &str,
        at: Option<Location>,
        node: Node,
        problems: &'p Problems,
    ) -> Field<'p> {
        Field {
            problems,
            path: path.to_owned(),
            at,
            node,
            shape: || Shape::Any,
        }
    }

    /// Reports a problem with this value.
    pub(crate) fn problem(&self, what: &str, help: impl Into<Option<String>>) {
        self.problems.push(
            self.at,
            format!("{} {what}", quote(&self.path)),
            help.into(),
        );
    }

    /// Wraps the value into a section, as its only entry, under an empty name.
    fn alone(self) -> Section<'p> {
        Section {
            problems: self.problems,
            path: self.path,
            at: self.at,
            given: vec![Entry {
                key: String::new(),
                key_at: self.at,
                node: self.node,
            }],
            tables: vec![&ITEM],
            complete: Vec::new(),
            taken: Vec::new(),
            lenient: false,
        }
    }

    /// Opens the value as a mapping; any other value is reported and read as an empty mapping.
    pub fn section(self, table: &'static KeyTable) -> Section<'p> {
        let (problems, path, at) = (self.problems, self.path.clone(), self.at);
        // An empty section (`switch:`) is null in YAML, and means that all keys have their
        // defaults.
        if !matches!(self.node.value, Value::Map(_)) && !self.node.is_null() {
            let names: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
            let help = format!("its keys are {}", names.join(", "));
            let what = format!("must be a mapping, not {}", self.node.describe());
            self.problem(&what, help);
        }
        let given = match self.node.value {
            Value::Map(entries) => entries,
            _ => Vec::new(),
        };
        Section {
            problems,
            path,
            at,
            given,
            tables: vec![table],
            complete: Vec::new(),
            taken: Vec::new(),
            lenient: false,
        }
    }

    /// Returns a list's items as fields; any other value is reported.
    pub(crate) fn items(&self) -> Option<Vec<Field<'p>>> {
        let Value::List(items) = &self.node.value else {
            let what = format!("must be a list, not {}", self.node.describe());
            self.problem(
                &what,
                "begin each item with `- `, or write `[…, …]`".to_owned(),
            );
            return None;
        };
        let field = |(index, node): (usize, &Node)| Field {
            problems: self.problems,
            path: format!("{}[{index}]", self.path),
            // Items that the user did not write have no place; their list may have one.
            at: node.at.or(self.at),
            node: node.clone(),
            shape: self.shape,
        };
        Some(items.iter().enumerate().map(field).collect())
    }

    /// Calls `read` for each item in a list. Returns the values, if all are right, and the list
    /// with defaults filled in.
    pub(crate) fn each<T>(
        &self,
        mut read: impl FnMut(usize, Field<'p>) -> (Option<T>, Node),
    ) -> (Read<Vec<T>>, Node) {
        let items = self.items();
        let mut complete = items.is_some();
        let (mut values, mut nodes) = (Vec::new(), Vec::new());
        for (index, item) in items.unwrap_or_default().into_iter().enumerate() {
            let (value, node) = read(index, item);
            complete &= value.is_some();
            values.extend(value);
            nodes.push(node);
            // A list with a hundred thousand wrong items must not take the time to format all
            // messages.
            if self.problems.is_full() {
                complete = false;
                break;
            }
        }
        (
            complete.then_some(values),
            Node::unplaced(Value::List(nodes)),
        )
    }

    /// Returns the value as a word, quoted or not; `None` for null, lists and mappings.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.node.value {
            Value::Scalar { text, .. } if !self.node.is_null() => Some(text),
            _ => None,
        }
    }

    /// Reads a text with at most `longest` characters.
    pub(crate) fn text(&self, longest: usize) -> Option<String> {
        let Some(text) = self.word() else {
            let what = format!("must be a text, not {}", self.node.describe());
            self.problem(&what, "write a word, or a text in quotes".to_owned());
            return None;
        };
        if text.chars().count() > longest {
            let what = format!("is longer than {longest} characters");
            self.problem(&what, "shorten it".to_owned());
            return None;
        }
        Some(text.to_owned())
    }

    /// Reads a quantity with its unit, within `range`; `what` names its kind with an article.
    pub(crate) fn quantity<T>(&self, what: &str, range: &RangeInclusive<T>) -> Option<T>
    where
        T: FromStr<Err = UnitError> + Display + PartialOrd + Copy,
    {
        let word = self.word().filter(|word| word.len() <= WORD_MAX);
        let Some(text) = word else {
            let wrong = format!("must be {what} with its unit, not {}", self.node.describe());
            self.problem(&wrong, format!("write for example `{}`", range.start()));
            return None;
        };
        let value: T = match text.parse() {
            Ok(value) => value,
            Err(error) => {
                let text = error.to_string();
                let (wrong, help) = split_remedy(&text);
                let message = format!("{}: {wrong}", quote(&self.path));
                // The key may also take a word, such as `none`, which the error of a quantity does
                // not know.
                let help = help.map(|help| match (self.shape)().words() {
                    Some(words) => format!("{help}, or {words}"),
                    None => help,
                });
                self.problems.push(self.at, message, help);
                return None;
            }
        };
        if range.contains(&value) {
            return Some(value);
        }
        self.out_of_range(text, range.start(), range.end());
        None
    }

    /// Reads a whole number within `range` that fits `T`.
    pub(crate) fn integer<T: TryFrom<u64>>(&self, range: RangeInclusive<u64>) -> Option<T> {
        let (least, most) = (*range.start(), *range.end());
        let wrong = |help: &str| {
            let what = format!("must be a whole number, not {}", self.node.describe());
            self.problem(&what, help.to_owned());
        };
        let Value::Scalar { text, quoted } = &self.node.value else {
            wrong(&format!("from {least} to {most}"));
            return None;
        };
        // Negative and large numbers are whole, too: they are out of range, not malformed.
        let digits = text.strip_prefix('-').unwrap_or(text);
        let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if *quoted && all_digits {
            wrong("leave the quotation marks out");
            return None;
        }
        if !all_digits {
            wrong("write it in digits, without unit, point or exponent");
            return None;
        }
        let value = text
            .parse::<u64>()
            .ok()
            .filter(|value| range.contains(value));
        if value.is_none() {
            self.out_of_range(text, &least, &most);
        }
        T::try_from(value?).ok()
    }

    /// Reads a word from `choices`; returns the value beside it.
    pub(crate) fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Option<T> {
        let names = || choices.iter().map(|(name, _)| *name);
        // The reference shows the words in the key's shape, which must be those that are read.
        debug_assert!(
            agrees(&(self.shape)().text(), names()),
            "the table of `{}` says other words than are read: {}",
            self.path,
            (self.shape)().text()
        );
        let found = self
            .word()
            .and_then(|word| choices.iter().find(|(name, _)| *name == word));
        if found.is_none() {
            let what = format!("cannot be {}", self.node.describe());
            self.problem(&what, suggestion(self.word().unwrap_or(""), names()));
        }
        found.map(|(_, value)| value.clone())
    }

    /// Reads a list with at least one word from `words`, each at most once; returns their
    /// positions.
    fn words(&self, words: &[&str], why: &str) -> Option<Vec<usize>> {
        let items = self.items()?;
        if items.is_empty() {
            self.problem("is empty", why.to_owned());
            return None;
        }
        let choices: Vec<(&str, usize)> = words.iter().copied().zip(0..).collect();
        let mut chosen = Vec::new();
        let mut complete = true;
        for item in items {
            match item.choice(&choices) {
                Some(place) if chosen.contains(&place) => {
                    item.problem("is listed twice", "keep one of them".to_owned());
                    complete = false;
                }
                Some(place) => chosen.push(place),
                None => complete = false,
            }
        }
        complete.then_some(chosen)
    }

    /// Reads a share from 0 to 1.
    pub(crate) fn share(&self) -> Option<Share> {
        let share = self.word().unwrap_or_default().parse();
        if share.is_err() {
            let what = format!("cannot be {}", self.node.describe());
            let help = "write a decimal from 0 to 1 with at most six decimals, for example `0.2`";
            self.problem(&what, help.to_owned());
        }
        share.ok()
    }

    fn out_of_range(&self, value: &str, least: &impl Display, most: &impl Display) {
        let what = format!("is {}, outside its range", quote(value));
        self.problem(&what, format!("choose from `{least}` to `{most}`"));
    }
}

/// Returns true if the words listed in `form` are those that are read. `none` is read elsewhere; a
/// form without words leaves them to the key's meaning.
fn agrees<'w>(form: &str, mut read: impl Iterator<Item = &'w str> + Clone) -> bool {
    let mut listed = form
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| !word.starts_with('{'));
    let all_read = listed
        .clone()
        .all(|word| word == "none" || read.clone().any(|known| known == word));
    let any = listed.next().is_some();
    !any || (all_read && read.all(|word| form.contains(&format!("`{word}`"))))
}

/// Splits an error message into problem and remedy; other crates write it as `problem; remedy`.
pub fn split_remedy(error: &str) -> (&str, Option<String>) {
    // The last one separates: a quoted text before it may contain others.
    match error.rsplit_once("; ") {
        Some((wrong, remedy)) => (wrong, Some(remedy.to_owned())),
        None => (error, None),
    }
}

/// Makes the tree for a default, which is read like a written value but has no place.
fn default_node(text: &str) -> Node {
    // Most defaults are single words, which need no parser.
    if text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-/.".contains(&byte))
    {
        return Node::plain(text);
    }
    let problems = Problems::default();
    let node = yaml::parse(text, 0, 0, &problems).expect("defaults are valid YAML");
    unplaced(node)
}

/// Removes all places from a tree, for values that the user did not write.
pub fn unplaced(node: Node) -> Node {
    let value = match node.value {
        Value::List(items) => Value::List(items.into_iter().map(unplaced).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|entry| Entry {
                    key_at: None,
                    node: unplaced(entry.node),
                    ..entry
                })
                .collect(),
        ),
        scalar @ Value::Scalar { .. } => scalar,
    };
    Node::unplaced(value)
}
