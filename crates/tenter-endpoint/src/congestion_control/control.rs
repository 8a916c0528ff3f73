//! The trait that each congestion control implements, and the events that it receives.

use tenter_net::Hop;
use tenter_units::{Instant, Time};

use crate::notification::NotificationSpec;

/// One acknowledgement, as a congestion control sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback<'a> {
    /// Instant at which the acknowledgement arrived.
    pub(crate) now: Instant,
    /// Time from the acknowledged packet's first bit to the arrival of its acknowledgement.
    pub(crate) round_trip: Time,
    /// Number of packets that were not acknowledged before.
    pub(crate) packets: u32,
    /// PSN that the receiver expects next.
    pub(crate) sequence: u32,
    /// PSN that the sender will use for its next new packet.
    pub(crate) next_sequence: u32,
    /// Telemetry that switches wrote into the acknowledged packet; empty without in-band telemetry.
    pub(crate) hops: &'a [Hop],
}

/// One answer, as a statement about the path that the answered packet took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathFeedback {
    /// Instant at which the answer arrived.
    pub(crate) now: Instant,
    /// ECMP hash of the answered packet. It covers the source port, so it identifies the path.
    pub(crate) hash: u32,
    /// Time from the packet's first bit to the arrival of its answer.
    pub(crate) round_trip: Time,
    /// Set if the answer carries a congestion notification.
    pub(crate) marked: bool,
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

/// A congestion control: its parameters, shared by all NICs with the same line rate.
pub(crate) trait Control: Copy {
    /// State of one limited queue pair.
    type Flow: Clone + std::fmt::Debug;
    /// True if a queue pair is limited from its first packet, false if only from its first
    /// congestion notification.
    const FROM_START: bool;
    /// True if the control learns the path of each answered packet. NICs then remember the hashes
    /// of packets in flight.
    const PATHS: bool = false;
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

    /// Returns how receivers report marked packets, or `None` if the control ignores marks.
    fn notification(&self) -> Option<NotificationSpec> {
        None
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

    /// Returns the parameters for a NIC whose line carries `line` bits per second.
    fn on_line(self, line: u64) -> Self;

    /// Creates the state for a queue pair that becomes limited at `now`, on a line with `line` bits
    /// per second.
    fn start(&self, line: u64, now: Instant) -> Self::Flow;

    /// Returns the rate that applies to a packet whose first bit leaves at `now`, in bits per
    /// second. `u64::MAX` stands for the line rate.
    fn rate(&self, flow: &mut Self::Flow, now: Instant) -> u64;

    /// Returns the instant after which a timer changes the rate unless a packet or notification
    /// comes first, or [`Instant::NEVER`] without such a timer.
    fn next_change(&self, _: &Self::Flow) -> Instant {
        Instant::NEVER
    }

    /// Returns the most packets that may be unacknowledged, if a full packet carries `payload`
    /// bytes.
    fn window(&self, _: &Self::Flow, _payload: u64) -> u32 {
        u32::MAX
    }

    /// Returns the window for a queue pair that is not limited, on a line with `line` bits per
    /// second.
    fn line_window(&self, _line: u64, _payload: u64) -> u32 {
        u32::MAX
    }

    /// Records that a packet of `frame_bytes` was sent.
    fn sent(&self, flow: &mut Self::Flow, frame_bytes: u64);

    /// Handles a congestion notification. `first` is set if it starts the limit.
    fn notified(&self, flow: &mut Self::Flow, first: bool, now: Instant);

    /// Handles an acknowledgement for the queue pair.
    fn acknowledged(&self, flow: &mut Self::Flow, feedback: &Feedback<'_>);

    /// Handles a NAK: the receiver lacks packets.
    fn lost(&self, _: &mut Self::Flow, _now: Instant) {}

    /// Handles a timeout: nothing was acknowledged for the retransmission timeout, and everything
    /// unacknowledged will be sent again.
    fn timed_out(&self, _: &mut Self::Flow, _now: Instant) {}

    /// Handles an answer as news about a path. It is called only with [`Self::PATHS`], and before
    /// [`Self::acknowledged`].
    fn path_answered(&self, _: &mut Self::Flow, _: &PathFeedback) {}

    /// Handles a packet that a switch trimmed; the receiver has reported it.
    fn trimmed(&self, _: &mut Self::Flow, _now: Instant) {}

    /// Handles a grant by the receiver of this many further payload bytes. The control turns it
    /// into packets in [`Self::window`].
    fn granted(&self, _: &mut Self::Flow, _bytes: u64, _now: Instant) {}

    /// Returns true once the queue pair is no longer limited, so that its state can be freed.
    fn is_over(&self, flow: &Self::Flow) -> bool;
}
