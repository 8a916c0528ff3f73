//! Values of a plan, each with its path from the top.

use serde_json::Value;

use crate::error::{ImportError, Place};

pub(super) type Read<T> = Result<T, ImportError>;

/// Returns an error in a plan; `what` contains the path.
pub(super) fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> ImportError {
    ImportError::new(Place::Json, what, remedy)
}

/// A value with its path for messages.
#[derive(Clone)]
pub(super) struct Json<'v> {
    value: &'v Value,
    name: String,
}

impl<'v> Json<'v> {
    pub(super) fn new(value: &'v Value, name: impl Into<String>) -> Json<'v> {
        let name = name.into();
        Json { value, name }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn wrong(&self, what: &str, remedy: &str) -> ImportError {
        wrong(format!("{}: {what}", self.name), remedy)
    }

    /// Returns a value that may be absent.
    pub(super) fn get(&self, key: &str) -> Option<Json<'v>> {
        let value = self.value.get(key)?;
        Some(Json::new(value, format!("{}, `{key}`", self.name)))
    }

    fn must(&self, key: &str) -> Read<Json<'v>> {
        self.get(key)
            .ok_or_else(|| self.wrong(&format!("it lacks `{key}`"), "add it"))
    }

    pub(super) fn text(&self, key: &str) -> Read<&'v str> {
        let found = self.must(key)?;
        let text = found.value.as_str();
        text.ok_or_else(|| found.wrong("it is no text", "write a text in quotes"))
    }

    pub(super) fn number(&self, key: &str) -> Read<u32> {
        self.must(key)?.as_number()
    }

    /// Parses a number of 64 bits; `usual` is its value if it is absent.
    pub(super) fn large(&self, key: &str, usual: u64) -> Read<u64> {
        let Some(found) = self.get(key) else {
            return Ok(usual);
        };
        let number = found.value.as_u64();
        number.ok_or_else(|| found.wrong("it is no number", "write a whole number"))
    }

    pub(super) fn as_number(&self) -> Read<u32> {
        let number = self
            .value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong("it is no number", "write a whole number"))
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.value
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// Returns the items of a list, or none if it is absent; `name` names an item in messages.
    pub(super) fn list(&self, key: &str, name: &str) -> Read<Vec<Json<'v>>> {
        let Some(found) = self.get(key) else {
            return Ok(Vec::new());
        };
        let items = found.value.as_array();
        let items = items.ok_or_else(|| found.wrong("it is no list", "write a list"))?;
        let item = |(place, value)| Json::new(value, format!("{}, {name} {place}", self.name));
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Parses a list of numbers, or none if it is absent.
    pub(super) fn numbers(&self, key: &str) -> Read<Vec<u32>> {
        let items = self.list(key, key)?;
        items.iter().map(Json::as_number).collect()
    }
}
