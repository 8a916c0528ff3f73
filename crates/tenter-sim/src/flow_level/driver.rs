//! The driver that moves time at flow level.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::vec::IntoIter;

use crate::fluid::{FlowId, Fluid, LinkId};
use crate::plan::Plan;
use tenter_engine::{Control, Home, LocalNode, RunOutcome};
use tenter_fabric::net::Packet;
use tenter_fabric::topology::NodeId;
use tenter_language::units::{ById, Instant, Time};
use tenter_workload::{Countdown, JobId, RankId, Rings, Schedule};

use crate::error::SimulationError;
use crate::network::{
    Change, Context, Driver, DriverStats, Fabric, JobProgress, Jumped, NodeModel, Unwatched, fabric,
};

use super::carried::Carried;
use super::domains::UnderWay;
use super::host_rates::HostRates;
use super::instants::{Happens, Instants};
use super::link_state::LinkState;
use super::messages::{MessageId, Messages, PairId};
use super::queues::OpenQueues;
use super::ring_jobs::{self, AtRates, KnownRings, RingsTaken, RingsUnderWay};
use super::ring_rates::WholeRings;
use super::spray::Sprays;
use super::ways::Ways;

/// Complete flows after which the driver stops, so that they can be booked. Tests stop much
/// earlier, within instants too.
const MANY_RECORDS: usize = if cfg!(debug_assertions) { 8 } else { 1 << 18 };

/// Driver for trials at flow level: the hosts are those that packet level has, with flows between
/// them.
#[derive(Debug)]
pub struct FlowDriver {
    pub(super) fabric: Fabric<Unwatched>,
    pub(super) fluid: Fluid,
    pub(super) ways: Ways,
    /// Queues of the switches' links, if nothing holds senders back.
    pub(super) queues: Option<OpenQueues>,
    pub(super) host_rates: HostRates,
    /// State of links that have ever been down or degraded. Only looked up, never iterated.
    pub(super) changed_links: HashMap<LinkId, LinkState>,
    pub(super) messages: Messages,
    /// Last arrival on each queue pair, if links are drawn: its messages must arrive in order. Only
    /// looked up, never iterated.
    pub(super) arrivals: HashMap<PairId, Instant>,
    /// First queue pair for each rank.
    pub(super) first_pairs: ById<JobId, ById<RankId, PairId>>,
    pub(super) instants: Instants,
    /// Events left over from the instant within which the driver has stopped.
    happening: Option<(Instant, IntoIter<Happens>)>,
    pub(super) under_way: UnderWay,
    /// Shares that have yet to arrive, for transfers split over several queue pairs.
    pub(super) shares: Countdown<(JobId, u32)>,
    pub(super) carried: Carried,
    /// How rings run as a whole, if the trial has nothing but such rings.
    pub(super) whole_rings: Option<WholeRings>,
    /// Jobs whose rings run as a whole now.
    pub(super) running_rings: BTreeMap<JobId, RingsUnderWay>,
    /// Results from rings that have ended, until they are taken.
    pub(super) ended_rings: BTreeMap<JobId, RingsTaken>,
    /// Flows for each job's rings. Only looked up, never iterated.
    pub(super) known_rings: HashMap<(JobId, Rings), Arc<KnownRings>>,
    /// Times for rings that run together. In the key, rings with the same last number began at the
    /// same instant. Only looked up, never iterated.
    pub(super) rings_at_rates: HashMap<Vec<(JobId, Rings, usize)>, Vec<AtRates>>,
    /// Earliest planned timer event for each node; never if none is planned.
    pub(super) planned: Vec<Instant>,
    /// The topology's node for each node that the driver numbers.
    node_ids: Vec<NodeId>,
    pub(super) events: u64,
    pub(super) settled: u64,
}

impl FlowDriver {
    /// Builds the hosts of a plan and the links between them.
    ///
    /// # Errors
    /// If hosts cannot reach each other, or if a collective cannot be run.
    pub fn new(plan: &Plan) -> Result<FlowDriver, SimulationError> {
        let mut fabric = fabric(plan)?;
        fabric.partition_records.posted = Some(RefCell::default());
        let mut messages = Messages::default();
        let jobs = fabric.context.jobs.iter();
        let first_pairs = jobs.map(|plan| {
            let ranks = plan.job.hosts.ids();
            ranks
                .map(|rank| messages.add_pairs(plan.pairs.send_count(rank)))
                .collect()
        });
        let first_pairs = first_pairs.collect();
        let mut fluid = Fluid::tolerating(plan.tolerance);
        let topology = &fabric.context.topology;
        let host_rates = HostRates::new(plan);
        // Links that are all alike are loaded as one bundle. Faults and circuits make them differ.
        let may_change = plan.circuits.is_some() || !plan.faults.events.is_empty();
        let mut driver = FlowDriver {
            whole_rings: None,
            running_rings: BTreeMap::new(),
            ended_rings: BTreeMap::new(),
            known_rings: HashMap::new(),
            rings_at_rates: HashMap::new(),
            ways: Ways::new(
                topology,
                &mut fluid,
                &host_rates,
                Sprays::new(&fabric.context),
                may_change,
            ),
            queues: None,
            host_rates,
            changed_links: HashMap::new(),
            arrivals: HashMap::new(),
            carried: Carried::new(topology),
            planned: vec![Instant::NEVER; fabric.nodes.len()],
            node_ids: node_ids(&fabric.context),
            fluid,
            fabric,
            messages,
            first_pairs,
            instants: Instants::default(),
            happening: None,
            under_way: UnderWay::default(),
            shares: Countdown::default(),
            events: 0,
            settled: 0,
        };
        driver.queues = OpenQueues::new(plan, &mut driver.fluid);
        // A ring as a whole has rates that never change; a link that changes would change them.
        if !may_change {
            driver.whole_rings = driver.find_whole_rings(plan.ring_transfers);
        }
        if driver.whole_rings.is_none() {
            // Only rings as a whole can do without an id for each transfer.
            driver.fabric.context.check_ids(ring_jobs::shared)?;
        }
        Ok(driver)
    }

    /// Returns the next event's instant.
    pub(super) fn next(&mut self) -> Option<Instant> {
        let ends = self.fluid.next_end();
        let others = self.instants.next();
        ends.into_iter().chain(others).min()
    }

    /// Handles everything that happens at `at`, or goes on within that instant if many records
    /// stopped it there.
    pub(super) fn step(&mut self, at: Instant) {
        if self.happening.is_none() {
            // If the driver stopped within the instant, its flows have ended already.
            self.end_flows(at);
        }
        loop {
            let stopped = self.happening.take().map(|(_, rest)| rest);
            let next = || self.instants.next() == Some(at);
            if stopped.is_some() || next() {
                let all = stopped.unwrap_or_else(|| self.instants.take(at).into_iter());
                if !self.let_all_happen(all, at) {
                    return;
                }
                continue;
            }
            // The rates are found once all events are handled. New flows may end, and events may
            // follow, at this same instant: then the loop goes round again.
            self.settle(at);
            self.settled += 1;
            // The check reads all flows, so it runs rarely.
            debug_assert!(!self.settled.is_power_of_two() || self.fluid.check() == Ok(()));
            if self.next() != Some(at) {
                return;
            }
            self.end_flows(at);
        }
    }

    fn end_flows(&mut self, at: Instant) {
        if self.fluid.next_end() == Some(at) {
            let flows = self.fluid.ending(at);
            let waits = self.waits_of_last(&flows);
            for (place, flow) in flows.into_iter().enumerate() {
                let wait = waits.get(place).copied().unwrap_or(Time::ZERO);
                self.flow_ends(flow, wait, at);
            }
        }
    }

    /// Handles events until many records are waiting. Returns true if all were handled.
    fn let_all_happen(&mut self, mut all: IntoIter<Happens>, at: Instant) -> bool {
        while let Some(happens) = all.next() {
            self.events += 1;
            self.let_happen(happens, at);
            if self.has_many_records() {
                self.happening = Some((at, all));
                return false;
            }
        }
        true
    }

    /// Ends a flow that has sent its last byte. The flow's message arrives `wait` later than its
    /// path alone takes, and the queue pair sends its next message.
    fn flow_ends(&mut self, flow: FlowId, wait: Time, now: Instant) {
        let Some((id, next)) = self.messages.ended(flow) else {
            self.fluid.withdraw(flow);
            return;
        };
        // A withdrawn flow's hops and rate are gone, so parts are counted, and queues told, before
        // that.
        let message = *self.messages.get(id);
        let drawn = self.drawn_parts(id, flow);
        self.count(&message, 1, &drawn);
        let is_queued = self.leave_nic(flow, id, now);
        self.fluid.withdraw(flow);
        if !is_queued {
            let arrival = now + self.rest(&message) + wait;
            let arrival = self.in_order(&message, arrival);
            let arrives = Happens::Delivered(message.sequence, id.number());
            self.instants.add(arrival, arrives);
        }
        if let Some(next) = next {
            self.begin(next, now);
        }
    }

    pub(super) fn let_happen(&mut self, happens: Happens, now: Instant) {
        match happens {
            Happens::Timer(node) => self.fire(LocalNode::new(node), now),
            Happens::Carried(place) => {
                let (node, packet) = self.under_way.packets[place as usize];
                self.under_way.free.push(place);
                let (model, mut scope) = self.fabric.node(node);
                if let NodeModel::Host(host) = model {
                    host.take_carried(&packet, &mut scope);
                }
                self.look_at(node, now);
            }
            Happens::Queued(_, id) => self.pass_queues(MessageId::new(id), now),
            Happens::Delivered(_, id) => self.deliver(MessageId::new(id), now),
            Happens::Acknowledged(_, id) => self.acknowledge(MessageId::new(id), now),
            Happens::Rings(job) => self.rings_end(JobId::new(job), now),
        }
    }
}

/// Returns the topology's nodes in the order in which the driver numbers them: it has one
/// partition.
fn node_ids(context: &Context) -> Vec<NodeId> {
    let mut ids: Vec<NodeId> = context.topology.node_ids().collect();
    ids.sort_unstable_by_key(|&node| context.home(node));
    ids
}

impl Driver for FlowDriver {
    type Watcher = Unwatched;

    fn run(&mut self, _: Instant, edge: Instant, progress: &JobProgress) -> RunOutcome {
        if let Some((at, _)) = self.happening {
            self.step(at);
        }
        loop {
            if self.has_many_records() {
                return RunOutcome::Edge(edge);
            }
            let Some(next) = self.next() else {
                return RunOutcome::Empty;
            };
            let edge = edge.min(progress.edge_after(next));
            // Nothing at the sync point itself has happened when its actors run.
            if next >= edge {
                return RunOutcome::Edge(edge);
            }
            self.step(next);
        }
    }

    fn has_many_records(&self) -> bool {
        self.fabric.partition_records.complete.len() >= MANY_RECORDS
    }

    fn parts(&self) -> usize {
        1
    }

    fn fabric(&self, _: usize) -> &Fabric<Unwatched> {
        &self.fabric
    }

    fn fabric_mut(&mut self, _: usize) -> &mut Fabric<Unwatched> {
        &mut self.fabric
    }

    fn wake(&mut self, home: Home, at: Instant) {
        let planned = &mut self.planned[home.node.index()];
        // A later event that was planned before stays in the list; it finds nothing due.
        if at < *planned {
            *planned = at;
            self.instants.add(at, Happens::Timer(home.node.number()));
        }
    }

    fn in_flight(&self, _: Home) -> Vec<(u16, Packet)> {
        Vec::new()
    }

    fn lose(&mut self, _: Home, _: u16) -> Vec<Packet> {
        Vec::new()
    }

    fn change(&mut self, home: Home, _: Instant, change: &Change) -> bool {
        let node = self.node_ids[home.node.index()];
        self.change_link(node, change)
    }

    fn routes_changed(&mut self, now: Instant) {
        self.find_ways_again(now);
        self.settle(now);
    }

    fn run_rings(
        &mut self,
        job: JobId,
        begin: Instant,
        schedule: &dyn Schedule,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<RingsTaken> {
        self.run_whole_rings(job, begin, schedule, goes_on)
    }

    fn runs_rings(&self, job: JobId) -> bool {
        self.running_rings.contains_key(&job)
    }

    fn take_rings(&mut self, job: JobId) -> Option<RingsTaken> {
        self.ended_rings.remove(&job)
    }

    fn close(&mut self) {
        // Loads of paths are added up lazily; the tables need them port by port.
        self.ways.spread(&mut self.carried);
    }

    fn queued_bytes(&self) -> u64 {
        self.queues.as_ref().map_or(0, |open| open.most_bytes)
    }

    fn carried(&self) -> Option<&Carried> {
        Some(&self.carried)
    }

    fn stats(&self) -> DriverStats {
        DriverStats {
            node_visits: self.events,
            windows: self.settled,
            window_ps: 0,
            central: false,
            jumped: Jumped::default(),
        }
    }
}
