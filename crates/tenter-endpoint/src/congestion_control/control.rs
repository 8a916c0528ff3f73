//! The trait that each congestion control implements, and the events that it receives.

use tenter_fabric::net::Hop;
use tenter_language::units::{Instant, Time};

use super::credit::CreditRules;
use super::link::Link;
use crate::notification::NotificationSpec;

/// One acknowledgement, as a congestion control sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback<'a> {
    /// Instant at which the acknowledgement arrived.
    pub(crate) now: Instant,
    /// Time from the acknowledged packet's first bit to the arrival of its acknowledgement, or
    /// `None` if it is unknown which transmission is acknowledged.
    pub(crate) round_trip: Option<Time>,
    /// Set if the acknowledgement says that packets were marked.
    pub(crate) marked: bool,
    /// Wire bytes that have newly reached the receiver. `RoCEv2` counts each packet as a full one.
    pub(crate) news: u64,
    /// Wire bytes in flight after this acknowledgement, counted in the same way.
    pub(crate) in_flight: u64,
    /// Number of the packet that the receiver expects next.
    pub(crate) sequence: u32,
    /// Number that the sender will use for its next new packet.
    pub(crate) next_sequence: u32,
    /// Telemetry that switches wrote into the acknowledged packet; empty without in-band telemetry.
    pub(crate) hops: &'a [Hop],
}

/// A report that a packet was trimmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trim {
    pub(crate) now: Instant,
    pub(crate) round_trip: Time,
    /// The packet's wire bytes before it was trimmed.
    pub(crate) bytes: u64,
    /// Set if the switch port towards the receiver trimmed it.
    pub(crate) at_last_hop: bool,
    /// Wire bytes in flight, this packet included.
    pub(crate) in_flight: u64,
}

/// Limit of what is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// Packets of any size.
    Packets(u32),
    /// Wire bytes.
    Bytes(u64),
}

impl Window {
    /// Stands for no limit.
    pub(crate) const OPEN: Window = Window::Packets(u32::MAX);

    /// Returns the window in packets, at least one.
    #[inline]
    pub(crate) fn packets(self, link: &Link) -> u32 {
        match self {
            Window::Packets(packets) => packets,
            Window::Bytes(bytes) => (bytes / link.full).clamp(1, u64::from(u32::MAX)) as u32,
        }
    }

    /// Returns the window in wire bytes.
    #[inline]
    pub(crate) fn bytes(self, link: &Link) -> u64 {
        match self {
            Window::Packets(packets) => u64::from(packets) * link.full,
            Window::Bytes(bytes) => bytes,
        }
    }
}

/// Acknowledgements that a congestion control requires from receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Any policy for acknowledgements will do.
    Any,
    /// Windows may shrink to one packet. The receiver must acknowledge that packet without waiting
    /// for more, or the sender would stop.
    BeforeOnePacketWaits,
    /// Each packet must be answered, because the answer returns the packet's telemetry.
    ToEachPacket,
}

/// A congestion control: its parameters, shared by all NICs with the same line rate. Methods that a
/// member leaves out do nothing and cost nothing.
pub(crate) trait Control: Copy {
    /// State of one limited queue pair or connection.
    type Flow: Clone + std::fmt::Debug;
    /// True if a queue pair is limited from its first packet. False if only from its first
    /// congestion notification, or, with credit alone, never.
    const FROM_START: bool;
    /// True if a packet that already waits for its rate gets a new departure time as soon as the
    /// rate changes. Controls with an answer for each packet leave it false: they set a new rate
    /// with nearly every packet anyway.
    const RETIMES: bool = false;

    /// Returns false if receivers notify but senders ignore the notifications.
    fn reacts(&self) -> bool {
        true
    }

    /// Returns the acknowledgements that the control requires.
    fn answers(&self) -> Answers {
        Answers::Any
    }

    /// Returns how receivers of `RoCEv2` report marked packets, or `None` if the control ignores
    /// marks.
    fn notification(&self) -> Option<NotificationSpec> {
        None
    }

    /// Returns true if the control uses [`Link::round_trip`].
    fn uses_round_trip(&self) -> bool {
        false
    }

    /// Returns the number of telemetry hops for which data packets reserve room, or `None` without
    /// telemetry.
    fn telemetry_hops(&self) -> Option<u8> {
        None
    }

    /// Returns the frame bytes that telemetry adds to each data packet and to its answer.
    fn telemetry_bytes(&self) -> u32 {
        0
    }

    /// Returns the rules for credit, if receivers grant any.
    fn credit(&self, _: &Link) -> Option<CreditRules> {
        None
    }

    /// Returns the parameters for a NIC on a link.
    fn on_link(self, _: &Link) -> Self {
        self
    }

    /// Creates the state for a queue pair that becomes limited at `now`.
    fn start(&self, link: &Link, now: Instant) -> Self::Flow;

    /// Returns the rate that applies to a packet whose first bit leaves at `now`, in bits per
    /// second. `u64::MAX` stands for the line rate.
    fn rate(&self, _: &mut Self::Flow, _now: Instant) -> u64 {
        u64::MAX
    }

    /// Returns the instant after which a timer changes the rate unless a packet or notification
    /// comes first, or [`Instant::NEVER`] without such a timer.
    fn next_change(&self, _: &Self::Flow) -> Instant {
        Instant::NEVER
    }

    /// Returns what may be in flight.
    fn window(&self, _: &Self::Flow, _: &Link) -> Window {
        Window::OPEN
    }

    /// Returns the window for a queue pair that is not limited.
    fn line_window(&self, _: &Link) -> Window {
        Window::OPEN
    }

    /// Returns the round trip without load and the queueing delay that the control aims at, if it
    /// knows both.
    fn delays(&self, _: &Self::Flow, _: &Link) -> Option<(Time, Time)> {
        None
    }

    /// Records that a packet of `frame_bytes` was sent.
    fn sent(&self, _: &mut Self::Flow, _frame_bytes: u64) {}

    /// Handles a congestion notification. `first` is set if it starts the limit.
    fn notified(&self, _: &mut Self::Flow, _first: bool, _now: Instant) {}

    /// Handles an acknowledgement for the queue pair.
    fn acknowledged(&self, _: &mut Self::Flow, _: &Link, _: &Feedback<'_>) {}

    /// Handles a NAK: the receiver lacks packets.
    fn lost(&self, _: &mut Self::Flow, _: &Link, _now: Instant) {}

    /// Handles the report that a switch trimmed a packet.
    fn trimmed(&self, _: &mut Self::Flow, _: &Link, _: &Trim) {}

    /// Handles a timeout after which `bytes` wire bytes are sent again.
    fn timed_out(&self, _: &mut Self::Flow, _: &Link, _bytes: u64) {}

    /// Returns true once the queue pair is no longer limited, so that its state can be freed.
    fn is_over(&self, _: &Self::Flow) -> bool {
        false
    }
}
