//! Path classes: host pairs with like links, and message times between them.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_fabric::net::ACK_FRAME_BYTES;
use tenter_fabric::topology::{HostId, Routing};
use tenter_language::units::{Rate, Time};
use tenter_sim::plan::Plan;
use tenter_sim::plan::ideal::nearest::host_kinds;
use tenter_sim::plan::unloaded::{Link, frame_time, links};

use crate::explain::scheduled::scheduled_time;
use crate::explain::unloaded::{REQUEST_MAX, request_alone};

/// Host pairs whose paths have the same links in the same order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathClass {
    /// Number of switches on the path.
    pub switches: u32,
    /// Ordered host pairs; missing in fabrics with more than 512 host kinds, of which only some are
    /// examined.
    pub host_pairs: Option<u64>,
    /// One such sender, by name.
    pub from: String,
    /// The receiver paired with it, by name.
    pub to: String,
    /// Rate on the slowest link, over all planes that a queue pair's packets take.
    pub bottleneck_gbps: f64,
    /// Time from the longest frame's first bit to its last bit at the receiver.
    pub frame_ns: f64,
    /// Frame time plus an acknowledgement's time on the path back.
    pub round_trip_ns: f64,
    /// Bandwidth-delay product: slowest link rate times round trip.
    pub bdp_bytes: u64,
    /// Request times for some sizes.
    pub messages: Vec<MessageTime>,
}

/// A request in an empty network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MessageTime {
    /// Payload that the request carries.
    pub bytes: u64,
    /// Time from its posting to its last byte at the receiver.
    pub latency_ns: f64,
}

/// Limit on host kinds for examining all pairs.
const KINDS_MAX: usize = 512;

/// Returns all path classes between hosts, the shortest first.
pub(crate) fn path_classes(plan: &Plan, routing: &Routing) -> Vec<PathClass> {
    let mut kinds = host_kinds(plan, plan.topology.host_ids());
    let all = kinds.len() <= KINDS_MAX;
    if !all {
        // Evenly spaced kinds keep every part of the fabric in the sample.
        let step = kinds.len().div_ceil(KINDS_MAX);
        kinds = kinds.into_iter().step_by(step).collect();
    }
    let mut found: BTreeMap<(usize, Vec<Link>), (u64, HostId, HostId)> = BTreeMap::new();
    let mut add = |from: HostId, to: HostId, pairs: u64| {
        let links = links(plan, routing, from, to);
        let class = found.entry((links.len(), links)).or_insert((0, from, to));
        class.0 += pairs;
    };
    for (index, kind) in kinds.iter().enumerate() {
        if let (first, Some(second)) = kind.hosts {
            add(first, second, kind.count * (kind.count - 1));
        }
        for (other, peer) in kinds.iter().enumerate() {
            if other != index && plan.topology.joins(kind.hosts.0, peer.hosts.0) {
                add(kind.hosts.0, peer.hosts.0, kind.count * peer.count);
            }
        }
    }
    let found = found.into_iter();
    let classes = found.map(|((_, links), (pairs, from, to))| {
        let pairs = all.then_some(pairs);
        path_class(plan, routing, &links, from, to, pairs)
    });
    classes.collect()
}

/// Returns the switches on the longest detour, a shortest path into a region and the path on from
/// there; `None` if load balancing sends no detours.
pub(crate) fn longest_detour(plan: &Plan, routing: &Routing) -> Option<u32> {
    plan.switches.usual.load_balancing.detours()?;
    routing.longest_detour(&plan.topology)
}

fn path_class(
    plan: &Plan,
    routing: &Routing,
    links: &[Link],
    from: HostId,
    to: HostId,
    host_pairs: Option<u64>,
) -> PathClass {
    let name = |host: HostId| plan.topology.name(host).to_owned();
    let planes = plan.sprayed_planes();
    let slowest = links.iter().map(|link| link.rate.bits_per_second()).min();
    // Packets of a queue pair are sprayed over all these planes at once.
    let slowest = slowest.unwrap_or_default().saturating_mul(planes.into());
    let slowest = Rate::from_bits_per_second(slowest);
    let one = |from: HostId, to: HostId, links: &[Link], bytes: u32| {
        let scheduled = scheduled_time(plan, routing, from, to, &[(bytes, Time::ZERO)]);
        scheduled.unwrap_or_else(|| frame_time(links, bytes))
    };
    let frame = one(from, to, links, plan.nic.longest_frame_bytes());
    let back = self::links(plan, routing, to, from);
    let answer = u32::from(ACK_FRAME_BYTES) + plan.nic.telemetry_bytes();
    let round_trip = frame + one(to, from, &back, answer);
    let message = |bytes| MessageTime {
        bytes,
        latency_ns: request_alone(plan, routing, links, [from, to], bytes).as_ns(),
    };
    PathClass {
        // Between two NICs n links join n - 1 switches.
        switches: links.len() as u32 - 1,
        host_pairs,
        from: name(from),
        to: name(to),
        bottleneck_gbps: slowest.as_gbps(),
        frame_ns: frame.as_ns(),
        round_trip_ns: round_trip.as_ns(),
        bdp_bytes: carried(slowest, round_trip),
        messages: message_sizes(plan).into_iter().map(message).collect(),
    }
}

/// Returns the bytes that a link carries in `time`, headers and gaps included.
fn carried(rate: Rate, time: Time) -> u64 {
    let bits = u128::from(rate.bits_per_second()) * u128::from(time.ps());
    // Bits per second times picoseconds, over 8 bits a byte and 10¹² ps a second.
    (bits / 8_000_000_000_000) as u64
}

/// Lists the message sizes to show: a byte, a full packet, a full message and a mebibyte.
fn message_sizes(plan: &Plan) -> Vec<u64> {
    let mut sizes = vec![
        1,
        u64::from(plan.nic.mtu_bytes),
        plan.nic.message_bytes,
        1 << 20,
    ];
    sizes.retain(|&bytes| bytes <= REQUEST_MAX);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
