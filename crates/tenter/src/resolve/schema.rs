//! JSON Schema of the format, for editors, made from the reader's key tables.
//!
//! ```text
//!   KeyTable: names, shapes, presence, meaning ──▶ properties ──▶ objects ──▶ schema
//! ```
//!
//! The schema is no stricter than the reader: everything that the reader accepts passes, if it is
//! written as in the reference. Problems between several values (an unknown pool, a size that does
//! not fit) are found by the reader alone.

mod object;

use serde_json::{Value, json};
use tenter_fabric::topology::TopologySpec;
use tenter_language::units::{Bytes, Rate, Time};
use tenter_sim::plan::CircuitPlan;

use crate::resolve::fabric::Fabric;
use crate::resolve::load_balancing::Balancing;
use crate::resolve::power::OwnPower;
use crate::resolve::scenario::Scenario;
use crate::resolve::source_flow_control::SourceFlowControl;
use crate::resolve::switch::Switch;
use crate::resolve::switching::Switching;
use object::{Object, of_shape, one_of};
use tenter_language::config::{Component, KeyTable, Value as _};

/// Returns a scenario's JSON Schema (draft 2020-12), as indented text.
pub fn schema() -> String {
    let mut document = root();
    document["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    document["title"] = json!("Tenter scenario");
    document["description"] = json!("The fabric, the NICs, and the jobs that run on them.");
    document["$defs"] = json!({
        "time": quantity(Time::unit_names(), "5us"),
        "rate": quantity(Rate::unit_names(), "400Gbps"),
        "size": quantity(Bytes::unit_names(), "128KiB"),
        // Every kind of fabric has these, so they are written once.
        "switch": of_shape(Switch::shape(()), None),
        "load_balancing": of_shape(Balancing::shape(()), None),
        "switching": of_shape(Switching::shape(()), None),
        "source_flow_control": Object::of(&[&SourceFlowControl::TABLE]).schema(),
        "circuits": Object::of(&[&CircuitPlan::TABLE]).schema(),
        "power": Object::of(&[&OwnPower::TABLE]).schema(),
    });
    format!("{document:#}\n")
}

/// Describes a decimal number with a unit from `units`.
fn quantity(units: impl Iterator<Item = &'static str>, example: &str) -> Value {
    let units: Vec<&str> = units.collect();
    json!({
        "type": "string",
        "pattern": format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({})\\s*$", units.join("|")),
        "examples": [example],
    })
}

fn root() -> Value {
    Object::of(&[&Scenario::TABLE])
        .with("fabric", fabric())
        .schema()
}

fn fabric() -> Value {
    let base = &Fabric::TABLE;
    let kind = |word: &'static str, table: &'static KeyTable| {
        Object::of(&[base, table])
            .fixed("kind", word)
            .with("switch", json!({"$ref": "#/$defs/switch"}))
            .with("load_balancing", json!({"$ref": "#/$defs/load_balancing"}))
            .with("switching", json!({"$ref": "#/$defs/switching"}))
            .with(
                "source_flow_control",
                json!({"$ref": "#/$defs/source_flow_control"}),
            )
            .with("circuits", json!({"$ref": "#/$defs/circuits"}))
            .with("power", json!({"$ref": "#/$defs/power"}))
            .schema()
    };
    let kinds = TopologySpec::VARIANTS.members.iter();
    one_of(kinds.map(|(word, table)| kind(word, table)))
}

#[cfg(test)]
mod tests;
