//! How soon one node can affect another, and how windows are laid by it.

use tenter_engine::Windows;
use tenter_net::scheduled::ScheduledSpec;
use tenter_plan::{CENTRAL_BELOW, WINDOW_MAX};
use tenter_units::Time;

use super::context::Context;

/// Calendar buckets under central windows.
const CENTRAL_BUCKET: Time = Time::from_ns(50);

/// The smallest frame and its gap: what a store-and-forward hop adds to the lookahead at least.
const SMALLEST_WIRE_BYTES: u32 = 64 + tenter_net::WIRE_OVERHEAD_BYTES;

/// The shortest time in which one node can affect another, in ps.
pub fn lookahead(context: &Context) -> u64 {
    let spec = context.scheduled.as_ref().map(|fabric| &fabric.spec);
    let cell = spec.map_or(u32::MAX, ScheduledSpec::shortest_wire_bytes);
    let data = flights(context, SMALLEST_WIRE_BYTES.min(cell)).min();
    let pause = context.pause_lookahead();
    let within = context.domain_lookahead();
    let control = context.control_latencies().map(|(least, _)| least);
    let others = pause.into_iter().chain(control).chain(within);
    data.into_iter().chain(others).min().unwrap_or(u64::MAX)
}

/// The longest time a frame is under way from one node to the next, in ps.
pub(super) fn longest_flight(context: &Context) -> u64 {
    let frame_bytes = context.nic.longest_frame_bytes();
    let wire_bytes = frame_bytes + tenter_net::WIRE_OVERHEAD_BYTES;
    let spec = context.scheduled.as_ref().map(|fabric| &fabric.spec);
    let cell = spec.map_or(0, |spec| spec.longest_wire_bytes(frame_bytes));
    let control = context.control_latencies().map_or(0, |(_, most)| most);
    flights(context, wire_bytes.max(cell)).fold(control, u64::max)
}

/// For every link the time from the start of a frame to its arrival, in ps.
fn flights(context: &Context, wire_bytes: u32) -> impl Iterator<Item = u64> {
    let nodes = (0..).zip(&context.topology.nodes);
    let ports =
        nodes.flat_map(|(node, of)| (0..of.ports.len() as u16).map(move |port| (node, port)));
    ports.flat_map(move |(node, port)| {
        let serialisation = context.serialisation(node, port).of(wire_bytes, 0).0;
        let links = context.possible_links(node, port);
        links.map(move |(latency, whole)| latency.ps() + if whole { serialisation.ps() } else { 0 })
    })
}

/// How windows are laid, and how long a calendar bucket is.
pub(super) fn windows(lookahead: u64, cap: Option<Time>) -> (Windows, u64) {
    let cap = cap.unwrap_or(WINDOW_MAX).min(WINDOW_MAX).ps().max(1);
    if lookahead < CENTRAL_BELOW.ps() {
        (Windows::Central(lookahead.min(cap)), CENTRAL_BUCKET.ps())
    } else {
        (Windows::Buckets, lookahead.min(cap))
    }
}
