//! Virtual output queues (VOQs) of an ingress leaf: one for each destination port and class.

use crate::net::packet::{Packet, WIRE_OVERHEAD_BYTES};
use crate::net::scheduled::slots::{Series, Slots};

/// Credit state of a virtual output queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoqState {
    /// The queue holds more than it has credit for.
    Hungry,
    /// The queue has credit for all that it holds.
    Satisfied,
    /// The queue holds no packet.
    Empty,
}

/// Packets from a leaf's hosts that wait for credit from one destination port.
///
/// All bytes but those in `bytes` are wire bytes at the destination port. A leaf has a queue for
/// each host in the fabric, and the data of one is rarely in the cache: so two share a line.
#[derive(Clone, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Voq {
    frames: Series,
    /// Frame bytes of the waiting packets.
    bytes: u64,
    /// Bytes granted less bytes sent: below zero by less than a packet, and above it by a credit at
    /// most while the queue is empty.
    balance: i32,
    /// Bytes that arrived and have not been requested.
    unasked: u32,
}

const _: () = assert!(size_of::<Voq>() == 32);

fn wire_bytes(packet: &Packet) -> u32 {
    u32::from(packet.frame_bytes) + WIRE_OVERHEAD_BYTES
}

impl Voq {
    /// Returns the frame bytes of the waiting packets.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Prefetches the packet that leaves next.
    #[inline]
    pub(crate) fn prefetch_front(&self, slots: &Slots) {
        self.frames.prefetch_front(slots);
    }

    /// Prefetches the place of the next arrival.
    #[inline]
    pub(crate) fn prefetch_back(&self, slots: &Slots) {
        self.frames.prefetch_back(slots);
    }

    pub(crate) fn waiting<'a>(
        &self,
        slots: &'a Slots,
    ) -> impl Iterator<Item = &'a Packet> + use<'a> {
        self.frames.iter(slots)
    }

    pub(crate) fn state(&self) -> VoqState {
        // The balance counts wire bytes, so each frame adds its preamble and gap.
        let waiting = self.bytes + self.frames.len() as u64 * u64::from(WIRE_OVERHEAD_BYTES);
        if self.frames.is_empty() {
            VoqState::Empty
        } else if waiting.cast_signed() > i64::from(self.balance) {
            VoqState::Hungry
        } else {
            VoqState::Satisfied
        }
    }

    /// Stores a packet that came through `input`.
    pub(crate) fn push(&mut self, packet: &Packet, input: u16, slots: &mut Slots) {
        self.bytes += u64::from(packet.frame_bytes);
        self.unasked += wire_bytes(packet);
        self.frames.push(packet, slots).store_from(input);
    }

    /// Takes the bytes to request, if any: bytes that wait without credit and were not requested
    /// before.
    pub(crate) fn request(&mut self) -> Option<u32> {
        // A satisfied queue keeps them for a request when it is hungry again.
        if self.state() != VoqState::Hungry || self.unasked == 0 {
            return None;
        }
        Some(std::mem::take(&mut self.unasked))
    }

    pub(crate) fn credit(&mut self, bytes: u32) {
        self.balance += bytes.cast_signed();
    }

    /// Takes out the next packet, with its number, if the balance is above zero. The packet may
    /// take more than is left.
    pub(crate) fn pop(&mut self, slots: &mut Slots) -> Option<(Packet, u32)> {
        if self.balance <= 0 {
            return None;
        }
        let number = self.frames.first();
        let packet = self.frames.pop(slots)?;
        self.bytes -= u64::from(packet.frame_bytes);
        self.balance -= wire_bytes(&packet).cast_signed();
        Some((packet, number))
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::HostId;
    use tenter_language::units::Instant;

    use super::{Voq, VoqState};
    use crate::net::packet::{Packet, PacketKind};
    use crate::net::scheduled::slots::Slots;

    fn packet(frame_bytes: u16) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: 0,
            sequence: 0,
            destination: HostId::new(0),
            hash: 0,
            sent: 0,
            frame_bytes,
            kind: PacketKind::Only,
            flags: 0,
        }
    }

    #[test]
    fn it_asks_once_for_what_it_has_no_credit_for() {
        let mut voq = Voq::default();
        let slots = &mut Slots::default();
        assert_eq!((voq.state(), voq.request()), (VoqState::Empty, None));
        voq.push(&packet(980), 3, slots);
        // 980 bytes take 1,000 on the wire.
        assert_eq!(
            (voq.state(), voq.request()),
            (VoqState::Hungry, Some(1_000))
        );
        assert_eq!(voq.request(), None);
        voq.push(&packet(480), 3, slots);
        assert_eq!(voq.request(), Some(500));
        assert!(voq.pop(slots).is_none());
        // 1,200: the first packet, and the second although only 200 are left.
        voq.credit(1_200);
        assert_eq!(
            voq.pop(slots)
                .map(|(packet, number)| (packet.frame_bytes, number)),
            Some((980, 0))
        );
        assert_eq!(voq.bytes(), 480);
        assert_eq!(
            voq.pop(slots)
                .map(|(packet, number)| (packet.frame_bytes, number)),
            Some((480, 1))
        );
        assert_eq!(voq.state(), VoqState::Empty);
        // The balance is -300, and 300 of the requested bytes are still to come.
        voq.push(&packet(80), 3, slots);
        assert_eq!(voq.request(), Some(100));
        voq.credit(300);
        assert!(voq.pop(slots).is_none());
        voq.credit(4_000);
        assert_eq!(voq.state(), VoqState::Satisfied);
        assert!(voq.pop(slots).is_some());
        // 3,900 are left: no request is needed.
        voq.push(&packet(3_880), 3, slots);
        assert_eq!((voq.state(), voq.request()), (VoqState::Satisfied, None));
        assert!(voq.pop(slots).is_some());
        voq.push(&packet(80), 3, slots);
        assert_eq!(voq.request(), Some(4_000));
    }
}
