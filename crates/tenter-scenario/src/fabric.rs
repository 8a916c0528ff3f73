//! The `fabric` section: topology, switch model and load balancing.

use tenter_net::load_balancing::{Ecmp, HashFields, HashFunction, HashSeeding, LoadBalancing};
use tenter_net::{ClassSpec, Forwarding, Limit, Scheduling, SwitchSpec, UNLIMITED_POOL};
use tenter_topology::TopologySpec;
use tenter_units::Time;

use crate::decode::{Field, Section};
use crate::diagnostics::Location;
use crate::keys::Presence::{Default, Required};
use crate::keys::{KeyTable, key};
use crate::topologies::{self, Places};

const FABRIC: KeyTable = KeyTable {
    title: "`fabric`",
    keys: &[
        key(
            "kind",
            "`single-switch`, `leaf-spine`, `fat-tree`, `rail` or `explicit`",
            Required,
            "The topology; the further keys depend on it",
        ),
        key(
            "switch",
            "mapping",
            Default("{}"),
            "The switch model; all switches share it",
        ),
        key(
            "load_balancing",
            "mapping",
            Default("{}"),
            "How a switch chooses one of several equal-cost ports",
        ),
    ],
};

const SWITCH: KeyTable = KeyTable {
    title: "`fabric.switch`",
    keys: &[
        key(
            "forwarding",
            "`cut-through` or `store-and-forward`",
            Default("cut-through"),
            "Whether a frame may leave before all of it has come in; a frame from a slower input is always stored first",
        )
        .from("usual in low-latency Ethernet switches"),
        key(
            "pipeline_latency",
            "time",
            Default("600ns"),
            "From the input to the output of an idle switch, without the frame time of store-and-forward; half of it before the output queue, half after",
        )
        .from("published figures of comparable switch chips are 300 to 800 ns a hop; AI Fabric Test Methodology (Keysight) measures 795 ns through one ToR and about 2.1 us through three switches with frames of 4,158 bytes"),
        key(
            "queue_capacity",
            "size or `none`",
            Default("64MiB"),
            "Frame bytes one output queue holds before it drops the tail; `none` never drops",
        )
        .from("what one queue of a 51.2 Tb/s switch chip can take of its 165-MB shared buffer with alpha = 1, rounded down"),
    ],
};

const LOAD_BALANCING: KeyTable = KeyTable {
    title: "`fabric.load_balancing`",
    keys: &[key(
        "kind",
        "`ecmp`",
        Default("ecmp"),
        "Which load balancer; the further keys depend on it",
    )],
};

const ECMP: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: ecmp`",
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

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 4] = [&FABRIC, &SWITCH, &LOAD_BALANCING, &ECMP];

/// No switch is slower.
const SECOND: Time = Time::from_us(1_000_000);
/// No output queue is larger.
const CAPACITY_MAX: u64 = 1 << 40;

/// The `fabric` section, read.
pub(crate) struct Fabric {
    /// The topology and where its parts were described.
    pub(crate) topology: Option<(TopologySpec, Places)>,
    pub(crate) switch: Option<SwitchSpec>,
    pub(crate) capacity_at: Option<Location>,
    /// Where load balancing was spoken of, if it was.
    pub(crate) load_balancing_at: Option<Location>,
}

/// Reads `fabric` out of the scenario.
pub(crate) fn read(scenario: &mut Section<'_>) -> Option<Fabric> {
    let mut section = scenario.section("fabric", &FABRIC)?;
    let topology = topologies::read(&mut section);
    let load_balancing_given = section.has("load_balancing");
    let mut load_balancing_at = None;
    let load_balancing = section
        .section("load_balancing", &LOAD_BALANCING)
        .and_then(|mut own| {
            load_balancing_at = own.at().filter(|_| load_balancing_given);
            let read = read_load_balancing(&mut own);
            section.put("load_balancing", own.finish());
            read
        });
    let mut capacity_at = None;
    let switch = section.section("switch", &SWITCH).and_then(|mut own| {
        let capacity_field = own.take("queue_capacity");
        capacity_at = capacity_field.as_ref().and_then(|field| field.at);
        let read = read_switch(&mut own, capacity_field, load_balancing);
        section.put("switch", own.finish());
        read
    });
    scenario.put("fabric", section.finish());
    Some(Fabric {
        topology,
        switch,
        capacity_at,
        load_balancing_at,
    })
}

fn read_switch(
    section: &mut Section<'_>,
    capacity: Option<Field<'_>>,
    load_balancing: Option<LoadBalancing>,
) -> Option<SwitchSpec> {
    let forwardings = [
        ("cut-through", Forwarding::CutThrough),
        ("store-and-forward", Forwarding::StoreAndForward),
    ];
    let forwarding = section.choice("forwarding", &forwardings);
    let pipeline_latency = section.time("pipeline_latency", Time::ZERO..=SECOND);
    let queue_capacity_bytes = capacity?.or_none(|field| field.size(&(1..=CAPACITY_MAX)));
    let pipeline_latency = pipeline_latency?;
    let ingress_latency = Time::from_ps(pipeline_latency.ps() / 2);
    Some(SwitchSpec {
        forwarding: forwarding?,
        ingress_latency,
        egress_latency: pipeline_latency - ingress_latency,
        pool_bytes: vec![UNLIMITED_POOL],
        classes: vec![private_queue(queue_capacity_bytes?)],
        load_balancing: load_balancing?,
    })
}

/// The one class of a switch without a shared buffer: each output queue has memory of its own.
fn private_queue(capacity_bytes: Option<u64>) -> ClassSpec {
    ClassSpec {
        class: 0,
        scheduling: Scheduling::Strict,
        pool: 0,
        reserved_bytes: 0,
        limit: Limit::Static(capacity_bytes.unwrap_or(UNLIMITED_POOL)),
        lossless: None,
        ecn: None,
    }
}

fn read_load_balancing(section: &mut Section<'_>) -> Option<LoadBalancing> {
    if section.choice("kind", &[("ecmp", ())]).is_none() {
        section.skip(&ECMP);
        return None;
    }
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
    Some(LoadBalancing::Ecmp(Ecmp {
        function: function?,
        fields: fields?,
        seeding: seeding?,
    }))
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
