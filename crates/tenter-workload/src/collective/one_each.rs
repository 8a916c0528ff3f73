//! One transfer from each rank to one other rank: the core of send-recv and permutations.

use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// A schedule in which rank r sends once; the transfer's id and chunk are both r.
pub(super) struct OneEach {
    destination: Box<[u32]>,
    size_bytes: u64,
}

impl OneEach {
    /// Lets rank r send `size_bytes` to `destination[r]`.
    pub(super) fn new(destination: Box<[u32]>, size_bytes: u64) -> OneEach {
        OneEach {
            destination,
            size_bytes,
        }
    }
}

impl Schedule for OneEach {
    fn ranks(&self) -> u32 {
        self.destination.len() as u32
    }

    fn transfer_count(&self) -> u32 {
        self.ranks()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let dst = self.destination[id as usize];
        Transfer {
            src: id,
            dst,
            bytes: self.size_bytes,
            chunk: id,
            channel: 0,
            step: 0,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        out.push(rank);
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn nth(&self, src: u32, _: Destination, _: QueuePairScope, nth: u32) -> Option<u32> {
        (nth == 0).then_some(src)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        out.push(Destination {
            dst: self.destination[rank as usize],
            lane: scope.lane(0, rank),
        });
    }
}
