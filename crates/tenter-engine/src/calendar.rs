//! Which nodes have work, and when: one entry per node, not per packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_units::Instant;

use crate::home::LocalNode;

/// Buckets in the ring; nodes that sleep longer wait in a heap.
const BUCKETS: usize = 256;

/// A ring of bitmaps, one per time bucket, with one bit per node; and a heap for the far future.
///
/// A set bit may be stale (its node has since been given another time): `wake` is the truth. That
/// makes every update one comparison and one bit, and a node that gets fifty packets in a window
/// costs one entry.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Length of a bucket in ps; the engine's windows end at multiples of it.
    bucket_ps: u64,
    words_per_bucket: usize,
    words: Vec<u64>,
    /// Buckets that may hold a bit.
    occupied: [u64; BUCKETS / 64],
    /// The number of the earliest bucket of the ring.
    base: u64,
    /// When each node must be visited next.
    wake: Vec<Instant>,
    /// (time, node) beyond the ring.
    far: BinaryHeap<Reverse<(Instant, LocalNode)>>,
    /// The time under which a node stands in `far`, to keep one entry per node and time.
    far_at: Vec<Instant>,
}

impl Calendar {
    pub(crate) fn new(nodes: usize, bucket_ps: u64) -> Calendar {
        assert!(bucket_ps > 0, "a window lasts at least a picosecond");
        let words_per_bucket = nodes.div_ceil(64);
        Calendar {
            bucket_ps,
            words_per_bucket,
            words: vec![0; words_per_bucket * BUCKETS],
            occupied: [0; BUCKETS / 64],
            base: 0,
            wake: vec![Instant::NEVER; nodes],
            far: BinaryHeap::new(),
            far_at: vec![Instant::NEVER; nodes],
        }
    }

    /// Asks for a visit at `at` or earlier.
    #[inline]
    pub(crate) fn wake(&mut self, node: LocalNode, at: Instant) {
        if at < self.wake[node.index()] {
            self.wake[node.index()] = at;
            self.enter(node, at);
        }
    }

    /// Asks for a visit in a bucket, which must be one of the ring's, or earlier: at its start, or
    /// `at` where the exact instant matters.
    #[inline]
    pub(crate) fn wake_in_bucket(&mut self, node: LocalNode, bucket: u64, at: Option<Instant>) {
        let at = at.unwrap_or(self.start_of(bucket));
        if at < self.wake[node.index()] {
            self.wake[node.index()] = at;
            self.mark(node, bucket);
        }
    }

    fn enter(&mut self, node: LocalNode, at: Instant) {
        let bucket = self.bucket_of(at);
        debug_assert!(bucket >= self.base, "a node is woken in the past");
        if bucket >= self.base + BUCKETS as u64 {
            if self.far_at[node.index()] != at {
                self.far_at[node.index()] = at;
                self.far.push(Reverse((at, node)));
            }
            return;
        }
        self.mark(node, bucket);
    }

    #[inline]
    fn mark(&mut self, node: LocalNode, bucket: u64) {
        let slot = bucket as usize % BUCKETS;
        self.words[slot * self.words_per_bucket + node.index() / 64] |= 1 << (node.number() % 64);
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// The bucket that holds `at`.
    #[inline]
    fn bucket_of(&self, at: Instant) -> u64 {
        at.ps() / self.bucket_ps
    }

    /// When a bucket starts.
    #[inline]
    fn start_of(&self, bucket: u64) -> Instant {
        Instant::from_ps(bucket * self.bucket_ps)
    }

    /// When a bucket ends: at most never.
    #[inline]
    fn end_of(&self, bucket: u64) -> Instant {
        Instant::from_ps((bucket + 1).saturating_mul(self.bucket_ps))
    }

    /// The end of the bucket that holds `at`: no window crosses it.
    pub(crate) fn bucket_end(&self, at: Instant) -> Instant {
        self.end_of(self.bucket_of(at))
    }

    /// A lower bound of the next time any node must be visited, tight to a bucket; `None` when no
    /// node has work.
    ///
    /// `now` must be no later than any node's next visit; buckets before it are forgotten.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Instant> {
        self.advance_to(self.bucket_of(now));
        loop {
            if let Some(slot) = self.next_slot() {
                let bucket = self.base + slot;
                if self.bucket_has_work(bucket) {
                    return Some(now.max(self.start_of(bucket)));
                }
                continue;
            }
            // The ring must not move ahead of `now`: something may still be sent to arrive before
            // `at`.
            let &Reverse((at, node)) = self.far.peek()?;
            if self.wake[node.index()] == at {
                return Some(self.start_of(self.bucket_of(at)));
            }
            self.far.pop();
            self.forget_far(node, at);
        }
    }

    /// The next time any node must be visited, exactly; `None` when no node has work.
    pub(crate) fn next_exactly(&mut self, now: Instant) -> Option<Instant> {
        let start = self.next(now)?;
        let end = self.bucket_end(start);
        if self.bucket_of(start) >= self.base + BUCKETS as u64 {
            return self.far.peek().map(|&Reverse((at, _))| at);
        }
        let words = self.bucket_of(start) as usize % BUCKETS * self.words_per_bucket;
        let mut earliest = end;
        for index in 0..self.words_per_bucket {
            let mut nodes = self.words[words + index];
            while nodes != 0 {
                let node = index * 64 + nodes.trailing_zeros() as usize;
                nodes &= nodes - 1;
                earliest = earliest.min(self.wake[node]);
            }
        }
        Some(earliest)
    }

    /// Offset from `base` of the first bucket marked as occupied.
    fn next_slot(&self) -> Option<u64> {
        let first = self.base as usize % BUCKETS;
        for step in 0..=BUCKETS / 64 {
            let index = (first / 64 + step) % (BUCKETS / 64);
            let mut word = self.occupied[index];
            if step == 0 {
                word &= !0 << (first % 64);
            } else if step == BUCKETS / 64 {
                word &= !(!0 << (first % 64));
            }
            if word != 0 {
                let slot = index * 64 + word.trailing_zeros() as usize;
                return Some(((slot + BUCKETS - first) % BUCKETS) as u64);
            }
        }
        None
    }

    /// Whether a node of `bucket` really has work in it; clears stale bits on the way.
    fn bucket_has_work(&mut self, bucket: u64) -> bool {
        let end = self.end_of(bucket);
        let slot = bucket as usize % BUCKETS;
        for index in 0..self.words_per_bucket {
            let place = slot * self.words_per_bucket + index;
            while self.words[place] != 0 {
                let node = index * 64 + self.words[place].trailing_zeros() as usize;
                if self.wake[node] < end {
                    return true;
                }
                self.words[place] &= self.words[place] - 1;
            }
        }
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        false
    }

    /// Makes the bucket of a window that is about to run part of the ring.
    pub(crate) fn begin(&mut self, window_start: Instant) {
        self.advance_to(self.bucket_of(window_start));
    }

    fn advance_to(&mut self, bucket: u64) {
        if bucket <= self.base {
            return;
        }
        // Everything before `bucket` is done; its bits, if any are left, are stale.
        for old in self.base..bucket.min(self.base + BUCKETS as u64) {
            let slot = old as usize % BUCKETS;
            if self.occupied[slot / 64] & (1 << (slot % 64)) != 0 {
                let words = slot * self.words_per_bucket;
                self.words[words..words + self.words_per_bucket].fill(0);
                self.occupied[slot / 64] &= !(1 << (slot % 64));
            }
        }
        self.base = bucket;
        let horizon = self.end_of(bucket + BUCKETS as u64 - 1);
        while let Some(&Reverse((at, node))) = self.far.peek() {
            if at >= horizon {
                break;
            }
            self.far.pop();
            self.forget_far(node, at);
            if self.wake[node.index()] == at {
                self.enter(node, at);
            }
        }
    }

    fn forget_far(&mut self, node: LocalNode, at: Instant) {
        if self.far_at[node.index()] == at {
            self.far_at[node.index()] = Instant::NEVER;
        }
    }

    /// Takes the nodes of one word of the window's bucket that must be visited before `end`.
    ///
    /// Bits of nodes that are due later in the same bucket stay.
    #[inline]
    pub(crate) fn take_due(&mut self, window_start: Instant, word: usize, end: Instant) -> u64 {
        let slot = self.bucket_of(window_start) as usize % BUCKETS;
        let place = slot * self.words_per_bucket + word;
        let mut candidates = self.words[place];
        let mut due = 0;
        while candidates != 0 {
            let bit = candidates & candidates.wrapping_neg();
            candidates ^= bit;
            let node = word * 64 + bit.trailing_zeros() as usize;
            if self.wake[node] < end {
                due |= bit;
                self.wake[node] = Instant::NEVER;
            }
        }
        self.words[place] &= !due;
        due
    }

    pub(crate) fn words(&self) -> usize {
        self.words_per_bucket
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::Instant;

    use super::{BUCKETS, Calendar};
    use crate::home::LocalNode;

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    /// Visits nodes in windows and returns (window start bucket, node) in order.
    fn drain(calendar: &mut Calendar) -> Vec<(u64, u32)> {
        let mut seen = Vec::new();
        let mut now = Instant::START;
        while let Some(start) = calendar.next(now) {
            let end = calendar.bucket_end(start);
            calendar.begin(start);
            for word in 0..calendar.words() {
                let mut due = calendar.take_due(start, word, end);
                while due != 0 {
                    seen.push((start.ps() / 100, word as u32 * 64 + due.trailing_zeros()));
                    due &= due - 1;
                }
            }
            now = end;
        }
        seen
    }

    #[test]
    fn nodes_come_in_time_order_and_idle_time_is_skipped() {
        let mut calendar = Calendar::new(130, 100);
        calendar.wake(LocalNode::new(129), at(250));
        calendar.wake(LocalNode::new(3), at(50));
        calendar.wake(LocalNode::new(64), at(299));
        calendar.wake(LocalNode::new(7), at(100 * BUCKETS as u64 * 50 + 1));
        assert_eq!(
            drain(&mut calendar),
            [(0, 3), (2, 64), (2, 129), (BUCKETS as u64 * 50, 7)]
        );
    }

    #[test]
    fn an_earlier_wake_makes_the_later_entry_stale() {
        let mut calendar = Calendar::new(10, 100);
        calendar.wake(LocalNode::new(5), at(900_000));
        calendar.wake(LocalNode::new(5), at(950));
        calendar.wake(LocalNode::new(5), at(20));
        calendar.wake(LocalNode::new(5), at(5_000));
        assert_eq!(drain(&mut calendar), [(0, 5)]);
        assert_eq!(calendar.next(at(1_000_000)), None);
    }

    #[test]
    fn a_node_due_after_an_edge_stays_in_its_bucket() {
        let mut calendar = Calendar::new(2, 100);
        calendar.wake(LocalNode::new(0), at(10));
        calendar.wake(LocalNode::new(1), at(60));
        assert_eq!(calendar.take_due(at(0), 0, at(50)), 1);
        assert_eq!(calendar.next(at(50)), Some(at(50)));
        assert_eq!(calendar.take_due(at(50), 0, at(100)), 2);
    }
}
