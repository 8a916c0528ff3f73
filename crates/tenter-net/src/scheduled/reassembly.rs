//! Reassembly at the destination leaf: packets become whole again and get back their order.

use std::collections::VecDeque;

use crate::packet::Packet;

/// A packet on its way through the fabric.
#[derive(Clone, Copy, Debug)]
struct Part {
    packet: Packet,
    /// Cells that have not come.
    missing: u16,
}

/// What one virtual output queue has sent and this leaf has not sent on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    /// In the order of their numbers.
    parts: VecDeque<Part>,
    /// The number of the first.
    first: u32,
}

impl Assembly {
    /// A packet of so many cells is on its way, behind all before it; its number.
    pub(crate) fn announce(&mut self, packet: &Packet, cells: u16) -> u32 {
        self.parts.push_back(Part {
            packet: *packet,
            missing: cells,
        });
        self.first.wrapping_add(self.parts.len() as u32 - 1)
    }

    /// A cell of the packet of that number has come; whether it was still waited for.
    pub(crate) fn take(&mut self, number: u32) -> bool {
        let place = number.wrapping_sub(self.first) as usize;
        let Some(part) = self.parts.get_mut(place) else {
            return false;
        };
        part.missing -= 1;
        true
    }

    /// Takes out the next packet that is whole, if all before it were.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        if self.parts.front()?.missing > 0 {
            return None;
        }
        self.first = self.first.wrapping_add(1);
        self.parts.pop_front().map(|part| part.packet)
    }

    /// Gives up the packet of that number, the first that waits, if it does.
    pub(crate) fn give_up(&mut self, number: u32) -> Option<Packet> {
        if self.first != number {
            return None;
        }
        let part = self.parts.pop_front()?;
        self.first = self.first.wrapping_add(1);
        Some(part.packet)
    }

    /// Packets that wait, whole or not.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Packets that wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.parts.iter().map(|part| &part.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::Assembly;
    use crate::packet::{Packet, PacketKind};

    fn packet(sequence: u32) -> Packet {
        Packet {
            at: 0,
            queue_pair: 0,
            sequence,
            destination: 0,
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
        for sequence in 10..13 {
            assembly.announce(&packet(sequence), 2);
        }
        // The last one is whole first, then the first one.
        for number in [2, 2, 0, 1, 0] {
            assert!(assembly.take(number));
        }
        assert_eq!(assembly.pop().map(|packet| packet.sequence), Some(10));
        assert!(assembly.pop().is_none());
        assert_eq!(assembly.len(), 2);
        assert!(assembly.give_up(0).is_none());
        // The second cell of the second is lost; when it is given up the third may leave.
        assert_eq!(assembly.give_up(1).map(|packet| packet.sequence), Some(11));
        assert_eq!(assembly.pop().map(|packet| packet.sequence), Some(12));
        // It comes after all: nobody waits for it.
        assert!(!assembly.take(1));
        assert_eq!(assembly.announce(&packet(13), 1), 3);
    }
}
