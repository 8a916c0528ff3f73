//! Whether the telemetry header of packets has room for all switches on a path.

use tenter_endpoint::NicSpec;
use tenter_net::Switches;
use tenter_notation::diagnostics::Problems;
use tenter_topology::{Routing, Topology};

const PATH: &str = "endpoint.nic.congestion_control";

/// The most that `hops` may be.
const HOPS_MAX: u32 = 15;

/// Warns of paths with more switches than the header of packets has room for.
pub(crate) fn check(nic: &NicSpec, switches: &Switches, topology: &Topology, warnings: &Problems) {
    let control = nic.congestion_control.as_ref();
    let Some(room) = control.and_then(|control| control.telemetry_hops()) else {
        return;
    };
    // Hosts that cannot reach each other are told of elsewhere.
    let Ok(routing) = Routing::build(topology) else {
        return;
    };
    let balancing = &switches.usual.load_balancing;
    let detour = balancing.detours().and(routing.longest_detour(topology));
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
    let help = if needed <= HOPS_MAX {
        format!("set `hops: {needed}`")
    } else {
        format!(
            "set `hops: {HOPS_MAX}`, the most there may be, or choose another congestion control"
        )
    };
    warnings.note(PATH, message, &help);
}
