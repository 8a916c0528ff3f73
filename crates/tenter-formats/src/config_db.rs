//! A `config_db.json` as tables whose objects have text fields. Reading a field leaves a record.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use tenter_language::notation::diagnostics::{Location, Problems, printable, quote};
use tenter_language::notation::tree::{Entry, Node, Value};
use tenter_language::units::suggestion;

/// An object's position: its table, and its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    table: usize,
    object: usize,
}

/// A table with its objects, in file order.
struct Table {
    name: String,
    objects: Vec<Object>,
}

/// An object: its key, and its fields in file order.
struct Object {
    key: String,
    at: Option<Location>,
    fields: Vec<Field>,
}

/// A field. All values are texts, as `SONiC` stores them.
struct Field {
    name: String,
    at: Option<Location>,
    text: String,
}

/// The target to which a field refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Object(Id),
    /// `NULL`: the switch works the target out while it runs.
    Null,
}

/// The tables that the importer knows, with a record which objects and fields were read.
pub(super) struct ConfigDb<'p> {
    tables: Vec<Table>,
    /// Names of all other tables in the file, which are not imported.
    pub(super) others: Vec<String>,
    problems: &'p Problems,
    /// Messages that have been reported. Several classes may use one wrong field, which is reported
    /// once.
    noted: RefCell<BTreeSet<String>>,
    // Cells, because all parts of the import read the tables through shared references.
    touched: RefCell<BTreeSet<Id>>,
    read: RefCell<BTreeSet<(Id, usize)>>,
}

/// An object that was not read, or not completely.
pub(super) struct Unread<'d> {
    pub(super) id: Id,
    pub(super) table: &'d str,
    /// Fields that were not read; empty if the import did not ask for the object at all.
    pub(super) fields: Vec<&'d str>,
}

impl<'p> ConfigDb<'p> {
    /// Takes the tables in `known` from a file, and reports entries that are no tables.
    pub(super) fn of(root: Node, known: &[&str], problems: &'p Problems) -> ConfigDb<'p> {
        let mut database = ConfigDb {
            tables: Vec::new(),
            others: Vec::new(),
            problems,
            noted: RefCell::default(),
            touched: RefCell::default(),
            read: RefCell::default(),
        };
        let help = "give the file that `config save` writes, or the output of `sonic-cfggen -d --print-data`";
        if !root.is_map() {
            let message = format!(
                "a `config_db.json` is a mapping of tables, not {}",
                root.describe()
            );
            problems.push(root.at, message, Some(help.to_owned()));
        }
        // A file holds the whole configuration of a switch, most of it about other things.
        for entry in entries(root) {
            if !known.contains(&entry.key.as_str()) {
                database.others.push(printable(&entry.key));
            } else if entry.node.is_map() {
                database.tables.push(table(entry, problems));
            } else {
                let message = format!(
                    "{} is a table, not {}",
                    quote(&entry.key),
                    entry.node.describe()
                );
                problems.push(entry.node.at, message, Some(help.to_owned()));
            }
        }
        // An import without any table would look like a success.
        if database.tables.is_empty() && problems.is_empty() {
            let message = "there is no table of buffers or traffic classes in it".to_owned();
            problems.push(None, message, Some(help.to_owned()));
        }
        database
    }

    fn object(&self, id: Id) -> &Object {
        &self.tables[id.table].objects[id.object]
    }

    /// Iterates over a table's objects and their keys, in file order.
    pub(super) fn objects(&self, table: &str) -> impl Iterator<Item = (Id, &str)> {
        let found = self.tables.iter().position(|known| known.name == table);
        let objects = found.map(|table| (table, self.tables[table].objects.iter().enumerate()));
        objects.into_iter().flat_map(|(table, objects)| {
            objects.map(move |(object, of)| (Id { table, object }, of.key.as_str()))
        })
    }

    /// Finds an object by its key, and marks it as asked for.
    pub(super) fn find(&self, table: &str, key: &str) -> Option<Id> {
        let mut objects = self.objects(table);
        let (id, _) = objects.find(|(_, known)| *known == key)?;
        self.touch(id);
        Some(id)
    }

    /// Marks an object as asked for.
    pub(super) fn touch(&self, id: Id) {
        self.touched.borrow_mut().insert(id);
    }

    /// Returns an object's key, as the file has it.
    pub(super) fn key(&self, id: Id) -> &str {
        &self.object(id).key
    }

    /// Returns `TABLE|KEY`, as messages name an object.
    pub(super) fn place(&self, id: Id) -> String {
        let table = &self.tables[id.table].name;
        printable(&format!("{table}|{}", self.object(id).key))
    }

    /// Returns `TABLE|KEY|FIELD`, as messages name a field.
    pub(super) fn field_place(&self, id: Id, field: &str) -> String {
        format!("{}|{}", self.place(id), printable(field))
    }

    /// Iterates over an object's field names.
    pub(super) fn fields(&self, id: Id) -> impl Iterator<Item = &str> {
        let fields = self.object(id).fields.iter();
        fields.map(|field| field.name.as_str())
    }

    /// Returns an object's field names and texts, sorted by name, without marking them as read.
    pub(super) fn sorted_fields(&self, id: Id) -> Vec<(&str, &str)> {
        let fields = self.object(id).fields.iter();
        let mut fields: Vec<_> = fields.map(|field| (&*field.name, &*field.text)).collect();
        fields.sort_unstable();
        fields
    }

    /// Returns a field's text, and marks it as read.
    pub(super) fn text(&self, id: Id, field: &str) -> Option<&str> {
        self.touch(id);
        let fields = &self.object(id).fields;
        let index = fields.iter().position(|known| known.name == field)?;
        self.read.borrow_mut().insert((id, index));
        Some(&fields[index].text)
    }

    /// Returns true if the object has the field, without marking it as read.
    pub(super) fn has(&self, id: Id, field: &str) -> bool {
        self.fields(id).any(|known| known == field)
    }

    /// Marks an object's fields as read, once a warning explains the object as a whole.
    pub(super) fn read_all(&self, id: Id) {
        self.touch(id);
        for index in 0..self.object(id).fields.len() {
            self.read.borrow_mut().insert((id, index));
        }
    }

    /// Reports a problem with a field.
    pub(super) fn wrong(&self, id: Id, field: &str, what: &str, help: &str) {
        let object = self.object(id);
        let found = object.fields.iter().find(|known| known.name == field);
        let at = found.map_or(object.at, |found| found.at);
        let message = format!("`{}` {what}", self.field_place(id, field));
        self.note(at, message, help);
    }

    fn note(&self, at: Option<Location>, message: String, help: &str) {
        if self.noted.borrow_mut().insert(message.clone()) {
            self.problems.push(at, message, Some(help.to_owned()));
        }
    }

    /// Reports a problem with an object.
    pub(super) fn wrong_object(&self, id: Id, what: &str, help: &str) {
        let message = format!("`{}` {what}", self.place(id));
        self.note(self.object(id).at, message, help);
    }

    /// Reads a whole number, which `SONiC` writes as text. Returns `None` if the field is missing,
    /// or wrong, which is reported.
    pub(super) fn number(&self, id: Id, field: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let text = self.text(id, field)?.trim();
        let number = text.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let help = format!(
                "write a whole number from {} to {}",
                range.start(),
                range.end()
            );
            self.wrong(id, field, &format!("cannot be {}", quote(text)), &help);
        }
        number
    }

    /// Reads a number as [`ConfigDb::number`] does, and reports a missing field.
    pub(super) fn required(&self, id: Id, field: &str, range: RangeInclusive<i64>) -> Option<i64> {
        if !self.has(id, field) {
            let help = format!(
                "write a whole number from {} to {}",
                range.start(),
                range.end()
            );
            self.wrong(id, field, "is missing", &help);
        }
        self.number(id, field, range)
    }

    /// Reads a field that refers to an object in `table`: by its key, or until 2021 as
    /// `[TABLE|KEY]`. Returns `None` if the field is missing, or names no object, which is
    /// reported.
    pub(super) fn reference(&self, id: Id, field: &str, table: &str) -> Option<Reference> {
        let text = self.text(id, field)?.trim();
        if text.eq_ignore_ascii_case("null") {
            return Some(Reference::Null);
        }
        let bare = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'));
        let bare = bare.unwrap_or(text);
        let key = bare
            .strip_prefix(table)
            .and_then(|rest| rest.strip_prefix('|'));
        let key = key.unwrap_or(bare);
        let found = self.find(table, key);
        if found.is_none() {
            let keys = self.objects(table).map(|(_, key)| key);
            // A table may have thousands of objects; a suggestion from the first ones is enough.
            let keys: Vec<&str> = keys.take(16).collect();
            let help = if keys.is_empty() {
                format!("there is no table {table}; add it")
            } else {
                suggestion(key, keys.into_iter())
            };
            let what = format!("is {}, which {table} does not have", quote(text));
            self.wrong(id, field, &what, &help);
        }
        found.map(Reference::Object)
    }

    /// Returns the objects that were not read completely, in file order.
    pub(super) fn unread(&self) -> Vec<Unread<'_>> {
        let (read, touched) = (self.read.borrow(), self.touched.borrow());
        let mut unread = Vec::new();
        for (table, of) in self.tables.iter().enumerate() {
            for (object, fields) in of.objects.iter().enumerate() {
                let id = Id { table, object };
                let mut left: Vec<&str> = Vec::new();
                if touched.contains(&id) {
                    let fields = fields.fields.iter().enumerate();
                    let fields = fields.filter(|(index, _)| !read.contains(&(id, *index)));
                    left.extend(fields.map(|(_, field)| field.name.as_str()));
                    if left.is_empty() {
                        continue;
                    }
                }
                unread.push(Unread {
                    id,
                    table: &of.name,
                    fields: left,
                });
            }
        }
        unread
    }
}

fn entries(node: Node) -> Vec<Entry> {
    match node.value {
        Value::Map(entries) => entries,
        _ => Vec::new(),
    }
}

/// Reads a table, and reports objects that are no mappings.
fn table(entry: Entry, problems: &Problems) -> Table {
    let name = entry.key;
    let objects = entries(entry.node).into_iter().map(|entry| {
        let place = format!("{name}|{}", entry.key);
        if !entry.node.is_map() {
            let message = format!(
                "{} has fields, but is {}",
                quote(&place),
                entry.node.describe()
            );
            let help = "write a mapping of fields, `{}` if there is none";
            problems.push(entry.node.at, message, Some(help.to_owned()));
        }
        let fields = entries(entry.node).into_iter();
        // SONiC's database cannot store an object without fields, so it stores one called `NULL`.
        let fields = fields.filter(|field| field.key != "NULL");
        Object {
            key: entry.key,
            at: entry.key_at,
            fields: fields
                .filter_map(|entry| field(entry, &place, problems))
                .collect(),
        }
    });
    Table {
        objects: objects.collect(),
        name,
    }
}

/// Reads a field: a text, or a list whose texts are joined by commas.
fn field(entry: Entry, place: &str, problems: &Problems) -> Option<Field> {
    let text = match &entry.node.value {
        Value::Scalar { text, .. } => Some(text.clone()),
        Value::List(items) => {
            // SONiC itself writes some lists as one text with commas: joined, both forms read
            // alike.
            let texts = items.iter().map(|item| match &item.value {
                Value::Scalar { text, .. } => Some(text.as_str()),
                _ => None,
            });
            texts
                .collect::<Option<Vec<_>>>()
                .map(|texts| texts.join(","))
        }
        Value::Map(_) => None,
    };
    if text.is_none() {
        let what = entry.node.describe();
        let message = format!(
            "{} is a text, not {what}",
            quote(&format!("{place}|{}", entry.key))
        );
        let help = "write the value of the field in quotes";
        problems.push(entry.node.at, message, Some(help.to_owned()));
    }
    Some(Field {
        at: entry.node.at,
        text: text?,
        name: entry.key,
    })
}
