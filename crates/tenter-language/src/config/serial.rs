//! Serde's view of written values: words that are whole numbers or flags as such, all others as
//! texts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::config::Written;

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Written::Word(word) => match (word.as_str(), word.parse::<u64>()) {
                ("true", _) => to.serialize_bool(true),
                ("false", _) => to.serialize_bool(false),
                // A number that would print otherwise, such as `007`, stays a text.
                (_, Ok(number)) if number.to_string() == *word => to.serialize_u64(number),
                _ => to.serialize_str(word),
            },
            Written::Text(text) => to.serialize_str(text),
            Written::List(items) => to.collect_seq(items),
            Written::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Written, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

/// Accepts a value in any form.
struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Written;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value of a scenario")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Written, E> {
        Ok(Written::word(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Written, E> {
        Ok(Written::word(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Written, E> {
        Ok(Written::word(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Written, E> {
        Ok(Written::word(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Written, E> {
        // Formats such as JSON quote words and quantities, too; readers accept these in quotes.
        Ok(Written::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        // A null is the empty word, as in YAML.
        Ok(Written::word(""))
    }

    fn visit_none<E>(self) -> Result<Written, E> {
        Ok(Written::word(""))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Written, D::Error> {
        Written::deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Written, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Written::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Written, A::Error> {
        let mut entries: Vec<(String, Written)> = Vec::new();
        while let Some(entry) = from.next_entry()? {
            entries.push(entry);
        }
        Ok(Written::Map(entries))
    }
}
