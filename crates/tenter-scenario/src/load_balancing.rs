//! The `fabric.load_balancing` section.

use tenter_endpoint::NicSpec;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_net::load_balancing::{InOrderNics, LoadBalancing, Order};
use tenter_topology::{Routing, Topology};

use crate::endpoint::Endpoint;
use crate::switching::credit;
use tenter_config::Presence::Default;
use tenter_config::{Component, Form, Key, KeyTable, Shape, key};
use tenter_notation::decode::Section;
use tenter_notation::diagnostics::{Location, Problems};

const LOAD_BALANCING: KeyTable = KeyTable {
    title: "`fabric.load_balancing`",
    keys: &[Key {
        form: Form::Typed(|| Shape::Choice(LoadBalancing::NAMES)),
        ..key(
            "kind",
            "",
            Default("ecmp"),
            "Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}` one that is not named is `destination`",
        )
    }],
};

/// The tables of this section for the reference.
pub(crate) fn tables() -> impl Iterator<Item = &'static KeyTable> {
    std::iter::once(&LOAD_BALANCING).chain(LoadBalancing::TABLES)
}

/// The load balancer, read.
pub(crate) struct LoadBalancingDraft {
    pub(crate) spec: LoadBalancing,
    /// Whether NICs may be used that need packets in order, where it does not keep it.
    in_order_nics: bool,
    /// Where it was spoken of, if it was.
    pub(crate) at: Option<Location>,
}

/// Checks a load balancer against fabric and NICs, where all of them could be read.
pub(crate) fn check(
    draft: Option<&LoadBalancingDraft>,
    endpoint: Option<&Endpoint>,
    topology: &Topology,
    found: (&Problems, &Problems),
) {
    if let (Some(draft), Some(endpoint)) = (draft, endpoint) {
        draft.check(&endpoint.nic, topology, found);
    }
}

impl LoadBalancingDraft {
    /// Refuses NICs that do not get what they need of it, and warns of those that get too little.
    pub(crate) fn check(
        &self,
        nic: &NicSpec,
        topology: &Topology,
        (problems, warnings): (&Problems, &Problems),
    ) {
        // A single switch has no choice.
        if topology.switches() > 1 {
            self.check_nics(nic, problems, warnings);
            self.check_gap(nic, topology, warnings);
        }
    }

    fn check_nics(&self, nic: &NicSpec, problems: &Problems, warnings: &Problems) {
        if !self.spec.reorders() {
            return;
        }
        let spray = Reordering {
            key: "fabric.load_balancing",
            at: self.at,
            in_order_nics: self.in_order_nics,
            other_remedy: self.spec.order_remedy(),
        };
        spray.check(&nic.loss_recovery, problems, warnings);
    }

    /// Warns of flowlets that follow each other faster than paths differ, where NICs need packets
    /// in order.
    fn check_gap(&self, nic: &NicSpec, topology: &Topology, warnings: &Problems) {
        let Some(gap) = self.spec.gap() else {
            return;
        };
        if matches!(nic.loss_recovery, LossRecovery::SelectiveRepeat(_)) {
            return;
        }
        // Hosts that cannot reach each other are told of elsewhere.
        let Ok(routing) = Routing::build(topology) else {
            return;
        };
        let wire_bytes = nic.longest_frame_bytes() + WIRE_OVERHEAD_BYTES;
        let spread = routing.delay_spread(topology, wire_bytes);
        if spread <= gap {
            return;
        }
        let message = format!(
            "`gap` of `fabric.load_balancing` is {gap}, and equal-cost paths differ by {spread} when they are empty: a packet may overtake another one of its queue pair, and the NICs take that one for lost"
        );
        let help = format!(
            "make `gap` longer than {spread}, or set `endpoint.nic.loss_recovery` to `{{kind: selective-repeat, reorder: 64}}`"
        );
        warnings.push(self.at, message, Some(help));
    }
}

/// Something that lets packets of a queue pair overtake each other.
pub(crate) struct Reordering {
    /// The key that does.
    pub(crate) key: &'static str,
    pub(crate) at: Option<Location>,
    /// Whether NICs may be used that need packets in order.
    pub(crate) in_order_nics: bool,
    /// What else helps, after a comma.
    pub(crate) other_remedy: &'static str,
}

impl Reordering {
    /// Refuses NICs that need packets in order, and warns of those that hardly wait.
    pub(crate) fn check(
        &self,
        loss_recovery: &LossRecovery,
        problems: &Problems,
        warnings: &Problems,
    ) {
        let key = self.key;
        match loss_recovery {
            LossRecovery::SelectiveRepeat(repeat) if repeat.reorder == 1 => {
                let message = format!(
                    "`{key}` lets packets overtake each other, and `endpoint.nic.loss_recovery` has `reorder: 1`: each overtaken packet is sent twice"
                );
                let help = "give `reorder` as many packets as may overtake one, e.g. 64";
                warnings.push(self.at, message, Some(help.to_owned()));
            }
            LossRecovery::GoBackN | LossRecovery::None if !self.in_order_nics => {
                let message = format!(
                    "`{key}` lets packets of a queue pair overtake each other, but the NICs need them in order and take an overtaken packet for lost"
                );
                let wait = self.other_remedy;
                let help = format!(
                    "set `endpoint.nic.loss_recovery` to `{{kind: selective-repeat, reorder: 64}}`{wait}; or set `in_order_nics: allow` here to see what comes of it"
                );
                problems.push(self.at, message, Some(help));
            }
            _ => {}
        }
    }
}

/// Reads `load_balancing` out of `fabric`.
pub(crate) fn read(fabric: &mut Section<'_>, by_credit: bool) -> Option<LoadBalancingDraft> {
    let given = fabric.has("load_balancing");
    let mut own = fabric.section("load_balancing", &LOAD_BALANCING)?;
    let at = own.at().filter(|_| given);
    if by_credit {
        credit::balancing_defaults(&mut own);
    }
    let read = read_kind(&mut own);
    let in_order_nics = match &read {
        Some(spec) if spec.may_reorder() => {
            Order::read(&mut own).map(|order| order.in_order_nics == InOrderNics::Allow)
        }
        _ => Some(false),
    };
    fabric.put("load_balancing", own.finish());
    Some(LoadBalancingDraft {
        spec: read?,
        in_order_nics: in_order_nics?,
        at,
    })
}

fn read_kind(section: &mut Section<'_>) -> Option<LoadBalancing> {
    let names = LoadBalancing::NAMES.iter().copied();
    let kinds: Vec<(&str, usize)> = names.zip(0..).collect();
    let Some(place) = section.choice("kind", &kinds) else {
        for table in LoadBalancing::TABLES {
            section.skip(table);
        }
        return None;
    };
    section.extend(&LoadBalancing::TABLES[place]);
    LoadBalancing::read(place, section)
}
