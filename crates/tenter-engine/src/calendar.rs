//! The calendar: the time at which each node has work next. A node has one entry, not one per
//! packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_language::units::Instant;

use crate::home::LocalNode;

/// Buckets in the ring. Nodes that sleep for longer wait in a heap.
const BUCKETS: usize = 256;

/// A ring of bitmaps, one per time bucket, with one bit per node; and a heap for the far future.
///
/// A set bit may be stale, because its node has since been given another time: `wake` is
/// authoritative. So an update is one comparison and one bit, and a node that gets fifty packets in
/// a window costs one entry.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Bucket length in ps. No window crosses a multiple.
    bucket_ps: u64,
    /// Words in a bitmap: one bit per node, 64 to a word.
    words_per_bucket: usize,
    words: Vec<u64>,
    /// One bit per bucket: set if its bitmap may have a bit set, so that a search skips empty
    /// bitmaps.
    occupied: [u64; BUCKETS / 64],
    /// Number that the ring's earliest bucket has.
    base: u64,
    /// Each node's next visit; `NEVER` if it has none.
    wake: Vec<Instant>,
    /// Entries (time, node) beyond the ring, earliest first. An entry is stale if `wake` says
    /// another time.
    far: BinaryHeap<Reverse<(Instant, LocalNode)>>,
    /// Each node's newest time in `far`: the same time need not be entered twice.
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

    /// Schedules a visit at `at`, unless `node` has an earlier one.
    #[inline]
    pub(crate) fn wake(&mut self, node: LocalNode, at: Instant) {
        if at < self.wake[node.index()] {
            self.wake[node.index()] = at;
            self.enter(node, at);
        }
    }

    /// Schedules a visit in `bucket`, which must be one in the ring, unless `node` has an earlier
    /// one. The visit is due at the bucket's start, or at `at` if the exact instant matters.
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

    /// Returns the bucket that contains `at`.
    #[inline]
    fn bucket_of(&self, at: Instant) -> u64 {
        at.ps() / self.bucket_ps
    }

    /// Returns the instant at which `bucket` starts.
    #[inline]
    fn start_of(&self, bucket: u64) -> Instant {
        Instant::from_ps(bucket * self.bucket_ps)
    }

    /// Returns the instant at which `bucket` ends; the last buckets of time end at
    /// [`Instant::NEVER`].
    #[inline]
    fn end_of(&self, bucket: u64) -> Instant {
        Instant::from_ps((bucket + 1).saturating_mul(self.bucket_ps))
    }

    /// Returns the bucket end after `at`: no window crosses it.
    pub(crate) fn bucket_end(&self, at: Instant) -> Instant {
        self.end_of(self.bucket_of(at))
    }

    /// Returns the start of the first bucket in which a node has work, or `now` if that is later;
    /// `None` if no node has work. It is a lower bound for the next visit.
    ///
    /// `now` must be no later than any node's next visit; earlier buckets are forgotten.
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
            // The ring must not move ahead of `now`: an item may still be sent that arrives before
            // `at`.
            let &Reverse((at, node)) = self.far.peek()?;
            if self.wake[node.index()] == at {
                return Some(self.start_of(self.bucket_of(at)));
            }
            self.far.pop();
            self.forget_far(node, at);
        }
    }

    /// Returns the exact time at which a node is visited next; `None` if no node has work.
    pub(crate) fn next_exactly(&mut self, now: Instant) -> Option<Instant> {
        let start = self.next(now)?;
        let end = self.bucket_end(start);
        // Beyond the ring, `next` has left a valid entry at the top of the heap.
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

    /// Returns the offset from `base` to the first bucket that is marked as occupied.
    fn next_slot(&self) -> Option<u64> {
        let first = self.base as usize % BUCKETS;
        // The first word is searched twice: its bits from `first` on belong to the earliest
        // buckets, those below `first` to the latest.
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

    /// Returns true if a node has work in `bucket`; clears the stale bits that it passes.
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

    /// Advances the ring to the bucket in which a window is about to run.
    pub(crate) fn begin(&mut self, window_start: Instant) {
        self.advance_to(self.bucket_of(window_start));
    }

    fn advance_to(&mut self, bucket: u64) {
        if bucket <= self.base {
            return;
        }
        // All work before `bucket` is done; bits that are left are stale.
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
            // An entry may be stale: its node may have been woken earlier and visited since.
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

    /// Returns a bitmap of nodes `64 * word` and on that must be visited before `end`, and removes
    /// them from the calendar.
    ///
    /// Nodes that are due later in the same bucket keep their bits.
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
                // A visit schedules the next one anew.
                self.wake[node] = Instant::NEVER;
            }
        }
        self.words[place] &= !due;
        due
    }

    /// Returns the word count of a bitmap: `word` in [`Calendar::take_due`] is below this.
    pub(crate) fn words(&self) -> usize {
        self.words_per_bucket
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Instant;

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
