//! Unloaded times: how long messages take on a path without other traffic. Slowdowns are ratios to
//! them.

use std::cmp::Reverse;

use tenter_endpoint::NicSpec;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Routing};
use tenter_language::units::Time;

pub use crate::plan::delays::Link;
use crate::plan::trial::Plan;

/// Most leaves from which round trips are computed.
const SOURCES: usize = 16;
/// Most leaves to which round trips are computed from each of those.
const DESTINATIONS: usize = 1024;

/// Returns the links from one host to another, on the path that takes the first equal-cost port
/// everywhere.
pub fn links(plan: &Plan, routing: &Routing, from: HostId, to: HostId) -> Vec<Link> {
    let first = CableEnd {
        node: from.node(),
        port: 0,
    };
    let rest = routing.path(&plan.topology, from, to);
    let ends = std::iter::once(first).chain(rest);
    ends.map(|end| link(plan, end)).collect()
}

/// Returns the longest unloaded round trip for a full packet and its acknowledgement, between hosts
/// on different leaves. Each leaf is represented by the host with the slowest cable; in large
/// fabrics only some leaves are examined. The first leaf's two slowest hosts count as well, in case
/// there is no other leaf.
pub fn longest_round_trip(plan: &Plan, routing: &Routing) -> Time {
    let topology = &plan.topology;
    let (forth, back) = (
        plan.nic.longest_frame_bytes(),
        plan.nic.answer_frame_bytes(),
    );
    let cable = |host: HostId| {
        let end = CableEnd {
            node: host.node(),
            port: 0,
        };
        frame_time(&[link(plan, end)], forth)
    };
    // The hosts of each leaf, slowest first; the sort is stable, so equal ones keep their order.
    let mut leaves: Vec<(NodeId, Vec<HostId>)> = Vec::new();
    for host in topology.host_ids() {
        let leaf = topology.neighbour(host, 0).node;
        match leaves.last_mut() {
            Some((last, hosts)) if *last == leaf => hosts.push(host),
            _ => leaves.push((leaf, vec![host])),
        }
    }
    for (_, hosts) in &mut leaves {
        hosts.sort_by_cached_key(|&host| Reverse(cable(host)));
    }
    let of_leaves: Vec<HostId> = leaves.iter().map(|(_, hosts)| hosts[0]).collect();
    let some = |most: usize| {
        // At equal distances, so that all parts of a large fabric are examined.
        let every = of_leaves.len().div_ceil(most).max(1);
        of_leaves.iter().copied().step_by(every)
    };
    let pairs = some(SOURCES).flat_map(|from| {
        let others = some(DESTINATIONS).filter(move |&to| to != from);
        others.map(move |to| (from, to))
    });
    let within = leaves.first().and_then(|(_, hosts)| match hosts[..] {
        [first, second, ..] => Some((first, second)),
        _ => None,
    });
    let time = |(from, to): (HostId, HostId)| {
        let between = |from, to| links(plan, routing, from, to);
        frame_time(&between(from, to), forth) + frame_time(&between(to, from), back)
    };
    let times = pairs.chain(within).map(time);
    times.fold(Time::LEAST, Time::max)
}

/// Returns the link that leaves a node through port `end`.
pub fn link(plan: &Plan, end: CableEnd) -> Link {
    plan.delays().link(end)
}

/// A wire, which frames take one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    link: Link,
    /// Time at which the last frame's last bit leaves.
    free_at: Time,
    /// Remainder of the last frame's wire time, in 1/denominator ps.
    carried: u32,
}

impl Wire {
    /// Makes the wire of a link that has not sent yet.
    #[must_use]
    pub fn of(link: Link) -> Wire {
        Wire {
            link,
            free_at: Time::ZERO,
            carried: 0,
        }
    }

    /// Keeps the wire idle for `gap` after the last frame.
    pub fn pause_for(&mut self, gap: Time) {
        self.free_at += gap;
    }

    /// Sends a frame that is ready at `ready`; returns its arrival time at the other end.
    pub fn pass(&mut self, frame_bytes: u32, ready: Time) -> Time {
        let start = ready.max(self.free_at);
        // Only back-to-back frames carry the fraction of a picosecond over.
        let carried = if start == self.free_at {
            self.carried
        } else {
            0
        };
        let wire_bytes = frame_bytes + WIRE_OVERHEAD_BYTES;
        let (duration, carried) = self.link.rate.serialisation(0).of(wire_bytes, carried);
        self.carried = carried;
        self.free_at = start + duration;
        let from = if self.link.stores {
            self.free_at
        } else {
            start
        };
        from + self.link.latency
    }
}

/// Returns the time from the posting of a request of `bytes` to its last byte at the other NIC,
/// over `links` without other traffic. The request is spread over `planes` equal planes: each frame
/// takes the one that is free first.
pub fn request_time(nic: &NicSpec, links: &[Link], planes: u16, bytes: u64) -> Time {
    let mut planes = vec![wires(links); usize::from(planes.max(1))];
    let mut arrived = Time::ZERO;
    for (frame, gap) in frames(nic, bytes) {
        let free_at = |wires: &Vec<Wire>| wires.first().map(|first| first.free_at);
        let Some(wires) = planes.iter_mut().min_by_key(|wires| free_at(wires)) else {
            break;
        };
        arrived = arrived.max(pass_all(wires, frame));
        if let Some(first) = wires.first_mut() {
            first.pause_for(gap);
        }
    }
    arrived
}

/// Returns a request's frames, each with the gap that the sender leaves behind it.
pub fn frames(nic: &NicSpec, bytes: u64) -> impl Iterator<Item = (u32, Time)> {
    let cut = nic.cut();
    let gap = nic.message_gap;
    (0..cut.packets(bytes)).map(move |packet| {
        let frame = cut.frame_bytes(bytes, packet, packet + 1) as u32;
        let last = (packet + 1) % cut.packets_per_message() == 0;
        (frame, if last { gap } else { Time::ZERO })
    })
}

/// Returns the time from a frame's first bit at its sender to its last bit at the receiver.
pub fn frame_time(links: &[Link], frame_bytes: u32) -> Time {
    pass_all(&mut wires(links), frame_bytes)
}

fn wires(links: &[Link]) -> Vec<Wire> {
    links.iter().copied().map(Wire::of).collect()
}

fn pass_all(wires: &mut [Wire], frame_bytes: u32) -> Time {
    let wires = wires.iter_mut();
    wires.fold(Time::ZERO, |ready, wire| wire.pass(frame_bytes, ready))
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Rate;

    use super::*;

    /// 400G is 20 ps a byte, 200G is 40.
    fn link(gbps: u64, latency_ns: u64, stores: bool) -> Link {
        Link {
            rate: Rate::from_gbps(gbps),
            latency: Time::from_ns(latency_ns),
            stores,
        }
    }

    #[test]
    fn frames_are_stored_once_or_on_every_link() {
        // 4,158 + 20 bytes at 400G are 83,560 ps; latencies are 100 + 200 + 50 ns.
        let through = [
            link(400, 100, false),
            link(400, 200, false),
            link(400, 50, true),
        ];
        assert_eq!(frame_time(&through, 4_158).ps(), 350_000 + 83_560);
        let stored = through.map(|link| Link {
            stores: true,
            ..link
        });
        assert_eq!(frame_time(&stored, 4_158).ps(), 350_000 + 3 * 83_560);
    }

    #[test]
    fn a_train_runs_at_the_slowest_link() {
        let links = [link(400, 0, true), link(200, 0, true)];
        let mut wires = wires(&links);
        let arrivals: Vec<u64> = (0..3).map(|_| pass_all(&mut wires, 980).ps()).collect();
        // 1,000 bytes on the wire: 20 ns on the first link, then 40 ns each on the second.
        assert_eq!(arrivals, [60_000, 100_000, 140_000]);
    }
}
