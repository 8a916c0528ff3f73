//! NICs that change the UDP source port from packet to packet.

use tenter_net::load_balancing::{InOrderNics, LoadBalancing};

use crate::buffer::Around;
use crate::load_balancing::Reordering;
use tenter_plan::LinkImpairment;

/// The path of the section.
const PATH: &str = "endpoint.nic.entropy";

/// Refuses NICs that need packets in order, where it is this that lets them overtake each other.
pub(crate) fn check(around: &Around<'_>, load_balancing: &LoadBalancing) {
    let Some(draft) = around.endpoint.nic.entropy else {
        return;
    };
    // What sprays by itself has been judged; what does not look at the port changes nothing.
    let looks = load_balancing.follows_hash() && load_balancing.hashes_source_port();
    if around.topology.switches() < 2 || load_balancing.reorders() || !looks {
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

/// Refuses rules for the frames of one host, which are told by their hashes.
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
