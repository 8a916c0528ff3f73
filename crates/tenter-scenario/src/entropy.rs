//! NICs that change the UDP source port from packet to packet.

use tenter_endpoint::{Entropy, NicSpec, RerouteSpec};
use tenter_net::load_balancing::{InOrderNics, LoadBalancing};

use crate::buffer::Around;
use crate::endpoint::Endpoint;
use crate::load_balancing::Reordering;
use tenter_plan::LinkImpairment;

/// The path of the section.
const PATH: &str = "endpoint.nic.entropy";

/// Source ports that a queue pair has any of when a notice makes it change its own: as many as
/// `values` are by default.
const REROUTE_PORTS: u16 = 64;

/// Refuses NICs that need packets in order, where it is this that lets them overtake each other.
pub(crate) fn check(around: &Around<'_>, load_balancing: &LoadBalancing) {
    let Some(draft) = around.endpoint.entropy else {
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
    spray.check(recovery, around.problems, around.warnings);
}

/// Refuses rules for the frames of one host, which are told by their hashes.
pub(crate) fn check_impairments(around: &Around<'_>, impaired: Option<&[LinkImpairment]>) {
    if around.endpoint.entropy.is_none() {
        return;
    }
    let rules = impaired.unwrap_or_default().iter().flat_map(|of| &of.rules);
    if rules.into_iter().any(|rule| rule.from.is_some()) {
        let message = "`endpoint.nic.entropy` and a rule of `impairments` with `from` exclude each other: the frames of a host are told by their source ports";
        let help = "leave out `from`, or choose them by `to`";
        around.problems.note(PATH, message, help);
    }
}

impl Endpoint {
    /// The NICs, whose packets get hashes of switches that choose paths like this.
    pub(crate) fn complete(self, load_balancing: &LoadBalancing) -> NicSpec {
        let entropy = self.entropy.map(|draft| {
            let differences = load_balancing.source_port_differences(draft.values);
            Entropy::new(draft.packets, differences)
        });
        let reroute = load_balancing.notifies_hosts().map(|of| RerouteSpec {
            response: of.response,
            hold_down: of.hold_down,
            differences: load_balancing.source_port_differences(REROUTE_PORTS).into(),
        });
        NicSpec {
            entropy,
            reroute,
            ..self.nic
        }
    }
}
