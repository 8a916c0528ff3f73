//! The scenario as a whole: its top keys, and from its sections to the plan.

use tenter_endpoint::{DmaRates, NicAddress, PortChanges};
use tenter_net::{SignalSpec, Switches};
use tenter_topology::{Topology, TopologySpec};
use tenter_workload::Job;
use tenter_workload::collective::Groups;
use tenter_workload::pattern::PatternKind;

use crate::delays;
use crate::endpoint::Endpoint;
use crate::fabric::{self, Fabric};
use crate::faults::Faults;
use crate::hosts::HostNames;
use crate::impairments::Impairment;
use crate::jobs::{self, JobDraft};
use crate::load_balancing::Balancing;
use crate::nic_impairments;
use crate::observe::{Engine, Limits, Observe};
use crate::power::OwnPower;
use crate::queue_changes;
use crate::sampling;
use crate::source_flow_control::{SignalDraft, SourceFlowControl};
use crate::switch::Switch;
use crate::switch_model::SwitchDraft;
use crate::switching::Switching;
use crate::{
    buffer, circuits, collectives, device_defaults, entropy, hand_over, host_notices, impairments,
    load_balancing, reach, source_flow_control, switch_model, switching, topologies,
};
use tenter_config::Presence::{Default, Required};
use tenter_config::{Component, KeyTable, Value, key};
use tenter_notation::decode::{Read, Section};
use tenter_notation::diagnostics::Problems;
use tenter_notation::tree::Node;
use tenter_plan::{CircuitPlan, Devices, Fault, FaultEvent, FaultPlan, LinkImpairment, Plan};

/// The table of the scenario itself.
pub(crate) const SCENARIO: KeyTable = KeyTable {
    title: "The scenario",
    keys: &[
        key(
            "schema_version",
            "`1`",
            Default("1"),
            "The version of this format",
        ),
        key("name", "text", Default("\"\""), "What the trial is called"),
        key("description", "text", Default("\"\""), "What it is about"),
        key(
            "seed",
            "whole number",
            Default("1"),
            "Seed of every random stream",
        ),
        key(
            "fabric",
            "mapping",
            Required,
            "Topology, switches and load balancing",
        ),
        key("endpoint", "", Default("{}"), "NIC, host and addresses").typed(|| Endpoint::shape(())),
        key(
            "jobs",
            "list",
            Required,
            "The jobs: which hosts take part, and what they run",
        ),
        key(
            "faults",
            "",
            Default("{}"),
            "What breaks and is mended during the trial",
        )
        .typed(|| Faults::shape(())),
        key(
            "impairments",
            "",
            Default("[]"),
            "What is done to frames on their way",
        )
        .typed(|| Vec::<Impairment>::shape(())),
        key(
            "observe",
            "",
            Default("{}"),
            "What is recorded beside the results",
        )
        .typed(|| Observe::shape(())),
        key("limits", "", Default("{}"), "When to stop").typed(|| Limits::shape(())),
        key(
            "engine",
            "",
            Default("{}"),
            "How the simulation is run; changes no result",
        )
        .typed(|| Engine::shape(())),
    ],
};

/// Every key of the format as Markdown tables, for the reference.
pub fn key_reference() -> String {
    all_tables()
        .into_iter()
        .filter(|table| !table.keys.is_empty())
        .map(KeyTable::markdown)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every table, in the order of the reference.
pub(crate) fn all_tables() -> Vec<&'static KeyTable> {
    let topologies = TopologySpec::VARIANTS.members.iter();
    let of_topologies = topologies.flat_map(|(_, table)| table.with_inner());
    let of_switching = Switching::shape(()).tables();
    let of_switching = of_switching.into_iter().flat_map(KeyTable::with_inner);
    let own = [&SCENARIO]
        .into_iter()
        .chain(fabric::TABLES)
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
        .chain(jobs::TABLES)
        .chain(
            PatternKind::VARIANTS
                .members
                .iter()
                .map(|(_, table)| *table),
        )
        .chain(collectives::TABLES)
        .chain([&Groups::TABLE])
        .chain(Faults::TABLE.with_inner())
        .chain(Impairment::TABLE.with_inner());
    own.chain(rest)
        .chain([&Observe::TABLE, &Limits::TABLE, &Engine::TABLE])
        .collect()
}

/// A scenario, read; nothing in it has been put together yet.
struct Draft {
    name: Option<String>,
    description: Option<String>,
    seed: Option<u64>,
    fabric: Option<Fabric>,
    endpoint: Option<Endpoint>,
    jobs: Option<Vec<JobDraft>>,
    faults: Read<Faults>,
    impairments: Read<Vec<Impairment>>,
    observe: Read<Observe>,
    limits: Read<Limits>,
    engine: Read<Engine>,
}

/// From the tree to the plan and the effective configuration. There is a plan exactly when no
/// problem was noted.
pub(crate) fn resolve(
    mut root: Node,
    seed: Option<u64>,
    problems: &Problems,
    warnings: &Problems,
) -> (Option<Plan>, Node) {
    device_defaults::fill_in(&mut root);
    let mut section = Section::root(root, &SCENARIO, problems);
    let draft = read(&mut section, seed);
    let mut effective = section.finish();
    let plan = draft.assemble(problems, warnings, &mut effective);
    (plan.filter(|_| problems.is_empty()), effective)
}

fn read(scenario: &mut Section<'_>, seed: Option<u64>) -> Draft {
    scenario.integer::<u64>("schema_version", 1..=1);
    let name = scenario.take("name").and_then(|field| field.text(200));
    let description = scenario
        .take("description")
        .and_then(|field| field.text(10_000));
    let own_seed = scenario.integer("seed", 0..=u64::MAX);
    let seed = seed.or(own_seed);
    if let Some(seed) = seed {
        scenario.put("seed", Node::plain(seed.to_string()));
    }
    Draft {
        name,
        description,
        seed,
        fabric: fabric::read(scenario),
        endpoint: scenario.value("endpoint"),
        jobs: jobs::read(scenario, seed.unwrap_or(0)),
        faults: scenario.value("faults"),
        impairments: impairments::read(scenario),
        observe: scenario.value("observe"),
        limits: scenario.value("limits"),
        engine: scenario.value("engine"),
    }
}

impl Draft {
    /// Builds the fabric, binds ranks and addresses to it, and checks what only shows together.
    fn assemble(
        self,
        problems: &Problems,
        warnings: &Problems,
        effective: &mut Node,
    ) -> Option<Plan> {
        let (fabric, seed) = (self.fabric?, self.seed.unwrap_or(0));
        buffer::check_capacities(fabric.models.as_deref(), self.endpoint.as_ref(), problems);
        let (described, models) = (fabric.topology?, fabric.models.as_deref());
        let (topology, circuits) = build(&described, fabric.circuits?, models, problems)?;
        let (endpoint, balancing) = (self.endpoint.as_ref(), fabric.load_balancing.as_ref());
        load_balancing::check(balancing, endpoint, &topology, (problems, warnings));
        let names = HostNames::of(&topology, npus_per_nic(endpoint), problems);
        let (jobs, addresses, dma) = place(self.jobs, endpoint, &topology, &names, seed, effective);
        let faults = bind_faults(self.faults.as_ref(), &topology, seed, problems);
        let impaired = impairments::bind(self.impairments.as_deref(), &topology, problems);
        let (addresses, endpoint, switching) = (addresses?, self.endpoint?, fabric.switching?);
        let around = buffer::Around {
            topology: &topology,
            addresses: &addresses,
            jobs: jobs.as_deref().unwrap_or_default(),
            endpoint: &endpoint,
            leaves_take_whole: switching.scheduled().is_some(),
            problems,
            warnings,
        };
        let (switch, models, balancing) = (fabric.switch?, fabric.models?, balancing?.spec.clone());
        let (devices, watchdog) = (devices(&models), switch.usual.pfc_watchdog);
        let switches = around.complete((&switch, models), &balancing, effective);
        let others = (&described, watchdog.is_some(), faults.as_ref());
        check_together(&around, &switching, switches.as_ref(), others);
        let told = (fabric.signals, impaired.as_deref());
        let (switches, signals) = add_signals(&around, switches, told, &switching)?;
        let (limits, observe, jobs, host) = (self.limits?, self.observe?, jobs?, endpoint.host);
        let nic = switching.adapted(endpoint.nic);
        let length = || sampling::length(&jobs, (&topology, &switches, &nic), limits.time);
        let sample_interval = observe.interval(length, effective);
        Some(Plan {
            name: self.name?,
            description: self.description?,
            seed: self.seed?,
            topology_spec: described,
            switches,
            signals,
            queue_changes: queue_changes::bind(&observe, (&topology, &switching), problems)?,
            scheduled: switching.scheduled().cloned(),
            credit: switching.credit(),
            input_queued: switching.input_queued(),
            devices,
            power: fabric.power?,
            host_delays: host.delays(),
            scale_up: host.scale_up,
            npus_per_nic: host.npus_per_nic,
            port_changes: PortChanges::new(nic.entropy.as_ref(), &balancing),
            nic,
            dma: dma?,
            addresses,
            jobs,
            faults: faults?,
            impairments: impaired?,
            watchdog,
            baseline: observe.baseline,
            sample_interval,
            time_limit: limits.time,
            background_delay: limits.background,
            window_cap: self.engine?.window,
            topology,
            circuits,
        })
    }
}

fn bind_faults(
    faults: Option<&Faults>,
    topology: &Topology,
    seed: u64,
    problems: &Problems,
) -> Option<FaultPlan> {
    faults?.bind(topology, seed, problems)
}

fn npus_per_nic(endpoint: Option<&Endpoint>) -> u32 {
    endpoint.map_or(1, |endpoint| endpoint.host.npus_per_nic)
}

/// The fabric as a graph, which has the tiers of all models, and when its circuits change, if it
/// has any.
fn build(
    spec: &TopologySpec,
    mut circuits: Option<CircuitPlan>,
    models: Option<&[SwitchDraft]>,
    problems: &Problems,
) -> Read<(Topology, Option<CircuitPlan>)> {
    let topology = match &mut circuits {
        Some(circuits) => circuits::bind(circuits, spec, problems)?,
        None => topologies::build(spec, problems)?,
    };
    switch_model::check_tiers(models, &topology, problems);
    Some((topology, circuits))
}

/// What is bound to hosts: jobs, addresses of NICs and what their DMA has.
type Placed = (
    Option<Vec<Job>>,
    Option<Vec<NicAddress>>,
    Option<Vec<DmaRates>>,
);

/// Binds them, and checks whether ranks reach each other, where all that decides it could be read.
fn place(
    drafts: Option<Vec<JobDraft>>,
    endpoint: Option<&Endpoint>,
    topology: &Topology,
    names: &HostNames<'_>,
    seed: u64,
    effective: &mut Node,
) -> Placed {
    let addresses = endpoint.and_then(|endpoint| endpoint.addresses.assign(topology, names));
    let of_nic = (seed, endpoint.map(|endpoint| &endpoint.nic));
    let jobs = jobs::bind(drafts, names, of_nic, effective);
    if let (Some(jobs), Some(addresses), Some(endpoint)) = (&jobs, &addresses, endpoint) {
        reach::check(jobs, addresses, &endpoint.addresses, names);
    }
    let dma = endpoint.and_then(|of| {
        nic_impairments::bind((of.nic.pcie, &of.nic_impairments), jobs.as_deref(), names)
    });
    (jobs, addresses, dma)
}

/// The switches with what signals and notices to senders need, and the signals; refuses impairments
/// that do not go with source ports that change.
fn add_signals(
    around: &buffer::Around<'_>,
    switches: Option<Switches>,
    (draft, impaired): (Read<Option<SignalDraft>>, Option<&[LinkImpairment]>),
    switching: &Switching,
) -> Read<(Switches, Option<SignalSpec>)> {
    entropy::check_impairments(around, impaired);
    let mut switches = switches?;
    let draft = draft?;
    let others = (draft.is_some(), switching);
    host_notices::complete(around, &mut switches, others, impaired);
    let Some(draft) = draft else {
        return Some((switches, None));
    };
    let own = source_flow_control::Around {
        used: around.all_classes(),
        scheduled: switching.scheduled().is_some(),
        by_credit: switching.credit().is_some(),
        problems: around.problems,
        warnings: around.warnings,
    };
    let spec = draft.complete(&mut switches, &own)?;
    Some((switches, Some(spec)))
}

/// Checks what only shows together.
fn check_together(
    around: &buffer::Around<'_>,
    switching: &Switching,
    switches: Option<&Switches>,
    (topology_spec, has_watchdog, faults): (&TopologySpec, bool, Option<&FaultPlan>),
) {
    let Some(switches) = switches else {
        return;
    };
    hand_over::check(around);
    delays::check(around);
    if switching.scheduled().is_none() {
        entropy::check(around, &switches.usual.load_balancing);
    }
    let by_credit = switching.credit().is_some();
    if !by_credit {
        warn_of_pauses(switches, (has_watchdog, faults), around.warnings);
    }
    let own = switching::Around {
        topology_spec,
        topology: around.topology,
        switches,
        nic: &around.endpoint.nic,
        has_watchdog,
        has_storms: faults.is_some_and(has_storms),
    };
    switching.check(&own, (around.problems, around.warnings));
}

fn devices(models: &[SwitchDraft]) -> Devices {
    let tiers = models.iter();
    Devices {
        usual: models.first().and_then(SwitchDraft::device),
        tiers: tiers
            .filter_map(|of| Some((of.tier?, of.device())))
            .collect(),
    }
}

fn has_storms(faults: &FaultPlan) -> bool {
    let storm = |event: &FaultEvent| matches!(event.fault, Fault::StormBegins(_));
    faults.events.iter().any(storm)
}

/// Warns of pauses in a fabric where nothing can be paused.
fn warn_of_pauses(
    switches: &Switches,
    (watchdog, faults): (bool, Option<&FaultPlan>),
    warnings: &Problems,
) {
    let Some(faults) = faults else {
        return;
    };
    let lossless = switches.any_class(|class| class.lossless.is_some());
    if !lossless && (watchdog || has_storms(faults)) {
        let message = "a pause storm and a PFC watchdog have no effect: no class is lossless";
        let help = "make one lossless, for example with `fabric.flow_control: pfc`";
        warnings.push(None, message.to_owned(), Some(help.to_owned()));
    }
}
