//! How receivers notify senders of marked packets.

use tenter_units::Time;

/// The notification point of DCQCN: a receiver that gets a marked packet sends a congestion
/// notification packet (CNP) to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationSpec {
    /// At most one notification for each QP in this time.
    pub interval: Time,
    /// Whether the next acknowledgement or NAK carries it, and no packet of its own.
    pub in_acknowledgements: bool,
    /// The class of notifications.
    pub class: u8,
}
