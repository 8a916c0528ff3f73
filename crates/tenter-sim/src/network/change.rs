//! Changes that a sync point may make to a node.

use tenter_fabric::net::{FarEnd, WatchdogSpec, WireLosses};
use tenter_language::units::{SerialisationTime, Time};

/// A change to a node at a sync point. A `u16` is a port number.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// A port's link goes down; the losses say which sent frames are lost.
    Down(u16, WireLosses),
    /// A port's link comes up.
    Up(u16),
    /// A port sends at a new rate; the flag is true if its frames must arrive whole.
    Rate(u16, SerialisationTime, bool),
    /// The PFC watchdog checks a switch's queues.
    Watch(WatchdogSpec),
    /// A NIC begins to pause its leaf, whatever it receives.
    StormBegins,
    /// The NIC stops pausing its leaf.
    StormEnds,
    /// A port stops sending, because its circuit is about to change.
    Hold(u16),
    /// The frames that wait at such a port are routed again.
    Reroute(u16),
    /// Such a port goes dark; the losses say which sent frames are lost.
    Darken(u16, WireLosses),
    /// A dark port is joined with another; it may send after the given time.
    Join(u16, FarEnd, Time),
}
