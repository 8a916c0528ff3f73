//! Switches that differ from those in other tiers: set in the plan, for a third of the fabrics with
//! more than one tier.

use tenter_fabric::net::{ClassSpec, Forwarding, Limit, UNLIMITED_POOL};
use tenter_language::units::Time;
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Gives one tier other switches, or leaves the plan.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let top = plan.topology.top_tier();
    let Some(top) = top.filter(|&top| top > 0 && plan.scheduled.is_none() && draw.chance(35))
    else {
        return;
    };
    // Frame bytes of the largest packet: 62 of headers and 16 of RETH beside the payload.
    let frame = u64::from(plan.nic.mtu_bytes) + 78;
    let mut spec = plan.switches.usual.clone();
    if draw.chance(40) {
        spec.forwarding = match spec.forwarding {
            Forwarding::CutThrough => Forwarding::StoreAndForward,
            Forwarding::StoreAndForward => Forwarding::CutThrough,
        };
    }
    if draw.chance(50) {
        spec.ingress_latency = Time::from_ns(100 + draw.below(400));
        spec.egress_latency = Time::from_ns(100 + draw.below(400));
    }
    if draw.chance(30) {
        spec.pool_bytes.fill(UNLIMITED_POOL);
    }
    for class in &mut spec.classes {
        change_class(class, frame, draw);
    }
    let tier = draw.below(u64::from(top) + 1) as u8;
    plan.switches.tiers.push((tier, spec));
}

fn change_class(class: &mut ClassSpec, frame: u64, draw: &mut Draw) {
    if draw.chance(30) {
        class.lossless = None;
    }
    if draw.chance(30) {
        class.ecn = None;
    }
    if draw.chance(40) {
        class.limit = Limit::Static(frame * (1 + draw.below(40)));
    }
}
