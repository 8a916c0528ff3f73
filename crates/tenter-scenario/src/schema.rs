//! The JSON Schema of the format, for editors: made from the key tables that the reader goes by.
//!
//! ```text
//!   KeyTable: names, forms, presence, meaning ──┐
//!   forms ("time", "`a` or `b`", "0 to 63") ────┼──▶ properties ──▶ objects ──▶ schema
//!   which table belongs where ──────────────────┘
//! ```
//!
//! The schema is no stricter than the reader: whatever is read passes, as long as it is written as
//! the reference writes it. What depends on several values (a pool that does not exist, a size that
//! does not fit) only the reader finds.

mod form;
mod object;

use serde_json::{Value, json};
use tenter_plan::CircuitPlan;
use tenter_topology::TopologySpec;
use tenter_units::{Bytes, Rate, Time};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::pattern::PatternKind;

use crate::endpoint::Endpoint;
use crate::load_balancing::Balancing;
use crate::power::OwnPower;
use crate::source_flow_control::SourceFlowControl;
use crate::switch::Switch;
use crate::switching::Switching;
use crate::{collectives, fabric};
use crate::{jobs, scenario};
use object::{Object, list, one_of};
use tenter_config::{Component, KeyTable, Value as _};

/// The JSON Schema (draft 2020-12) of a scenario, as indented text.
pub fn schema() -> String {
    let mut document = root();
    document["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    document["title"] = json!("Tenter scenario");
    document["description"] = json!("The fabric, the NICs, and the jobs that run on them.");
    document["$defs"] = json!({
        "time": quantity(Time::unit_names(), "5us"),
        "rate": quantity(Rate::unit_names(), "400Gbps"),
        "size": quantity(Bytes::unit_names(), "128KiB"),
        // Every kind of fabric has them.
        "switch": form::of_shape(Switch::shape(()), None),
        "load_balancing": form::of_shape(Balancing::shape(()), None),
        "switching": form::of_shape(Switching::shape(()), None),
        "source_flow_control": Object::of(&[&SourceFlowControl::TABLE]).schema(),
        "circuits": Object::of(&[&CircuitPlan::TABLE]).schema(),
        "power": Object::of(&[&OwnPower::TABLE]).schema(),
    });
    format!("{document:#}\n")
}

/// A decimal number with one of several units.
fn quantity(units: impl Iterator<Item = &'static str>, example: &str) -> Value {
    let units: Vec<&str> = units.collect();
    json!({
        "type": "string",
        "pattern": format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({})\\s*$", units.join("|")),
        "examples": [example],
    })
}

fn root() -> Value {
    Object::of(&[&scenario::SCENARIO])
        .with("fabric", fabric())
        .with("endpoint", form::of_shape(Endpoint::shape(()), None))
        .with("jobs", job())
        .schema()
}

fn fabric() -> Value {
    let [base] = fabric::TABLES;
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

fn job() -> Value {
    let [own, start, flow, workload, pair, point, pattern] = jobs::TABLES;
    let of_kind = |(name, table): &(&'static str, &'static KeyTable)| {
        Object::of(&[pattern, table]).fixed("kind", name).schema()
    };
    let patterns = one_of(PatternKind::VARIANTS.members.iter().map(of_kind));
    let workload = Object::of(&[workload])
        .with("pattern", patterns.clone())
        .with("pairs", Object::of(&[pair]).schema())
        .with("points", Object::of(&[point]).schema());
    let collectives = CollectiveKind::MEMBERS.map(|member| collective(&member.default));
    Object::of(&[own])
        .with("collectives", one_of(collectives))
        .with("start", Object::of(&[start]).schema())
        .with("flows", Object::of(&[flow]).schema())
        .with("workload", workload.schema())
        .with("pattern", patterns)
        .schema()
}

/// One collective by one algorithm, with the keys that the two have.
fn collective(kind: &CollectiveKind) -> Value {
    let [
        own,
        range,
        drawn,
        permutation,
        rooted,
        chunked,
        distances,
        hosts,
        hierarchical,
    ] = collectives::TABLES;
    let mut kind = kind.clone();
    let mut tables = vec![own];
    if matches!(kind, CollectiveKind::Permutation { .. }) {
        tables.push(permutation);
    }
    if kind.root_mut().is_some() {
        tables.push(rooted);
    }
    if kind.chunk_bytes_mut().is_some() {
        tables.push(chunked);
    }
    if kind.distances_mut().is_some() {
        tables.push(distances);
    }
    if kind.npus_per_host_mut().is_some() {
        tables.push(hosts);
    }
    if kind.scale_up_mut().is_some() {
        tables.push(hierarchical);
    }
    let sizes = [range, drawn].map(|table| Object::of(&[table]).schema());
    let object = Object::of(&tables)
        .fixed("collective", kind.name())
        .with("sizes", one_of(sizes));
    let usual = CollectiveKind::algorithms_of(kind.name()).next() == Some(kind.algorithm());
    if usual {
        object.fixed_or_left_out("algorithm", kind.algorithm())
    } else {
        object.fixed("algorithm", kind.algorithm())
    }
    .schema()
}

#[cfg(test)]
mod tests;
