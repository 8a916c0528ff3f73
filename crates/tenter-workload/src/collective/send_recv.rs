//! Send-recv: each rank sends its whole buffer to the next one and receives that of the one before.
//!
//! Origin: NVIDIA/nccl-tests `sendrecv.cu`; size and bus bandwidth as there. It has no parameters;
//! the ring is the order of the ranks.

use super::{CollectiveKind, CollectiveMember, Factor};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "send-recv",
    algorithm: "ring",
    summary: "each rank sends everything to the next one",
    model_page: "docs/models/collective-send-recv.md",
    ranks_max: u32::MAX,
    // Every byte crosses one port each way.
    busbw: Factor::One,
    default: CollectiveKind::SendRecv,
};

/// Transfer id and chunk are the sender's rank.
pub(super) struct SendRecv {
    ranks: u32,
    size_bytes: u64,
}

impl SendRecv {
    pub(super) fn new(ranks: u32, size_bytes: u64) -> SendRecv {
        SendRecv { ranks, size_bytes }
    }

    fn next(&self, rank: u32) -> u32 {
        if rank + 1 == self.ranks { 0 } else { rank + 1 }
    }
}

impl Schedule for SendRecv {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.ranks
    }

    fn transfer(&self, id: u32) -> Transfer {
        Transfer {
            src: id,
            dst: self.next(id),
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
            dst: self.next(rank),
            lane: scope.lane(0, rank),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_sends_to_the_next() {
        let schedule = SendRecv::new(3, 7);
        let sent: Vec<_> = (0..3)
            .map(|id| schedule.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 7), (1, 2, 7), (2, 0, 7)]);
    }
}
