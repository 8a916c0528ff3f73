//! Calls in the nodes of a trace.

use serde_json::Value;

use crate::calls::{
    Called, Described, Elements, Members, Peer, ProcessGroups, called, element_bytes,
};

/// A call that moves data between ranks, with its node's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeCall {
    pub(super) id: u64,
    pub(super) described: Described,
}

/// Name of the nodes that record calls.
const RECORDS: &str = "record_param_comms";

/// Relevant content of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    pub(super) calls: Vec<NodeCall>,
    pub(super) groups: ProcessGroups,
    /// Size of the group with all ranks.
    pub(super) world: Option<u32>,
    /// Number of nodes that compute; the trace has no times for them.
    pub(super) computes: u64,
}

impl Nodes {
    /// Reads the nodes of a trace. Calls are sorted by node number, the order in which they were
    /// made.
    ///
    /// # Errors
    /// The problem with a node.
    pub(super) fn of(list: &[Value]) -> Result<Nodes, String> {
        let mut nodes = Nodes::default();
        for (place, node) in list.iter().enumerate() {
            let name = node["name"].as_str();
            let name = name.ok_or_else(|| format!("node at place {place} has no name"))?;
            if name.contains("process_group:init") {
                nodes.groups(node);
            } else if name == RECORDS {
                nodes.calls.extend(call(node)?);
            // PyTorch's tensor operators are named so; other nodes wrap or launch them.
            } else if name.starts_with("aten::") {
                nodes.computes += 1;
            }
        }
        nodes.calls.sort_by_key(|call| call.id);
        Ok(nodes)
    }

    /// Reads process groups from the inputs of a node, which are texts that contain lists.
    fn groups(&mut self, node: &Value) {
        let values = values(node, "inputs").iter().filter_map(Value::as_str);
        for text in values {
            let list: Value = serde_json::from_str(text).unwrap_or_default();
            self.groups.set_all(&list);
            for group in list.as_array().into_iter().flatten() {
                let is_all = group["ranks"].as_array().is_some_and(Vec::is_empty);
                let size = group["group_size"].as_u64();
                if let (true, Some(size)) = (is_all, size) {
                    self.world = u32::try_from(size).ok();
                }
                // Calls in older versions name groups by the address of their backend.
                let address = group["backend_id"].as_u64().or(group["uid"].as_u64());
                let name = group["pg_name"].as_str();
                if let (Some(address), Some(name)) = (address, name) {
                    self.groups.name_again(name, &address.to_string());
                }
            }
        }
    }
}

/// Returns the inputs or outputs of a node, whose place differs between versions.
fn values<'n>(node: &'n Value, of: &str) -> &'n [Value] {
    let of = &node[of];
    let list = of["values"].as_array().or(of.as_array());
    list.map_or(&[], Vec::as_slice)
}

/// Returns the attributes of a node with their names.
fn attributes(node: &Value) -> Vec<(&str, &Value)> {
    let attributes = node["attrs"].as_array().into_iter().flatten();
    attributes
        .filter_map(|attribute| Some((attribute["name"].as_str()?, &attribute["value"])))
        .collect()
}

/// Returns the first input that is the name of a call.
fn name_in(inputs: &[Value]) -> Option<&str> {
    let mut texts = inputs.iter().filter_map(Value::as_str);
    texts.find(|name| called(name).is_some())
}

/// Reads the call that a node records; `None` if it moves no data between ranks.
fn call(node: &Value) -> Result<Option<NodeCall>, String> {
    let id = node["id"].as_u64();
    let id = id.ok_or("a node has no number `id`")?;
    let attributes = attributes(node);
    let attribute = |name: &str| {
        let found = attributes.iter().find(|(of, _)| *of == name);
        found.map(|(_, value)| *value)
    };
    let inputs = values(node, "inputs");
    let name = attribute("collective_name")
        .and_then(Value::as_str)
        .or_else(|| name_in(inputs));
    let Some(name) = name else {
        return Err(format!("node {id} records a call and does not name it"));
    };
    let Some(called) = called(name) else {
        return Err(format!("node {id} calls `{name}`, which is no collective"));
    };
    if called == Called::Nothing {
        return Ok(None);
    }
    let text = |name: &str| {
        let value = attribute(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let number = |name: &str| {
        let value = attribute(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    };
    let signed = |name: &str| {
        let value = attribute(name)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    // Newer versions count the elements; in older ones the tensors tell.
    let has_attributes = attribute("in_msg_nelems").is_some();
    let elements = if has_attributes {
        element_bytes(&text("dtype")).map(|bytes| Elements {
            sent: number("in_msg_nelems").unwrap_or(0),
            received: number("out_msg_nelems").unwrap_or(0),
            bytes,
        })
    } else {
        of_tensors(inputs, values(node, "outputs"))
    };
    let (place, address, size) = of_places(inputs, called);
    let is_message = matches!(called, Called::Send | Called::Receive);
    let (peer, root) = (place.filter(|_| is_message), place.filter(|_| !is_message));
    let group = match attribute("pg_name").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => address.map_or_else(String::new, |address| address.to_string()),
    };
    let described = Described {
        called,
        elements,
        members: Members {
            name: group,
            list: String::new(),
            start: number("global_rank_start"),
            stride: signed("global_rank_stride"),
            size: number("pg_size").or(size),
        },
        sent_splits: text("in_split_size"),
        received_splits: text("out_split_size"),
        peer: peer.map(Peer::Place),
        root,
        sequence: None,
        names_group: true,
    };
    Ok(Some(NodeCall { id, described }))
}

/// Reads values by their places around the call's name: root or peer stands before it, and the
/// group before that. The last input is the group's size. Guess: older versions have this order of
/// inputs.
fn of_places(inputs: &[Value], of: Called) -> (Option<u64>, Option<u64>, Option<u64>) {
    let name = inputs.iter().position(|input| {
        let name = input.as_str();
        name.and_then(called) == Some(of)
    });
    let before = |back: usize| inputs.get(name?.checked_sub(back)?)?.as_u64();
    (before(1), before(2), inputs.last().and_then(Value::as_u64))
}

/// Counts the elements of tensors, each a list `[tensor, storage, offset, elements, bytes,
/// device]`.
fn of_tensors(inputs: &[Value], outputs: &[Value]) -> Option<Elements> {
    let mut bytes = None;
    let sent = inputs.iter().map(|value| elements(value, &mut bytes));
    let sent = sent.fold(0, u64::saturating_add);
    let received = outputs.iter().map(|value| elements(value, &mut bytes));
    let received = received.fold(0, u64::saturating_add);
    bytes.map(|bytes| Elements {
        sent,
        received,
        bytes,
    })
}

/// Deepest nesting in lists with tensors.
const DEEP: usize = 4;

/// Counts the elements of a tensor, or of a list of tensors, and notes the bytes of each.
fn elements(value: &Value, bytes: &mut Option<u64>) -> u64 {
    fn within(value: &Value, bytes: &mut Option<u64>, deep: usize) -> u64 {
        let Some(list) = value.as_array().filter(|_| deep > 0) else {
            return 0;
        };
        if let [.., count, each, Value::String(_)] = list.as_slice()
            && list.len() == 6
            && let (Some(count), Some(each)) = (count.as_u64(), each.as_u64())
        {
            // Guess: all tensors of a call have elements as long as the first one's.
            bytes.get_or_insert(each);
            return count;
        }
        let parts = list.iter().map(|part| within(part, bytes, deep - 1));
        parts.fold(0, u64::saturating_add)
    }
    within(value, bytes, DEEP)
}
