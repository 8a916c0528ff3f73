//! The virtual output queues of an ingress leaf: one for each destination port and class.

use tenter_engine::Ring;

use crate::packet::{Packet, WIRE_OVERHEAD_BYTES};

/// What a queue needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoqState {
    /// More waits than it has credit for.
    Hungry,
    /// It has credit for all that waits.
    Satisfied,
    /// Nothing waits.
    Empty,
}

/// Packets that came from the hosts of a leaf and wait for credit of one destination port.
///
/// All bytes but those of `bytes` are wire bytes at the destination port, counted from the
/// beginning: what waits is `arrived` − `sent`, the credit balance `granted` − `sent`, which may be
/// negative by less than a packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Voq {
    frames: Ring<Packet>,
    bytes: u64,
    arrived: u64,
    asked: u64,
    granted: u64,
    sent: u64,
    /// The number of the next packet that leaves.
    sequence: u32,
}

pub(crate) fn wire_bytes(packet: &Packet) -> u64 {
    u64::from(packet.frame_bytes) + u64::from(WIRE_OVERHEAD_BYTES)
}

impl Voq {
    /// Frame bytes that wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.frames.iter()
    }

    pub(crate) fn state(&self) -> VoqState {
        if self.frames.is_empty() {
            VoqState::Empty
        } else if self.arrived > self.granted {
            VoqState::Hungry
        } else {
            VoqState::Satisfied
        }
    }

    /// Takes a packet that came through `input`.
    pub(crate) fn push(&mut self, packet: &Packet, input: u16) {
        self.bytes += u64::from(packet.frame_bytes);
        self.arrived += wire_bytes(packet);
        self.frames.push_copy(packet).store_from(input);
    }

    /// How much to ask for, if for anything: what waits, has no credit and was not asked for.
    pub(crate) fn request(&mut self) -> Option<u32> {
        if self.state() != VoqState::Hungry || self.arrived <= self.asked {
            return None;
        }
        let more = self.arrived - self.asked;
        self.asked = self.arrived;
        Some(more as u32)
    }

    pub(crate) fn credit(&mut self, bytes: u32) {
        self.granted += u64::from(bytes);
    }

    /// Takes out the next packet that there is credit for, with its number. The last one may take
    /// more than is left.
    pub(crate) fn pop(&mut self) -> Option<(Packet, u32)> {
        if self.granted <= self.sent {
            return None;
        }
        let packet = self.frames.pop()?;
        self.bytes -= u64::from(packet.frame_bytes);
        self.sent += wire_bytes(&packet);
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        Some((packet, sequence))
    }
}

#[cfg(test)]
mod tests {
    use super::{Voq, VoqState};
    use crate::packet::{Packet, PacketKind};

    fn packet(frame_bytes: u16) -> Packet {
        Packet {
            at: 0,
            queue_pair: 0,
            sequence: 0,
            destination: 0,
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
        assert_eq!((voq.state(), voq.request()), (VoqState::Empty, None));
        voq.push(&packet(980), 3);
        // 980 bytes take 1,000 on the wire.
        assert_eq!(
            (voq.state(), voq.request()),
            (VoqState::Hungry, Some(1_000))
        );
        assert_eq!(voq.request(), None);
        voq.push(&packet(480), 3);
        assert_eq!(voq.request(), Some(500));
        assert!(voq.pop().is_none());
        // 1,200: the first packet, and the second although only 200 are left.
        voq.credit(1_200);
        assert_eq!(
            voq.pop()
                .map(|(packet, number)| (packet.frame_bytes, number)),
            Some((980, 0))
        );
        assert_eq!(voq.bytes(), 480);
        assert_eq!(
            voq.pop()
                .map(|(packet, number)| (packet.frame_bytes, number)),
            Some((480, 1))
        );
        assert_eq!(voq.state(), VoqState::Empty);
        // The balance is -300, and 300 of what was asked for are still to come.
        voq.push(&packet(80), 3);
        assert_eq!(voq.request(), Some(100));
        voq.credit(300);
        assert!(voq.pop().is_none());
        voq.credit(4_000);
        assert_eq!(voq.state(), VoqState::Satisfied);
        assert!(voq.pop().is_some());
        // 3,900 are left: nothing need be asked for.
        voq.push(&packet(3_880), 3);
        assert_eq!((voq.state(), voq.request()), (VoqState::Satisfied, None));
        assert!(voq.pop().is_some());
        voq.push(&packet(80), 3);
        assert_eq!(voq.request(), Some(4_000));
    }
}
