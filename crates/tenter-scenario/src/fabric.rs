//! The `fabric` section: topology, switch model and load balancing.

use tenter_topology::TopologySpec;

use crate::decode::Section;
use crate::keys::Presence::{Default, Depends, Required};
use crate::keys::{KeyTable, key};
use crate::load_balancing::{self, LoadBalancingDraft};
use crate::switch::{self, SwitchDraft};
use crate::switch_tiers::TierDraft;
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
            "The switch model; all switches share it, but for what `tiers` in it says",
        ),
        key(
            "load_balancing",
            "mapping",
            Default("{}"),
            "How a switch chooses one of several equal-cost ports",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&FABRIC];

/// The `fabric` section, read.
pub(crate) struct Fabric {
    /// The topology and where its parts were described.
    pub(crate) topology: Option<(TopologySpec, Places)>,
    /// The switches, and those of tiers that are not like the others.
    pub(crate) switches: Option<(SwitchDraft, Vec<TierDraft>)>,
    pub(crate) load_balancing: Option<LoadBalancingDraft>,
}

/// Reads `fabric` out of the scenario.
pub(crate) fn read(scenario: &mut Section<'_>) -> Option<Fabric> {
    let mut section = scenario.section("fabric", &FABRIC)?;
    let topology = topologies::read(&mut section);
    let load_balancing = load_balancing::read(&mut section);
    let switches = switch::read(&mut section);
    scenario.put("fabric", section.finish());
    Some(Fabric {
        topology,
        switches,
        load_balancing,
    })
}
