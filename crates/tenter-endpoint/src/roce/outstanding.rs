//! Messages that a queue pair may have in flight at once: the depth of its send queue.

use std::collections::VecDeque;
use tenter_fabric::net::SendSlot;
use tenter_language::units::ById;

/// Messages that queue pairs have begun and that are not fully acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Outstanding {
    most: usize,
    /// For each send queue pair the PSN after each such message, oldest first.
    ends: ById<SendSlot, VecDeque<u32>>,
}

impl Outstanding {
    /// Allows `most` messages in flight for each of `slots` send queue pairs.
    pub(super) fn new(most: u32, slots: usize) -> Outstanding {
        Outstanding {
            most: most as usize,
            ends: vec![VecDeque::new(); slots].into(),
        }
    }

    /// Returns the packets that a queue pair may have unacknowledged. At the limit these reach to
    /// the end of the last message begun; below it there is no limit.
    pub(super) fn window(&self, slot: SendSlot, acknowledged: u32) -> u32 {
        let ends = &self.ends[slot];
        match ends.back() {
            Some(last) if ends.len() >= self.most => last.wrapping_sub(acknowledged),
            _ => u32::MAX,
        }
    }

    /// Notes that the first packet of a message goes out, which ends before `end`. After a rewind
    /// the same message may begin again.
    pub(super) fn begin(&mut self, slot: SendSlot, end: u32) {
        let ends = &mut self.ends[slot];
        // PSNs wrap, so compare by the sign of the difference.
        let is_new = |last: &u32| end.wrapping_sub(*last).cast_signed() > 0;
        if ends.back().is_none_or(is_new) {
            ends.push_back(end);
        }
    }

    /// Removes messages that end at or before `sequence`, up to which everything is acknowledged.
    pub(super) fn acknowledge(&mut self, slot: SendSlot, sequence: u32) {
        let ends = &mut self.ends[slot];
        while ends
            .front()
            .is_some_and(|end| sequence.wrapping_sub(*end).cast_signed() >= 0)
        {
            ends.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::net::SendSlot;

    use super::Outstanding;

    const SLOT: SendSlot = SendSlot::new(0);

    #[test]
    fn the_window_ends_with_the_last_message_that_may_be_begun() {
        // Messages of 4 packets, two at a time.
        let mut own = Outstanding::new(2, 1);
        assert_eq!(own.window(SLOT, 0), u32::MAX);
        own.begin(SLOT, 4);
        assert_eq!(own.window(SLOT, 0), u32::MAX);
        own.begin(SLOT, 8);
        assert_eq!(own.window(SLOT, 0), 8);
        // Packets that are acknowledged in the middle of a message do not end it.
        own.acknowledge(SLOT, 3);
        assert_eq!(own.window(SLOT, 3), 5);
        own.acknowledge(SLOT, 4);
        assert_eq!(own.window(SLOT, 4), u32::MAX);
    }

    #[test]
    fn a_message_that_is_sent_again_counts_once() {
        let mut own = Outstanding::new(2, 1);
        own.begin(SLOT, 4);
        own.begin(SLOT, 8);
        own.begin(SLOT, 4);
        own.begin(SLOT, 8);
        assert_eq!(own.window(SLOT, 0), 8);
        own.acknowledge(SLOT, 8);
        own.begin(SLOT, 12);
        assert_eq!(own.window(SLOT, 8), u32::MAX);
    }

    #[test]
    fn sequence_numbers_wrap() {
        let mut own = Outstanding::new(1, 1);
        own.acknowledge(SLOT, u32::MAX - 1);
        own.begin(SLOT, 2);
        assert_eq!(own.window(SLOT, u32::MAX - 1), 4);
        own.acknowledge(SLOT, 1);
        assert_eq!(own.window(SLOT, 1), 1);
        own.acknowledge(SLOT, 2);
        assert_eq!(own.window(SLOT, 2), u32::MAX);
    }
}
