//! All-reduce, halving-doubling: reduce-scatter by recursive halving, then all-gather by recursive
//! doubling.
//!
//! Origin: all-reduce, vector halving-doubling, in "AI Fabric Test Methodology" (Keysight), whose
//! order of distances is the default, and "Optimization of Collective Communication Operations in
//! MPICH" (Thakur, Rabenseifner, Gropp, 2005), where the other order is Rabenseifner's algorithm.
//! Ranks beyond a power of two are folded into their neighbours, as there.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::butterfly::{Butterfly, Distances, Exchanges};
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All-reduce by recursive halving, then recursive doubling.
    pub struct AllReduceHalvingDoubling as "`jobs[].collectives[]` with `collective: all-reduce` and `algorithm: halving-doubling`" {
        /// Distance between the ranks of an exchange while the vector is halved; on the way back
        /// the order is reversed. `halving`: ranks n/2 apart exchange halves, ranks n/4 apart
        /// quarters, and so on; `doubling`: neighbours exchange halves, ranks 2 apart quarters, and
        /// so on.
        distances: Distances = "halving", from "AI Fabric Test Methodology (Keysight); `doubling` is the order of MPICH and Open MPI";
    }
}

impl Collective for AllReduceHalvingDoubling {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-reduce",
        algorithm: "halving-doubling",
        summary: "ranks exchange halves, quarters, … of their sums, then the results backwards",
        model_page: "docs/models/collective-all-reduce-halving-doubling.md",
        // 2k·2ᵏ + 2·extras transfers must not exceed 2³²−1 ids, so k = 26 at most.
        ranks_max: (1 << 27) - 1,
        // The factor of all-reduce, whatever the algorithm.
        busbw: Factor::TwiceAllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let exchanges = Exchanges::Both(self.distances);
        Ok(Box::new(Butterfly::new(ranks, size_bytes, exchanges)))
    }

    /// Takes 2·Σ (c(S/2ʲ) + L), j = 1 … k: exchanges follow each other.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        Exchanges::Both(self.distances).ideal(switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KiB and distance of the exchanges of rank 0, of 8 ranks with 1 MiB.
    fn exchanges(distances: Distances) -> [(u64, u32); 6] {
        let exchanges = AllReduceHalvingDoubling { distances };
        let schedule = exchanges.schedule(8, 1 << 20).unwrap();
        [0, 1, 2, 3, 4, 5].map(|step| {
            let transfer = schedule.transfer(8 * step);
            (transfer.bytes >> 10, transfer.dst)
        })
    }

    #[test]
    fn half_goes_the_furthest_as_the_methodology_has_it() {
        // "N/2 at distance 4, N/4 at distance 2, N/8 at distance 1", and back.
        let there = [(512, 4), (256, 2), (128, 1)];
        let back = [(128, 1), (256, 2), (512, 4)];
        let both: Vec<_> = there.into_iter().chain(back).collect();
        assert_eq!(exchanges(Distances::default()).to_vec(), both);
    }

    #[test]
    fn half_goes_to_the_neighbour_as_rabenseifner_has_it() {
        // Vectors halve and distances double; on the way back the other way round.
        let there = [(512, 1), (256, 2), (128, 4)];
        let back = [(128, 4), (256, 2), (512, 1)];
        let both: Vec<_> = there.into_iter().chain(back).collect();
        assert_eq!(exchanges(Distances::Doubling).to_vec(), both);
    }
}
