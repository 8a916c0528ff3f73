//! What a congestion control is asked.

use tenter_net::Hop;
use tenter_units::{Instant, Time};

use crate::notification::NotificationSpec;

/// What an acknowledgement says about the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback<'a> {
    /// When it arrived.
    pub(crate) now: Instant,
    /// From the first bit of the packet that asked for it to its arrival.
    pub(crate) round_trip: Time,
    /// Packets it acknowledges that were not before.
    pub(crate) packets: u32,
    /// The packet that the receiver expects next, and the one that is sent next.
    pub(crate) sequence: u32,
    pub(crate) next_sequence: u32,
    /// What switches have written into the packet that it answers.
    pub(crate) hops: &'a [Hop],
}

/// What an answer says about the path of the packet that it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathFeedback {
    /// When it arrived.
    pub(crate) now: Instant,
    /// The hash of the packet, by which switches chose its path: its source port is in it.
    pub(crate) hash: u32,
    /// From the first bit of the packet to the arrival of its answer.
    pub(crate) round_trip: Time,
    /// Whether the answer carries a congestion notification.
    pub(crate) marked: bool,
}

/// What a congestion control needs of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Whatever receivers give.
    Any,
    /// Windows may shrink to one packet, which must not wait for more to be answered.
    BeforeOnePacketWaits,
    /// One for each packet, whose telemetry it returns.
    ToEachPacket,
}

/// One congestion control: its parameters, which all NICs of a rate share.
pub(crate) trait Control: Copy {
    /// What is kept for a queue pair that is limited.
    type Flow: Clone + std::fmt::Debug;
    /// Whether a queue pair is limited from its first packet; else from its first notification.
    const FROM_START: bool;
    /// Whether it is told of the path of each packet that is answered. NICs then remember the
    /// hashes of packets under way.
    const PATHS: bool = false;
    /// Whether a packet that waits is timed anew when the rate changes. Controls that hear an
    /// answer to each packet renew the rate from packet to packet.
    const RETIMES: bool = false;

    /// Whether senders slow down at all.
    fn reacts(&self) -> bool {
        true
    }

    /// What it needs of acknowledgements.
    fn answers(&self) -> Answers {
        Answers::Any
    }

    /// How receivers tell of marked packets, where the congestion control needs to hear of them.
    fn notification(&self) -> Option<NotificationSpec> {
        None
    }

    /// Hops of in-band telemetry for which data packets have room, if they carry any.
    fn telemetry_hops(&self) -> Option<u8> {
        None
    }

    /// Frame bytes that data packets and their answers have for in-band telemetry.
    fn telemetry_bytes(&self) -> u32 {
        0
    }

    /// With what depends on the line rate, in bits per second.
    fn on_line(self, line: u64) -> Self;

    /// A queue pair begins to be limited at `now`.
    fn start(&self, line: u64, now: Instant) -> Self::Flow;

    /// The rate at which a packet is sent whose first bit leaves at `now`, in bits per second;
    /// `u64::MAX` for that of the line.
    fn rate(&self, flow: &mut Self::Flow, now: Instant) -> u64;

    /// The instant behind which a timer changes the rate next if nothing is heard until then;
    /// [`Instant::NEVER`] without such a timer.
    fn next_change(&self, _: &Self::Flow) -> Instant {
        Instant::NEVER
    }

    /// Packets that may be unacknowledged, where a full one carries so many bytes.
    fn window(&self, _: &Self::Flow, _payload: u64) -> u32 {
        u32::MAX
    }

    /// The same for a queue pair that is not limited.
    fn line_window(&self, _line: u64, _payload: u64) -> u32 {
        u32::MAX
    }

    /// A packet has been sent.
    fn sent(&self, flow: &mut Self::Flow, frame_bytes: u64);

    /// A congestion notification has arrived: the first one, or a later one.
    fn notified(&self, flow: &mut Self::Flow, first: bool, now: Instant);

    /// An acknowledgement has arrived.
    fn acknowledged(&self, flow: &mut Self::Flow, feedback: &Feedback<'_>);

    /// The receiver lacks packets.
    fn lost(&self, _: &mut Self::Flow, _now: Instant) {}

    /// Nothing has been acknowledged for the time-out, and everything unacknowledged is sent again.
    fn timed_out(&self, _: &mut Self::Flow, _now: Instant) {}

    /// A packet has been answered that took this path; only with [`Self::PATHS`], and before
    /// [`Self::acknowledged`].
    fn path_answered(&self, _: &mut Self::Flow, _: &PathFeedback) {}

    /// A switch has cut a packet to its header, which has come back by way of the receiver.
    fn trimmed(&self, _: &mut Self::Flow, _now: Instant) {}

    /// The receiver has granted this many payload bytes more. What that lets out is for
    /// [`Self::window`] to say.
    fn granted(&self, _: &mut Self::Flow, _bytes: u64, _now: Instant) {}

    /// Whether the queue pair is no longer limited.
    fn is_over(&self, flow: &Self::Flow) -> bool;
}
