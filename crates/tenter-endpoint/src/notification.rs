//! How receivers notify senders of marked packets.

use tenter_config::choice;
use tenter_units::Time;

/// The scope of a limit of notifications, which the `InfiniBand` Architecture Specification, Annex
/// A17, leaves to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Each queue pair.
    QueuePair,
    /// Each address to which notifications go: the NIC that sends the marked packets.
    Address,
    /// The NIC port that sends notifications.
    Port,
}

choice!(LimitedBy { "queue-pair" => QueuePair, "address" => Address, "port" => Port });

/// The notification point of DCQCN: a receiver that gets a marked packet sends a congestion
/// notification packet (CNP) to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationSpec {
    /// There is at most one notification in this time.
    pub interval: Time,
    /// The scope of that limit.
    pub limited_by: LimitedBy,
    /// Whether the next acknowledgement or NAK carries it, and no packet of its own.
    pub in_acknowledgements: bool,
    /// The class of notifications.
    pub class: u8,
}
