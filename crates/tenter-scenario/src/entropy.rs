//! NICs that change the UDP source port from packet to packet.

use tenter_endpoint::{Entropy, NicSpec};
use tenter_net::load_balancing::LoadBalancing;
use tenter_topology::Topology;

use crate::decode::{Read, Section};
use crate::diagnostics::{Location, Problems};
use crate::endpoint::Endpoint;
use crate::keys::Presence::Default;
use crate::keys::{KeyTable, key};
use crate::load_balancing::Reordering;

const ENTROPY: KeyTable = KeyTable {
    title: "`endpoint.nic.entropy`",
    keys: &[
        key(
            "values",
            "count, 2 to 16384",
            Default("64"),
            "How many source ports a QP has; each packet gets any of them",
        ),
        key(
            "packets",
            "count",
            Default("1"),
            "So many packets in a row keep the port; 32 are a message of 128 KiB",
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

/// `endpoint.nic.entropy`, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntropyDraft {
    values: u16,
    packets: u32,
    in_order_nics: bool,
    /// Where it was asked for.
    at: Option<Location>,
}

/// Refuses NICs that need packets in order and do not get them so, where switches have a choice.
pub(crate) fn check(
    endpoint: Option<&Endpoint>,
    topology: &Topology,
    (problems, warnings): (&Problems, &Problems),
) {
    let Some((endpoint, draft)) = endpoint.and_then(|of| Some((of, of.entropy?))) else {
        return;
    };
    if topology.switches() > 1 {
        let spray = Reordering {
            key: "endpoint.nic.entropy",
            at: draft.at,
            in_order_nics: draft.in_order_nics,
            other_remedy: "",
        };
        spray.check(&endpoint.nic.loss_recovery, problems, warnings);
    }
}

/// The NICs, whose packets get hashes of switches that choose paths like this.
pub(crate) fn complete(
    nic: NicSpec,
    draft: Option<EntropyDraft>,
    load_balancing: &LoadBalancing,
) -> NicSpec {
    let entropy = draft.map(|draft| {
        let differences = load_balancing.source_port_differences(draft.values);
        Entropy::new(draft.packets, differences)
    });
    NicSpec { entropy, ..nic }
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
