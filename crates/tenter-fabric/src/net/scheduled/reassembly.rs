//! Reassembly at the destination leaf: packets become whole again and regain their order.

use tenter_language::units::{Instant, Time};

use crate::net::packet::Packet;
use crate::net::scheduled::slots::{Series, Slots};

/// Packets from one virtual output queue that this leaf has not delivered, in the order of their
/// numbers. The field `at` of a packet counts its cells that have not come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Assembly(Series);

impl Assembly {
    /// Adds a packet in `cells` cells that is on its way, behind all before it; returns its number.
    pub(crate) fn announce(&mut self, packet: &Packet, cells: u16, slots: &mut Slots) -> u32 {
        self.0.push(packet, slots).at = Instant::from_ps(u64::from(cells));
        self.0.first().wrapping_add(self.0.len() as u32 - 1)
    }

    /// Takes a cell of the packet with this number; returns true if it was still expected.
    pub(crate) fn take(self, number: u32, slots: &mut Slots) -> bool {
        let Some(packet) = self.0.get_mut(number, slots) else {
            return false;
        };
        packet.at = packet.at - Time::LEAST;
        true
    }

    /// Takes out the next packet, if it is whole.
    pub(crate) fn pop(&mut self, slots: &mut Slots) -> Option<Packet> {
        let missing = self.0.front(slots)?.at;
        if missing > Instant::START {
            return None;
        }
        self.0.pop(slots)
    }

    /// Gives up the packet with this number, if it is the first that waits.
    pub(crate) fn give_up(&mut self, number: u32, slots: &mut Slots) -> Option<Packet> {
        // All before it have left or been given up by now; if it is not the first, it has left,
        // too.
        if self.0.first() != number {
            return None;
        }
        self.0.pop(slots)
    }

    /// Prefetches the packet that leaves next.
    #[inline]
    pub(crate) fn prefetch_front(&self, slots: &Slots) {
        self.0.prefetch_front(slots);
    }

    /// Prefetches the place of the packet that is announced next.
    #[inline]
    pub(crate) fn prefetch_back(&self, slots: &Slots) {
        self.0.prefetch_back(slots);
    }

    /// Returns the number of packets that wait, whole or not.
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    /// Returns the packets that wait, whole or not.
    pub(crate) fn waiting<'a>(
        &self,
        slots: &'a Slots,
    ) -> impl Iterator<Item = &'a Packet> + use<'a> {
        self.0.iter(slots)
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::HostId;
    use tenter_language::units::Instant;

    use super::Assembly;
    use crate::net::packet::{Packet, PacketKind};
    use crate::net::scheduled::slots::Slots;

    fn packet(sequence: u32) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: 0,
            sequence,
            destination: HostId::new(0),
            hash: 0,
            sent: 0,
            frame_bytes: 100,
            kind: PacketKind::Only,
            flags: 0,
        }
    }

    #[test]
    fn packets_leave_whole_and_in_order() {
        let mut assembly = Assembly::default();
        let slots = &mut Slots::default();
        for sequence in 10..13 {
            assembly.announce(&packet(sequence), 2, slots);
        }
        // The last one is whole first, then the first one.
        for number in [2, 2, 0, 1, 0] {
            assert!(assembly.take(number, slots));
        }
        assert_eq!(assembly.pop(slots).map(|packet| packet.sequence), Some(10));
        assert!(assembly.pop(slots).is_none());
        assert_eq!(assembly.len(), 2);
        assert!(assembly.give_up(0, slots).is_none());
        // The second cell of the second is lost; when it is given up the third may leave.
        assert_eq!(
            assembly.give_up(1, slots).map(|packet| packet.sequence),
            Some(11)
        );
        assert_eq!(assembly.pop(slots).map(|packet| packet.sequence), Some(12));
        // It comes after all: no packet waits for it.
        assert!(!assembly.take(1, slots));
        assert_eq!(assembly.announce(&packet(13), 1, slots), 3);
    }
}
