//! The `fabric.load_balancing` section.

mod telemetry;

use tenter_endpoint::NicSpec;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_net::load_balancing::{
    Adaptive, ByDestination, Ecmp, Flowlet, HashFields, HashFunction, HashSeeding, LoadBalancing,
    Notify, QualitySpec, QueueAwareSpray, RandomSpray, Reassignment, RoundRobinSpray,
    TelemetryAssisted, WeightedEcmp,
};
use tenter_topology::{Routing, Topology};
use tenter_units::Time;

use crate::decode::{Field, Section};
use crate::diagnostics::{Location, Problems};
use crate::endpoint::Endpoint;
use crate::keys::Presence::Default;
use crate::keys::{Key, KeyTable, key};
use crate::switching::credit;

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
    keys: &[
        key(
            "hash",
            "`crc16`, `crc32`, `xor` or `toeplitz`",
            Default("crc32"),
            "The hash function of the switches",
        ),
        key(
            "fields",
            "list of `source_address`, `destination_address`, `protocol`, `source_port`, `destination_port`",
            Default(
                "[source_address, destination_address, protocol, source_port, destination_port]",
            ),
            "The header fields that enter the hash; RoCEv2's UDP destination port is always 4791 (IANA), its source port differs from QP to QP",
        ),
        key(
            "seeding",
            "`mixed` or `raw`",
            Default("mixed"),
            "`mixed` goes through a non-linear mix with a seed of each switch; `raw` is the bare hash, with which leaf and spine choose alike (polarisation)",
        ),
    ],
};

const ADAPTIVE: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: adaptive`",
    keys: &[IN_ORDER_NICS, REFRESH, STEP],
};

const FLOWLET: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: flowlet`",
    keys: &[
        key(
            "gap",
            "time",
            Default("256us"),
            "A flow that has sent nothing for so long takes the least busy link",
        )
        .from("a common default of the inactivity interval in dynamic load balancing"),
        key(
            "buckets",
            "whole number",
            Default("256"),
            "Entries of a switch's table of flows; flows of one entry count as one",
        )
        .from("a common default of the flow set size in dynamic load balancing"),
        key(
            "probability",
            "percent, 0 to 100",
            Default("0"),
            "With what probability a packet of a flow without a gap moves it, when another link is better by `delta`; packets may then overtake each other",
        )
        .from("the probability threshold of reactive path rebalancing; with 0 there is none"),
        key(
            "delta",
            "1 to 7",
            Default("2"),
            "By so many of eight levels another link must be better for that",
        )
        .from("the quality delta of reactive path rebalancing; its value is assumed"),
        REFRESH,
        STEP,
        IN_ORDER_NICS,
    ],
};

const SPRAY: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: random-spray` or `round-robin-spray`",
    keys: &[IN_ORDER_NICS],
};

const QUEUE_AWARE: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: queue-aware-spray`",
    keys: &[
        key(
            "samples",
            "whole number",
            Default("2"),
            "Links drawn by chance for each packet; it takes the one with the shortest queue",
        )
        .from("DRILL: two random choices, the first of its two parameters"),
        key(
            "remember",
            "`true` or `false`",
            Default("true"),
            "Whether the link that the packet before found best is compared with them",
        )
        .from("DRILL: one unit of memory, the second of its two parameters"),
        IN_ORDER_NICS,
    ],
};

const IN_ORDER_NICS: Key = key(
    "in_order_nics",
    "`refuse` or `allow`",
    Default("refuse"),
    "Whether NICs may be used that need the packets of a queue pair in order, and so take one that is overtaken for lost; to show what comes of it",
);

const REFRESH: Key = key(
    "refresh",
    "time",
    Default("500ns"),
    "How often a switch judges how busy its ports are; `0ns` means at every packet, which is slower to simulate",
)
.from("assumed: switch chips do it in hardware at intervals from a quarter of a microsecond on");

const STEP: Key = key(
    "step",
    "time",
    Default("250ns"),
    "A port is one of eight levels busier for each such time that a frame would wait at it",
)
.from("eight quality bands as in dynamic load balancing; their width is assumed, three frames of 4 KiB at 400G");

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

/// No refresh is more frequent, unless levels are exact: a switch looks at all its ports each time.
const REFRESH_MIN: Time = Time::from_ns(10);
/// No refresh is rarer: a run lasts until the last one.
const REFRESH_MAX: Time = Time::from_us(100);
/// No gap or step is longer.
const SECOND: Time = Time::from_us(1_000_000);
/// No packet compares more queues.
const SAMPLES_MAX: u64 = 64;
/// A table of flows is no larger.
const BUCKETS_MAX: u64 = 1 << 20;

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
            LossRecovery::SelectiveRepeat(repeat) if repeat.reorder_packets == 1 => {
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
        Kind::Ecmp => read_ecmp(section).map(LoadBalancing::Ecmp),
        Kind::WeightedEcmp => {
            let ecmp = read_ecmp(section)?;
            Some(LoadBalancing::WeightedEcmp(WeightedEcmp { ecmp }))
        }
        Kind::RandomSpray => {
            section.extend(&SPRAY);
            Some(LoadBalancing::RandomSpray(RandomSpray))
        }
        Kind::RoundRobinSpray => {
            section.extend(&SPRAY);
            Some(LoadBalancing::RoundRobinSpray(RoundRobinSpray))
        }
        Kind::QueueAwareSpray => read_queue_aware(section).map(LoadBalancing::QueueAwareSpray),
        Kind::Adaptive => {
            section.extend(&ADAPTIVE);
            let quality = read_quality(section)?;
            Some(LoadBalancing::Adaptive(Adaptive { quality }))
        }
        Kind::Flowlet => read_flowlet(section).map(LoadBalancing::Flowlet),
        Kind::Telemetry => telemetry::read(section).map(LoadBalancing::Telemetry),
        Kind::Destination => Some(LoadBalancing::Destination(ByDestination)),
    }
}

fn read_ecmp(section: &mut Section<'_>) -> Option<Ecmp> {
    section.extend(&ECMP);
    let hashes = [
        ("crc16", HashFunction::Crc16),
        ("crc32", HashFunction::Crc32),
        ("xor", HashFunction::Xor),
        ("toeplitz", HashFunction::Toeplitz),
    ];
    let function = section.choice("hash", &hashes);
    let fields = section.take("fields").and_then(|field| read_fields(&field));
    let seeding = section.choice(
        "seeding",
        &[("mixed", HashSeeding::Mixed), ("raw", HashSeeding::Raw)],
    );
    Some(Ecmp {
        function: function?,
        fields: fields?,
        seeding: seeding?,
    })
}

fn read_queue_aware(section: &mut Section<'_>) -> Option<QueueAwareSpray> {
    section.extend(&QUEUE_AWARE);
    let samples = section.integer("samples", 1..=SAMPLES_MAX);
    let remembers = section.boolean("remember");
    Some(QueueAwareSpray {
        samples: samples?,
        remembers: remembers?,
    })
}

fn read_flowlet(section: &mut Section<'_>) -> Option<Flowlet> {
    section.extend(&FLOWLET);
    let gap = section.time("gap", Time::from_ps(1)..=SECOND);
    let buckets = section.integer("buckets", 1..=BUCKETS_MAX);
    let probability = section.integer::<u32>("probability", 0..=100);
    let delta = section.integer::<u8>("delta", 1..=7);
    let quality = read_quality(section);
    Some(Flowlet {
        gap: gap?,
        buckets: buckets?,
        reassignment: Reassignment {
            delta: delta?,
            probability_ppm: probability? * 10_000,
        },
        quality: quality?,
    })
}

fn read_refresh(field: &Field<'_>) -> Option<Time> {
    let refresh: Time = field.quantity("a time", &(Time::ZERO..=REFRESH_MAX))?;
    if refresh > Time::ZERO && refresh < REFRESH_MIN {
        let help = format!("write `0ns` for exact levels, or at least `{REFRESH_MIN}`");
        field.problem("is too short to simulate", help);
        return None;
    }
    Some(refresh)
}

fn read_quality(section: &mut Section<'_>) -> Option<QualitySpec> {
    let refresh = section
        .take("refresh")
        .and_then(|field| read_refresh(&field));
    let step = section.time("step", Time::from_ps(1)..=SECOND);
    Some(QualitySpec {
        refresh: refresh?,
        step: step?,
    })
}

fn read_fields(field: &Field<'_>) -> Option<HashFields> {
    let items = field.items()?;
    if items.is_empty() {
        let help = "list at least one field; without any, all packets would take one link";
        field.problem("is empty", help.to_owned());
        return None;
    }
    let names = [
        "source_address",
        "destination_address",
        "protocol",
        "source_port",
        "destination_port",
    ];
    let choices: Vec<(&str, usize)> = names.into_iter().zip(0..).collect();
    let mut chosen = [false; 5];
    let mut complete = true;
    for item in items {
        match item.choice(&choices) {
            Some(index) if chosen[index] => {
                item.problem("is listed twice", "keep one of them".to_owned());
                complete = false;
            }
            Some(index) => chosen[index] = true,
            None => complete = false,
        }
    }
    let [
        source_address,
        destination_address,
        protocol,
        source_port,
        destination_port,
    ] = chosen;
    complete.then_some(HashFields {
        source_address,
        destination_address,
        protocol,
        source_port,
        destination_port,
    })
}
