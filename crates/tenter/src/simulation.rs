//! Builds simulations, and reads what a watched one has seen.

use tenter_fabric::net::{Event, EventKind};
use tenter_fabric::topology::{HostId, NodeId};
use tenter_sim::plan::{Fidelity, Plan};
use tenter_sim::{AnySimulation, Context, Driver, Options, SimulationError, WatchLog, WatchTarget};

use crate::Error;
use crate::trial::Watched;

/// Packets whose events a run records: those between two hosts, or those at one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Packets on all queue pairs between two hosts, given by number, in both directions.
    Flow(u32, u32),
    /// All packets at a node (first value) and its port (second), pause frames included; ports
    /// count from 0.
    Port(u32, u16),
}

impl Watch {
    /// Refuses a host, node or port that the plan does not have, flow level, and a plan that
    /// records queue changes or packets: a simulation has one recorder only.
    pub(crate) fn check(self, plan: &Plan) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::Asked(what));
        let (topology, hosts) = (&plan.topology, plan.topology.hosts);
        match self {
            Watch::Flow(a, b) if a.max(b) as usize >= hosts => refuse(format!(
                "a flow between hosts {a} and {b} cannot be watched: hosts count from 0 to {}",
                hosts - 1
            )),
            Watch::Port(node, port) => match topology.nodes.get(node as usize) {
                Some(of) if usize::from(port) < of.ports.len() => Ok(()),
                Some(of) => refuse(format!(
                    "port {port} of {} cannot be watched: it has {} ports, counted from 0",
                    of.name,
                    of.ports.len()
                )),
                None => refuse(format!(
                    "node {node} cannot be watched: nodes count from 0 to {}",
                    topology.nodes.len() - 1
                )),
            },
            Watch::Flow(..) => Ok(()),
        }?;
        if plan.fidelity == Fidelity::Flow {
            return refuse(
                "there are no packets to watch at flow level; leave out `--fidelity flow`, or `--watch`".to_owned(),
            );
        }
        let recorded = [
            ("queue_changes", plan.queue_changes.is_some()),
            ("capture", plan.capture.is_some()),
        ];
        match recorded.iter().find(|(_, is)| *is) {
            Some((key, _)) => refuse(format!(
                "a watched run and `observe.{key}` do not go together; leave out one of them"
            )),
            None => Ok(()),
        }
    }

    fn resolve(self, context: &Context) -> WatchTarget {
        match self {
            Watch::Flow(a, b) => {
                let [a, b] = [a, b].map(HostId::new);
                WatchTarget::Flow(context.hashes_between(a, b))
            }
            Watch::Port(node, port) => WatchTarget::port(context, NodeId::new(node), port),
        }
    }
}

/// Builds a plan's simulation; with a watch, one that records up to the given number of events. A
/// watch is ignored at flow level, which has no packets.
pub(crate) fn build(
    plan: &Plan,
    options: Options,
    watch: Option<(Watch, usize)>,
) -> Result<AnySimulation, SimulationError> {
    // `check` has refused a watch at flow level; the filter keeps callers safe that skip it.
    match watch.filter(|_| plan.fidelity == Fidelity::Packet) {
        Some((watch, limit)) => {
            let target = |context: &Context| watch.resolve(context);
            AnySimulation::watched(plan, options, target, limit)
        }
        None => AnySimulation::new(plan, options),
    }
}

/// Returns what a simulation that has run has recorded; empty unless it was watched.
pub(crate) fn watched(simulation: &AnySimulation) -> Watched {
    match simulation {
        AnySimulation::Watching(simulation) => first_events(simulation.driver()),
        _ => Watched::default(),
    }
}

/// Merges the events from all partitions in time order and keeps the first `limit`. Each partition
/// has that same limit, so none of the first `limit` events overall is missing.
fn first_events<D: Driver<Watcher = WatchLog>>(driver: &D) -> Watched {
    let logs = (0..driver.parts()).map(|part| driver.fabric(part).watcher());
    let mut watched = Watched::default();
    let mut limit = 0;
    for log in logs {
        let (first, more) = log.first();
        watched.events.extend(first);
        watched.omitted += more;
        limit = log.limit();
    }
    let events = &mut watched.events;
    // By content alone: the order must not depend on how nodes are split over threads.
    events.sort_by_key(|event| (event.at, event.node, step(event), event.port));
    watched.omitted += events.len().saturating_sub(limit) as u64;
    events.truncate(limit);
    watched
}

/// Ranks an event among those at one node and instant: a packet arrives before it is sent, and is
/// accepted before it is acknowledged; a pause ends before the frames that it held are sent.
fn step(event: &Event) -> u8 {
    match event.kind {
        // An XOFF does not hold a frame that starts at the same instant.
        EventKind::Obeyed if event.packet.sequence > 0 => 4,
        EventKind::Arrived => 0,
        EventKind::Accepted | EventKind::Discarded | EventKind::Obeyed | EventKind::Rerouted => 1,
        EventKind::Queued | EventKind::Dropped | EventKind::Trimmed | EventKind::Lost => 2,
        EventKind::Sent => 3,
        EventKind::LostOnWire => 4,
    }
}
