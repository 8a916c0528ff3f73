//! Room for telemetry in packet headers, against the switches on a path.

use tenter_endpoint::NicSpec;
use tenter_endpoint::congestion_control::{CongestionControl, HOPS_MAX};
use tenter_fabric::net::Switches;
use tenter_fabric::topology::{Routing, Topology};

use crate::resolve::findings::Findings;

const PATH: &str = "endpoint.nic.congestion_control";

/// Warns of paths with more switches than packet headers have room for.
pub(crate) fn check(
    nic: &NicSpec,
    switches: &Switches,
    topology: &Topology,
    findings: Findings<'_>,
) {
    let control = nic.congestion_control.as_ref();
    let Some(room) = control.and_then(CongestionControl::telemetry_hops) else {
        return;
    };
    // The builder of routes reports its own errors.
    let Ok(routing) = Routing::build(topology, findings.budget) else {
        return;
    };
    let balancing = &switches.usual.load_balancing;
    let detour = balancing
        .detours()
        .and_then(|_| routing.longest_detour(topology));
    let needed = routing.longest_path().max(detour.unwrap_or(0));
    if needed <= u32::from(room) {
        return;
    }
    let on_detours = if detour == Some(needed) {
        " on detours"
    } else {
        ""
    };
    let message = format!(
        "packets pass up to {needed} switches{on_detours}, and their telemetry header has room for {room}: the last switches write nothing, and senders do not learn of queues there"
    );
    findings.warnings.note(PATH, message, &help(needed, room));
}

/// Returns the remedy if `needed` switches have room for `room` records only.
fn help(needed: u32, room: u8) -> String {
    let other = "choose another congestion control";
    if needed <= u32::from(HOPS_MAX) {
        format!("set `hops: {needed}`")
    } else if room < HOPS_MAX {
        format!("set `hops: {HOPS_MAX}`, the most there may be, or {other}")
    } else {
        other.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_remedy_names_what_is_set_already() {
        assert_eq!(help(6, 5), "set `hops: 6`");
        assert!(help(16, 5).starts_with("set `hops: 15`, the most there may be, or choose"));
        assert_eq!(help(16, 15), "choose another congestion control");
    }
}
