//! The `fabric` section: topology, switch model and load balancing.

use tenter_plan::{CircuitPlan, PowerProfile};
use tenter_topology::TopologySpec;

use crate::circuits;
use crate::load_balancing::Balancing;
use crate::power::{self, Power};
use crate::source_flow_control::{self, SignalDraft};
use crate::switch::{FlowControl, Switch};
use crate::switch_model::{self, SwitchDraft};
use crate::switching::{self, Switching};
use tenter_config::Presence::{Default, Depends};
use tenter_config::{KeyTable, Value, key};
use tenter_notation::decode::{Read, Section};
use tenter_notation::diagnostics::Location;

const FABRIC: KeyTable = KeyTable {
    title: "`fabric`",
    keys: &[
        TopologySpec::VARIANTS.own.keys[0],
        key(
            "flow_control",
            "",
            Depends("`none`, or as `switch.classes` has it"),
            "Short form of `switch.classes`: makes the class of the data lossless, marks its packets, or both, with the constants of `switch.profile`",
        )
        .typed(|| FlowControl::shape(())),
        key(
            "switch",
            "",
            Default("{}"),
            "The switch model; all switches share it, but for what `tiers` in it says",
        )
        .typed(|| Switch::shape(())),
        key(
            "load_balancing",
            "",
            Default("{}"),
            "How a switch chooses one of several equal-cost ports; not with `switching: {kind: scheduled}`",
        )
        .typed(|| Balancing::shape(())),
        key(
            "switching",
            "",
            Default("{}"),
            "Where frames wait: at the outputs of every switch, at the first leaf until they have credit, or at every switch until the next one has room",
        )
        .typed(|| Switching::shape(())),
        circuits::KEY,
        source_flow_control::KEY,
        key(
            "power",
            "",
            Default("none"),
            "What the fabric's power is counted by, in `tenter explain` and for a run: a profile, or a mapping that begins with one and changes some of its constants; changes no result",
        )
        .typed(|| Option::<Power>::shape(())),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&FABRIC];

/// The `fabric` section, read.
pub(crate) struct Fabric {
    pub(crate) topology: Option<TopologySpec>,
    /// How ports obey pauses, and what frees queues that stay paused.
    pub(crate) switch: Option<Switch>,
    /// The switches, and those of tiers that are not like the others.
    pub(crate) models: Option<Vec<SwitchDraft>>,
    pub(crate) load_balancing: Option<Balancing>,
    pub(crate) switching: Option<Switching>,
    pub(crate) signals: Read<Option<SignalDraft>>,
    pub(crate) circuits: Read<Option<CircuitPlan>>,
    pub(crate) power: Read<Option<PowerProfile>>,
}

/// Reads `fabric` out of the scenario.
pub(crate) fn read(scenario: &mut Section<'_>) -> Option<Fabric> {
    let mut section = scenario.section("fabric", &FABRIC)?;
    let topology = TopologySpec::read_keys(&mut section);
    let switching = switching::read(&mut section);
    let spec = switching.as_ref();
    let scheduled = spec.is_some_and(|of| of.scheduled().is_some());
    let given = section.problems().written("fabric.load_balancing");
    let load_balancing = section.value("load_balancing");
    if scheduled {
        refuse_load_balancing(&mut section, given);
    }
    let flow_control = read_flow_control(&mut section);
    let switch: Option<Switch> = section.value("switch");
    let listed = section
        .problems()
        .written("fabric.switch.classes")
        .is_some();
    if listed && flow_control.is_some_and(|asked| asked != FlowControl::None) {
        let help = "keep one of them; `flow_control` stands for a list with the class of the data";
        let what = "and `fabric.flow_control` exclude each other";
        section
            .problems()
            .push_at("fabric.switch.classes", what, help);
    }
    let models = switch.as_ref().zip(flow_control);
    let models = models.map(|(switch, asked)| switch_model::models(switch, asked));
    let signals = source_flow_control::read(&mut section);
    let circuits = circuits::read(&mut section);
    if let (Some(Some(_)), Some(switching)) = (&circuits, &switching) {
        circuits::check(switching, section.problems());
    }
    let power = section.value("power");
    let power = power.map(|of: Option<Power>| of.as_ref().map(power::profile));
    scenario.put("fabric", section.finish());
    Some(Fabric {
        topology,
        switch,
        models,
        load_balancing,
        switching,
        signals,
        circuits,
        power,
    })
}

fn read_flow_control(section: &mut Section<'_>) -> Option<FlowControl> {
    if section.has("flow_control") {
        section.value("flow_control")
    } else {
        Some(FlowControl::None)
    }
}

/// A scheduled fabric sprays, whatever load balancer there is beside it.
fn refuse_load_balancing(section: &mut Section<'_>, given: Option<Location>) {
    if given.is_some() {
        let what = "has no place in a scheduled fabric, which sprays cells or packets by itself";
        let help = "leave it out; `fabric.switching.spray` says how";
        section.problem_of("load_balancing", given, what, help);
    }
    section.drop_key("load_balancing");
}
