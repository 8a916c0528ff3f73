//! Queues of packets that share their leaf's memory.
//!
//! A leaf of a big fabric has thousands of queues, each of which holds a packet or two for a few
//! microseconds and then none for longer. If each had memory of its own, the memory in use at a
//! time would be scattered over all ever used; here a queue that runs empty leaves its memory,
//! still in the cache, to the next one.

use tenter_engine::prefetch_at;

use crate::net::packet::Packet;

/// A packet that lies within one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot(Packet);

/// Logarithm of the smallest block's size: two packets, which is a cache line.
const FIRST_ORDER: u8 = 1;

/// Memory of the queues: blocks of a power of two packets each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    packets: Vec<Slot>,
    /// Starts of unused blocks, by the logarithm of their size.
    spare: Vec<Vec<u32>>,
}

/// A first-in first-out queue of packets with consecutive numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Series {
    /// Number of the packet that has waited longest, or of the next one.
    first: u32,
    len: u32,
    /// Start of the queue's block, while any packet waits.
    block: u32,
    /// Logarithm of the block's size.
    order: u8,
}

impl Series {
    /// Returns the number of waiting packets.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of the packet that has waited longest, or of the next one.
    #[inline]
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Returns the place of the packet with this number, whether it waits or not.
    #[inline]
    fn slot(&self, number: u32) -> usize {
        // Consecutive numbers go round the block, as in a ring.
        self.block as usize + (number as usize & ((1 << self.order) - 1))
    }

    /// Appends a packet, and returns it for changes.
    #[inline]
    pub(crate) fn push<'a>(&mut self, packet: &Packet, slots: &'a mut Slots) -> &'a mut Packet {
        if self.len == 0 {
            self.order = FIRST_ORDER;
            self.block = slots.take(FIRST_ORDER, packet);
        } else if self.len >> self.order != 0 {
            self.grow(packet, slots);
        }
        let Slot(stored) = &mut slots.packets[self.slot(self.first.wrapping_add(self.len))];
        self.len += 1;
        *stored = *packet;
        stored
    }

    /// Returns the packet that has waited longest.
    #[inline]
    pub(crate) fn front<'a>(&self, slots: &'a Slots) -> Option<&'a Packet> {
        (self.len > 0).then(|| &slots.packets[self.slot(self.first)].0)
    }

    /// Prefetches the packet that has waited longest.
    #[inline]
    pub(crate) fn prefetch_front(&self, slots: &Slots) {
        if self.len > 0 {
            prefetch_at(&slots.packets, self.slot(self.first));
        }
    }

    /// Prefetches the place of the packet that comes next.
    #[inline]
    pub(crate) fn prefetch_back(&self, slots: &Slots) {
        if self.len > 0 {
            prefetch_at(&slots.packets, self.slot(self.first.wrapping_add(self.len)));
        }
    }

    /// Returns the packet with this number, if it waits.
    #[inline]
    pub(crate) fn get_mut<'a>(&self, number: u32, slots: &'a mut Slots) -> Option<&'a mut Packet> {
        // For a number before the first the difference wraps, and is larger than any length.
        let waits = number.wrapping_sub(self.first) < self.len;
        waits.then(|| &mut slots.packets[self.slot(number)].0)
    }

    /// Takes out the packet that has waited longest.
    #[inline]
    pub(crate) fn pop(&mut self, slots: &mut Slots) -> Option<Packet> {
        let packet = *self.front(slots)?;
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
        if self.len == 0 {
            slots.give_back(self.order, self.block);
        }
        Some(packet)
    }

    /// Returns the waiting packets, in order.
    pub(crate) fn iter<'a>(&self, slots: &'a Slots) -> impl Iterator<Item = &'a Packet> + use<'a> {
        let series = *self;
        let numbers = (0..series.len).map(move |place| series.first.wrapping_add(place));
        numbers.map(move |number| &slots.packets[series.slot(number)].0)
    }

    /// Moves to a block twice as large.
    #[inline(never)]
    fn grow(&mut self, fill: &Packet, slots: &mut Slots) {
        let mut larger = *self;
        larger.order += 1;
        larger.block = slots.take(larger.order, fill);
        // Each packet has another place in the larger ring.
        for place in 0..self.len {
            let number = self.first.wrapping_add(place);
            slots.packets[larger.slot(number)] = slots.packets[self.slot(number)];
        }
        slots.give_back(self.order, self.block);
        *self = larger;
    }
}

impl Slots {
    /// Takes a block of 2 to the power of `order` packets, with any content.
    #[inline]
    fn take(&mut self, order: u8, fill: &Packet) -> u32 {
        let spare = self.spare.get_mut(usize::from(order)).and_then(Vec::pop);
        spare.unwrap_or_else(|| self.extend(order, fill))
    }

    #[cold]
    fn extend(&mut self, order: u8, fill: &Packet) -> u32 {
        let block = self.packets.len();
        self.packets.resize(block + (1 << order), Slot(*fill));
        let orders = self.spare.len().max(usize::from(order) + 1);
        self.spare.resize(orders, Vec::new());
        block as u32
    }

    #[inline]
    fn give_back(&mut self, order: u8, block: u32) {
        self.spare[usize::from(order)].push(block);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use tenter_engine::mix64;

    use super::{Series, Slots};
    use crate::net::packet::Packet;

    #[test]
    fn queues_that_share_memory_behave_like_deques() {
        let mut slots = Slots::default();
        let mut all = [Series::default(); 3];
        let mut plain = vec![VecDeque::new(); 3];
        for step in 0..20_000_u32 {
            let draw = mix64(u64::from(step));
            let which = (draw % 3) as usize;
            let (series, model) = (&mut all[which], &mut plain[which]);
            // Phases in which queues fill, and phases in which they run empty.
            if (draw >> 8) % 5 < 2 + u64::from(step / 500 % 2) {
                let mut packet = Packet::pause(0, 0);
                packet.sequence = series.first() + series.len() as u32;
                series.push(&packet, &mut slots).hash = step;
                model.push_back((packet.sequence, step));
            } else {
                let packet = series.pop(&mut slots);
                let packet = packet.map(|packet| (packet.sequence, packet.hash));
                assert_eq!(packet, model.pop_front());
            }
            assert_eq!(series.len(), model.len());
            let waiting = series.iter(&slots);
            assert!(
                waiting
                    .map(|packet| (packet.sequence, packet.hash))
                    .eq(model.iter().copied())
            );
            for &(number, hash) in model.iter() {
                let packet = series.get_mut(number, &mut slots).map(|packet| packet.hash);
                assert_eq!(packet, Some(hash));
            }
            let behind = series.first() + series.len() as u32;
            assert!(series.get_mut(behind, &mut slots).is_none());
        }
    }
}
