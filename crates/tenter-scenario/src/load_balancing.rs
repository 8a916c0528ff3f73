//! The `fabric.load_balancing` section.

mod telemetry;

use tenter_endpoint::NicSpec;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_net::load_balancing::{
    Adaptive, ByDestination, Ecmp, Flowlet, LoadBalancing, Notify, QueueAwareSpray, RandomSpray,
    RoundRobinSpray, TelemetryAssisted, WeightedEcmp,
};
use tenter_topology::{Routing, Topology};

use crate::decode::Section;
use crate::diagnostics::{Location, Problems};
use crate::endpoint::Endpoint;
use crate::switching::credit;
use tenter_config::Presence::Default;
use tenter_config::{Component, Key, KeyTable, joined, key};

const LOAD_BALANCING: KeyTable = KeyTable {
    title: "`fabric.load_balancing`",
    keys: &[key(
        "kind",
        "`ecmp`, `weighted-ecmp`, `random-spray`, `round-robin-spray`, `queue-aware-spray`, `adaptive`, `flowlet`, `telemetry` or `destination`",
        Default("ecmp"),
        "Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}` one that is not named is `destination`",
    )],
};

const ECMP: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: ecmp` or `weighted-ecmp`",
    keys: Ecmp::KEYS,
};

const ADAPTIVE: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: adaptive`",
    keys: &joined::<{ Adaptive::KEYS.len() + 1 }>(&[&[IN_ORDER_NICS], Adaptive::KEYS]),
};

const FLOWLET: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: flowlet`",
    keys: &joined::<{ Flowlet::KEYS.len() + 1 }>(&[Flowlet::KEYS, &[IN_ORDER_NICS]]),
};

const SPRAY: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: random-spray` or `round-robin-spray`",
    keys: &[IN_ORDER_NICS],
};

const QUEUE_AWARE: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: queue-aware-spray`",
    keys: &joined::<{ QueueAwareSpray::KEYS.len() + 1 }>(&[
        QueueAwareSpray::KEYS,
        &[IN_ORDER_NICS],
    ]),
};

const IN_ORDER_NICS: Key = key(
    "in_order_nics",
    "`refuse` or `allow`",
    Default("refuse"),
    "Whether NICs may be used that need the packets of a queue pair in order, and so take one that is overtaken for lost; to show what comes of it",
);

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 7] = [
    &LOAD_BALANCING,
    &ECMP,
    &SPRAY,
    &ADAPTIVE,
    &FLOWLET,
    &telemetry::TELEMETRY,
    &QUEUE_AWARE,
];

#[derive(Clone, Copy)]
enum Kind {
    Ecmp,
    WeightedEcmp,
    RandomSpray,
    RoundRobinSpray,
    QueueAwareSpray,
    Adaptive,
    Flowlet,
    Telemetry,
    Destination,
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
        let wait = match self.spec {
            LoadBalancing::Telemetry(of) if of.notify != Notify::Leaf => {
                ", or `notify: leaf` with `move: at-gap` here"
            }
            LoadBalancing::Telemetry(_) => {
                ", or `move: at-gap` here, so that a flow moves only when it has paused"
            }
            LoadBalancing::Flowlet(_) => ", or leave out `probability` here",
            _ => "",
        };
        let spray = Reordering {
            key: "fabric.load_balancing",
            at: self.at,
            in_order_nics: self.in_order_nics,
            other_remedy: wait,
        };
        spray.check(&nic.loss_recovery, problems, warnings);
    }

    /// Warns of flowlets that follow each other faster than paths differ, where NICs need packets
    /// in order.
    fn check_gap(&self, nic: &NicSpec, topology: &Topology, warnings: &Problems) {
        let (LoadBalancing::Flowlet(Flowlet { gap, .. })
        | LoadBalancing::Telemetry(TelemetryAssisted { gap: Some(gap), .. })) = self.spec
        else {
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
        // Whether it reorders is said by another of its keys.
        Some(spec) if spec.reorders() || spec.may_reorder() => {
            own.choice("in_order_nics", &[("refuse", false), ("allow", true)])
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
    let kinds = [
        ("ecmp", Kind::Ecmp),
        ("weighted-ecmp", Kind::WeightedEcmp),
        ("random-spray", Kind::RandomSpray),
        ("round-robin-spray", Kind::RoundRobinSpray),
        ("queue-aware-spray", Kind::QueueAwareSpray),
        ("adaptive", Kind::Adaptive),
        ("flowlet", Kind::Flowlet),
        ("telemetry", Kind::Telemetry),
        ("destination", Kind::Destination),
    ];
    let Some(kind) = section.choice("kind", &kinds) else {
        for table in &TABLES[1..] {
            section.skip(table);
        }
        return None;
    };
    match kind {
        Kind::Ecmp => {
            section.extend(&ECMP);
            Ecmp::read(section).map(LoadBalancing::Ecmp)
        }
        Kind::WeightedEcmp => {
            section.extend(&ECMP);
            WeightedEcmp::read(section).map(LoadBalancing::WeightedEcmp)
        }
        Kind::RandomSpray => {
            section.extend(&SPRAY);
            Some(LoadBalancing::RandomSpray(RandomSpray))
        }
        Kind::RoundRobinSpray => {
            section.extend(&SPRAY);
            Some(LoadBalancing::RoundRobinSpray(RoundRobinSpray))
        }
        Kind::QueueAwareSpray => {
            section.extend(&QUEUE_AWARE);
            QueueAwareSpray::read(section).map(LoadBalancing::QueueAwareSpray)
        }
        Kind::Adaptive => {
            section.extend(&ADAPTIVE);
            Adaptive::read(section).map(LoadBalancing::Adaptive)
        }
        Kind::Flowlet => {
            section.extend(&FLOWLET);
            Flowlet::read(section).map(LoadBalancing::Flowlet)
        }
        Kind::Telemetry => telemetry::read(section).map(LoadBalancing::Telemetry),
        Kind::Destination => Some(LoadBalancing::Destination(ByDestination)),
    }
}
