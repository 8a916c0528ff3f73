//! What breaks and is repaired during a trial.

use tenter_topology::HostId;
use tenter_units::{Rate, Time};

/// What breaks and is mended during a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// The events in the order of time; of several at one instant, in the order of the scenario.
    pub events: Vec<FaultEvent>,
    /// How long after a link has gone down or come up routing knows.
    pub convergence: Time,
}

/// Something that breaks or is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultEvent {
    /// When.
    pub at: Time,
    /// What.
    pub fault: Fault,
}

/// What breaks or is mended; links go by the numbers of their cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both directions of a link go down. A link is up when it has come up as often as it has gone
    /// down.
    LinkDown(u32),
    /// They come up again.
    LinkUp(u32),
    /// The rate of both directions changes; never to more than the line rate.
    LinkRate(u32, Rate),
    /// A NIC begins to pause its leaf whatever it receives.
    StormBegins(HostId),
    /// It stops doing so.
    StormEnds(HostId),
}
