//! What a sync point may change at a node.

use tenter_net::{FarEnd, WatchdogSpec, WireLosses};
use tenter_units::{SerialisationTime, Time};

/// What happens to a node at an edge.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// The link of a port goes down; of what the port had sent this is lost.
    Down(u16, WireLosses),
    /// The link of a port comes up.
    Up(u16),
    /// A port sends at another rate from now on, and its frames may have to arrive whole.
    Rate(u16, SerialisationTime, bool),
    /// The PFC watchdog looks at the queues of a switch.
    Watch(WatchdogSpec),
    /// A NIC begins to pause its leaf whatever it receives.
    StormBegins,
    /// It stops doing so.
    StormEnds,
    /// A port whose circuit is to change starts no frame any more.
    Hold(u16),
    /// What waits at such a port is routed anew.
    Reroute(u16),
    /// The light of such a port goes; of what the port had sent this is lost.
    Darken(u16, WireLosses),
    /// A dark port is joined with another; frames follow after this time.
    Join(u16, FarEnd, Time),
}
