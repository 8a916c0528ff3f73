//! Writer for Tenter's own file of a graph.

use std::collections::BTreeMap;
use std::io;

use tenter_language::config::{Component, Written};
use tenter_language::notation::emit;
use tenter_language::notation::tree::Node;
use tenter_language::units::Time;
use tenter_workload::graph::{Collectives, Graph, Operation};

use super::{MAGIC, follower, head};
use crate::varint;

/// Returns the file of a graph.
pub fn write(graph: &Graph) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing into memory does not fail.
    let _ = write_to(graph, &mut bytes);
    bytes
}

/// Writes a graph's file. Beside the graph one rank at a time is in memory.
///
/// # Errors
/// Errors from `to`.
pub fn write_to(graph: &Graph, to: &mut dyn io::Write) -> io::Result<()> {
    let mut out = Out(MAGIC.to_vec());
    out.number(u64::from(graph.ranks()));
    collectives(graph.collectives(), &mut out);
    // Computed once: it looks at all ranks.
    let is_measured = graph.is_measured();
    for rank in 0..graph.ranks() {
        let count = graph.operations_of(rank);
        out.number(u64::from(count));
        let mut stream = 0;
        for place in 0..count {
            operation(graph, rank, place, &mut stream, &mut out);
        }
        out.number(u64::from(is_measured));
        if is_measured {
            measured(graph, rank, &mut out);
        }
        // Rank by rank, so that a large graph is not in memory twice.
        to.write_all(&out.0)?;
        out.0.clear();
    }
    Ok(())
}

fn measured(graph: &Graph, rank: u32, out: &mut Out) {
    // 0 means that nothing was measured, so times are stored one higher.
    let above = |time: Time| time.ps().saturating_add(1);
    for place in 0..graph.operations_of(rank) {
        match graph.measured(rank, place) {
            Some(of) => out.numbers([above(of.took), of.start.map_or(0, above)]),
            None => out.number(0),
        }
    }
}

/// Writes kinds, groups and collectives.
fn collectives(of: &Collectives, out: &mut Out) {
    // Collectives of one kind share its text, which may hold a long algorithm.
    let mut kinds: Vec<String> = Vec::new();
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    let mut list = Vec::with_capacity(of.len());
    for number in 0..of.len() as u32 {
        let (group, kind, bytes) = of.get(number);
        let text = emit::yaml(&mut Node::written(Written::mapping(kind.written())));
        let next = kinds.len() as u64;
        let place = *places.entry(text.clone()).or_insert(next);
        if place == next {
            kinds.push(text);
        }
        list.push([u64::from(group), u64::from(of.nth_of(number)), place, bytes]);
    }
    out.number(kinds.len() as u64);
    for kind in kinds {
        out.number(kind.len() as u64);
        out.0.extend_from_slice(kind.as_bytes());
    }
    out.number(u64::from(of.groups()));
    for group in 0..of.groups() {
        let ranks = of.ranks_of(group);
        out.number(ranks.len() as u64);
        out.numbers(ranks.iter().map(|&rank| u64::from(rank)));
    }
    out.number(list.len() as u64);
    out.numbers(list.into_iter().flatten());
}

/// Writes an operation. `before` is the stream of the one before, and becomes its own.
fn operation(graph: &Graph, rank: u32, place: u32, before: &mut u32, out: &mut Out) {
    let (operation, stream) = graph.operation(rank, place);
    let mut head = match operation {
        Operation::Compute { .. } => head::COMPUTE,
        Operation::Wait { .. } => head::WAIT,
        Operation::Send { .. } => head::SEND,
        Operation::Receive { peer, tag, .. } => {
            let flag = |given: Option<u32>, flag: u8| given.map_or(0, |_| flag);
            head::RECEIVE | flag(peer, head::PEER) | flag(tag, head::TAG)
        }
        Operation::Collective { .. } => head::COLLECTIVE,
    };
    let followers = graph.followers(rank, place).count();
    // Most operations follow on the stream of the one before: then the file says nothing of it.
    if stream != *before {
        head |= head::STREAM;
    }
    if followers > 0 {
        head |= head::FOLLOWERS;
    }
    out.0.push(head);
    if stream != *before {
        out.number(u64::from(stream));
        *before = stream;
    }
    match operation {
        Operation::Compute { time } | Operation::Wait { time } => out.number(time.ps()),
        Operation::Send { peer, bytes, tag } => {
            out.numbers([u64::from(peer), bytes, u64::from(tag)]);
        }
        Operation::Receive { peer, bytes, tag } => {
            out.numbers(peer.map(u64::from));
            out.number(bytes);
            out.numbers(tag.map(u64::from));
        }
        Operation::Collective { which } => out.number(u64::from(which)),
    }
    if followers > 0 {
        out.number(followers as u64);
        out.numbers(
            graph
                .followers(rank, place)
                .map(|(of, on_start)| follower(place, of, on_start)),
        );
    }
}

/// The bytes that have not been written yet.
struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u64) {
        varint::push(&mut self.0, number);
    }

    fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            self.number(number);
        }
    }
}
