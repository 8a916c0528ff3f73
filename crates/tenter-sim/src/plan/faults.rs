//! Faults during a trial, and their repairs.

use tenter_fabric::topology::HostId;
use tenter_language::units::{Rate, Time};

/// The faults and repairs in a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// The events in time order; events at one instant keep the scenario's order.
    pub events: Vec<FaultEvent>,
    /// Time from a link going down or coming up until routing knows.
    pub convergence: Time,
}

/// A fault or a repair, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultEvent {
    /// Time since the simulation's start.
    pub at: Time,
    /// The change that happens then.
    pub fault: Fault,
}

/// A fault or a repair. Links are identified by their cable's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both directions of a link go down. A link is up again when it has come up as often as it has
    /// gone down.
    LinkDown(u32),
    /// Both directions come up again.
    LinkUp(u32),
    /// Both directions change to a rate, never above the line rate.
    LinkRate(u32, Rate),
    /// A NIC begins to pause its leaf, whatever it receives.
    StormBegins(HostId),
    /// The NIC stops pausing its leaf.
    StormEnds(HostId),
}
