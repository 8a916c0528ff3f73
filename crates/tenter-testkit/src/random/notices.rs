//! Congestion notices to hosts instead of switches: set in the plan, for every other one whose
//! telemetry moves flows at once and that has a class left for notices.

use std::sync::Arc;

use tenter_endpoint::RerouteSpec;
use tenter_fabric::net::load_balancing::{LoadBalancing, Moves, Notify};
use tenter_sim::plan::Plan;

use super::draw::Draw;
use super::signals::highest_class;

/// Lets a plan's switches notify hosts, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let others = plan.scheduled.is_some() || plan.credit.is_some() || plan.signals.is_some();
    if others || plan.port_changes.entropy.is_some() || !draw.chance(50) {
        return;
    }
    let mut rules = plan.impairments.iter().flat_map(|of| &of.rules);
    // Notices need class 7, and impairments by sender are refused beside them.
    if highest_class(plan) >= Some(7) || rules.any(|rule| rule.from.is_some()) {
        return;
    }
    for spec in plan.switches.iter_mut() {
        let LoadBalancing::Telemetry(of) = &mut spec.load_balancing else {
            return;
        };
        if of.moves == Moves::AtGap {
            return;
        }
        of.notify = Notify::Host;
    }
    let balancing = &plan.switches.usual.load_balancing;
    let ports = draw.within(2..=64) as u16;
    plan.port_changes.reroute = balancing.notifies_hosts().map(|of| {
        Arc::new(RerouteSpec {
            response: of.response,
            hold_down: of.hold_down,
            differences: balancing.source_port_differences(ports).into(),
        })
    });
    plan.switches.add_class_for_signals(7);
}
