//! Lookahead: the shortest time in which one node can affect another, and the longest time that a
//! frame is under way.

use tenter_fabric::net::scheduled::ScheduledSpec;
use tenter_fabric::net::{FLOW_CONTROL_BYTES, PAUSE_FRAME_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_language::units::Time;
use tenter_workload::ScaleUp;

use crate::plan::delays::Delays;

/// Bounds for the time from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookahead {
    /// The shortest time in which one node can affect another, in ps; `u64::MAX` if none ever does.
    pub least_ps: u64,
    /// The longest time for which a frame or a message is under way between two nodes, in ps.
    pub longest_flight_ps: u64,
}

/// Parts besides the links that bound the lookahead.
#[derive(Clone, Copy, Debug)]
pub struct Others<'p> {
    /// A scheduled fabric's cells, and its messages between leaves.
    pub scheduled: Option<&'p ScheduledSpec>,
    /// A scale-up domain, in which NPUs exchange data beside their NICs.
    pub scale_up: Option<ScaleUp>,
    /// True if switches send congestion signals.
    pub signals: bool,
}

impl Lookahead {
    /// Evaluates the bounds for a fabric.
    pub(crate) fn of(delays: &Delays<'_>, others: &Others<'_>) -> Lookahead {
        let leaves = || delays.leaf_kinds(&delays.topology.leaves());
        // Only leaves of a scheduled fabric send each other messages, so others are not grouped.
        let between = others.scheduled.and_then(|_| leaves().bounds());
        Lookahead {
            least_ps: least(delays, others, between),
            longest_flight_ps: longest_flight(delays, others, between),
        }
    }
}

/// Returns the shortest time between two nodes, in ps; `between` bounds messages between leaves.
fn least(delays: &Delays<'_>, others: &Others<'_>, between: Option<(u64, u64)>) -> u64 {
    let cell = others.scheduled.map(ScheduledSpec::shortest_wire_bytes);
    // A store-and-forward hop adds at least the wire time of the smallest frame, which trimming may
    // make smaller still.
    let switches = delays.switches.iter().flat_map(|switch| &switch.classes);
    let trimmed = switches
        .filter_map(|class| class.trim)
        .map(|trim| trim.bytes);
    let frame = trimmed.fold(delays.nic.shortest_frame_bytes(), u32::min);
    let smallest = (frame + WIRE_OVERHEAD_BYTES).min(cell.unwrap_or(u32::MAX));
    let data = flights(delays, smallest).min();
    let control = delays.may_send_control(others.signals);
    let control = control.then(|| shortest_control(delays)).flatten();
    // No lookahead may be zero, or windows would have no length.
    let domain = others.scale_up.map(|domain| domain.latency.ps().max(1));
    let all = data.into_iter().chain(control).chain(domain);
    all.chain(between.map(|(least, _)| least))
        .min()
        .unwrap_or(u64::MAX)
}

/// Returns the longest time between two nodes, in ps; `between` bounds messages between leaves.
fn longest_flight(delays: &Delays<'_>, others: &Others<'_>, between: Option<(u64, u64)>) -> u64 {
    let frame_bytes = delays.nic.longest_frame_bytes();
    let cell = others
        .scheduled
        .map_or(0, |spec| spec.longest_wire_bytes(frame_bytes));
    let wire_bytes = (frame_bytes + WIRE_OVERHEAD_BYTES).max(cell);
    let messages = between.map_or(0, |(_, most)| most);
    flights(delays, wire_bytes).fold(messages, u64::max)
}

/// Returns for every link the time from the start of a frame to its arrival, in ps.
fn flights<'d>(delays: &'d Delays<'_>, wire_bytes: u32) -> impl Iterator<Item = u64> + 'd {
    delays.all_ports().flat_map(move |end| {
        let rate = delays.topology.cable(end.node, end.port).rate;
        // Rounded down, as a lower bound must be. Frames may exceed the upper one by a picosecond,
        // which only costs the engine time.
        let serialisation = delays.serialisation(end.node, rate).of(wire_bytes, 0).0;
        let links = delays.possible_links(end);
        links.map(move |link| {
            let stored = if link.stores {
                serialisation
            } else {
                Time::ZERO
            };
            (link.latency + stored).ps()
        })
    })
}

/// Returns the shortest time in which a control frame or flow-control packet acts on another node,
/// in ps.
fn shortest_control(delays: &Delays<'_>) -> Option<u64> {
    let wire_bytes = match delays.credit {
        // Congestion notices are longer and take the same delay, so they do not bound it.
        Some(_) => u32::from(FLOW_CONTROL_BYTES),
        None => u32::from(PAUSE_FRAME_BYTES) + WIRE_OVERHEAD_BYTES,
    };
    let times = delays.all_ports().map(|end| {
        let cable = delays.topology.cable(end.node, end.port);
        // A circuit that is set later may be shorter than the present one.
        let circuits = delays.topology.optics.possible(end);
        let effects = circuits.map(|(_, delay)| delays.effect(end, delay));
        let effect = effects.fold(delays.effect(end, cable.delay), Time::min);
        (delays
            .serialisation(end.node, cable.rate)
            .of(wire_bytes, 0)
            .0
            + effect)
            .ps()
    });
    times.min()
}
