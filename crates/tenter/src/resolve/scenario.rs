//! The scenario and its sections, as key tables.

use tenter_fabric::topology::TopologySpec;
use tenter_language::config::{Component, KeyTable, Reader, Value, component, default_of};
use tenter_language::units::{NAME_REMEDY, is_reserved, is_visible};
use tenter_sim::plan::CircuitPlan;
use tenter_workload::spec::JobSpec;

use crate::resolve::endpoint::Endpoint;
use crate::resolve::fabric::{Fabric, FabricParts};
use crate::resolve::faults::Faults;
use crate::resolve::impairments::{self, Impairment};
use crate::resolve::load_balancing::Balancing;
use crate::resolve::observe::{Engine, Limits, Observe};
use crate::resolve::power::OwnPower;
use crate::resolve::seeds::SeedKeys;
use crate::resolve::source_flow_control::SourceFlowControl;
use crate::resolve::switch::Switch;
use crate::resolve::switching::Switching;

component! {
    /// A fabric, its hosts, and the jobs that run on them.
    pub struct Scenario as "The scenario", derive(Clone, Debug, PartialEq), partly ScenarioParts {
        /// The version of this format.
        schema_version: u8 = "1", in 1..=1;
        /// Name of the trial.
        name: String = "\"\"", in 200;
        /// Description of the trial.
        description: String = "\"\"", in 10_000;
        /// A YAML file with the `fabric` and `endpoint` of switches and NICs that several scenarios
        /// share: each of its keys counts where the scenario has none. The path counts from the
        /// scenario.
        equipment: String = "\"\"", in 4_096;
        /// Seed of every random stream.
        seed: u64 = "1", in 0..=u64::MAX;
        /// Seeds of single kinds of draws in place of `seed`, so that one is varied and others are
        /// held.
        seeds: SeedKeys = "{}";
        /// Topology, switches and load balancing.
        fabric: Fabric, partly FabricParts;
        /// NIC, host and addresses.
        endpoint: Endpoint = "{}";
        /// The jobs: which hosts take part, and what they run.
        jobs: Vec<JobSpec>;
        /// Faults during the trial, and their repair.
        faults: Faults = "{}";
        /// Losses and reordering of frames on links.
        impairments: Vec<Impairment> = "[]";
        /// Recordings beside the results.
        observe: Observe = "{}";
        /// Limits that end the trial.
        limits: Limits = "{}";
        /// Settings of the simulator.
        engine: Engine = "{}";
        check holds;
    }
}

fn holds(own: &ScenarioParts, reader: &mut dyn Reader) {
    // Its keys are the scenario's own by now, so the configuration must not name the file again.
    reader.leave_out("equipment");
    let name = own.name.as_deref().unwrap_or_default();
    if !is_visible(name) {
        let what = "has characters that are not shown, or change the direction of text";
        reader.refuse("name", what, NAME_REMEDY);
    }
    if is_reserved(name) {
        let what = "is the name of a file or a folder of the ledger, which the folder of the trial would replace";
        reader.refuse("name", what, NAME_REMEDY);
    }
    if own.jobs.as_ref().is_some_and(Vec::is_empty) {
        let what = "is empty: there is nothing to run";
        reader.refuse("jobs", what, "list at least one job");
    }
    if let Some(entries) = &own.impairments {
        impairments::check(entries, reader);
    }
}

impl Scenario {
    /// Creates a scenario with this topology and without jobs; all other keys have their defaults.
    pub fn new(topology: impl Into<TopologySpec>) -> Scenario {
        Scenario {
            schema_version: 1,
            name: String::new(),
            description: String::new(),
            equipment: String::new(),
            seed: 1,
            seeds: SeedKeys::default(),
            fabric: Fabric::new(topology),
            endpoint: default_of(),
            jobs: Vec::new(),
            faults: Faults::default(),
            impairments: Vec::new(),
            observe: Observe::default(),
            limits: Limits::default(),
            engine: Engine::default(),
        }
    }
}

/// Writes every key in the format into Markdown tables, for the reference.
pub fn key_reference() -> String {
    all_tables()
        .into_iter()
        .filter(|table| !table.keys.is_empty())
        .map(KeyTable::markdown)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns every key table, in the reference's order.
pub(crate) fn all_tables() -> Vec<&'static KeyTable> {
    let topologies = TopologySpec::VARIANTS.members.iter();
    let of_topologies = topologies.flat_map(|(_, table)| table.with_inner());
    let of_switching = Switching::shape(()).tables();
    let of_switching = of_switching.into_iter().flat_map(KeyTable::with_inner);
    let own = [&Scenario::TABLE, &SeedKeys::TABLE]
        .into_iter()
        .chain([&Fabric::TABLE])
        .chain(Balancing::shape(()).tables())
        .chain(of_switching)
        .chain(CircuitPlan::TABLE.with_inner())
        .chain([&OwnPower::TABLE])
        .chain([&SourceFlowControl::TABLE])
        .chain(
            Switch::shape(())
                .tables()
                .into_iter()
                .flat_map(KeyTable::with_inner),
        )
        .chain(of_topologies);
    let rest = Endpoint::TABLE
        .with_inner()
        .into_iter()
        .chain(JobSpec::TABLE.with_inner())
        .chain(Faults::TABLE.with_inner())
        .chain(Impairment::TABLE.with_inner());
    own.chain(rest)
        .chain([&Observe::TABLE, &Limits::TABLE, &Engine::TABLE])
        .collect()
}
