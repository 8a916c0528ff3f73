//! Fabrics with link credit: set in the plan, for a quarter of those that are neither scheduled nor
//! lossless, and for 90 % of such rings.

use tenter_endpoint::ReceiveBufferSpec;
use tenter_fabric::net::load_balancing::{ByDestination, LoadBalancing};
use tenter_fabric::net::{CreditSpec, Limit, SwitchSpec, UNLIMITED_POOL};
use tenter_language::units::{Bytes, Rate, Time};
use tenter_sim::plan::{Fault, Plan};

use super::draw::Draw;

/// Gives a plan link credit, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    // On a ring with routes round it, all buffers may wait for each other: a deadlock.
    let in_ring = !plan.topology.routes.is_empty();
    let likely = if in_ring { 90 } else { 25 };
    // Scenarios with pauses are rare enough; link credit would replace them.
    let lossless = plan.switches.any_class(|class| class.lossless.is_some());
    if plan.scheduled.is_some() || lossless || !draw.chance(likely) {
        return;
    }
    for spec in plan.switches.iter_mut() {
        make_endless(spec);
    }
    if draw.chance(40) {
        let destination = LoadBalancing::Destination(ByDestination {});
        for spec in plan.switches.iter_mut() {
            spec.load_balancing = destination.clone();
        }
    }
    // Link credit leaves no pauses for a watchdog or a storm.
    plan.watchdog = None;
    let events = &mut plan.faults.events;
    events.retain(|of| !matches!(of.fault, Fault::StormBegins(_) | Fault::StormEnds(_)));
    // A slow receiver holds back its credit, and its buffer therefore needs no limit.
    let slow = draw
        .chance(20)
        .then(|| Rate::from_gbps(5 + draw.below(400)));
    let drain_rate = slow.or(plan.nic.receive_buffer.and_then(|buffer| buffer.drain_rate));
    plan.nic.receive_buffer = drain_rate.map(|rate| ReceiveBufferSpec {
        drain_rate: Some(rate),
        capacity: Bytes::new(UNLIMITED_POOL),
        xoff: None,
        xon: Bytes::new(0),
        quanta: 1,
    });
    let mut spec = CreditSpec {
        lane_bytes: 0,
        update_bytes: draw.within(1..=6_000),
        delay: Time::from_ns(draw.below(400)),
    };
    let frame = plan.nic.longest_frame_bytes();
    let more = u64::from(frame) * draw.below(if in_ring { 2 } else { 12 });
    // Without windows, the senders of a ring fill every buffer.
    if in_ring {
        plan.nic.window_packets = None;
        plan.nic.outstanding_messages = None;
    }
    // A lane must hold what arrives before its credit is renewed; the rest varies.
    spec.lane_bytes = spec.least_lane_bytes(frame) + draw.below(u64::from(frame)) + more;
    plan.credit = Some(spec);
}

/// Removes all limits from a switch: with link credit, nothing is dropped, paused or marked.
fn make_endless(spec: &mut SwitchSpec) {
    spec.pool_bytes = vec![UNLIMITED_POOL];
    for class in &mut spec.classes {
        class.pool = 0;
        class.reserved_bytes = 0;
        class.limit = Limit::Static(UNLIMITED_POOL);
        class.lossless = None;
        class.ecn = None;
    }
}
