//! Multi-plane fabrics: parts that exclude NICs with several ports.

use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_endpoint::{NicSpec, PlaneChoice};
use tenter_fabric::net::Switches;
use tenter_fabric::topology::TopologySpec;
use tenter_sim::plan::{Fault, FaultEvent, FaultPlan};

use crate::resolve::buffer::Around;
use crate::resolve::switching::Switching;

/// The plane count's path in a scenario.
pub(crate) const PLANES: &str = "fabric.planes";
/// Path of a NIC's choice among planes.
const CHOICE: &str = "endpoint.nic.planes";

/// Returns true if a fabric has several planes.
pub(crate) fn has_several(spec: &TopologySpec) -> bool {
    match spec {
        TopologySpec::LeafSpine(spec) => spec.planes.count() > 1,
        TopologySpec::FatTree(spec) => spec.planes.count() > 1,
        _ => false,
    }
}

/// Refuses what excludes planes, and warns of a choice among planes in a fabric with one. Returns
/// false if the switching kind excludes them.
pub(crate) fn check(
    around: &Around<'_>,
    switching: &Switching,
    switches: &Switches,
    faults: Option<&FaultPlan>,
) -> bool {
    let nic = &around.endpoint.nic;
    if around.topology.nic_ports == 1 {
        if nic.planes.is_some() {
            let message = format!("`{CHOICE}` has no effect: every NIC has one port");
            let help = "leave it out, or give a `leaf-spine` or `fat-tree` fabric `planes`";
            around.warnings.note(CHOICE, message, help);
        }
        return true;
    }
    check_order(around, nic);
    let storm = |event: &FaultEvent| matches!(event.fault, Fault::StormBegins(_));
    let switches_otherwise = switching.scheduled().is_some() || switching.credit().is_some();
    let refused = [
        (
            switches_otherwise,
            "a fabric that is scheduled or sends by credit",
            "leave out `fabric.switching`",
        ),
        (
            nic.pcie.is_some() || nic.receive_buffer.is_some(),
            "NICs with `pcie` or a `receive_buffer`, which would pause the leaves of all planes",
            "leave `endpoint.nic.pcie` and `endpoint.nic.receive_buffer` out",
        ),
        (
            nic.ultra_ethernet().is_none()
                && nic.plane_choice() == PlaneChoice::Spray
                && nic.entropy.is_some_and(|ports| ports.kind.learns()),
            "source ports that NICs for RoCE choose by what becomes of packets, for that would mix the news of several planes",
            "choose `random` or `oblivious` for `endpoint.nic.entropy.kind`, or `planes: hash`",
        ),
        (
            nic.telemetry_bytes() > 0,
            "a congestion control by in-band telemetry, which knows one path",
            "choose another `endpoint.nic.congestion_control`",
        ),
        (
            switches.usual.load_balancing.notifies_hosts().is_some(),
            "notices of long queues to NICs",
            "set `notify: leaf` of the load balancer",
        ),
        (
            faults.is_some_and(|faults| faults.events.iter().any(storm)),
            "pause storms of NICs",
            "leave the storm out",
        ),
    ];
    for (_, what, remedy) in refused.into_iter().filter(|(is, ..)| *is) {
        let help = format!("{remedy}, or `{PLANES}`");
        refuse(around, what, &help);
    }
    !switches_otherwise
}

fn refuse(around: &Around<'_>, what: &str, help: &str) {
    let message = format!("a multi-plane fabric does not go together with {what}");
    around.problems.note(PLANES, &message, help);
}

/// Refuses congestion signals to senders, which pause one port only.
pub(crate) fn check_signals(around: &Around<'_>, signals: bool) {
    if signals && around.topology.nic_ports > 1 {
        let what = "`fabric.source_flow_control`";
        refuse(around, what, "leave one of the two out");
    }
}

/// Refuses NICs that spray over planes but need packets in order.
fn check_order(around: &Around<'_>, nic: &NicSpec) {
    let in_order = !matches!(nic.loss_recovery, LossRecovery::SelectiveRepeat(_));
    let sprays = nic.plane_choice() == PlaneChoice::Spray;
    if sprays && in_order && nic.ultra_ethernet().is_none() {
        around.problems.note(
            CHOICE,
            "`spray` lets packets of a queue pair overtake each other, but the NICs need them in order and take an overtaken packet for lost",
            "set `endpoint.nic.loss_recovery` to `{kind: selective-repeat, reorder: 64}`, or `planes: hash`",
        );
    }
}
