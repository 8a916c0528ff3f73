//! Optical circuit switches whose circuits change: set in the plan, for nine of ten fat trees and
//! leaf-spine fabrics that can have them.

use tenter_engine::Stream;
use tenter_fabric::net::load_balancing::{ByDestination, LoadBalancing};
use tenter_fabric::steering::can_steer;
use tenter_fabric::topology::{
    CableEnd, OpticalCabling, OpticalSpec, OpticalTier, Rewiring, Topology, TopologySpec,
};
use tenter_language::config::Percent;
use tenter_language::units::{Budget, Time};
use tenter_sim::plan::{
    CircuitChange, CircuitPlan, Fault, OnChange, Plan, SteeringController, SteeringDemand,
    SteeringPlan,
};

use super::draw::Draw;

/// Adds circuits to a plan, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    if plan.scheduled.is_some() || plan.credit.is_some() || draw.chance(10) {
        return;
    }
    let tier = match &plan.topology_spec {
        TopologySpec::FatTree(_) => OpticalTier::AboveLeaves,
        TopologySpec::LeafSpine(_) => OpticalTier::InPlaceOfSpines,
        _ => return,
    };
    let optical = OpticalSpec {
        tier,
        radix: match tier {
            OpticalTier::AboveLeaves => 2 * draw.within(1..=8) as u16,
            OpticalTier::InPlaceOfSpines => 4096,
        },
        delay: Time::from_ns(draw.below(30)),
        cabling: if draw.chance(50) {
            OpticalCabling::Straight
        } else {
            OpticalCabling::Rotated
        },
    };
    // Some fabrics cannot be built with optics, for instance if their spines differ.
    let Ok(topology) = optical.build(&plan.topology_spec, &Budget::unlimited()) else {
        return;
    };
    keep_what_is_left(plan, &topology);
    if draw.chance(20) {
        for spec in plan.switches.iter_mut() {
            spec.load_balancing = LoadBalancing::Destination(ByDestination {});
        }
    }
    let reconfiguration = draw.within(1..=20_000);
    let convergence = draw.below(reconfiguration);
    plan.circuits = Some(CircuitPlan {
        radix: optical.radix,
        delay: optical.delay,
        cabling: optical.cabling,
        initial: Vec::new(),
        changes: random_changes(&topology, draw.below(u64::MAX), draw.below(8), |stream| {
            Time::from_ns(stream.below(60_000))
        }),
        reconfiguration: Time::from_ns(reconfiguration),
        on_change: if draw.chance(60) {
            OnChange::Drain
        } else {
            OnChange::Lose
        },
        convergence: Time::from_ns(if draw.chance(50) { 0 } else { convergence }),
        spill: draw.chance(90).then(|| Time::from_ns(draw.below(5_000))),
        steering: None,
    });
    if draw.chance(40) {
        steer(plan, &topology, draw);
    }
    plan.topology = topology;
}

/// Lets the circuits follow the jobs' demand instead of a list.
fn steer(plan: &mut Plan, topology: &Topology, draw: &mut Draw) {
    if let Some(circuits) = plan.circuits.as_mut().filter(|_| can_steer(topology)) {
        circuits.changes.clear();
        circuits.steering = Some(SteeringPlan {
            demand: if draw.chance(50) {
                SteeringDemand::Jobs
            } else {
                SteeringDemand::Counters
            },
            controller: if draw.chance(30) {
                SteeringController::Greedy
            } else {
                SteeringController::Estimate
            },
            interval: Time::from_us(draw.within(2..=50)),
            threshold: Percent(draw.below(10) as u32),
        });
    }
}

/// Removes faults and impairments on links that become circuits or disappear.
fn keep_what_is_left(plan: &mut Plan, topology: &Topology) {
    plan.faults.events.retain(|event| match event.fault {
        Fault::LinkDown(cable) | Fault::LinkUp(cable) | Fault::LinkRate(cable, _) => {
            !topology.is_fibre(cable)
        }
        Fault::StormBegins(_) | Fault::StormEnds(_) => true,
    });
    plan.impairments.retain(|of| {
        let CableEnd { node, port } = of.sender;
        node.index() < topology.nodes.len() && !topology.is_fibre(topology.cable_number(node, port))
    });
}

/// Returns `count` random circuit changes for a topology, ordered by the times that `at` draws.
/// After each change every switch is reached; changes without a valid rewiring are left out.
pub fn random_changes(
    topology: &Topology,
    seed: u64,
    count: u64,
    mut at: impl FnMut(&mut Stream) -> Time,
) -> Vec<CircuitChange> {
    let mut stream = Stream::new(seed, "testkit", "random-circuits");
    let mut times: Vec<Time> = (0..count).map(|_| at(&mut stream)).collect();
    times.sort_unstable();
    let mut topology = topology.clone();
    let mut changes = Vec::new();
    for at in times {
        let switches = topology.optics.switches().len() as u64;
        let mut rewirings: Vec<Rewiring> = Vec::new();
        for _ in 0..=stream.below(2) {
            let switch = stream.below(switches) as u32;
            // A change sets each switch once.
            if rewirings.iter().any(|of| of.switch == switch) {
                continue;
            }
            rewirings.extend(random_rewiring(&mut topology, switch, &mut stream));
        }
        if !rewirings.is_empty() {
            changes.push(CircuitChange { at, rewirings });
        }
    }
    changes
}

/// Draws new circuits for a switch, and applies them to `topology`; `None` if 20 attempts leave
/// some switch unreached.
fn random_rewiring(topology: &mut Topology, switch: u32, stream: &mut Stream) -> Option<Rewiring> {
    let ports = topology.optics.switches()[switch as usize].ports.len() as u16;
    for _ in 0..20 {
        let mut order: Vec<u16> = (0..ports).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, stream.below(last as u64 + 1) as usize);
        }
        let pairs = 1 + stream.below(u64::from(ports) / 2) as usize;
        let pairs = order.chunks_exact(2).take(pairs);
        let mut rewiring = Rewiring {
            switch,
            pairs: pairs.map(|pair| (pair[0], pair[1])).collect(),
            dark: Vec::new(),
        };
        if stream.below(4) == 0 {
            rewiring
                .dark
                .extend(rewiring.pairs.pop().map(|(port, _)| port));
        }
        if topology.check_rewiring(&rewiring).is_err() {
            continue;
        }
        let mut changed = topology.clone();
        changed.rewire(&rewiring);
        if changed.unreached().is_none() {
            *topology = changed;
            return Some(rewiring);
        }
    }
    None
}
