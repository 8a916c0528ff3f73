//! The `fabric` section: topology, switch model and load balancing.

use tenter_net::load_balancing::{Ecmp, HashFields, HashFunction, HashSeeding, LoadBalancing};
use tenter_topology::TopologySpec;

use crate::decode::{Field, Section};
use crate::diagnostics::Location;
use crate::keys::Presence::{Default, Depends, Required};
use crate::keys::{KeyTable, key};
use crate::switch::{self, SwitchDraft};
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
            "flow_control",
            "`none`, `pfc`, `ecn` or `pfc+ecn`",
            Depends("`none`, or as `switch.classes` has it"),
            "Short form of `switch.classes`: makes the class of the data lossless, marks its packets, or both, with the constants of `switch.profile`",
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
pub(crate) const TABLES: [&KeyTable; 3] = [&FABRIC, &LOAD_BALANCING, &ECMP];

/// The `fabric` section, read.
pub(crate) struct Fabric {
    /// The topology and where its parts were described.
    pub(crate) topology: Option<(TopologySpec, Places)>,
    pub(crate) switch: Option<SwitchDraft>,
    pub(crate) load_balancing: Option<LoadBalancing>,
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
    let switch = switch::read(&mut section);
    scenario.put("fabric", section.finish());
    Some(Fabric {
        topology,
        switch,
        load_balancing,
        load_balancing_at,
    })
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
