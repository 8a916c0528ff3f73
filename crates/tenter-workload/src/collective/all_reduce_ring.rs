//! All-reduce, unidirectional ring: reduce-scatter once round, then all-gather once round.
//!
//! Origin: "Bandwidth optimal all-reduce algorithms for clusters of workstations" (Patarasuk, Yuan,
//! 2009), as in NCCL and in "AI Fabric Test Methodology" (Keysight). It has no parameters; the ring
//! follows the order of the ranks.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::member::{CollectiveMember, Factor};
use super::ring::Ring;
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All-reduce round a ring in one direction: reduce-scatter, then all-gather.
    pub struct AllReduceRing;
}

impl Collective for AllReduceRing {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-reduce",
        algorithm: "ring",
        summary: "sums travel round a ring in one direction, then the results do",
        model_page: "docs/models/collective-all-reduce-ring.md",
        // Beyond 32-bit ids the rings run at flow level only, as a unit.
        ranks_max: 1 << 20,
        // Every byte crosses each rank's port twice, except one chunk each time.
        busbw: Factor::TwiceAllButOwn,
    };

    /// In step s rank r sends chunk (r − s) mod n to rank r + 1.
    ///
    /// One formula serves both halves: the reduce-scatter ends (s = n−2) with chunk r+1 complete at
    /// rank r, and at s = n−1, the first all-gather step, (r − s) mod n is that chunk.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let chunks = Chunks::new(size_bytes, ranks);
        Ok(Box::new(Ring::new(chunks, 0, 2 * (ranks - 1), ranks - 1)))
    }

    /// Takes 2(n−1)·(c + L): each step waits for the arrival from the previous one.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.steps(2 * switch.others())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ranks_by_hand() {
        let ring = AllReduceRing.schedule(3, 9).unwrap();
        let sent = |id| {
            let t = ring.transfer(id);
            (t.step, t.src, t.dst, t.chunk, t.reduce)
        };
        // Reduce-scatter: each rank first sends its own chunk, then adds and passes on what it got.
        assert_eq!(sent(0), (0, 0, 1, 0, true));
        assert_eq!(sent(2), (0, 2, 0, 2, true));
        assert_eq!(sent(4), (1, 1, 2, 0, true));
        // Chunk 0 has now been summed at rank 2, which starts the all-gather with it.
        assert_eq!(sent(8), (2, 2, 0, 0, false));
        assert_eq!(sent(9), (3, 0, 1, 0, false));
        assert_eq!(ring.transfer_count(), 12);
    }
}
