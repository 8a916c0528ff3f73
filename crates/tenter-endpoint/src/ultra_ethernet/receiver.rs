//! Receivers: the end of a connection that accepts data, answers it and grants credit.

use std::collections::VecDeque;

use tenter_engine::prefetch;
use tenter_fabric::net::{Packet, PullTarget, ReceiveSlot};

use super::acknowledgement::Report;
use super::bits::Bits;
use super::cut::on_wire;
use super::sender::FIRST_GRANT;
use crate::receive::{Delivery, ReceiveQueuePair, Verdict, latency};

/// A packet that arrived while an earlier one was missing.
#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    latency: u32,
    frame_bytes: u16,
    ends_transfer: bool,
}

/// Credit that a sender wants and has been granted, as running totals in quanta.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    target: u32,
    granted: u32,
    /// Set while the sender has a place among those that want more.
    pub(super) is_pulled: bool,
}

/// A connection at its receiving end.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// Expected number, current transfer and way back, as in a queue pair.
    pub(super) books: ReceiveQueuePair,
    /// One entry per packet from the one after the first missing packet on. Entries for missing
    /// packets are meaningless.
    stored: VecDeque<Stored>,
    /// Numbers of these packets that have arrived.
    arrived: Bits,
    /// Count of those that have arrived.
    ahead: u32,
    /// Wire bytes received in all, without duplicates.
    received_bytes: u64,
    /// Wire bytes since the last acknowledgement.
    unanswered: u64,
    /// Set if an acknowledgement must be sent as soon as nothing is missing.
    asks_when_whole: bool,
    /// Answers so far, modulo 2¹⁶: each takes another path.
    pub(super) answers: u16,
    pub(super) demand: Demand,
}

/// Outcome for an arriving data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    InOrder,
    Ahead,
    Duplicate,
}

/// Packets that one map covers.
const MAP: u32 = 64;

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            books: ReceiveQueuePair::default(),
            stored: VecDeque::new(),
            arrived: Bits::default(),
            ahead: 0,
            received_bytes: 0,
            unanswered: 0,
            asks_when_whole: false,
            answers: 0,
            demand: Demand {
                target: FIRST_GRANT,
                granted: FIRST_GRANT,
                is_pulled: false,
            },
        }
    }
}

impl Demand {
    /// Notes up to which total a sender wants credit, and returns true if it wants more than
    /// before.
    pub(super) fn hear(&mut self, packet: &Packet) -> bool {
        let target = PullTarget::of(packet, self.target).quanta;
        // Totals wrap: only a step upwards by less than half the range is new demand.
        let is_more = target.wrapping_sub(self.target).wrapping_sub(1) < u32::MAX / 2;
        if is_more {
            self.target = target;
        }
        is_more
    }

    /// Raises the demand by `quanta`, above both what was wanted and what was granted.
    pub(super) fn owe(&mut self, quanta: u32) {
        if self.open() == 0 {
            self.target = self.granted;
        }
        self.target = self.target.wrapping_add(quanta);
    }

    /// Returns the quanta that the sender wants and has not been granted.
    pub(super) fn open(&self) -> u32 {
        self.wanted().max(0).cast_unsigned()
    }

    /// Returns the quanta that were granted beyond the demand.
    pub(super) fn unasked(&self) -> u32 {
        (-self.wanted()).max(0).cast_unsigned()
    }

    /// Returns the quanta that the sender wants beyond those granted; negative if it has more than
    /// it wants. Totals wrap after 1.1 TB, and differ by far less than half of that.
    fn wanted(&self) -> i32 {
        self.target.wrapping_sub(self.granted).cast_signed()
    }

    /// Grants `quanta` more and returns the new total.
    pub(super) fn grant(&mut self, quanta: u32) -> u32 {
        self.granted = self.granted.wrapping_add(quanta);
        self.granted
    }
}

impl Receiver {
    /// Prefetches the memory that a packet touches.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.stored);
        prefetch(&self.demand);
    }

    /// Returns true if a packet has arrived.
    pub(super) fn has(&self, number: u32) -> bool {
        // Numbers wrap: a distance beyond half the range means an old packet.
        let ahead = number.wrapping_sub(self.books.expected);
        ahead > u32::MAX / 2 || self.arrived.has(number)
    }

    /// Accepts a data packet, and passes the transfers that end with it to `delivered`.
    pub(super) fn take(
        &mut self,
        slot: ReceiveSlot,
        packet: &Packet,
        mut delivered: impl FnMut(Delivery),
    ) -> Taken {
        // A duplicate counts towards the next acknowledgement, but not as received.
        self.unanswered += on_wire(packet.frame_bytes);
        if self.has(packet.sequence) {
            return Taken::Duplicate;
        }
        self.received_bytes += on_wire(packet.frame_bytes);
        if self.books.take(packet) == Verdict::Ahead {
            let ahead = packet.sequence.wrapping_sub(self.books.expected);
            let place = ahead as usize - 1;
            let stored = Stored {
                latency: latency(packet),
                frame_bytes: packet.frame_bytes,
                ends_transfer: packet.has(Packet::END_OF_TRANSFER),
            };
            if place < self.stored.len() {
                self.stored[place] = stored;
            } else {
                self.stored.resize(place, Stored::default());
                self.stored.push_back(stored);
            }
            self.arrived.add(packet.sequence);
            self.ahead += 1;
            return Taken::Ahead;
        }
        if packet.has(Packet::END_OF_TRANSFER) {
            delivered(self.books.deliver(slot, packet.at));
        }
        // The first entry stands for the packet after the missing one; the loop drops it with the
        // packet.
        while let Some(stored) = self.stored.pop_front()
            && self.arrived.has(self.books.expected)
        {
            self.ahead -= 1;
            self.books.accept(stored.frame_bytes, stored.latency);
            if stored.ends_transfer {
                delivered(self.books.deliver(slot, packet.at));
            }
        }
        self.arrived.drop_before(self.books.expected);
        Taken::InOrder
    }

    /// Returns true if a packet must be answered now: it is marked, is the first one, asks for an
    /// answer, closes the last gap after one that asked, or completes `after` bytes.
    pub(super) fn answers_now(&mut self, packet: &Packet, taken: Taken, after: u64) -> bool {
        // The first packet is answered at once, so that its sender learns of the receiver.
        let is_first = self.received_bytes == on_wire(packet.frame_bytes);
        let asks = packet.has(Packet::ACK_REQUEST);
        self.asks_when_whole |= asks;
        let closes = taken == Taken::InOrder && self.ahead == 0;
        let closes = closes && std::mem::take(&mut self.asks_when_whole);
        let is_marked = packet.has(Packet::CONGESTION_EXPERIENCED);
        is_marked || is_first || asks || closes || self.unanswered >= after
    }

    /// Returns the contents for an answer to packet `answered`. With `from_itself` the map begins
    /// at it.
    pub(super) fn report(&mut self, answered: u32, from_itself: bool) -> Report {
        self.unanswered = 0;
        let expected = self.books.expected;
        let earliest = expected.wrapping_add(1);
        // Else the map ends at the answered packet, or begins after the first missing one if that
        // is later.
        let before = answered.wrapping_sub(MAP - 1);
        let is_later = before.wrapping_sub(earliest) <= u32::MAX / 2;
        let first = match (from_itself, is_later) {
            (true, _) => answered,
            (false, true) => before,
            (false, false) => earliest,
        };
        Report {
            answered,
            first,
            map: self.map(first),
            received_bytes: self.received_bytes,
            ahead: self.ahead,
        }
    }

    /// Returns which among the 64 packets from `first` on have arrived beyond a missing one.
    fn map(&self, first: u32) -> u64 {
        let place = first.wrapping_sub(self.books.expected);
        // Packets before the expected one are acknowledged by number, not by map.
        if self.ahead == 0 || place > u32::MAX / 2 {
            return 0;
        }
        self.arrived.from(first)
    }

    /// Returns the frame bytes accepted for incomplete transfers.
    pub(super) fn in_part(&self) -> u64 {
        let numbers = 1_u32..;
        let stored = numbers.zip(&self.stored);
        let is_there =
            |nth: u32| self.ahead > 0 && self.arrived.has(self.books.expected.wrapping_add(nth));
        let stored = stored.filter(|(nth, _)| is_there(*nth));
        let stored: u64 = stored.map(|(_, of)| u64::from(of.frame_bytes)).sum();
        self.books.accepted_bytes() + stored
    }
}

#[cfg(test)]
mod tests {
    use super::Demand;

    #[test]
    fn totals_of_credit_wrap() {
        let mut demand = Demand {
            target: u32::MAX - 3,
            granted: u32::MAX - 3,
            is_pulled: false,
        };
        demand.owe(10);
        assert_eq!((demand.open(), demand.unasked()), (10, 0));
        assert_eq!(demand.grant(4), 0);
        assert_eq!((demand.open(), demand.unasked()), (6, 0));
        demand.grant(9);
        assert_eq!((demand.open(), demand.unasked()), (0, 3));
        // What is owed comes on top of what was granted without demand.
        demand.owe(2);
        assert_eq!((demand.open(), demand.unasked()), (2, 0));
    }
}
