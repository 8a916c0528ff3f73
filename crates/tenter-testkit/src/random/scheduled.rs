//! Scheduled fabrics: set in the plan, for half of the leaf-spine fabrics in which any two leaves
//! have a spine in common.

use tenter_fabric::net::PfcTrigger;
use tenter_fabric::net::scheduled::{CellSpec, IndicationSpec, ScheduledSpec, SprayKind};
use tenter_fabric::topology::{NodeId, Topology, TopologySpec};
use tenter_language::units::Time;
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Makes a plan's fabric scheduled, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let two_tiers = matches!(plan.topology_spec, TopologySpec::LeafSpine(_));
    let control = plan.nic.congestion_control.as_ref();
    let in_band = control.is_some_and(|control| control.telemetry_hops().is_some());
    // A scheduled fabric sprays, which would replace load balancing by notices.
    let told = plan.switches.usual.load_balancing.sends_notices();
    if !two_tiers || in_band || told || !is_meshed(&plan.topology) || draw.chance(50) {
        return;
    }
    // Scheduled fabrics refuse watchdogs, marks, and pauses triggered by a pool.
    plan.watchdog = None;
    for class in &mut plan.switches.usual.classes {
        class.ecn = None;
        if let Some(lossless) = &mut class.lossless {
            lossless.trigger = PfcTrigger::Ingress;
        }
    }
    let cell = draw.chance(50).then(|| CellSpec {
        payload_bytes: draw.within(64..=600) as u32,
        overhead_bytes: draw.within(0..=40) as u32,
        bundle: draw.within(1..=6) as u32,
    });
    let credit_bytes = draw.within(256..=9_000) as u32;
    let indication = draw.chance(40).then(|| IndicationSpec {
        threshold_bytes: draw.within(1..=30_000),
        hold: Time::from_ns(draw.within(100..=20_000)),
    });
    plan.switches.leaves_take_whole = true;
    plan.scheduled = Some(ScheduledSpec {
        credit_bytes,
        over_speed_ppm: draw.below(6) as u32 * 10_000,
        egress_buffer_bytes: draw.within(1..=60_000),
        cell,
        spray: if draw.chance(50) {
            SprayKind::RoundRobin
        } else {
            SprayKind::Random
        },
        reassembly_timeout: Time::from_ns(draw.within(1_000..=60_000)),
        control_bytes: if draw.chance(30) {
            draw.within(1..=u64::from(credit_bytes) / 4) as u32
        } else {
            0
        },
        indication,
    });
}

/// Returns true if any two leaves have a spine in common.
fn is_meshed(topology: &Topology) -> bool {
    let peers = |switch: NodeId| topology.neighbours(switch).map(|peer| peer.node);
    let spines = topology
        .leaves()
        .into_iter()
        .map(|leaf| peers(leaf).filter(|&peer| !topology.is_host(peer)));
    let spines: Vec<Vec<NodeId>> = spines.map(Iterator::collect).collect();
    let meet = |a: &Vec<NodeId>, b: &Vec<NodeId>| a.iter().any(|spine| b.contains(spine));
    spines.iter().all(|a| spines.iter().all(|b| meet(a, b)))
}
