//! NICs that change the UDP source port from packet to packet.

use tenter_endpoint::{Entropy, NicSpec, RerouteSpec};
use tenter_net::load_balancing::LoadBalancing;

use crate::buffer::Around;
use crate::endpoint::Endpoint;
use crate::load_balancing::Reordering;
use tenter_config::Presence::Default;
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Read, Section};
use tenter_notation::diagnostics::Location;
use tenter_plan::LinkImpairment;

const ENTROPY: KeyTable = KeyTable {
    title: "`endpoint.nic.entropy`",
    keys: &[
        key(
            "values",
            "count, 2 to 16384",
            Default("64"),
            "How many source ports a QP has; each run of `packets` gets any of them",
        ),
        key(
            "packets",
            "count",
            Default("1"),
            "Packets in a row that keep the port; 32 are a message of 128 KiB",
        ),
        key(
            "in_order_nics",
            "`refuse` or `allow`",
            Default("refuse"),
            "What to do with NICs that need packets in order",
        ),
    ],
};

/// Every table of keys read here.
pub(crate) const TABLES: [&KeyTable; 1] = [&ENTROPY];

/// The dynamic range of ports has so many.
const VALUES_MAX: u16 = 1 << 14;
/// Source ports that a queue pair has any of when a notice makes it change its own: as many as
/// `values` are by default.
const REROUTE_PORTS: u16 = 64;

/// `endpoint.nic.entropy`, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntropyDraft {
    values: u16,
    packets: u32,
    in_order_nics: bool,
    /// Where it was asked for.
    at: Option<Location>,
}

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
        key: "endpoint.nic.entropy",
        at: draft.at,
        in_order_nics: draft.in_order_nics,
        other_remedy: "",
    };
    let recovery = &around.endpoint.nic.loss_recovery;
    spray.check(recovery, around.problems, around.warnings);
}

/// Refuses rules for the frames of one host, which are told by their hashes.
pub(crate) fn check_impairments(around: &Around<'_>, impaired: Option<&[LinkImpairment]>) {
    let Some(draft) = around.endpoint.entropy else {
        return;
    };
    let rules = impaired.unwrap_or_default().iter().flat_map(|of| &of.rules);
    if rules.into_iter().any(|rule| rule.from.is_some()) {
        let message = "`endpoint.nic.entropy` and a rule of `impairments` with `from` exclude each other: the frames of a host are told by their source ports";
        let help = "leave out `from`, or choose them by `to`";
        around
            .problems
            .push(draft.at, message.to_owned(), Some(help.to_owned()));
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

/// Reads `entropy` out of `endpoint.nic`.
pub(crate) fn read(nic: &mut Section<'_>) -> Read<Option<EntropyDraft>> {
    let field = nic.take("entropy")?;
    if field.word() == Some("none") {
        return Some(None);
    }
    let mut own = field.section(&ENTROPY);
    let at = own.at();
    let values = own.integer("values", 2..=u64::from(VALUES_MAX));
    let packets = own.integer("packets", 1..=u64::from(u32::MAX));
    let in_order_nics = own.choice("in_order_nics", &[("refuse", false), ("allow", true)]);
    nic.put("entropy", own.finish());
    Some(Some(EntropyDraft {
        values: values?,
        packets: packets?,
        in_order_nics: in_order_nics?,
        at,
    }))
}
