//! All-reduce, halving-doubling: reduce-scatter by recursive halving with near ranks first, then
//! all-gather by recursive doubling back.
//!
//! Origin: "Optimization of Collective Communication Operations in MPICH" (Thakur, Rabenseifner,
//! Gropp, 2005), there as Rabenseifner's algorithm, and all-reduce, vector halving-doubling, of "AI
//! Fabric Test Methodology" (Keysight). It has no parameters. Ranks beyond a power of two are
//! folded into their neighbours, as there.

use super::butterfly::{Butterfly, Exchanges};
use super::{CollectiveKind, CollectiveMember, Factor};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "all-reduce",
    algorithm: "halving-doubling",
    summary: "ranks exchange halves, quarters, … of their sums, then the results backwards",
    model_page: "docs/models/collective-all-reduce-halving-doubling.md",
    // 2k·2ᵏ + 2·extras ≤ 2³²−1, with k = 26 at most.
    ranks_max: (1 << 27) - 1,
    // That of all-reduce, whatever the algorithm.
    busbw: Factor::TwiceAllButOwn,
    default: CollectiveKind::AllReduceHalvingDoubling,
};

pub(super) fn schedule(ranks: u32, size_bytes: u64) -> Butterfly {
    Butterfly::new(ranks, size_bytes, Exchanges::Both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn each_exchange_is_half_of_the_one_before_and_back() {
        let schedule = schedule(8, 1 << 20);
        let bytes: Vec<_> = (0..6)
            .map(|step| schedule.transfer(8 * step).bytes)
            .collect();
        let kib: Vec<_> = bytes.iter().map(|bytes| bytes >> 10).collect();
        assert_eq!(kib, [512, 256, 128, 128, 256, 512]);
    }
}
