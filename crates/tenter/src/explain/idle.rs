//! Scenario settings that cannot change anything.
//!
//! A threshold that is never reached, a timeout that never expires or a buffer that never fills is
//! not among them: that it was not needed is a result. Listed are settings that nothing in the plan
//! could use.

mod arrangements;

use tenter_fabric::net::input_queued::InputQueues;
use tenter_fabric::net::{ClassSpec, SignalMode, SwitchSpec};
use tenter_fabric::topology::{Cabling, HostId, LeafSpine, LinkOverride, Routing, TopologySpec};
use tenter_language::units::Budget;
use tenter_sim::plan::ideal::nearest::host_kinds;
use tenter_sim::plan::{
    Fidelity, Plan, SteeringController, SteeringDemand, SteeringPlan, WINDOW_MAX,
};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::{CollectiveRun, Job};

use crate::explain::buffers::{UsedQueues, used_queues};
use crate::explain::error::ExplainError;
use crate::explain::host_memory::limits_any;

/// Limit on host kinds for checking a path choice between all pairs; beyond it only neighbours in
/// their order are checked.
const ALL_PAIRS_MAX: usize = 256;

/// A setting without effect: the scenario runs alike without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleSetting {
    /// The setting's path as in an override: `jobs[0].gap`.
    pub path: String,
    /// Setting and reason, a sentence without its full stop.
    pub note: String,
}

/// Returns the settings among `given` without effect in a plan, in the scenario's order.
///
/// # Errors
/// Hosts that cannot reach each other.
pub fn idle_settings(
    plan: &Plan,
    given: &[String],
    budget: &Budget,
) -> Result<Vec<IdleSetting>, ExplainError> {
    let routing = Routing::build(&plan.topology, budget)?;
    idle_settings_on(plan, &routing, given, budget)
}

/// Returns the same over routes that were built for the plan's fabric.
///
/// # Errors
/// Checks beyond the budget.
pub fn idle_settings_on(
    plan: &Plan,
    routing: &Routing,
    given: &[String],
    budget: &Budget,
) -> Result<Vec<IdleSetting>, ExplainError> {
    let mut facts = Facts::of(plan, routing, budget)?;
    // Only the keys tell: a plan has hosts in place of their placement.
    facts.placed = given.iter().any(|path| {
        let of_job = item(path, "jobs");
        of_job.is_some_and(|(_, rest)| rest == "placement")
    });
    let mut notes = Vec::new();
    for path in given {
        let reason = facts.reason(path);
        notes.extend(reason.map(|reason| IdleSetting {
            path: path.clone(),
            note: format!("`{path}` has no effect: {reason}"),
        }));
    }
    notes.extend(class_notes(plan, given));
    Ok(notes)
}

/// Inputs that all rules share.
struct Facts<'a> {
    plan: &'a Plan,
    /// True if any job's packets have more than one path.
    choice: bool,
    /// True if switches draw which packets they mark; draws depend on a packet's hash.
    drawn_marks: bool,
    /// True if the scenario sets a placement, which may be random.
    placed: bool,
    /// Queues that any packets use.
    used: UsedQueues,
    /// Indices of routes that equal the default.
    idle_routes: Vec<usize>,
}

impl<'a> Facts<'a> {
    fn of(plan: &'a Plan, routing: &Routing, budget: &Budget) -> Result<Facts<'a>, ExplainError> {
        let choice = has_detours(plan, routing)
            || plan.jobs.iter().any(|job| has_choice(plan, routing, job));
        let drawn = |class: &ClassSpec| class.ecn.is_some_and(|ecn| ecn.min_bytes < ecn.max_bytes);
        let drawn_marks = plan.switches.any_class(drawn);
        Ok(Facts {
            plan,
            choice,
            drawn_marks,
            placed: false,
            used: used_queues(plan),
            idle_routes: idle_routes(plan, budget)?,
        })
    }

    /// Returns the reason why a setting has no effect; `None` if it may have one.
    fn reason(&self, path: &str) -> Option<&'static str> {
        if let Some((index, rest)) = item(path, "jobs") {
            return of_job(self.plan.jobs.get(index)?, rest, self.has_one_queue());
        }
        if let Some((index, rest)) = item(path, "fabric.overrides") {
            return self.of_link(index, rest);
        }
        if let Some((_, rest)) = item(path, "endpoint.addresses.overrides") {
            return self.of_address(rest);
        }
        if let Some((index, rest)) = item(path, "fabric.routes") {
            let idle = rest == "via" && self.idle_routes.contains(&index);
            return idle.then_some("it is the only shortest path anyway");
        }
        if let Some(key) = path.strip_prefix("fabric.circuits.") {
            return self.of_circuits(key);
        }
        if let Some(key) = path.strip_prefix("fabric.switching.") {
            return self.of_switching(key);
        }
        match path.strip_prefix("fabric.source_flow_control.") {
            Some(key) => self.of_signals(key),
            None => self.of_section(path),
        }
    }

    /// Returns true if load balancing or drawn marks depend on addresses.
    fn addresses_matter(&self) -> bool {
        self.drawn_marks || self.choice && reads_addresses(&self.plan.switches.usual)
    }

    fn of_entropy(&self) -> Option<&'static str> {
        let entropy = self.plan.port_changes.entropy.as_ref()?;
        // Learning also changes the receivers, which answer packets out of order.
        if self.drawn_marks || entropy.kind().learns() {
            return None;
        }
        if !self.choice {
            return Some("no packet has a choice between two paths");
        }
        let load_balancing = &self.plan.switches.usual.load_balancing;
        if !load_balancing.hashes_source_port() {
            return Some("switches do not hash the source port");
        }
        let idle = self.plan.scheduled.is_some() || !load_balancing.reads_hash();
        idle.then_some("switches do not look at the hash of a packet")
    }

    /// Checks a pause time. NICs' times act only if switches pause NICs; switches' times act also
    /// between switches.
    fn of_pauses(&self, path: &str, lossless: bool) -> Option<&'static str> {
        let plan = self.plan;
        let signals = plan.signals.as_ref().filter(|_| plan.credit.is_none());
        let (sent, what) = if path.starts_with("endpoint") {
            (
                signals.is_some_and(|signals| signals.mode != SignalMode::Nic),
                "no switch pauses a NIC: no class is lossless, and no signal asks for it",
            )
        } else {
            let notices = plan.switches.usual.load_balancing.sends_notices();
            (
                signals.is_some() || (plan.credit.is_none() && notices),
                "no class is lossless, and switches send no signals or notices",
            )
        };
        (!lossless && !sent).then_some(what)
    }

    fn of_section(&self, path: &str) -> Option<&'static str> {
        let plan = self.plan;
        let same_queue = "switches put the packets of all classes in use into one queue";
        let switches = &plan.switches;
        let lossless = switches.any_class(|class| class.lossless.is_some());
        let one_path = "no packet has a choice between two paths";
        match path {
            "seed" => (!self.random()).then_some("nothing in this scenario is random"),
            "seeds.placement" | "seeds.hashing" | "seeds.arrivals" => self.of_seeds(path),
            "fabric.load_balancing" => (!self.choice && !self.drawn_marks).then_some(one_path),
            "fabric.cabling" => regular(&plan.topology_spec).then_some("it is the regular cabling"),
            "endpoint.addresses.pool" | "endpoint.addresses.prefix" => {
                (!self.addresses_matter()).then_some("no path depends on an address")
            }
            "endpoint.addresses.dscp" => self.has_one_queue().then_some(same_queue),
            "endpoint.nic.control_dscp" => {
                (self.used.is_one() && plan.nic.control_dscp.is_some()).then_some(same_queue)
            }
            "fabric.switch.buffer.headroom_pool" => (!lossless).then_some("no class is lossless"),
            "endpoint.nic.pause_response"
            | "endpoint.nic.resume_delay"
            | "fabric.switch.pause_response" => self.of_pauses(path, lossless),
            "endpoint.nic.congestion_control.cnp_dscp" => {
                let told = plan.nic.notification();
                let idle = told.is_some_and(|of| of.in_acknowledgements);
                idle.then_some("acknowledgements carry notifications")
            }
            "endpoint.nic.receive_buffer.capacity"
            | "endpoint.nic.receive_buffer.xoff"
            | "endpoint.nic.receive_buffer.xon"
            | "endpoint.nic.receive_buffer.quanta"
                if plan.credit.is_some() =>
            {
                Some("what has not drained waits in the input buffer of its lane, without a pause")
            }
            "endpoint.nic.receive_buffer.xoff"
            | "endpoint.nic.receive_buffer.xon"
            | "endpoint.nic.receive_buffer.quanta" => {
                let pauses = plan
                    .nic
                    .receive_buffer
                    .is_some_and(|buffer| buffer.xoff.is_some());
                (pauses && !lossless)
                    .then_some("NICs pause lossless classes only, and there is none")
            }
            "endpoint.nic.entropy" => self.of_entropy(),
            "endpoint.nic.pcie" => {
                let idle = plan.nic.pcie.is_some() && !limits_any(plan);
                idle.then_some("at every NIC it keeps up with the wire")
            }
            "observe.sample_interval" => {
                plan.sample_interval.is_none().then_some("samples are off")
            }
            "limits.background" => {
                let any = plan.jobs.iter().any(|job| job.background);
                (!any).then_some("no job is background load")
            }
            _ => match path.strip_prefix("engine.") {
                Some(key) => of_engine(plan, key),
                None => arrangements::idle(&plan.topology_spec, path),
            },
        }
    }

    /// Checks a seed: its draws may not exist in the plan.
    fn of_seeds(&self, path: &str) -> Option<&'static str> {
        match path {
            "seeds.placement" => (!self.placed).then_some("no job is placed at random"),
            "seeds.hashing" => {
                (!self.random_paths()).then_some("no path and no mark depends on a hash or a draw")
            }
            _ => (!self.random_jobs()).then_some("nothing that jobs do is random"),
        }
    }

    /// Checks an input-queued switch setting.
    fn of_switching(&self, key: &str) -> Option<&'static str> {
        let queues = self.plan.input_queued?.queues;
        match key {
            "channels" => matches!(queues, InputQueues::PerOutput)
                .then_some("inputs have a queue for each output"),
            "iterations" => (queues == InputQueues::Fifo(1))
                .then_some("an input with one queue asks for one output"),
            _ => None,
        }
    }

    /// Returns true if switches put all packets that NICs send into one queue.
    fn has_one_queue(&self) -> bool {
        let of_signals = usize::from(self.plan.signals.is_some());
        self.plan.switches.usual.classes.len() == 1 + of_signals
    }

    /// Checks an optical switch setting.
    fn of_circuits(&self, key: &str) -> Option<&'static str> {
        let circuits = self.plan.circuits.as_ref()?;
        let above_leaves = matches!(self.plan.topology_spec, TopologySpec::FatTree(_));
        match key {
            "spill" if !above_leaves => Some("there is no tree beside the circuits"),
            "spill" => {
                let spills = self.plan.spill().is_some() || circuits.spill.is_none();
                (!spills).then_some("load balancing does not choose for each packet by itself")
            }
            "cabling" => (!above_leaves).then_some("every optical switch has a port of every leaf"),
            "steering.threshold" => {
                let greedy = |of: &SteeringPlan| of.controller == SteeringController::Greedy;
                let idle = circuits.steering.as_ref().is_some_and(greedy);
                idle.then_some("the greedy controller sets its matchings whatever they do")
            }
            "steering.interval" => {
                let of_jobs = |steering: &SteeringPlan| steering.demand == SteeringDemand::Jobs;
                let idle = circuits.steering.as_ref().is_some_and(of_jobs);
                idle.then_some("what jobs will send is known when they start and end")
            }
            _ => None,
        }
    }

    fn of_signals(&self, key: &str) -> Option<&'static str> {
        if self.plan.signals.is_none() {
            return (key != "mode").then_some("`mode` is `none`");
        }
        if self.plan.topology.switches() > 1 {
            return None;
        }
        match key {
            "at" => Some("every port leads to a host"),
            "cache_entries" => Some("the switch of all senders is the congested one"),
            _ => None,
        }
    }

    fn of_link(&self, index: usize, key: &str) -> Option<&'static str> {
        let TopologySpec::LeafSpine(spec) = &self.plan.topology_spec else {
            return None;
        };
        let link = spec.overrides.get(index)?;
        let same_links = link.links.is_none_or(|links| links == spec.links_per_pair);
        let same_rate = link.rate.is_none_or(|rate| rate == spec.uplink_rate);
        (key == "leaf" && same_links && same_rate && is_alone(spec, index))
            .then_some("these links are as all others")
    }

    fn of_address(&self, key: &str) -> Option<&'static str> {
        match key {
            "dscp" if self.has_one_queue() => Some("switches have one queue for all classes"),
            "address" if !self.addresses_matter() => Some("no path depends on an address"),
            _ => None,
        }
    }

    /// Returns true if anything is random: a path or mark, a placement, the jobs, a clock.
    fn random(&self) -> bool {
        self.random_paths()
            || self.placed
            || self.random_jobs()
            || self.plan.nic.clock_offset_max_ppm > 0
    }

    /// Returns true if a path or mark is drawn, or hashed with a seed.
    fn random_paths(&self) -> bool {
        let marks = |class: &ClassSpec| class.ecn.is_some();
        let hashed = self.choice && self.plan.switches.usual.load_balancing.reads_seed();
        hashed || self.plan.switches.any_class(marks)
    }

    /// Returns true if jobs draw anything: a permutation, a size, a time.
    fn random_jobs(&self) -> bool {
        let runs = self.plan.jobs.iter().flat_map(|job| &job.sequence);
        let draws =
            |run: &CollectiveRun| run.drawn_from_bytes.is_some() || !run.compute.spread.is_zero();
        runs.clone().any(draws)
            || !self.plan.nic.start_skew_max.is_zero()
            || runs.clone().any(draws_collective)
            || runs.clone().any(draws_flows)
            || runs.clone().any(draws_pattern)
    }
}

/// Returns true if a collective depends on a draw.
fn draws_collective(run: &CollectiveRun) -> bool {
    run.traffic.collective().is_some_and(CollectiveKind::draws)
}

/// Returns true if flows have random sizes or random start times.
fn draws_flows(run: &CollectiveRun) -> bool {
    let flows = run.traffic.flow_workload();
    flows.is_some_and(|flows| flows.is_open() || flows.sizes.points().len() > 1)
}

/// Returns true if an application's neighbours or volumes are random.
fn draws_pattern(run: &CollectiveRun) -> bool {
    let pattern = run.traffic.pattern();
    pattern.is_some_and(|pattern| pattern.kind().draws())
}

fn of_job(job: &Job, key: &str, one_queue: bool) -> Option<&'static str> {
    if key == "class" && one_queue {
        return Some("switches have one queue for all classes");
    }
    let once = job.turns() == Some(1);
    (key == "gap" && once).then_some("the job runs one collective, once")
}

/// Splits a path into a list: `jobs[2].gap` gives index 2 in `jobs` and `gap`.
fn item<'p>(path: &'p str, list: &str) -> Option<(usize, &'p str)> {
    let rest = path.strip_prefix(list)?.strip_prefix('[')?;
    let (index, rest) = rest.split_once(']')?;
    Some((index.parse().ok()?, rest.strip_prefix('.').unwrap_or(rest)))
}

/// Returns true if packets may leave the shortest paths: load balancing sends detours, and there is
/// a region besides the source's and destination's.
fn has_detours(plan: &Plan, routing: &Routing) -> bool {
    plan.switches.usual.load_balancing.detours().is_some() && routing.regions() > 2
}

/// Returns true if packets between any two hosts in a job find several equal-cost ports at some
/// switch.
fn has_choice(plan: &Plan, routing: &Routing, job: &Job) -> bool {
    let kinds = host_kinds(plan, job.hosts.iter().copied());
    // Hosts of a kind have like links, so one stands for all.
    let hosts: Vec<HostId> = kinds.iter().map(|kind| kind.hosts.0).collect();
    let chooses = |from: HostId, to: HostId| {
        let mut path = routing.path(&plan.topology, from, to);
        path.any(|end| {
            let switch = plan.topology.switch(end.node);
            routing.candidates(switch, to).len() > 1
        })
    };
    (0..hosts.len()).any(|index| {
        let others = if hosts.len() <= ALL_PAIRS_MAX {
            &hosts[..]
        } else {
            &hosts[index..(index + 2).min(hosts.len())]
        };
        let from = hosts[index];
        others
            .iter()
            .any(|&to| to != from && (chooses(from, to) || chooses(to, from)))
    })
}

fn reads_addresses(switch: &SwitchSpec) -> bool {
    match switch.load_balancing.ecmp() {
        Some(ecmp) => ecmp.fields.source_address || ecmp.fields.destination_address,
        // Other load balancers use the hash of all fields, as index of a table or input of random
        // draws.
        None => switch.load_balancing.reads_hash(),
    }
}

/// Returns true if listed leaves equal the regular cabling, host by host.
fn regular(spec: &TopologySpec) -> bool {
    let (cabling, per_leaf) = match spec {
        TopologySpec::LeafSpine(spec) => (&spec.cabling, spec.hosts_per_leaf),
        _ => return false,
    };
    let in_order = |leaves: &Vec<u32>| {
        let hosts = (0_u32..).zip(leaves);
        hosts
            .into_iter()
            .all(|(host, &leaf)| leaf == host / per_leaf.max(1))
    };
    matches!(cabling, Cabling::Leaves(leaves) if in_order(leaves))
}

/// Checks a setting that the simulator has.
fn of_engine(plan: &Plan, key: &str) -> Option<&'static str> {
    match key {
        "packets_time" | "packets_memory" => plan
            .packet_budget
            .is_none()
            .then_some("the level is not chosen: `engine.fidelity` is not `auto`"),
        "ring_transfers" | "tolerance" => (plan.fidelity == Fidelity::Packet)
            .then_some("packets are simulated, not flows: see `engine.fidelity`"),
        "window" => plan
            .window_cap
            .is_some_and(|cap| cap >= WINDOW_MAX)
            .then_some("windows are never longer than 2 us"),
        _ => None,
    }
}

/// Returns true if no other override names the same switch pair.
fn is_alone(spec: &LeafSpine, index: usize) -> bool {
    let place = |link: &LinkOverride| (link.leaf, link.spine);
    let own = spec.overrides.get(index).map(place);
    let same = spec
        .overrides
        .iter()
        .map(place)
        .filter(|&other| Some(other) == own);
    same.count() == 1
}

/// Returns the indices of routes that equal the default.
fn idle_routes(plan: &Plan, budget: &Budget) -> Result<Vec<usize>, ExplainError> {
    let topology = &plan.topology;
    if topology.routes.is_empty() {
        return Ok(Vec::new());
    }
    // A route is idle if the fabric without routes chooses the same ports.
    let mut without = topology.clone();
    without.routes.clear();
    let routing = Routing::build(&without, budget)?;
    let is_idle = |route: &tenter_fabric::topology::StaticRoute| {
        let destination = topology.switch(route.destination);
        let mut hosts = topology.host_ids();
        let there = hosts.find(|&host| routing.attachment(host) == destination);
        there.is_some_and(|host| {
            let shortest = routing.candidates(topology.switch(route.switch), host);
            let next = (0_u16..).zip(topology.neighbours(route.switch));
            let own = next.filter(|(_, peer)| peer.node == route.next);
            own.map(|(port, _)| port).eq(shortest.iter().copied())
        })
    };
    let numbered = topology.routes.iter().enumerate();
    let idle = numbered.filter(|(_, route)| is_idle(route));
    Ok(idle.map(|(index, _)| index).collect())
}

/// Lists classes without packets, and ECN thresholds on classes without data.
fn class_notes(plan: &Plan, given: &[String]) -> Vec<IdleSetting> {
    let listed = |key: &str| given.iter().any(|path| path == key);
    // Classes that flow control laid out are no setting of the user.
    if !listed("fabric.switch.classes") {
        return Vec::new();
    }
    let used = used_queues(plan);
    let mut notes = Vec::new();
    let of_signals = plan.signals.as_ref().map(|spec| spec.class);
    for (queue, class) in plan.switches.usual.classes.iter().enumerate() {
        let number = class.class;
        if of_signals == Some(number) {
            continue;
        }
        // Reserved bytes and headroom of an unused class still shrink the pools.
        let keeps = class.reserved_bytes > 0 || class.lossless.is_some();
        if !used.uses(queue) && !keeps {
            notes.push(IdleSetting {
                path: format!("fabric.switch.classes[{queue}]"),
                note: format!(
                    "class {number} of `fabric.switch.classes` has no effect: no packet is in it"
                ),
            });
        } else if class.ecn.is_some() && used.data & (1 << queue) == 0 {
            notes.push(IdleSetting {
                path: format!("fabric.switch.classes[{queue}].ecn"),
                note: format!(
                    "`ecn` of class {number} of `fabric.switch.classes` has no effect: only data packets are marked, and none is in it"
                ),
            });
        }
    }
    notes
}

#[cfg(test)]
mod tests;
