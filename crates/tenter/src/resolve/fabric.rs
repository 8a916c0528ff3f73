//! The `fabric` section: topology, switches and load balancing.

use tenter_fabric::topology::TopologySpec;
use tenter_language::config::{Reader, component};
use tenter_language::notation::decode::Read;
use tenter_sim::plan::{CircuitPlan, PowerProfile};

use crate::resolve::circuits;
use crate::resolve::load_balancing::Balancing;
use crate::resolve::power::{self, Power};
use crate::resolve::source_flow_control::{SignalDraft, SourceFlowControl};
use crate::resolve::switch::{FlowControl, Switch};
use crate::resolve::switch_model::{self, SwitchDraft};
use crate::resolve::switching::Switching;

component! {
    /// Topology, switches and load balancing.
    pub struct Fabric as "`fabric`", derive(Clone, Debug, PartialEq), partly FabricParts {
        first ..topology: TopologySpec, "Hosts, switches and the cables between them.";
        /// The place where frames wait: at the outputs of every switch, at the first leaf until
        /// they have credit, or at every switch until the next one has room.
        switching: Switching = "{}", omit default;
        /// How a switch chooses one of several equal-cost ports; not with `switching: {kind:
        /// scheduled}`.
        load_balancing: Option<Balancing> = absent "`{}`, but in a scheduled fabric";
        /// Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
        /// or both, with the constants of `switch.profile`; or marks and trims its packets, with
        /// the queues of the Ultra Ethernet Consortium's simulator (`trim`).
        flow_control: Option<FlowControl> = absent "`none`, or as `switch.classes` has it";
        /// The switch model; all switches share it, except where its `tiers` differ.
        switch: Option<Switch> = absent "`{}`";
        /// Congestion signals of switches to senders: Remote PFC, or source flow control in the
        /// NIC; it works with any `flow_control`.
        source_flow_control: SourceFlowControl = "{}", omit default;
        /// Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or
        /// in place of the spines of a `leaf-spine` fabric.
        circuits: Option<CircuitPlan> = "none", omit default;
        /// Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
        /// mapping with a profile and some constants of its own; they change no result.
        power: Option<Power> = "none";
        check parts_go_together;
    }
}

impl Fabric {
    /// Creates a fabric with this topology; all other keys have their defaults.
    pub(crate) fn new(topology: impl Into<TopologySpec>) -> Fabric {
        Fabric {
            topology: topology.into(),
            switching: Switching::OutputQueued,
            load_balancing: None,
            flow_control: None,
            switch: None,
            source_flow_control: SourceFlowControl::default(),
            circuits: None,
            power: None,
        }
    }
}

fn parts_go_together(own: &FabricParts, reader: &mut dyn Reader) {
    let switching = own.switching.as_ref();
    if switching.is_some_and(|of| of.scheduled().is_some()) {
        refuse_load_balancing(reader);
    }
    if let Some(kind) = own.unscheduled_kind() {
        refuse_other_kinds(kind, reader);
    }
    // Classes that were filled in do not contradict `flow_control`; written ones do.
    if own.asks_for_classes() && reader.was_given("switch.classes") {
        let what = "and `fabric.flow_control` exclude each other";
        let help = "keep one of them; `flow_control` stands for a list with the class of the data";
        reader.refuse("switch.classes", what, help);
    }
    if let (Some(Some(_)), Some(switching)) = (&own.circuits, switching) {
        circuits::check(switching, reader);
    }
}

fn refuse_other_kinds(kind: &str, reader: &mut dyn Reader) {
    let what = format!(
        "cannot be `scheduled` with `kind: {kind}`: credits and cells are modelled between the leaves of two tiers"
    );
    reader.refuse("switching", &what, "use `fabric.kind: leaf-spine`");
}

/// Refuses a load balancer beside a scheduled fabric, which sprays by itself.
fn refuse_load_balancing(reader: &mut dyn Reader) {
    if reader.was_given("load_balancing") {
        let what = "has no place in a scheduled fabric, which sprays cells or packets by itself";
        let help = "leave it out; `fabric.switching.spray` says how";
        reader.refuse("load_balancing", what, help);
    }
    // Nor may the written-out configuration have the key, or it could not be read again.
    reader.leave_out("load_balancing");
}

impl FabricParts {
    fn asks_for_classes(&self) -> bool {
        let asked = self.flow_control.flatten();
        asked.is_some_and(|asked| asked != FlowControl::None)
    }

    /// Returns the topology's kind if it should be scheduled but cannot be.
    pub(crate) fn unscheduled_kind(&self) -> Option<&'static str> {
        let is_scheduled = self.switching.as_ref()?.scheduled().is_some();
        let topology = self.topology.as_ref()?;
        let is_other = is_scheduled && !matches!(topology, TopologySpec::LeafSpine(_));
        is_other.then(|| topology.word())
    }

    /// Returns the load balancer; in a scheduled fabric, which has no such key, the default.
    pub(crate) fn balancing(&self) -> Option<Balancing> {
        let own = self.load_balancing.as_ref()?;
        Some(own.clone().unwrap_or_default())
    }

    /// Returns the switch models: the base model, then those for tiers that differ.
    pub(crate) fn models(&self) -> Option<Vec<SwitchDraft>> {
        let asked = self.flow_control?.unwrap_or(FlowControl::None);
        let switch = self.switch.as_ref()?.as_ref()?;
        Some(switch_model::models(switch, asked))
    }

    /// Returns the congestion signals that switches send to senders.
    pub(crate) fn signals(&self) -> Read<Option<SignalDraft>> {
        let own = self.source_flow_control.as_ref()?;
        Some(own.signals())
    }

    /// Returns the constants that power is computed from.
    pub(crate) fn power(&self) -> Read<Option<PowerProfile>> {
        let own = self.power.as_ref()?;
        Some(own.as_ref().map(power::profile))
    }
}
