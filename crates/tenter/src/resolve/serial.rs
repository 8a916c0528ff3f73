//! Serde for scenarios: written as in a file, and read with all checks of its sections.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use tenter_language::config::{Component, Written};

use crate::resolve::load::typed_of;
use crate::resolve::scenario::Scenario;

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Written::mapping(self.written()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Scenario, D::Error> {
        let read = typed_of(Written::deserialize(from)?);
        // A format quotes this text within its own message, so it takes one line.
        read.map_err(|problems| D::Error::custom(problems.on_one_line()))
    }
}
