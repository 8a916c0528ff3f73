//! From a scenario's sections to its plan.

use tenter_endpoint::{DmaRates, NicAddress, NicSpec, Pcie, PortChanges};
use tenter_fabric::net::{SignalSpec, Switches, WatchdogSpec};
use tenter_fabric::topology::{HostId, Topology, TopologySpec};
use tenter_language::config::{Component as _, Part as _};
use tenter_language::units::ById;
use tenter_workload::spec::JobSpec;
use tenter_workload::{Job, ScaleUp};

use crate::resolve::endpoint::Endpoint;
use crate::resolve::findings::Findings;
use crate::resolve::graphs::Graphs;
use crate::resolve::hosts::HostNames;
use crate::resolve::jobs;
use crate::resolve::load_balancing::Balancing;
use crate::resolve::scenario::{Scenario, ScenarioParts};
use crate::resolve::source_flow_control::{self, SignalDraft};
use crate::resolve::switch_model::SwitchDraft;
use crate::resolve::switching::Switching;
use crate::resolve::{
    buffer, capture, circuits, delays, device_defaults, entropy, hand_over, host_notices,
    impairments, limits_at_rates, load_balancing, nic_impairments, planes, power, queue_changes,
    reach, regions, sampling, switch_model, switching, telemetry_room, topologies, trimming,
    ultra_ethernet,
};
use tenter_language::notation::decode::{Read, Section};
use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::tree::Node;
use tenter_sim::plan::{
    CircuitPlan, Devices, Fault, FaultEvent, FaultPlan, Fidelity, LinkImpairment, Links, Lookahead,
    Plan, Seeds,
};

/// A scenario whose sections were read, each by itself.
struct Draft {
    parts: ScenarioParts,
    /// The caller's seed, or else the scenario's. `None` if the latter is wrong: then there is no
    /// plan, but other checks go on with 0.
    seed: Option<u64>,
}

/// Resolves a tree into the plan and the effective configuration. Returns a plan exactly if no
/// problem was noted.
pub(crate) fn resolve(
    root: Node,
    seed: Option<u64>,
    graphs: &Graphs<'_>,
    findings: Findings<'_>,
) -> (Option<Plan>, Node) {
    let (draft, mut effective) = read(root, seed, findings.problems);
    let plan = draft.assemble(graphs, findings, &mut effective);
    (plan.filter(|_| findings.problems.is_empty()), effective)
}

/// Reads a tree into the typed scenario, without checks across its sections.
pub(crate) fn typed(root: Node, problems: &Problems) -> Option<Scenario> {
    let (draft, _) = read(root, None, problems);
    draft.parts.whole().filter(|_| problems.is_empty())
}

/// Reads all sections, and completes the tree to the effective configuration.
fn read(mut root: Node, seed: Option<u64>, problems: &Problems) -> (Draft, Node) {
    // Defaults that depend on other keys must be in the tree before the tables read it key by key.
    device_defaults::fill_in(&mut root);
    jobs::fill_in(&mut root, seed, problems);
    let mut section = Section::root(root, &Scenario::TABLE, problems);
    let parts = Scenario::read_parts(&mut section);
    let seed = seed.or(parts.seed);
    if let Some(seed) = seed {
        section.put("seed", Node::plain(seed.to_string()));
    }
    (Draft { parts, seed }, section.finish())
}

impl Draft {
    /// Builds the fabric, binds ranks and addresses to it, and checks sections against each other.
    fn assemble(
        self,
        graphs: &Graphs<'_>,
        findings: Findings<'_>,
        effective: &mut Node,
    ) -> Option<Plan> {
        let (mut own, seed, problems) = (self.parts, self.seed.unwrap_or(0), findings.problems);
        if let Some(endpoint) = &mut own.endpoint {
            endpoint.nic.adopt_transport();
        }
        let (models, balancing) = (own.fabric.models(), own.fabric.balancing());
        let (told, power) = (own.fabric.signals(), own.fabric.power());
        buffer::check_capacities(models.as_deref(), own.endpoint.as_ref(), problems);
        let (of, given) = (balancing.as_ref(), Given::of(&own, seed, graphs));
        let bound = Bound::new(&mut own, &given, models.as_deref(), of, findings, effective)?;
        let switched = Switched::new(&own, &bound, models, of, told, findings, effective)?;
        let (topology, switches) = (bound.topology, switched.switches);
        let (described, switching) = (own.fabric.topology?, own.fabric.switching?);
        let (endpoint, jobs, balancing) = (own.endpoint?, bound.jobs?, balancing?.spec);
        let (limits, observe, host) = (own.limits?, own.observe?, endpoint.host);
        let nic = switching.adapted(NicSpec {
            pcie: endpoint.nic.pcie.map(Pcie::complete),
            ..endpoint.nic
        });
        let length = || sampling::length(&jobs, &topology, &switches, &nic, limits.time);
        let sample_interval = observe.interval(length, effective);
        let plan = Plan {
            name: own.name?,
            description: own.description?,
            fidelity: own.engine?.fidelity(),
            packet_budget: own.engine?.packet_budget(),
            ring_transfers: own.engine?.ring_transfers,
            tolerance: own.engine?.tolerance.ppm(),
            steady_state: own.engine?.steady_state,
            seed: self.seed?,
            seeds: given.seeds,
            topology_spec: described,
            switches,
            signals: switched.signals,
            records_operations: observe.records_operations(&jobs),
            queue_changes: queue_changes::bind(&observe, &topology, &switching, problems)?,
            capture: capture::bind(&observe, &topology, problems)?,
            scheduled: switching.scheduled().cloned(),
            credit: switching.credit(),
            input_queued: switching.input_queued(),
            devices: switched.devices,
            power: power::checked(power?, &topology, findings.warnings),
            host_delays: host.delays(),
            scale_up: host.scale_up,
            npus_per_nic: host.npus_per_nic,
            port_changes: PortChanges::new(nic.entropy.as_ref(), &balancing),
            nic,
            dma: bound.dma?,
            addresses: bound.addresses?,
            jobs,
            faults: bound.faults?,
            impairments: bound.impaired?,
            watchdog: switched.watchdog,
            baseline: observe.baseline,
            sample_interval,
            time_limit: limits.time,
            background_delay: limits.background,
            window_cap: own.engine?.window,
            topology,
            circuits: bound.circuits,
            links: switched.links?,
            lookahead: Lookahead::default(),
        };
        with_lookahead(plan, findings)
    }
}

/// Computes the lookahead for a plan without problems, in a pass over the whole fabric.
fn with_lookahead(plan: Plan, findings: Findings<'_>) -> Option<Plan> {
    findings.go_over(&plan.topology)?;
    let is_good = findings.problems.is_empty();
    is_good.then(|| plan.with_lookahead())
}

impl<'a> Given<'a> {
    fn of(own: &ScenarioParts, seed: u64, graphs: &'a Graphs<'a>) -> Given<'a> {
        Given {
            seed,
            seeds: own.seeds.unwrap_or_default().beside(seed),
            fidelity: own.engine.unwrap_or_default().fidelity(),
            graphs,
        }
    }
}

/// Inputs that no section contains.
struct Given<'a> {
    seed: u64,
    seeds: Seeds,
    fidelity: Fidelity,
    graphs: &'a Graphs<'a>,
}

/// The fabric's graph and what is bound to it; a part is `None` if its section was wrong.
struct Bound {
    topology: Topology,
    circuits: Option<CircuitPlan>,
    jobs: Option<Vec<Job>>,
    addresses: Option<ById<HostId, NicAddress>>,
    dma: Option<ById<HostId, DmaRates>>,
    faults: Option<FaultPlan>,
    impaired: Option<Vec<LinkImpairment>>,
}

impl Bound {
    fn new(
        own: &mut ScenarioParts,
        given: &Given<'_>,
        models: Option<&[SwitchDraft]>,
        balancing: Option<&Balancing>,
        findings: Findings<'_>,
        effective: &mut Node,
    ) -> Option<Bound> {
        let problems = findings.problems;
        // The reader has refused this kind; its graph would only cause follow-up problems.
        if own.fabric.unscheduled_kind().is_some() {
            return None;
        }
        let (described, circuits) = (own.fabric.topology.as_ref()?, own.fabric.circuits.take()?);
        let (topology, circuits) = build(described, circuits, models, findings)?;
        let endpoint = own.endpoint.as_ref();
        load_balancing::check(balancing, endpoint, &topology, findings);
        // A fabric may fit into memory and still be too large to pass over in the time left.
        findings.go_over(&topology)?;
        let (npus, scale_up) = npus(endpoint);
        let names = HostNames::of(&topology, npus, scale_up, problems);
        let specs = own.jobs.take();
        let (jobs, addresses, dma) = place(specs, endpoint, &topology, &names, given, effective);
        let faults = own.faults.as_ref();
        let faults = faults.and_then(|of| of.bind(&topology, given.seed, problems));
        let impaired = impairments::bind(own.impairments.as_deref(), &topology, problems);
        let bound = Bound {
            topology,
            circuits,
            jobs,
            addresses,
            dma,
            faults,
            impaired,
        };
        // This needs the data's classes, which addresses and jobs decide.
        bound.place_control(models, own.endpoint.as_mut(), effective);
        Some(bound)
    }
}

impl Bound {
    /// Puts control packets into the trimmed frames' class if `flow_control: trim` lays out
    /// classes.
    fn place_control(
        &self,
        models: Option<&[SwitchDraft]>,
        endpoint: Option<&mut Endpoint>,
        effective: &mut Node,
    ) {
        let trims = models.is_some_and(|models| models.iter().any(SwitchDraft::trims_by_word));
        if let (true, Some(endpoint), Some(addresses)) = (trims, endpoint, &self.addresses) {
            let jobs = self.jobs.as_deref().unwrap_or_default();
            trimming::place_control(endpoint, addresses, jobs, effective);
        }
    }
}

/// Switches, and everything derived from them.
struct Switched {
    switches: Switches,
    links: Option<Links>,
    signals: Option<SignalSpec>,
    devices: Devices,
    watchdog: Option<WatchdogSpec>,
}

impl Switched {
    fn new(
        own: &ScenarioParts,
        bound: &Bound,
        models: Option<Vec<SwitchDraft>>,
        balancing: Option<&Balancing>,
        told: Read<Option<SignalDraft>>,
        findings: Findings<'_>,
        effective: &mut Node,
    ) -> Option<Switched> {
        let Findings {
            problems, warnings, ..
        } = findings;
        let switching = own.fabric.switching.as_ref()?;
        let around = buffer::Around {
            topology: &bound.topology,
            addresses: bound.addresses.as_ref()?,
            jobs: bound.jobs.as_deref().unwrap_or_default(),
            endpoint: own.endpoint.as_ref()?,
            leaves_take_whole: switching.scheduled().is_some(),
            problems,
            warnings,
            budget: findings.budget,
        };
        let switch = own.fabric.switch.as_ref()?.as_ref()?;
        let (models, balancing) = (models?, &balancing?.spec);
        let (devices, watchdog) = (devices(&models), switch.usual.pfc_watchdog);
        findings.go_over(around.topology)?;
        let switches = around.complete(switch, models, balancing, effective);
        let is_watched = watchdog.is_some();
        let faults = bound.faults.as_ref();
        check_together(&around, switching, switches.as_ref(), is_watched, faults);
        // The checks have passed over all links, too.
        findings.go_over(around.topology)?;
        let (switches, links) = switches.unzip();
        let impaired = bound.impaired.as_deref();
        let (switches, signals) = add_signals(&around, switches, told, impaired, switching)?;
        Some(Switched {
            switches,
            links,
            signals,
            devices,
            watchdog,
        })
    }
}

fn npus(endpoint: Option<&Endpoint>) -> (u32, Option<ScaleUp>) {
    let of = |endpoint: &Endpoint| (endpoint.host.npus_per_nic, endpoint.host.scale_up);
    endpoint.map_or((1, None), of)
}

/// Builds the fabric's graph and checks the models' tiers against it. Returns the graph and the
/// circuit changes, if there are optical switches.
fn build(
    spec: &TopologySpec,
    mut circuits: Option<CircuitPlan>,
    models: Option<&[SwitchDraft]>,
    findings: Findings<'_>,
) -> Read<(Topology, Option<CircuitPlan>)> {
    let topology = match &mut circuits {
        Some(circuits) => circuits::bind(circuits, spec, findings)?,
        None => topologies::build(spec, findings)?,
    };
    switch_model::check_tiers(models, &topology, findings.problems);
    Some((topology, circuits))
}

/// Jobs, NIC addresses and DMA rates; each is `None` if its section was wrong.
type Placed = (
    Option<Vec<Job>>,
    Option<ById<HostId, NicAddress>>,
    Option<ById<HostId, DmaRates>>,
);

/// Binds jobs, addresses and DMA rates to hosts, and checks that ranks reach each other as far as
/// the sections could be read.
fn place(
    specs: Option<Vec<JobSpec>>,
    endpoint: Option<&Endpoint>,
    topology: &Topology,
    names: &HostNames<'_>,
    given: &Given<'_>,
    effective: &mut Node,
) -> Placed {
    let addresses = endpoint.and_then(|endpoint| endpoint.addresses.assign(topology, names));
    let nic = endpoint.map(|endpoint| &endpoint.nic);
    let jobs = jobs::bind(
        specs,
        names,
        given.seeds,
        nic,
        given.fidelity,
        given.graphs,
        effective,
    );
    if let Some(jobs) = &jobs {
        // Planes are apart whatever the addresses, so this needs no endpoint.
        reach::check_planes(jobs, names);
    }
    if let (Some(jobs), Some(addresses), Some(endpoint)) = (&jobs, &addresses, endpoint) {
        reach::check(jobs, addresses, &endpoint.addresses, names);
    }
    let dma = endpoint.and_then(|of| {
        nic_impairments::bind(of.nic.pcie, &of.nic_impairments, jobs.as_deref(), names)
    });
    (jobs, addresses, dma)
}

/// Completes switches with what signals and notices to senders need, and returns both. Refuses
/// impairments that do not go with changing source ports.
fn add_signals(
    around: &buffer::Around<'_>,
    switches: Option<Switches>,
    draft: Read<Option<SignalDraft>>,
    impaired: Option<&[LinkImpairment]>,
    switching: &Switching,
) -> Read<(Switches, Option<SignalSpec>)> {
    entropy::check_impairments(around, impaired);
    let signals = draft.as_ref().is_some_and(Option::is_some);
    ultra_ethernet::check_signals(around, signals);
    planes::check_signals(around, signals);
    let mut switches = switches?;
    let draft = draft?;
    regions::check(
        &switches,
        &regions::Around {
            topology: around.topology,
            by_credit: switching.credit().is_some(),
            has_signals: draft.is_some(),
            problems: around.problems,
            warnings: around.warnings,
        },
    );
    host_notices::complete(around, &mut switches, draft.is_some(), switching, impaired);
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

/// Checks sections against each other.
fn check_together(
    around: &buffer::Around<'_>,
    switching: &Switching,
    switches: Option<&(Switches, Links)>,
    has_watchdog: bool,
    faults: Option<&FaultPlan>,
) {
    let Some((switches, links)) = switches else {
        return;
    };
    hand_over::check(around);
    delays::check(around);
    let nic = &around.endpoint.nic;
    telemetry_room::check(nic, switches, around.topology, around.findings());
    // A scheduled fabric reorders only cells, and reassembly restores the order of packets.
    if switching.scheduled().is_none() {
        entropy::check(around, switches);
    }
    ultra_ethernet::check(around, switching, switches, faults);
    trimming::check(around, switches);
    limits_at_rates::check(around, switches, faults);
    // Planes exclude this kind of switching and have refused it; its own checks would add nothing.
    if !planes::check(around, switching, switches, faults) {
        return;
    }
    let by_credit = switching.credit().is_some();
    // A credit-based fabric has checks of its own for storms and watchdogs.
    if !by_credit {
        warn_of_pauses(switches, has_watchdog, faults, around.warnings);
    }
    let own = switching::Around {
        topology: around.topology,
        switches,
        links,
        nic: &around.endpoint.nic,
        has_watchdog,
        has_storms: faults.is_some_and(has_storms),
    };
    switching.check(&own, around.findings());
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

/// Warns of pause storms and watchdogs in a fabric without lossless classes.
fn warn_of_pauses(
    switches: &Switches,
    watchdog: bool,
    faults: Option<&FaultPlan>,
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
