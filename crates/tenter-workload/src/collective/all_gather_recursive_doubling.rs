//! All-gather, recursive doubling: log₂ n exchanges, each with all data gathered so far.
//!
//! Origin: "Optimization of Collective Communication Operations in MPICH" (Thakur, Rabenseifner,
//! Gropp, 2005). It has no parameters. Ranks beyond a power of two are folded into their
//! neighbours, as that paper does for all-reduce.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::butterfly::{Butterfly, Exchanges};
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All-gather in log₂ n exchanges, each of twice as many bytes as the one before.
    pub struct AllGatherRecursiveDoubling;
}

impl Collective for AllGatherRecursiveDoubling {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-gather",
        algorithm: "recursive-doubling",
        summary: "ranks exchange all they have, twice as much each time",
        model_page: "docs/models/collective-all-gather-recursive-doubling.md",
        // k·2ᵏ + 2·extras transfers must not exceed 2³²−1 ids, so k = 27 at most.
        ranks_max: (1 << 28) - 1,
        // Each rank already has its own block.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        Ok(Box::new(Butterfly::new(
            ranks,
            size_bytes,
            Exchanges::Doubling,
        )))
    }

    /// Takes Σ (c(S/2ʲ) + L), j = k … 1: exchanges follow each other.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        Exchanges::Doubling.ideal(switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exchange_is_twice_the_one_before() {
        let schedule = AllGatherRecursiveDoubling.schedule(8, 8 << 10).unwrap();
        let bytes: Vec<_> = (0..3)
            .map(|step| schedule.transfer(8 * step).bytes)
            .collect();
        assert_eq!(bytes, [1 << 10, 2 << 10, 4 << 10]);
        // Rank 5 exchanges with 4, with 7, with 1.
        let partners = [5, 13, 21].map(|id| schedule.transfer(id).dst);
        assert_eq!(partners, [4, 7, 1]);
    }
}
