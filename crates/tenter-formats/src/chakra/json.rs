//! Reader for Chakra traces as JSON, with protobuf's names or those in ASTRA-sim's own JSON.

use serde_json::{Map, Value as Json};

use super::attributes::{Node, Value, node_type};
use crate::error::{ImportError, Place};
use crate::json_text;
use crate::trace::{RankTrace, Traces};

/// Keys under which the node list may stand.
const LISTS: [&str; 3] = ["workload_graph", "nodes", "node"];

/// Reads a rank's trace from the parsed JSON.
pub(super) fn read(
    parsed: &Json,
    traces: &mut Traces<'_>,
    rank: u32,
    trace: &mut RankTrace,
) -> Result<(), ImportError> {
    let list = LISTS.iter().find_map(|name| parsed[*name].as_array());
    let list = list.ok_or_else(|| {
        let what = "there is no list of nodes";
        let remedy = json_text::remedy_for_profiles(parsed);
        let remedy = remedy.unwrap_or("give `workload_graph` or `nodes`");
        ImportError::new(Place::Json, what, remedy)
    })?;
    for (place, node) in list.iter().enumerate() {
        let keys = node.as_object().ok_or_else(|| {
            let what = format!("item {place} of the nodes is no object");
            ImportError::new(Place::Json, what, "give an object for each node")
        })?;
        add(keys, traces, rank, trace)?;
    }
    Ok(())
}

/// Reads a node, given by its keys.
fn add(
    keys: &Map<String, Json>,
    traces: &mut Traces<'_>,
    rank: u32,
    trace: &mut RankTrace,
) -> Result<(), ImportError> {
    let mut node = Node::default();
    // Protobuf leaves zeros out, so a number that is missing is 0.
    let mut name = "";
    for (key, value) in keys {
        match key.as_str() {
            "Id" | "id" => node.id = number(value).unwrap_or(0),
            "Name" | "name" => name = value.as_str().unwrap_or_default(),
            "NodeType" | "type" | "node_type" => node.kind = kind(value),
            "runtime" | "duration_micros" | "durationMicros" => {
                node.duration_us = number(value).unwrap_or(0);
            }
            "start_time_micros" | "startTimeMicros" => {
                node.start_us = number(value);
            }
            "ctrlDeps" | "ctrl_deps" => numbers(value).for_each(|id| trace.called_by(id)),
            "data_deps" | "dataDeps" => numbers(value).for_each(|id| trace.waits_for(id)),
            "attr" | "attrs" => attributes(value, &mut node, traces),
            other => {
                // ASTRA-sim's own JSON has attributes as keys of the node.
                if let Some(value) = scalar(value) {
                    node.attribute(other, value, traces);
                }
            }
        }
    }
    if node.kind == node_type::METADATA && name.contains("process_group:init") {
        traces
            .groups
            .read_process_groups(&keys["inputs"]["values"].to_string());
    }
    node.add(traces, rank, trace, Place::Json)
}

/// Reads attributes as protobuf writes them in JSON: a name, and the value under the name of its
/// type.
fn attributes(list: &Json, node: &mut Node, traces: &mut Traces<'_>) {
    for attribute in list.as_array().into_iter().flatten() {
        let Some(keys) = attribute.as_object() else {
            continue;
        };
        let name = keys.get("name").and_then(Json::as_str).unwrap_or_default();
        let value = keys
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "name" | "type"));
        if let Some(value) = value.into_iter().find_map(|(_, value)| scalar(value)) {
            node.attribute(name, value, traces);
        }
    }
}

fn scalar(value: &Json) -> Option<Value<'_>> {
    match value {
        Json::Bool(flag) => Some(Value::Number(i64::from(*flag))),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Some(Value::Number(number)),
            None => number.as_f64().map(Value::Real),
        },
        Json::String(text) => Some(Value::Text(text)),
        _ => None,
    }
}

/// Reads a number. Protobuf writes 64-bit ones as strings, since JSON numbers lose digits.
fn number(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn numbers(value: &Json) -> impl Iterator<Item = u64> + '_ {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(number)
}

/// Returns a node type, given by its number or its name.
fn kind(value: &Json) -> u64 {
    let name = value.as_str().unwrap_or_default();
    match name.trim_end_matches("_NODE") {
        "METADATA" => node_type::METADATA,
        "MEM_LOAD" => node_type::LOAD,
        "MEM_STORE" => node_type::STORE,
        "COMP" => node_type::COMPUTE,
        "COMM_SEND" => node_type::SEND,
        "COMM_RECV" => node_type::RECEIVE,
        "COMM_COLL" => node_type::COLLECTIVE,
        // 0 is no type of the format, so the node is refused later.
        _ => number(value).unwrap_or(0),
    }
}
