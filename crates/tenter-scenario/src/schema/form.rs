//! What a key may hold, from the words of its table: "time", "`a` or `b`", "0 to 63, or `none`".

use serde_json::{Value, json};
use tenter_config::{Presence, Shape, Variants};

use super::{Object, list, one_of};

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
        Shape::Parsed(words) => schema(words, None)
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
        Shape::Choice(words) => {
            let words: Vec<Value> = words.iter().map(|word| plain(word)).collect();
            json!({ "enum": words })
        }
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
pub(super) fn schema(form: &str, inner: Option<&Value>) -> Option<Value> {
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
    Some(plain(bare))
}

/// A word as YAML reads it.
fn plain(word: &str) -> Value {
    match (word, word.parse::<u64>()) {
        ("true", _) => json!(true),
        ("false", _) => json!(false),
        (_, Ok(number)) => json!(number),
        _ => json!(word),
    }
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
