//! Mappings of the format as objects of the schema.

use serde_json::{Map, Value, json};

use super::form;
use tenter_config::{Form, Key, KeyTable, Presence};

/// A mapping: the keys of some tables, and what those that hold mappings or lists hold.
pub(super) struct Object {
    tables: Vec<&'static KeyTable>,
    inner: Vec<(&'static str, Value)>,
    /// Keys with one possible word, and whether it must be written.
    fixed: Vec<(&'static str, &'static str, bool)>,
}

impl Object {
    /// A mapping with the keys of these tables.
    pub(super) fn of(tables: &[&'static KeyTable]) -> Object {
        Object {
            tables: tables.to_vec(),
            inner: Vec::new(),
            fixed: Vec::new(),
        }
    }

    /// Says what the mapping under a key is, or each item of the list.
    pub(super) fn with(mut self, key: &'static str, schema: Value) -> Object {
        self.inner.push((key, schema));
        self
    }

    /// Lets a key have one word only; it must be written.
    pub(super) fn fixed(mut self, key: &'static str, word: &'static str) -> Object {
        self.fixed.push((key, word, true));
        self
    }

    /// Lets a key have one word only, which holds also where it is left out.
    pub(super) fn fixed_or_left_out(mut self, key: &'static str, word: &'static str) -> Object {
        self.fixed.push((key, word, false));
        self
    }

    pub(super) fn schema(self) -> Value {
        let keys = || self.tables.iter().flat_map(|table| table.keys);
        for (name, _) in &self.inner {
            assert!(
                keys().any(|key| key.name == *name),
                "no table has the key `{name}`"
            );
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        for key in keys() {
            let fixed = self.fixed.iter().find(|(name, ..)| *name == key.name);
            let must = fixed.map_or(matches!(key.presence, Presence::Required), |fixed| fixed.2);
            if must {
                required.push(key.name);
            }
            let schema = match fixed {
                Some((_, word, _)) => json!({"const": word}),
                None => self.value(key),
            };
            properties.insert(key.name.to_owned(), described(schema, key));
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn value(&self, key: &Key) -> Value {
        let inner = self.inner.iter().find(|(name, _)| *name == key.name);
        let inner = inner.map(|(_, schema)| schema);
        let words = match key.form {
            Form::Typed(shape) => return form::of_shape(shape(), inner),
            Form::Words(words) => words,
        };
        form::schema(words, inner)
            .unwrap_or_else(|| panic!("the form of `{}` is unknown: {words}", key.name))
    }
}

/// The schema with what the tables say about a key.
fn described(mut schema: Value, key: &Key) -> Value {
    let mut text = format!("{}.", key.sentence());
    if !key.origin.is_empty() {
        text = format!("{text} Origin: {}.", key.origin);
    }
    match key.presence {
        Presence::Required => {}
        Presence::Default(default) => text = format!("{text} Default: {default}."),
        Presence::Depends(words) => text = format!("{text} Default: {words}."),
    }
    schema["description"] = json!(text);
    schema
}

/// Exactly one of several.
pub(super) fn one_of(alternatives: impl IntoIterator<Item = Value>) -> Value {
    json!({ "oneOf": alternatives.into_iter().collect::<Vec<Value>>() })
}

/// A list of such items.
pub(super) fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}
