//! No recovery: lost packets are counted and never resent, as by a traffic tester's ports.
//!
//! Source: AI Fabric Test Methodology (Keysight). In its chunk tables frames received are frames
//! sent less frames lost, and none is resent. A tester knows what each flow contains, so its
//! receiving ports know where a transfer ends whatever is lost.

use crate::receive::{Delivery, ReceiveQueuePair};
use tenter_fabric::net::ReceiveSlot;
use tenter_language::units::Instant;

impl ReceiveQueuePair {
    /// Gives up all packets missing before `sequence`, passes the transfers that end there to
    /// `delivered`, and returns how many packets it gave up.
    ///
    /// `packets_of(n)` returns the packet count for the n-th transfer on this queue pair, 0 if
    /// there is none.
    pub(crate) fn give_up_before(
        &mut self,
        sequence: u32,
        slot: ReceiveSlot,
        now: Instant,
        packets_of: impl Fn(u32) -> u32,
        mut delivered: impl FnMut(Delivery),
    ) -> u32 {
        let lost = sequence.wrapping_sub(self.expected);
        // PSNs wrap: a difference beyond half the range means that `sequence` is older than what
        // has arrived, so nothing is missing before it.
        if lost > u32::MAX / 2 {
            return 0;
        }
        loop {
            // The loss may span several transfers, and each is delivered separately.
            let packets = packets_of(self.delivered());
            let end = self.first.wrapping_add(packets);
            if packets == 0 || sequence.wrapping_sub(self.first) < packets {
                break;
            }
            self.expected = end;
            delivered(self.deliver(slot, now));
        }
        self.expected = sequence;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_ps(9);

    /// Returns the deliveries of a queue pair with transfers of 4, 2 and 8 packets that has
    /// received `received` packets when everything before `sequence` is given up.
    fn delivered(received: u32, sequence: u32) -> (u32, Vec<u32>, ReceiveQueuePair) {
        let mut queue_pair = ReceiveQueuePair::default();
        for _ in 0..received {
            queue_pair.accept(100, 1);
        }
        let packets_of = |nth: u32| [4, 2, 8].get(nth as usize).copied().unwrap_or(0);
        let mut frames = Vec::new();
        let lost =
            queue_pair.give_up_before(sequence, ReceiveSlot::new(0), NOW, packets_of, |delivery| {
                assert_eq!((delivery.nth as usize, delivery.at), (frames.len(), NOW));
                frames.push(delivery.accepted_frames);
            });
        (lost, frames, queue_pair)
    }

    #[test]
    fn transfers_end_where_they_would_have() {
        // Within the first transfer nothing ends.
        let (lost, frames, queue_pair) = delivered(1, 3);
        assert_eq!((lost, frames, queue_pair.expected), (2, vec![], 3));
        // Its last packet is lost, and the whole second transfer with it.
        let (lost, frames, queue_pair) = delivered(3, 7);
        assert_eq!((lost, frames), (4, vec![3, 0]));
        assert_eq!((queue_pair.expected, queue_pair.first), (7, 6));
        // To the end of the last one.
        let (lost, frames, _) = delivered(0, 14);
        assert_eq!((lost, frames), (14, vec![0, 0, 0]));
        // What has been received is not given up.
        let (lost, frames, queue_pair) = delivered(3, 2);
        assert_eq!((lost, frames, queue_pair.expected), (0, vec![], 3));
    }
}
