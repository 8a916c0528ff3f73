//! When the circuits of optical switches change.

use tenter_topology::{OpticalSpec, Rewiring};
use tenter_units::Time;

/// When the circuits of optical switches change, and what that is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitPlan {
    /// What the optical switches were put into the fabric by.
    pub optical: OpticalSpec,
    /// The changes in the order of time; after each of them all hosts reach each other.
    pub changes: Vec<CircuitChange>,
    /// How long the ports whose circuits change are dark.
    pub reconfiguration: Time,
    /// What becomes of the frames that are under way.
    pub on_change: OnChange,
    /// How long after circuits have come up routing knows, and after the light has gone without
    /// notice; no longer than the reconfiguration.
    pub convergence: Time,
    /// What would wait for longer than this at the circuits between two leaves of a tree takes the
    /// tree, if the load balancer may. `None`: all of it waits.
    pub spill: Option<Time>,
    /// When circuits follow what jobs send, and how; there are no other changes then.
    pub steering: Option<SteeringPlan>,
}

/// How circuits follow what jobs send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteeringPlan {
    /// How it is known.
    pub demand: SteeringDemand,
    /// Who decides.
    pub controller: SteeringController,
    /// How often counters are read; at least 1 us.
    pub interval: Time,
    /// By how many thousandths a change must be better.
    pub threshold: u32,
}

/// How circuits are chosen for what jobs send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeringController {
    /// By what the routes of several answers lead to.
    Estimate,
    /// The heaviest matching of each optical switch, all of it.
    Greedy,
}

/// How it is known what jobs send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeringDemand {
    /// From their description, when they start and end.
    Jobs,
    /// From what queue pairs have had acknowledged since the last look.
    Counters,
}

/// Circuits that change together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitChange {
    /// When it is announced.
    pub at: Time,
    /// The new circuits, optical switch by optical switch.
    pub rewirings: Vec<Rewiring>,
}

/// What becomes of the frames that are under way on circuits that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnChange {
    /// Ports start no frame any more, routing knows at once, and the switch moves when all frames
    /// have arrived. What waits at these ports is routed anew.
    Drain,
    /// The light goes at once: what is on the fibre is lost, and so is what waits and what comes
    /// until routing knows.
    Lose,
}
