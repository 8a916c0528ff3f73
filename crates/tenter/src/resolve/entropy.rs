//! NICs that change the UDP source port from packet to packet, against the fabric.

use tenter_endpoint::EntropyKind;
use tenter_fabric::net::Switches;
use tenter_fabric::net::load_balancing::InOrderNics;

use crate::resolve::buffer::Around;
use crate::resolve::load_balancing::Reordering;
use tenter_sim::plan::LinkImpairment;

/// The section's path in a scenario.
const PATH: &str = "endpoint.nic.entropy";

/// Refuses changing source ports for NICs that need packets in order, if these ports cause the
/// reordering. Warns of choices without feedback or effect.
pub(crate) fn check(around: &Around<'_>, switches: &Switches) {
    let Some(draft) = around.endpoint.nic.entropy else {
        return;
    };
    let load_balancing = &switches.usual.load_balancing;
    let looks = load_balancing.follows_hash() && load_balancing.hashes_source_port();
    // A single switch has one port to each host, and nothing to choose.
    let chooses = around.topology.switches() > 1 && looks;
    if around.endpoint.nic.ultra_ethernet().is_none() && draft.kind.learns() {
        warn_of_learning(around, draft.kind, chooses, switches);
    }
    // Spraying switches are checked as such; switches that ignore the source port reorder nothing.
    if load_balancing.reorders() || !chooses {
        return;
    }
    let spray = Reordering {
        path: PATH,
        in_order_nics: draft.in_order_nics == InOrderNics::Allow,
        other_remedy: "",
    };
    let recovery = &around.endpoint.nic.loss_recovery;
    spray.check(recovery, around.findings());
}

/// Warns of senders that learn from ECN marks if no switch marks packets, or if source ports decide
/// no path.
fn warn_of_learning(around: &Around<'_>, kind: EntropyKind, chooses: bool, switches: &Switches) {
    let kind = kind.word();
    if !chooses {
        let message = format!(
            "`{PATH}` has `kind: {kind}`, but no switch chooses among paths by the source port: senders learn for nothing"
        );
        let help = "leave it out, or let `fabric.load_balancing` choose by the source port, as `ecmp` does";
        around.warnings.note(PATH, message, help);
    } else if !switches.any_class(|class| class.ecn.is_some()) {
        let message = format!(
            "`{PATH}` has `kind: {kind}`, which goes by marks, but no switch marks packets: only losses tell senders of bad paths"
        );
        let help = "set `fabric.flow_control: ecn`, or `ecn` of the class of the data in `fabric.switch.classes`";
        around.warnings.note(PATH, message, help);
    }
}

/// Refuses rules for one host's frames: rules tell hosts apart by a hash that includes the source
/// port.
pub(crate) fn check_impairments(around: &Around<'_>, impaired: Option<&[LinkImpairment]>) {
    if around.endpoint.nic.entropy.is_none() {
        return;
    }
    let rules = impaired.unwrap_or_default().iter().flat_map(|of| &of.rules);
    if rules.into_iter().any(|rule| rule.from.is_some()) {
        let message = "`endpoint.nic.entropy` and a rule of `impairments` with `from` exclude each other: the frames of a host are told by their source ports";
        let help = "leave out `from`, or choose them by `to`";
        around.problems.note(PATH, message, help);
    }
}
