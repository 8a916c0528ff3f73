//! Selective repeat: a receiver takes packets in any order, and a sender resends the missing ones
//! alone.
//!
//! Each packet is placed in its position as it arrives; delivery is reported in order, up to the
//! first missing packet, as on any reliable connection. Source: the windowed scheme of Mittal et
//! al., "Revisiting Network Support for RDMA" (2018): a bitmap of arrivals beyond the first missing
//! packet, NAKs for single packets, a timeout for the rest.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use tenter_fabric::net::{Missing, ReceiveSlot, SendSlot};
use tenter_language::config::component;
use tenter_language::units::Instant;

use crate::receive::{Delivery, ReceiveQueuePair};

/// Upper bound of `window` and `reorder`, in packets.
const PACKETS_MAX: u32 = 1 << 20;

component! {
    /// Parameters of selective repeat.
    pub struct SelectiveRepeat {
        /// Number of packets that a receiver keeps track of beyond the first missing one, and so
        /// the most that a QP may have unacknowledged.
        window: u32 = "4096", in 1..=PACKETS_MAX,
            from "16 MiB of full packets: more than a link of 400 Gb/s carries in 300 us";
        /// A packet counts as lost once one that was sent this many packets later has arrived; more
        /// than 1 where packets overtake each other.
        reorder: u32 = "1", in 1..=PACKETS_MAX;
    }
}

impl SelectiveRepeat {
    /// Returns parameters for receivers that take packets in any order and never report gaps.
    pub(crate) fn any_order() -> SelectiveRepeat {
        SelectiveRepeat {
            window: PACKETS_MAX,
            reorder: PACKETS_MAX,
        }
    }
}

/// A packet that arrived while an earlier one was missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Time from first bit sent to arrival, in units of
    /// [`SENT_UNIT_PS`](tenter_fabric::net::SENT_UNIT_PS).
    pub(crate) latency: u32,
    pub(crate) frame_bytes: u16,
    pub(crate) ends_transfer: bool,
    pub(crate) asks_for_acknowledgement: bool,
}

/// Arrivals at one queue pair beyond its first missing packet.
#[derive(Clone, Debug, Default)]
struct Gap {
    /// One entry per packet, from the one after the first missing packet up to the latest arrival;
    /// `None` for those still missing.
    stored: VecDeque<Option<Stored>>,
    /// PSN up to which missing packets have been requested.
    reported: u32,
    /// PSNs requested and not yet arrived, in request order, which is the order in which they will
    /// be resent.
    asked: VecDeque<u32>,
}

/// The gaps of a NIC's receive queue pairs. A map, because few queue pairs have a gap at any time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps(BTreeMap<ReceiveSlot, Gap>);

/// Outcome of an arrival beyond the first missing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// The packet was accepted and waits for the missing ones.
    Stored,
    /// The packet had arrived before.
    Duplicate,
    /// The packet lies beyond the receiver's window and is discarded.
    Beyond,
}

impl Gap {
    /// Returns true if the packet `ahead` positions after the first missing one is missing.
    /// Position 0 is that packet itself, and all positions past the end are missing as well.
    fn lacks(&self, ahead: u32) -> bool {
        let stored = (ahead as usize)
            .checked_sub(1)
            .map(|at| self.stored.get(at));
        stored.is_none_or(|stored| stored.is_some_and(Option::is_none))
    }

    /// Requests the missing packets among positions `ahead`, counted from the first missing packet,
    /// one request per run.
    fn ask(&mut self, expected: u32, ahead: Range<u32>, lost: &mut impl FnMut(Missing)) {
        let Range {
            start: mut from,
            end: to,
        } = ahead;
        while from < to {
            let first = from;
            while from < to && self.lacks(from) {
                self.asked.push_back(expected.wrapping_add(from));
                from += 1;
            }
            if from > first {
                lost(Missing {
                    first: expected.wrapping_add(first),
                    end: expected.wrapping_add(from),
                });
            }
            from += 1;
        }
    }

    /// Notes the arrival of a packet that may have been requested. Packets requested
    /// `reorder_packets` or more before it should have arrived first, so they were lost again and
    /// are requested anew.
    fn arrived(
        &mut self,
        sequence: u32,
        expected: u32,
        reorder_packets: u32,
        lost: &mut impl FnMut(Missing),
    ) {
        let Some(index) = self.asked.iter().position(|&asked| asked == sequence) else {
            return;
        };
        self.asked.remove(index);
        let late = (index + 1).saturating_sub(reorder_packets as usize);
        for _ in 0..late {
            let asked = self.asked.pop_front();
            let ahead = asked.map_or(u32::MAX, |asked| asked.wrapping_sub(expected));
            // A packet behind `expected` has arrived meanwhile; its distance wraps and is out of
            // range.
            if ahead <= self.stored.len() as u32 {
                self.ask(expected, ahead..ahead + 1, lost);
            }
        }
    }
}

impl Gaps {
    /// Returns the frame bytes that have arrived beyond the first missing packet of a queue pair.
    pub(crate) fn stored_bytes(&self, slot: ReceiveSlot) -> u64 {
        let gap = self.0.get(&slot).into_iter();
        let stored = gap.flat_map(|gap| gap.stored.iter().flatten());
        stored.map(|packet| u64::from(packet.frame_bytes)).sum()
    }

    /// Places packet `sequence` while an earlier one is missing, and passes each run of packets
    /// that now counts as lost to `lost`.
    pub(crate) fn place(
        &mut self,
        queue_pair: &mut ReceiveQueuePair,
        spec: SelectiveRepeat,
        slot: ReceiveSlot,
        sequence: u32,
        stored: Stored,
        mut lost: impl FnMut(Missing),
    ) -> Placed {
        let expected = queue_pair.expected;
        let ahead = sequence.wrapping_sub(expected);
        if ahead >= spec.window {
            return Placed::Beyond;
        }
        let gap = self.0.entry(slot).or_default();
        if !std::mem::replace(&mut queue_pair.gap, true) {
            gap.reported = expected;
            gap.asked.clear();
        }
        let place = ahead as usize - 1;
        if gap.stored.len() <= place {
            gap.stored.resize(place + 1, None);
        } else if gap.stored[place].is_some() {
            return Placed::Duplicate;
        }
        gap.stored[place] = Some(stored);
        // Compare by distance from the first missing packet, since PSNs wrap. Requests behind it
        // are done.
        let reported = gap.reported.wrapping_sub(expected);
        let from = if reported > u32::MAX / 2 { 0 } else { reported };
        // A packet counts as lost once one sent `reorder` later has arrived; later gaps may be mere
        // overtaking.
        let until = (ahead + 1).saturating_sub(spec.reorder);
        gap.reported = expected.wrapping_add(from.max(until));
        gap.arrived(sequence, expected, spec.reorder, &mut lost);
        gap.ask(expected, from..until, &mut lost);
        Placed::Stored
    }

    /// Accepts the packets that follow the first missing one, which has just been accepted. Passes
    /// transfers that end there to `delivered` and packets that count as lost to `lost`; returns
    /// true if one of the accepted packets asked for an acknowledgement.
    pub(crate) fn close(
        &mut self,
        queue_pair: &mut ReceiveQueuePair,
        spec: SelectiveRepeat,
        slot: ReceiveSlot,
        now: Instant,
        mut delivered: impl FnMut(Delivery),
        mut lost: impl FnMut(Missing),
    ) -> bool {
        let mut asks = false;
        let sequence = queue_pair.expected.wrapping_sub(1);
        let Some(gap) = self.0.get_mut(&slot) else {
            return asks;
        };
        while let Some(Some(stored)) = gap.stored.pop_front() {
            queue_pair.accept(stored.frame_bytes, stored.latency);
            asks |= stored.asks_for_acknowledgement;
            if stored.ends_transfer {
                delivered(queue_pair.deliver(slot, now));
            }
        }
        // The loop has removed the next missing packet's own entry, so `stored` again begins one
        // after it.
        queue_pair.gap = !gap.stored.is_empty();
        if queue_pair.gap {
            gap.arrived(sequence, queue_pair.expected, spec.reorder, &mut lost);
        }
        asks
    }

    /// Requests everything that is missing, including packets requested before. Senders ask for
    /// this after a timeout.
    pub(crate) fn ask_again(
        &mut self,
        queue_pair: &ReceiveQueuePair,
        slot: ReceiveSlot,
        mut lost: impl FnMut(Missing),
    ) {
        let gap = self.0.get_mut(&slot).filter(|_| queue_pair.gap);
        let Some(gap) = gap else {
            return;
        };
        gap.asked.clear();
        let end = gap.stored.len() as u32;
        gap.ask(queue_pair.expected, 0..end, &mut lost);
        gap.reported = queue_pair.expected.wrapping_add(end);
    }
}

/// Requested packets that a NIC's send queue pairs still have to resend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs(BTreeMap<SendSlot, VecDeque<Missing>>);

impl Repairs {
    /// Adds a run of packets to resend.
    pub(crate) fn add(&mut self, slot: SendSlot, missing: Missing) {
        self.0.entry(slot).or_default().push_back(missing);
    }

    /// Takes out the next packet that a queue pair has to resend. Skips packets that are no longer
    /// among the `outstanding` ones after `acknowledged`, because their acknowledgement came first.
    pub(crate) fn next(
        &mut self,
        slot: SendSlot,
        acknowledged: u32,
        outstanding: u32,
    ) -> Option<u32> {
        let runs = self.0.get_mut(&slot)?;
        while let Some(run) = runs.front_mut() {
            let sequence = run.first;
            if sequence == run.end {
                runs.pop_front();
                continue;
            }
            run.first = sequence.wrapping_add(1);
            if sequence.wrapping_sub(acknowledged) < outstanding {
                return Some(sequence);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u32 = u32::MAX - 2;
    const SLOT: ReceiveSlot = ReceiveSlot::new(7);

    /// A run of packets, counted from `FIRST`.
    fn numbers(missing: Missing) -> (u32, u32) {
        (
            missing.first.wrapping_sub(FIRST),
            missing.end.wrapping_sub(FIRST),
        )
    }

    struct Bench {
        spec: SelectiveRepeat,
        gaps: Gaps,
        queue_pair: ReceiveQueuePair,
        /// Packets that are asked for again when the first missing packet arrives next.
        again: Vec<(u32, u32)>,
    }

    impl Bench {
        /// Expects the packet `FIRST`: numbers are given from there on, and wrap.
        fn new(reorder_packets: u32) -> Bench {
            let spec = SelectiveRepeat {
                window: 16,
                reorder: reorder_packets,
            };
            let mut queue_pair = ReceiveQueuePair::default();
            queue_pair.expected = FIRST;
            Bench {
                spec,
                gaps: Gaps::default(),
                queue_pair,
                again: Vec::new(),
            }
        }

        /// A packet arrives; what is asked for because of it.
        fn arrive(&mut self, number: u32) -> Vec<(u32, u32)> {
            let stored = Stored {
                latency: number,
                frame_bytes: 100,
                ends_transfer: number == 5,
                asks_for_acknowledgement: number == 3,
            };
            let mut lost = Vec::new();
            let sequence = FIRST.wrapping_add(number);
            let bench = (&mut self.queue_pair, &self.spec);
            self.gaps
                .place(bench.0, *bench.1, SLOT, sequence, stored, |missing| {
                    lost.push(numbers(missing));
                });
            lost
        }

        /// The packet that is expected arrives; the next one expected, the transfers delivered and
        /// whether an acknowledgement is asked for.
        fn fill(&mut self) -> (u32, usize, bool) {
            self.queue_pair.accept(100, 0);
            let mut delivered = 0;
            let mut again = Vec::new();
            let Bench {
                spec,
                gaps,
                queue_pair,
                ..
            } = &mut *self;
            let close = |_| delivered += 1;
            let lost = |missing| again.push(numbers(missing));
            let asks = gaps.close(queue_pair, *spec, SLOT, Instant::START, close, lost);
            assert_eq!(again, self.again);
            let expected = self.queue_pair.expected.wrapping_sub(FIRST);
            (expected, delivered, asks)
        }
    }

    #[test]
    fn each_missing_packet_is_asked_for_once() {
        let mut bench = Bench::new(1);
        assert_eq!(bench.arrive(3), [(0, 3)]);
        assert_eq!(bench.arrive(6), [(4, 6)]);
        assert_eq!(bench.arrive(7), []);
        // They come in the order in which they were asked for.
        assert_eq!(bench.fill(), (1, 0, false));
        assert_eq!(bench.fill(), (2, 0, false));
        assert_eq!(bench.fill(), (4, 0, true));
        assert_eq!(bench.fill(), (5, 0, false));
        assert_eq!(bench.fill(), (8, 0, false));
        assert!(!bench.queue_pair.gap);
        // A new gap is a new matter.
        assert_eq!(bench.arrive(10), [(8, 10)]);
    }

    #[test]
    fn a_transfer_ends_when_nothing_before_is_missing() {
        let mut bench = Bench::new(1);
        assert_eq!(bench.arrive(5), [(0, 5)]);
        for number in 1..5 {
            bench.arrive(number);
        }
        bench.again = vec![];
        assert_eq!(bench.fill(), (6, 1, true));
    }

    #[test]
    fn what_is_lost_again_is_asked_for_again() {
        let mut bench = Bench::new(1);
        assert_eq!(bench.arrive(6), [(0, 6)]);
        // 0 to 5 are sent again in this order; 2 comes, so 0 and 1 are lost again.
        assert_eq!(bench.arrive(2), [(0, 1), (1, 2)]);
        assert_eq!(bench.arrive(3), []);
        // 4 and 5 are still to come before 0 and 1 are.
        bench.again = vec![(4, 5), (5, 6)];
        assert_eq!(bench.fill(), (1, 0, false));
        // After a timeout, everything that is missing.
        let mut lost = Vec::new();
        let ask = |missing| lost.push(numbers(missing));
        bench.gaps.ask_again(&bench.queue_pair, SLOT, ask);
        assert_eq!(lost, [(1, 2), (4, 6)]);
    }

    #[test]
    fn packets_a_little_out_of_order_are_not_lost() {
        let mut bench = Bench::new(3);
        assert_eq!(bench.arrive(1), []);
        assert_eq!(bench.arrive(2), []);
        assert_eq!(bench.arrive(3), [(0, 1)]);
        assert_eq!(bench.arrive(5), []);
        assert_eq!(bench.arrive(8), [(4, 5)]);
        assert_eq!(bench.arrive(9), [(6, 7)]);
    }

    #[test]
    fn what_came_before_or_is_too_far_ahead_is_not_placed() {
        let mut bench = Bench::new(1);
        bench.arrive(2);
        let stored = Stored {
            latency: 0,
            frame_bytes: 1,
            ends_transfer: false,
            asks_for_acknowledgement: false,
        };
        let mut place = |number: u32| {
            let sequence = FIRST.wrapping_add(number);
            let Bench {
                spec,
                gaps,
                queue_pair,
                ..
            } = &mut bench;
            gaps.place(queue_pair, *spec, SLOT, sequence, stored, |_| {})
        };
        assert_eq!(place(2), Placed::Duplicate);
        assert_eq!(place(16), Placed::Beyond);
        assert_eq!(place(15), Placed::Stored);
    }

    #[test]
    fn repairs_pass_over_what_has_arrived() {
        let mut repairs = Repairs::default();
        for (first, end) in [(0, 2), (4, 5)] {
            let missing = Missing {
                first: FIRST.wrapping_add(first),
                end: FIRST.wrapping_add(end),
            };
            repairs.add(SendSlot::new(3), missing);
        }
        // Everything before FIRST + 1 is acknowledged, 4 more packets are outstanding.
        let next = |repairs: &mut Repairs| repairs.next(SendSlot::new(3), FIRST.wrapping_add(1), 4);
        assert_eq!(next(&mut repairs), Some(FIRST.wrapping_add(1)));
        assert_eq!(next(&mut repairs), Some(FIRST.wrapping_add(4)));
        assert_eq!(next(&mut repairs), None);
        assert_eq!(repairs.next(SendSlot::new(4), 0, 1), None);
    }
}
