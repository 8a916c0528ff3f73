//! What moves time.

use std::ops::ControlFlow;

use tenter_engine::{Balance, Home, Pace, Part, RunOutcome, Windows, act_at_edge, run_windowed};
use tenter_net::Packet;
use tenter_topology::NodeId;
use tenter_units::Instant;
use tenter_workload::{JobId, Schedule};

use crate::flow_level::{Carried, RingsTaken};

use super::change::Change;
use super::context::Context;
use super::fabric::{Fabric, NodeModel};
use super::jobs::JobProgress;
use super::steady::{Jumped, Search, Slices};
use super::watch::Watcher;

/// Moves time from edge to edge. Between calls every node stands at exactly the same instant.
pub trait Driver {
    /// The watcher of its nodes.
    type Watcher: Watcher;

    /// Runs until `edge`, until an edge that `progress` asks for, or until nothing is left to
    /// happen.
    fn run(&mut self, from: Instant, edge: Instant, progress: &JobProgress) -> RunOutcome;

    /// Whether it stopped, maybe within an instant, because it has many records: they have to be
    /// collected, and it has to be run again.
    fn has_many_records(&self) -> bool {
        false
    }

    /// How many parts the nodes are spread over.
    fn parts(&self) -> usize;

    /// The nodes of a part.
    fn fabric(&self, part: usize) -> &Fabric<Self::Watcher>;

    /// The nodes of a part, to change at an edge.
    fn fabric_mut(&mut self, part: usize) -> &mut Fabric<Self::Watcher>;

    /// Says that a node has something to do at an instant.
    fn wake(&mut self, home: Home, at: Instant);

    /// The packets on their way to a node.
    fn in_flight(&self, home: Home) -> Vec<(u16, Packet)>;

    /// Takes the packets out that are on their way to an input of a node, at an edge:
    /// they are lost.
    fn lose(&mut self, home: Home, input: u16) -> Vec<Packet>;

    /// Changes a node at an edge at `now`; whether it may have something else to do now.
    fn change(&mut self, home: Home, now: Instant, change: &Change) -> bool;

    /// All switches have other routes from `now` on.
    fn routes_changed(&mut self, _now: Instant) {}

    /// Runs the rings of a job as a whole, where the driver does: the transfers of a schedule whose
    /// first may be posted so long after `begin`, in ps, as hosts add to a start. The caller is
    /// asked from time to time whether it goes on; if not, the trial must end.
    fn run_rings(
        &mut self,
        _job: JobId,
        _begin: Instant,
        _schedule: &dyn Schedule,
        _goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<RingsTaken> {
        None
    }

    /// Whether rings of a job are under way as a whole.
    fn runs_rings(&self, _job: JobId) -> bool {
        false
    }

    /// Completes its counts: the trial is over.
    fn close(&mut self) {}

    /// The most that the last packet of a message has found waiting for a link at flow level, where
    /// queues take all that comes; where there are packets, queues tell.
    fn queued_bytes(&self) -> u64 {
        0
    }

    /// What links have carried, at flow level; where there are packets, ports tell.
    fn carried(&self) -> Option<&Carried> {
        None
    }

    /// How it ran.
    fn stats(&self) -> DriverStats;

    /// How the work of its windows was spread over its parts, if it has windows and parts.
    fn balance(&self) -> Option<Balance> {
        None
    }

    /// What is the same for all parts.
    fn context(&self) -> &Context {
        self.fabric(0).context()
    }

    /// A node of the topology.
    fn node(&self, node: impl Into<NodeId>) -> &NodeModel {
        let Home { part, node } = self.context().home(node);
        &self.fabric(usize::from(part)).nodes()[node.index()]
    }

    /// As [`Driver::node`], to change at an edge.
    fn node_mut(&mut self, node: impl Into<NodeId>) -> &mut NodeModel {
        let Home { part, node } = self.context().home(node);
        &mut self.fabric_mut(usize::from(part)).nodes[node.index()]
    }

    /// All nodes in the order of the topology.
    fn nodes(&self) -> impl Iterator<Item = (NodeId, &NodeModel)> {
        let nodes = self.context().topology().node_ids();
        nodes.map(|node| (node, self.node(node)))
    }
}

/// How a driver ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverStats {
    /// Visits of nodes (or events, for an engine without visits).
    pub node_visits: u64,
    /// Windows run.
    pub windows: u64,
    /// Length of a window in ps.
    pub window_ps: u64,
    /// What was jumped over.
    pub jumped: Jumped,
    /// Whether windows were laid from event to event because the lookahead is very short.
    pub central: bool,
}

/// The windowed engine of [`tenter_engine`].
#[derive(Debug)]
pub struct WindowedDriver<W: Watcher> {
    pub(crate) parts: Vec<Part<Fabric<W>>>,
    pub(crate) windows: Windows,
    pub(crate) window_ps: u64,
    pub(crate) pace: Pace,
    /// Looks for steady states to jump over, if the trial asks for it.
    pub(crate) search: Option<Box<Search>>,
}

impl<W: Watcher> Driver for WindowedDriver<W> {
    type Watcher = W;

    fn run(&mut self, from: Instant, edge: Instant, progress: &JobProgress) -> RunOutcome {
        let windows = self.windows;
        if let Some(search) = &mut self.search {
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
