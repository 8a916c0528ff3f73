//! Congestion notifications from receivers to senders whose packets were marked.

use tenter_language::config::choice;
use tenter_language::units::Time;

/// Scope within which notifications are limited. The `InfiniBand` Architecture Specification, Annex
/// A17, leaves it to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Each queue pair has its own limit.
    QueuePair,
    /// The sending NIC's address: one limit for all its queue pairs.
    Address,
    /// The receiving NIC's port: one limit for everything it sends.
    Port,
}

choice!(LimitedBy { "queue-pair" => QueuePair, "address" => Address, "port" => Port });

/// The notification point of DCQCN: a receiver of marked packets sends congestion notification
/// packets (CNPs) to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationSpec {
    /// Shortest time between two notifications within the scope.
    pub interval: Time,
    /// Scope of `interval`.
    pub limited_by: LimitedBy,
    /// Set if the next acknowledgement or NAK carries the notification, instead of a packet of its
    /// own.
    pub in_acknowledgements: bool,
    /// Class of notification packets, 0 to 7.
    pub class: u8,
}
