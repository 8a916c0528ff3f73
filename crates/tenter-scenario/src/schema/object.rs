//! Mappings of the format as objects of the schema, and what a key may hold: by its type, or from
//! the words of its table ("time", "`a` or `b`", "0 to 63, or `none`").

use serde_json::{Map, Value, json};
use tenter_config::{Form, Key, KeyTable, Presence, Shape, Variants};

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
            Form::Typed(shape) => return of_shape(shape(), inner),
            Form::Words(words) => words,
        };
        form_schema(words, inner)
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

/// The schema of a type; `inner` is that of the mapping that it may be.
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
        Shape::Led(own, members) => one_of(members().into_iter().map(|member| {
            let keys = Object::of(&[own, member.table]);
            let fix =
                |keys: Object, (key, word, must): (&'static str, &'static str, bool)| match must {
                    true => keys.fixed(key, word),
                    false => keys.fixed_or_left_out(key, word),
                };
            member.words.into_iter().fold(keys, fix).schema()
        })),
        Shape::WordOrMapping(words) => {
            let words: Vec<&str> = std::iter::once("none")
                .chain(words.iter().copied())
                .collect();
            json!({"anyOf": [inner, {"enum": words}]})
        }
        Shape::Parsed(words) => form_schema(words, None)
            .filter(|_| words.starts_with("IPv4"))
            .unwrap_or_else(|| json!({"type": ["number", "string"]})),
        Shape::Text => json!({"type": ["string", "number", "boolean"]}),
        Shape::Mapping(table) => inner.map_or_else(|| Object::of(&[table]).schema(), Value::clone),
        Shape::List(shape) => list(&of_shape(*shape, inner)),
        Shape::Named(shape) => {
            json!({"type": "object", "additionalProperties": of_shape(*shape, inner)})
        }
        Shape::Any => json!({}),
        Shape::Flag => json!({"enum": [true, false]}),
        Shape::Choice(words) => json!({ "enum": words }),
        Shape::Words(words) => list(&json!({ "enum": words })),
    }
}

/// The schema of a mapping in which one key chooses the others.
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

/// The schema of a form. `inner` is that of the mapping, or of each item of the list, that the form
/// speaks of; nothing where a form is not understood.
pub(super) fn form_schema(form: &str, inner: Option<&Value>) -> Option<Value> {
    if let Some(words) = form.strip_prefix("list of `") {
        return Some(list(&json!({ "enum": words_of(&format!("`{words}")) })));
    }
    // A bound belongs to the number before it.
    let (form, least) = match form.strip_suffix(" or more") {
        Some(rest) => rest.rsplit_once(", ")?,
        None => (form, ""),
    };
    let mut words = Vec::new();
    let mut alternatives = Vec::new();
    for part in parts(form) {
        match word(part) {
            Some(word) => words.push(word),
            None => alternatives.extend(alternative(part, least, inner)?),
        }
    }
    if !words.is_empty() {
        alternatives.push(json!({ "enum": words }));
    }
    match alternatives.len() {
        0 => None,
        1 => alternatives.pop(),
        _ => Some(json!({ "anyOf": alternatives })),
    }
}

/// The parts of a form, between commas and `or`.
fn parts(form: &str) -> impl Iterator<Item = &str> {
    form.split(", or one of ")
        .flat_map(|part| part.split(", or "))
        .flat_map(|part| part.split(" or "))
        .flat_map(|part| part.split(", "))
}

/// A part that is a word to be written as it stands.
fn word(part: &str) -> Option<Value> {
    if let Ok(number) = part.parse::<u64>() {
        return Some(json!(number));
    }
    let bare = part.strip_prefix('`')?.strip_suffix('`')?;
    if bare.starts_with('{') {
        return None;
    }
    // As YAML reads it.
    Some(match (bare, bare.parse::<u64>()) {
        ("true", _) => json!(true),
        ("false", _) => json!(false),
        (_, Ok(number)) => json!(number),
        _ => json!(bare),
    })
}

/// All words of a form.
fn words_of(form: &str) -> Vec<Value> {
    parts(form).filter_map(word).collect()
}

/// Any other part; an empty list for one that only names the unit of a number beside it.
fn alternative(part: &str, least: &str, inner: Option<&Value>) -> Option<Vec<Value>> {
    let integer = |least: u64| json!({"type": "integer", "minimum": least});
    let one = match part {
        "time" | "rate" | "size" => json!({ "$ref": format!("#/$defs/{part}") }),
        "text" => json!({"type": ["string", "number", "boolean"]}),
        "a word" | "name" => json!({"type": "string"}),
        "whole number" => integer(least.parse().unwrap_or(0)),
        "count" | "a count" | "packets" | "messages" | "bits" => integer(1),
        "number" | "rank" | "may be 0" => integer(0),
        "bytes" | "percent" | "parts per million" | "up to six decimals" | "in 1024ths" => {
            return Some(Vec::new());
        }
        "IPv4 address" => json!({"type": "string", "pattern": "^[0-9]+(\\.[0-9]+){3}$"}),
        "IPv4 prefix" => json!({"type": "string", "pattern": "^[0-9]+(\\.[0-9]+){3}/[0-9]+$"}),
        "mapping" | "a range" => inner?.clone(),
        "list" => list(inner?),
        "list of sizes" => list(&json!({"$ref": "#/$defs/size"})),
        "list of leaves" | "list of ports" => list(&integer(0)),
        "a list of hosts" | "a list of ports" => list(&json!({"type": ["string", "integer"]})),
        "…" | "decimal" => json!({"type": ["number", "string"]}),
        "0 to 1" => json!({"type": ["number", "string"], "minimum": 0, "maximum": 1}),
        _ if part.starts_with("`{") => inner?.clone(),
        _ => {
            let (first, last) = part.split_once(" to ")?;
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            json!({"type": "integer", "minimum": first, "maximum": last})
        }
    };
    Some(vec![one])
}
