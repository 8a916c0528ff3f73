//! Receive queue pairs: the side that accepts data and answers it.

mod steady;

pub use steady::Latencies;
use tenter_fabric::net::{Packet, PacketKind, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

/// Destination for a receive queue pair's acknowledgements and NAKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyPath {
    /// Host that sends the data.
    pub destination: HostId,
    /// Send queue pair at that host.
    pub slot: SendSlot,
    /// ECMP hash over the 5-tuple that acknowledgements carry.
    pub hash: u32,
}

impl ReplyPath {
    /// Returns an empty control packet for this destination.
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

/// A transfer that has arrived: its last packet was accepted, or given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Receive queue pair at this NIC.
    pub slot: ReceiveSlot,
    /// Index of the transfer: the number delivered before it through this queue pair, since the
    /// last reset.
    pub nth: u32,
    /// Arrival of the packet that completed the transfer.
    pub at: Instant,
    /// Data frames accepted for the transfer; fewer than were sent if some were given up.
    pub accepted_frames: u32,
    /// Frame bytes in the accepted frames.
    pub accepted_bytes: u64,
    /// Shortest time from first bit sent to acceptance among the accepted frames, in
    /// [`SENT_UNIT_PS`] units.
    pub latency_min: u32,
    /// Longest such time, in the same unit.
    pub latency_max: u32,
    /// Sum over these times, in the same unit.
    pub latency_sum: u64,
}

/// Position at which a data packet arrived, relative to the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The expected packet, and no later one has arrived.
    Accepted,
    /// The expected packet, which closes a gap: a later one has arrived before.
    ClosesGap,
    /// A packet that was received before; its acknowledgement must have been lost.
    Duplicate,
    /// A packet beyond the expected one, which is still missing.
    Ahead,
}

/// The receiving side of a queue pair. It fills one cache line, because in an all-to-all each
/// packet belongs to another queue pair.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct ReceiveQueuePair {
    accepted_bytes: u64,
    latency_sum: u64,
    /// PSN of the packet that is expected next.
    pub(crate) expected: u32,
    /// PSN with which the current transfer began.
    pub(crate) first: u32,
    /// Packets accepted in the current transfer.
    accepted: u32,
    latency_min: u32,
    latency_max: u32,
    /// Transfers delivered since the last reset.
    delivered: u32,
    pub(crate) reply: ReplyPath,
    /// Set once the first packet has arrived and `reply` is known.
    pub(crate) open: bool,
    /// Set while a packet is missing and a later one has arrived.
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
    /// Stores the way back when the first packet arrives.
    pub(crate) fn open(&mut self, reply: ReplyPath) {
        self.open = true;
        self.reply = reply;
    }

    /// Returns true for the expected packet, if nothing was missing before it.
    #[inline]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        packet.sequence == self.expected && self.open && !self.gap
    }

    /// Accepts the packet if it is the expected one, and returns its position in any case.
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
        // PSNs wrap: a distance beyond half the range means an old packet.
        if ahead > u32::MAX / 2 {
            return Verdict::Duplicate;
        }
        Verdict::Ahead
    }

    /// Counts the expected packet as accepted.
    #[inline]
    pub(crate) fn accept(&mut self, frame_bytes: u16, latency: u32) {
        self.expected = self.expected.wrapping_add(1);
        self.latency_min = self.latency_min.min(latency);
        self.latency_max = self.latency_max.max(latency);
        self.latency_sum += u64::from(latency);
        self.accepted += 1;
        self.accepted_bytes += u64::from(frame_bytes);
    }

    /// Completes the current transfer, whose last packet was just accepted or given up.
    pub(crate) fn deliver(&mut self, slot: ReceiveSlot, now: Instant) -> Delivery {
        let delivery = Delivery {
            slot,
            nth: self.delivered,
            at: now,
            accepted_frames: self.accepted,
            accepted_bytes: self.accepted_bytes,
            // With nothing accepted the minimum is still `u32::MAX` and the maximum 0: report 0 for
            // both.
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

    /// Returns the transfers delivered since the last reset.
    pub(crate) fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Returns the frame bytes accepted in the current transfer.
    pub(crate) fn accepted_bytes(&self) -> u64 {
        self.accepted_bytes
    }

    pub(crate) fn reset_delivered(&mut self) {
        self.delivered = 0;
    }
}

/// Returns the time from a packet's first bit to its arrival, in [`SENT_UNIT_PS`] units.
#[inline]
pub(crate) fn latency(packet: &Packet) -> u32 {
    // Both ends round down to a unit and the difference wraps, so this is exact to one unit up to
    // 0.55 s.
    ((packet.at.ps() / SENT_UNIT_PS) as u32).wrapping_sub(packet.sent)
}
