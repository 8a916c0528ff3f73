//! Writer for Chakra traces, one file for each rank.

use tenter_workload::graph::{CollectiveName, Graph, Operation};

use super::attributes::{COLLECTIVES, node_type};
use super::wire::Out;

/// Format version that files name.
const VERSION: &str = "0.0.4";
/// Picoseconds in the format's time unit.
const US: u64 = 1_000_000;

/// A graph's files, with counts for notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Content for each rank's file, in rank order.
    pub ranks: Vec<Vec<u8>>,
    /// Communicators as JSON, if the graph has collectives.
    pub groups: Option<String>,
    /// Number of durations that were rounded to whole microseconds.
    pub rounded: u64,
    /// Number of waits that were for an operation's start, and have become waits for its end.
    pub starts: u64,
}

/// Writes a graph's traces.
///
/// # Errors
/// A sentence about an operation that the format does not have: receives from any rank or with any
/// tag, and some collectives.
pub fn write(graph: &Graph) -> Result<Written, String> {
    let mut written = Written::default();
    for rank in 0..graph.ranks() {
        let file = RankFile {
            graph,
            rank,
            written: &mut written,
        }
        .write()?;
        written.ranks.push(file);
    }
    let of = graph.collectives();
    if !of.is_empty() {
        let groups = (0..of.groups()).map(|group| (name(group), of.ranks_of(group).into()));
        let groups: serde_json::Map<String, serde_json::Value> = groups.collect();
        written.groups = Some(format!("{}\n", serde_json::Value::Object(groups)));
    }
    Ok(written)
}

/// Returns a group's name. Names begin with `1`, since `0` means all ranks.
fn name(group: u32) -> String {
    (u64::from(group) + 1).to_string()
}

/// The file for a rank, with the counts that its writing adds to.
struct RankFile<'g, 'w> {
    graph: &'g Graph,
    rank: u32,
    written: &'w mut Written,
}

impl RankFile<'_, '_> {
    fn write(&mut self) -> Result<Vec<u8>, String> {
        let (graph, rank) = (self.graph, self.rank);
        let count = graph.operations_of(rank);
        let mut waits: Vec<Vec<u64>> = vec![Vec::new(); count as usize];
        for place in 0..count {
            for (follower, on_start) in graph.followers(rank, place) {
                waits[follower as usize].push(u64::from(place));
                self.written.starts += u64::from(on_start);
            }
        }
        let mut file = Out::default();
        let mut metadata = Out::default();
        metadata.bytes(1, VERSION.as_bytes());
        file.part(&metadata.0);
        for (place, waits) in (0..count).zip(waits) {
            let node = self.node(place, &waits)?;
            file.part(&node.0);
        }
        Ok(file.0)
    }

    /// Makes the node for an operation that waits for the nodes `waits`.
    fn node(&mut self, place: u32, waits: &[u64]) -> Result<Out, String> {
        let (operation, stream) = self.graph.operation(self.rank, place);
        let mut node = Out::default();
        node.number(1, place.into());
        let mut attributes = vec![("stream", i64::from(stream))];
        let (kind, label, duration) = match operation {
            Operation::Compute { time } | Operation::Wait { time } => {
                self.written.rounded += u64::from(!time.ps().is_multiple_of(US));
                (node_type::COMPUTE, "compute", (time.ps() + US / 2) / US)
            }
            Operation::Send { peer, bytes, tag } => {
                attributes.extend(message(self.rank, peer, bytes, tag));
                (node_type::SEND, "send", 0)
            }
            Operation::Receive {
                peer: Some(peer),
                bytes,
                tag: Some(tag),
            } => {
                attributes.extend(message(peer, self.rank, bytes, tag));
                (node_type::RECEIVE, "receive", 0)
            }
            Operation::Receive { .. } => {
                return Err(format!(
                    "operation {place} of rank {} receives from any rank or with any tag",
                    self.rank
                ));
            }
            Operation::Collective { which } => {
                let (group, kind, bytes) = self.graph.collectives().get(which);
                let ranks = self.graph.collectives().ranks_of(group).len() as u64;
                let number = COLLECTIVES
                    .iter()
                    .position(|of| of.collective() == kind.name());
                let number =
                    number.ok_or_else(|| format!("there is no collective `{}`", kind.name()))?;
                // `comm_size` of these collectives is a rank's own part.
                let own = match COLLECTIVES[number] {
                    CollectiveName::AllGather | CollectiveName::Gather => bytes / ranks,
                    _ => bytes,
                };
                attributes.push(("comm_type", number.cast_signed() as i64));
                attributes.push(("comm_size", own.cast_signed()));
                (node_type::COLLECTIVE, kind.name(), 0)
            }
        };
        node.bytes(2, label.as_bytes());
        node.number(3, kind);
        if !waits.is_empty() {
            let mut list = Out::default();
            for &id in waits {
                list.varint(id);
            }
            node.bytes(5, &list.0);
        }
        self.times(place, operation, duration, &mut node);
        add_attributes(&mut node, &attributes);
        if let Operation::Collective { which } = operation {
            let (group, _, _) = self.graph.collectives().get(which);
            let mut of_group = Out::default();
            of_group.bytes(1, b"pg_name");
            of_group.bytes(29, name(group).as_bytes());
            node.bytes(10, &of_group.0);
        }
        Ok(node)
    }

    /// Writes recorded start and duration. For computing and waiting, the duration is their cost,
    /// so a recorded one is not written for them.
    fn times(&self, place: u32, operation: Operation, duration: u64, node: &mut Out) {
        let measured = self.graph.measured(self.rank, place);
        if let Some(start) = measured.and_then(|of| of.start) {
            node.number(6, start.ps() / US);
        }
        let communicates = matches!(
            operation,
            Operation::Send { .. } | Operation::Receive { .. } | Operation::Collective { .. }
        );
        let recorded = measured.filter(|_| communicates);
        let duration = recorded.map_or(duration, |of| (of.took.ps() + US / 2) / US);
        if duration > 0 {
            node.number(7, duration);
        }
    }
}

fn add_attributes(node: &mut Out, attributes: &[(&str, i64)]) {
    // A boolean, as the format's own generator writes it.
    node.bytes(10, &attribute("is_cpu_op", 27, 0).0);
    for (name, value) in attributes {
        node.bytes(10, &attribute(name, 9, value.cast_unsigned()).0);
    }
}

fn message(source: u32, destination: u32, bytes: u64, tag: u32) -> [(&'static str, i64); 4] {
    [
        ("comm_src", source.into()),
        ("comm_dst", destination.into()),
        ("comm_tag", tag.into()),
        ("comm_size", bytes.cast_signed()),
    ]
}

/// Makes an attribute whose value is a varint; `field` is the number that stands for its type.
fn attribute(name: &str, field: u64, value: u64) -> Out {
    let mut out = Out::default();
    out.bytes(1, name.as_bytes());
    out.number(field, value);
    out
}
