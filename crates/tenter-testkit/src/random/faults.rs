//! Faults, impairments and watchdogs: set in the plan, for 40 % of the scenarios.

use tenter_fabric::net::impairment::{HOLD_MAX, Strikes, TesterAction};
use tenter_fabric::net::{WatchdogAction, WatchdogSpec};
use tenter_fabric::topology::{CableEnd, HostId, SwitchId};
use tenter_language::units::{Rate, Time};
use tenter_sim::plan::{Fault, FaultEvent, LinkImpairment, Plan, RulePlan};

use super::draw::Draw;

/// Adds faults to a plan, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    if draw.chance(60) {
        return;
    }
    let lossless = plan
        .switches
        .usual
        .classes
        .iter()
        .any(|class| class.lossless.is_some());
    if draw.chance(70) {
        break_links(plan, draw);
    }
    // Storms and watchdogs are about pauses, which lossless classes alone have.
    if lossless && draw.chance(55) {
        let host = HostId::new(draw.below(plan.topology.hosts as u64) as u32);
        let begin = draw.below(40_000);
        let end = begin + 1 + draw.below(150_000);
        add(plan, begin, Fault::StormBegins(host));
        add(plan, end, Fault::StormEnds(host));
    }
    if lossless && draw.chance(75) {
        plan.watchdog = Some(watchdog(draw));
    }
    if draw.chance(50) {
        let links = 1 + draw.below(3);
        for _ in 0..links {
            let impairment = impairment(plan, draw);
            // A port has one impairment.
            if plan
                .impairments
                .iter()
                .all(|of| of.sender != impairment.sender)
            {
                plan.impairments.push(impairment);
            }
        }
    }
    // Faults are applied in order of time.
    plan.faults.events.sort_by_key(|event| event.at);
}

fn add(plan: &mut Plan, at_ns: u64, fault: Fault) {
    let at = Time::from_ns(at_ns);
    plan.faults.events.push(FaultEvent { at, fault });
}

/// Adds one to three failures of a link or a whole switch, or lower rates. A link may fail several
/// times, and most come up again.
fn break_links(plan: &mut Plan, draw: &mut Draw) {
    plan.faults.convergence = Time::from_ns(draw.below(30_000));
    let cables = plan.topology.cables.len() as u64;
    for _ in 0..=draw.below(3) {
        let mut at = draw.below(60_000);
        let cable = draw.below(cables) as u32;
        if draw.chance(20) {
            let full = plan.topology.cables[cable as usize].rate;
            let slower = full.bits_per_second() / (1 + draw.below(5));
            let slower = Rate::from_bits_per_second(slower);
            add(plan, at, Fault::LinkRate(cable, slower));
            if draw.chance(70) {
                at += draw.below(60_000);
                add(plan, at, Fault::LinkRate(cable, full));
            }
            continue;
        }
        let failing = if draw.chance(15) {
            let switches = plan.topology.switches() as u64;
            let switch = SwitchId::new(draw.below(switches) as u32);
            let switch = plan.topology.switch_node(switch);
            let ports = 0..plan.topology.ports(switch);
            let cables = ports.map(|port| plan.topology.cable_number(switch, port));
            cables.collect()
        } else {
            vec![cable]
        };
        // Each round is one outage of the same links.
        for _ in 0..=draw.below(3) {
            let mended = at + 1 + draw.below(40_000);
            let stays = draw.chance(10);
            for &cable in &failing {
                add(plan, at, Fault::LinkDown(cable));
                if !stays {
                    add(plan, mended, Fault::LinkUp(cable));
                }
            }
            if stays {
                break;
            }
            at = mended + draw.below(20_000);
        }
    }
}

fn watchdog(draw: &mut Draw) -> WatchdogSpec {
    let poll = 5_000 + draw.below(20_000);
    WatchdogSpec {
        poll_interval: Time::from_ns(poll),
        detection_time: Time::from_ns(poll * draw.within(1..=3)),
        restoration_time: Time::from_ns(poll * draw.within(1..=3)),
        action: if draw.chance(50) {
            WatchdogAction::Drop
        } else {
            WatchdogAction::Forward
        },
    }
}

fn impairment(plan: &Plan, draw: &mut Draw) -> LinkImpairment {
    let cable = &plan.topology.cables[draw.below(plan.topology.cables.len() as u64) as usize];
    let CableEnd { node, port } = cable.ends[draw.below(2) as usize];
    let one_in = |draw: &mut Draw| u64::MAX / (20 + draw.below(2_000));
    let mut impairment = LinkImpairment {
        sender: CableEnd { node, port },
        frame_loss: 0,
        bit_errors: 0,
        rules: Vec::new(),
    };
    if draw.chance(40) {
        impairment.frame_loss = one_in(draw);
    }
    if draw.chance(40) {
        // A frame has some 10,000 bits, each of which may be hit.
        impairment.bit_errors = one_in(draw) / 20_000;
    }
    for _ in 0..draw.below(3) {
        let hosts = plan.topology.hosts as u64;
        let host = |draw: &mut Draw| {
            let is_one = draw.chance(30);
            is_one.then(|| HostId::new(draw.below(hosts) as u32))
        };
        let (from, to) = (host(draw), host(draw));
        let strikes = match draw.below(3) {
            0 => Strikes::Every {
                skip: draw.below(20),
                period: 1 + draw.below(40),
                most: 1 + draw.below(20),
            },
            1 => Strikes::Sequences {
                first: draw.below(10) as u32,
                last: 10 + draw.below(10) as u32,
                most: 1 + draw.below(20),
            },
            _ => Strikes::Chance(one_in(draw)),
        };
        impairment.rules.push(RulePlan {
            kinds: draw.below(1 << 12) as u32,
            from,
            to,
            strikes,
            action: if draw.chance(50) {
                TesterAction::Drop
            } else {
                let most = if draw.chance(80) { 8 } else { HOLD_MAX };
                TesterAction::Hold(1 + draw.below(u64::from(most)) as u16)
            },
        });
    }
    impairment
}
