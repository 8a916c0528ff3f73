//! The format's mappings as objects in the schema, and each key's schema by its type.

use serde_json::{Map, Value, json};
use tenter_language::config::{Key, KeyTable, Presence, Shape, Variants};

/// A mapping in the format: the keys from some tables, with schemas for mappings and lists in them.
pub(super) struct Object {
    tables: Vec<&'static KeyTable>,
    inner: Vec<(&'static str, Value)>,
    /// Keys with one possible word; the flag is true if the key must be written.
    fixed: Vec<(&'static str, &'static str, bool)>,
}

impl Object {
    /// Starts a mapping with the keys in `tables`.
    pub(super) fn of(tables: &[&'static KeyTable]) -> Object {
        Object {
            tables: tables.to_vec(),
            inner: Vec::new(),
            fixed: Vec::new(),
        }
    }

    /// Sets the schema for the mapping under `key`, or for its list's items.
    pub(super) fn with(mut self, key: &'static str, schema: Value) -> Object {
        self.inner.push((key, schema));
        self
    }

    /// Restricts a key to one word, and requires it.
    pub(super) fn fixed(mut self, key: &'static str, word: &'static str) -> Object {
        self.fixed.push((key, word, true));
        self
    }

    /// Restricts a key to one word, which also applies if the key is missing.
    pub(super) fn fixed_or_left_out(mut self, key: &'static str, word: &'static str) -> Object {
        self.fixed.push((key, word, false));
        self
    }

    pub(super) fn schema(self) -> Value {
        let keys = || self.tables.iter().flat_map(|table| table.keys);
        for (name, _) in &self.inner {
            // A misspelt key would lose its schema without notice.
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
        of_shape((key.shape)(), inner)
    }
}

/// Adds a key's description, origin and default to its schema.
fn described(mut schema: Value, key: &Key) -> Value {
    let mut text = format!("{}.", key.sentence());
    if !key.origin.is_empty() {
        text = format!("{text} Origin: {}.", key.origin);
    }
    match key.presence {
        Presence::Required => {}
        Presence::Default(default) => text = format!("{text} Default: {default}."),
        Presence::Depends(words) | Presence::Follows(words, _) => {
            text = format!("{text} Default: {words}.");
        }
    }
    schema["description"] = json!(text);
    schema
}

/// Accepts values that fit exactly one alternative.
pub(super) fn one_of(alternatives: impl IntoIterator<Item = Value>) -> Value {
    json!({ "oneOf": alternatives.into_iter().collect::<Vec<Value>>() })
}

/// Accepts a list with such items.
pub(super) fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Returns a type's schema; `inner` replaces that of a mapping in it.
pub(super) fn of_shape(shape: Shape, inner: Option<&Value>) -> Value {
    match shape {
        Shape::Time { .. } => json!({"$ref": "#/$defs/time"}),
        Shape::Integer { least, most } | Shape::Percent { least, most } => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Shape::Rate { .. } => json!({"$ref": "#/$defs/rate"}),
        Shape::Bytes { .. } => json!({"$ref": "#/$defs/size"}),
        Shape::Share => json!({"type": ["number", "string"], "minimum": 0, "maximum": 1}),
        Shape::Either(one, other) => {
            json!({"anyOf": [of_shape(*one, inner), of_shape(*other, inner)]})
        }
        Shape::OrWord(shape, word) => {
            json!({"anyOf": [of_shape(*shape, inner), {"enum": [word]}]})
        }
        Shape::Variants(variants) => of_variants(variants),
        Shape::Led(..) if inner.is_some() => inner.cloned().unwrap_or_default(),
        Shape::Led(own, members) => one_of(members().into_iter().map(|member| {
            let keys = Object::of(&[own, member.table]);
            let fix = |keys: Object, (key, word, must): (&'static str, &'static str, bool)| {
                if must {
                    keys.fixed(key, word)
                } else {
                    keys.fixed_or_left_out(key, word)
                }
            };
            member.words.into_iter().fold(keys, fix).schema()
        })),
        Shape::Parsed("IPv4 address") => pattern("^[0-9]+(\\.[0-9]+){3}$"),
        Shape::Parsed("IPv4 prefix") => pattern("^[0-9]+(\\.[0-9]+){3}/[0-9]+$"),
        Shape::Parsed(_) => json!({"type": ["number", "string"]}),
        // YAML reads an unquoted `42` or `true` as no string, but the reader takes it as text.
        Shape::Text => json!({"type": ["string", "number", "boolean"]}),
        Shape::Mapping(table) => inner.map_or_else(|| Object::of(&[table]).schema(), Value::clone),
        Shape::List(shape) => list(&of_shape(*shape, inner)),
        Shape::Named(shape) => {
            json!({"type": "object", "additionalProperties": of_shape(*shape, inner)})
        }
        Shape::Any => json!({}),
        Shape::Flag => json!({"enum": [true, false]}),
        Shape::Choice(words) => {
            let words: Vec<Value> = words.iter().map(|word| plain(word)).collect();
            json!({ "enum": words })
        }
        Shape::Words(words) => list(&json!({ "enum": words })),
    }
}

/// Returns the schema for a mapping in which one key chooses the others.
fn of_variants(variants: &Variants) -> Value {
    let choice = &variants.own.keys[0];
    one_of(variants.members.iter().map(|(word, table)| {
        if variants.are_told_apart {
            return Object::of(&[*table]).schema();
        }
        let keys = Object::of(&[variants.own, table]);
        match choice.presence {
            Presence::Default(default) if default == *word => {
                keys.fixed_or_left_out(choice.name, word).schema()
            }
            _ => keys.fixed(choice.name, word).schema(),
        }
    }))
}

fn pattern(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

/// Returns a word as YAML reads it: a boolean, a number or a text.
fn plain(word: &str) -> Value {
    match (word, word.parse::<u64>()) {
        ("true", _) => json!(true),
        ("false", _) => json!(false),
        (_, Ok(number)) => json!(number),
        _ => json!(word),
    }
}
