//! The interface of engines: a driver advances time.

use std::ops::ControlFlow;

use tenter_engine::{Balance, Home, Pace, Part, RunOutcome, Windows, act_at_edge, run_windowed};
use tenter_fabric::net::Packet;
use tenter_fabric::topology::NodeId;
use tenter_language::units::Instant;
use tenter_workload::{JobId, Schedule};

use crate::flow_level::{Carried, RingsTaken};

use super::change::Change;
use super::context::Context;
use super::fabric::{Fabric, NodeModel};
use super::jobs::JobProgress;
use super::steady::{Jumped, Search, Slices};
use super::watch::Watcher;

/// Advances time from sync point to sync point. Between calls every node stands at exactly the same
/// instant.
pub trait Driver {
    /// The watcher that observes its nodes.
    type Watcher: Watcher;

    /// Runs until `edge`, until a sync point that `progress` asks for, or until no event is left.
    fn run(&mut self, from: Instant, edge: Instant, progress: &JobProgress) -> RunOutcome;

    /// Returns true if the driver stopped early, maybe within an instant, because it holds many
    /// records: the caller must collect them and run it again.
    fn has_many_records(&self) -> bool {
        false
    }

    /// Returns how many partitions there are.
    fn parts(&self) -> usize;

    /// Returns the nodes in partition `part`.
    fn fabric(&self, part: usize) -> &Fabric<Self::Watcher>;

    /// Returns the nodes in partition `part`, for changes at a sync point.
    fn fabric_mut(&mut self, part: usize) -> &mut Fabric<Self::Watcher>;

    /// Schedules a visit of a node at `at`.
    fn wake(&mut self, home: Home, at: Instant);

    /// Returns the packets on their way to a node, each with its input.
    fn in_flight(&self, home: Home) -> Vec<(u16, Packet)>;

    /// Removes and returns the packets on their way to an input at a sync point: they are lost.
    fn lose(&mut self, home: Home, input: u16) -> Vec<Packet>;

    /// Applies `change` to a node at a sync point at `now`; returns true if the node may have
    /// something else to do then.
    fn change(&mut self, home: Home, now: Instant, change: &Change) -> bool;

    /// Notes that all switches have new routes from `now` on.
    fn routes_changed(&mut self, _now: Instant) {}

    /// Starts the rings of a job as a whole, if the driver supports that; returns `None` if not.
    /// `begin` is the collective's start; the first transfers of `schedule` are posted later by the
    /// delays that hosts add to a start. The driver calls `goes_on` from time to time; when it says
    /// no, the trial must end.
    fn run_rings(
        &mut self,
        _job: JobId,
        _begin: Instant,
        _schedule: &dyn Schedule,
        _goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<RingsTaken> {
        None
    }

    /// Returns true while a job's rings run as a whole.
    fn runs_rings(&self, _job: JobId) -> bool {
        false
    }

    /// Returns what a job's rings took that were run as a whole and have ended since the last call:
    /// more or less than expected when they began, if others have begun or ended meanwhile.
    fn take_rings(&mut self, _job: JobId) -> Option<RingsTaken> {
        None
    }

    /// Completes the counters at the trial's end.
    fn close(&mut self) {}

    /// At flow level, returns the largest backlog in bytes that a message's last packet has found
    /// at a link, where queues are unbounded; at packet level 0, because queues record it.
    fn queued_bytes(&self) -> u64 {
        0
    }

    /// At flow level, returns what links have carried; at packet level `None`, because ports count
    /// it.
    fn carried(&self) -> Option<&Carried> {
        None
    }

    /// Returns statistics of the engine's work.
    fn stats(&self) -> DriverStats;

    /// Returns how the windows' work was distributed over the partitions, if there are windows and
    /// partitions.
    fn balance(&self) -> Option<Balance> {
        None
    }

    /// Returns the data that all partitions share.
    fn context(&self) -> &Context {
        self.fabric(0).context()
    }

    /// Returns a node by its number in the topology.
    fn node(&self, node: impl Into<NodeId>) -> &NodeModel {
        let Home { part, node } = self.context().home(node);
        &self.fabric(usize::from(part)).nodes()[node.index()]
    }

    /// Returns a node for changes at a sync point.
    fn node_mut(&mut self, node: impl Into<NodeId>) -> &mut NodeModel {
        let Home { part, node } = self.context().home(node);
        &mut self.fabric_mut(usize::from(part)).nodes[node.index()]
    }

    /// Iterates over all nodes in the topology's order.
    fn nodes(&self) -> impl Iterator<Item = (NodeId, &NodeModel)> {
        let nodes = self.context().topology().node_ids();
        nodes.map(|node| (node, self.node(node)))
    }
}

/// Statistics of a driver's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverStats {
    /// Node visits (or events, for an engine without visits).
    pub node_visits: u64,
    /// Windows that were run, empty ones excluded.
    pub windows: u64,
    /// Longest window length in ps.
    pub window_ps: u64,
    /// Time and packet-hops that were jumped over.
    pub jumped: Jumped,
    /// True if windows were central, because the lookahead is very short.
    pub central: bool,
}

/// The windowed engine in [`tenter_engine`].
#[derive(Debug)]
pub struct WindowedDriver<W: Watcher> {
    pub(crate) parts: Vec<Part<Fabric<W>>>,
    pub(crate) windows: Windows,
    pub(crate) window_ps: u64,
    pub(crate) pace: Pace,
    /// Searches steady states to jump over, if the trial asks for it.
    pub(crate) search: Option<Box<Search>>,
}

impl<W: Watcher> Driver for WindowedDriver<W> {
    type Watcher = W;

    fn run(&mut self, from: Instant, edge: Instant, progress: &JobProgress) -> RunOutcome {
        let windows = self.windows;
        if let Some(search) = &mut self.search {
            // The search drives the engine itself, from one comparison of states to the next.
            let mut slices = Slices {
                parts: &mut self.parts,
                windows,
                pace: &mut self.pace,
                progress,
                edge,
                stop: Instant::NEVER,
            };
            return search.run(&mut slices, from);
        }
        run_windowed(
            &mut self.parts,
            from,
            edge,
            windows,
            progress,
            &mut self.pace,
        )
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn fabric(&self, part: usize) -> &Fabric<W> {
        &self.parts[part].nodes
    }

    fn fabric_mut(&mut self, part: usize) -> &mut Fabric<W> {
        &mut self.parts[part].nodes
    }

    fn wake(&mut self, home: Home, at: Instant) {
        self.parts[usize::from(home.part)].lane.wake(home.node, at);
    }

    fn in_flight(&self, home: Home) -> Vec<(u16, Packet)> {
        self.parts[usize::from(home.part)]
            .lane
            .in_flight(home.node)
            .map(|(input, packet)| (input, *packet))
            .collect()
    }

    fn lose(&mut self, home: Home, input: u16) -> Vec<Packet> {
        self.parts[usize::from(home.part)]
            .lane
            .lose(home.node, input)
    }

    fn change(&mut self, home: Home, now: Instant, change: &Change) -> bool {
        let part = usize::from(home.part);
        act_at_edge(&mut self.parts, part, now, |fabric, visit| {
            fabric.change_in_visit(home.node, change, visit)
        })
    }

    fn balance(&self) -> Option<Balance> {
        Some(self.pace.balance())
    }

    fn stats(&self) -> DriverStats {
        DriverStats {
            node_visits: self.parts.iter().map(|part| part.lane.visits()).sum(),
            windows: self
                .parts
                .iter()
                .map(|part| part.lane.windows())
                .max()
                .unwrap_or(0),
            window_ps: self.window_ps,
            jumped: self
                .search
                .as_ref()
                .map_or_else(Jumped::default, |of| of.jumped),
            central: matches!(self.windows, Windows::Central(_)),
        }
    }
}
