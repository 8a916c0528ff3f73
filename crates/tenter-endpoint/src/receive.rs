//! The receiving side of a queue pair.

mod steady;

pub use steady::Latencies;
use tenter_net::{Packet, PacketKind, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_topology::HostId;
use tenter_units::Instant;

/// Where acknowledgements of a receive queue pair go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyPath {
    /// The host that sends.
    pub destination: HostId,
    /// Its send slot.
    pub slot: SendSlot,
    /// Hash of the 5-tuple of the acknowledgements.
    pub hash: u32,
}

impl ReplyPath {
    /// A control packet of this kind without content.
    #[inline]
    pub(crate) fn packet(&self, kind: PacketKind, frame_bytes: u16) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: self.slot.number(),
            sequence: 0,
            destination: self.destination,
            hash: self.hash,
            sent: 0,
            frame_bytes,
            kind,
            flags: 0,
        }
    }
}

/// A transfer whose last packet has been accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The receive slot.
    pub slot: ReceiveSlot,
    /// How many transfers had been delivered through the slot before, since the count was last
    /// reset.
    pub nth: u32,
    /// When the last packet arrived, in ps.
    pub at: Instant,
    /// Data frames accepted for it.
    pub accepted_frames: u32,
    /// Their frame bytes.
    pub accepted_bytes: u64,
    /// Shortest time from first bit sent to acceptance, of the packets accepted, in units of
    /// [`SENT_UNIT_PS`].
    pub latency_min: u32,
    /// Longest of them, in the same units.
    pub latency_max: u32,
    /// Sum of those times, in the same units.
    pub latency_sum: u64,
}

/// What the receiver makes of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    /// Accepted, and a later one had arrived before it.
    ClosesGap,
    /// Received before; the acknowledgement must have been lost.
    Duplicate,
    /// A packet before it is missing.
    Ahead,
}

/// The receiving side of a queue pair: one cache line, for in an all-to-all each packet belongs to
/// another one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct ReceiveQueuePair {
    accepted_bytes: u64,
    latency_sum: u64,
    pub(crate) expected: u32,
    /// The sequence number of the first packet of the transfer that is being received.
    pub(crate) first: u32,
    accepted: u32,
    latency_min: u32,
    latency_max: u32,
    delivered: u32,
    pub(crate) reply: ReplyPath,
    pub(crate) open: bool,
    /// Whether a packet is missing and a later one has arrived.
    pub(crate) gap: bool,
}

const _: () = assert!(size_of::<ReceiveQueuePair>() == 64);

impl Default for ReceiveQueuePair {
    fn default() -> Self {
        ReceiveQueuePair {
            accepted_bytes: 0,
            latency_sum: 0,
            expected: 0,
            first: 0,
            accepted: 0,
            latency_min: u32::MAX,
            latency_max: 0,
            delivered: 0,
            reply: ReplyPath::default(),
            open: false,
            gap: false,
        }
    }
}

impl ReceiveQueuePair {
    pub(crate) fn open(&mut self, reply: ReplyPath) {
        self.open = true;
        self.reply = reply;
    }

    /// Whether a packet is the one that is expected next, and none was missing before it.
    #[inline]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        packet.sequence == self.expected && self.open && !self.gap
    }

    /// Accepts the packet that is expected next.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet) -> Verdict {
        let ahead = packet.sequence.wrapping_sub(self.expected);
        if ahead == 0 {
            self.accept(packet.frame_bytes, latency(packet));
            return if self.gap {
                Verdict::ClosesGap
            } else {
                Verdict::Accepted
            };
        }
        if ahead > u32::MAX / 2 {
            return Verdict::Duplicate;
        }
        Verdict::Ahead
    }

    /// Books the packet that is expected next.
    #[inline]
    pub(crate) fn accept(&mut self, frame_bytes: u16, latency: u32) {
        self.expected = self.expected.wrapping_add(1);
        self.latency_min = self.latency_min.min(latency);
        self.latency_max = self.latency_max.max(latency);
        self.latency_sum += u64::from(latency);
        self.accepted += 1;
        self.accepted_bytes += u64::from(frame_bytes);
    }

    /// Closes the transfer whose last packet has just been accepted or given up.
    pub(crate) fn deliver(&mut self, slot: ReceiveSlot, now: Instant) -> Delivery {
        let delivery = Delivery {
            slot,
            nth: self.delivered,
            at: now,
            accepted_frames: self.accepted,
            accepted_bytes: self.accepted_bytes,
            // Nothing was accepted where the longest is shorter.
            latency_min: self.latency_min.min(self.latency_max),
            latency_max: self.latency_max,
            latency_sum: self.latency_sum,
        };
        *self = ReceiveQueuePair {
            expected: self.expected,
            first: self.expected,
            delivered: self.delivered + 1,
            reply: self.reply,
            open: self.open,
            gap: self.gap,
            ..ReceiveQueuePair::default()
        };
        delivery
    }

    /// How many transfers have been delivered since the count was last reset.
    pub(crate) fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Frame bytes accepted of the transfer that is being received.
    pub(crate) fn accepted_bytes(&self) -> u64 {
        self.accepted_bytes
    }

    pub(crate) fn reset_delivered(&mut self) {
        self.delivered = 0;
    }
}

/// From the first bit of a packet to its arrival, in units of [`SENT_UNIT_PS`].
#[inline]
pub(crate) fn latency(packet: &Packet) -> u32 {
    ((packet.at.ps() / SENT_UNIT_PS) as u32).wrapping_sub(packet.sent)
}
