//! Reduce-scatter, recursive halving: log₂ n exchanges, each with half as much as the one before.
//!
//! Origin: "Optimization of Collective Communication Operations in MPICH" (Thakur, Rabenseifner,
//! Gropp, 2005). It has no parameters. Ranks beyond a power of two are folded into their
//! neighbours, as there.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::butterfly::{Butterfly, Exchanges};
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// Reduce-scatter in log₂ n exchanges, each of half as many bytes as the one before.
    pub struct ReduceScatterRecursiveHalving;
}

impl Collective for ReduceScatterRecursiveHalving {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "reduce-scatter",
        algorithm: "recursive-halving",
        summary: "ranks exchange sums of what the other must end with, half as much each time",
        model_page: "docs/models/collective-reduce-scatter-recursive-halving.md",
        // k·2ᵏ + 2·extras transfers must not exceed 2³²−1 ids, so k = 27 at most.
        ranks_max: (1 << 28) - 1,
        // Each rank's own contribution to its block stays where it is.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        Ok(Box::new(Butterfly::new(
            ranks,
            size_bytes,
            Exchanges::Halving,
        )))
    }

    /// Takes Σ (c(S/2ʲ) + L), j = 1 … k: the exchanges of the all-gather, backwards.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        Exchanges::Halving.ideal(switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exchange_is_half_of_the_one_before() {
        let schedule = ReduceScatterRecursiveHalving.schedule(8, 8 << 10).unwrap();
        let bytes: Vec<_> = (0..3)
            .map(|step| schedule.transfer(8 * step).bytes)
            .collect();
        assert_eq!(bytes, [4 << 10, 2 << 10, 1 << 10]);
        // Rank 5 exchanges with 1, with 7, with 4.
        let partners = [5, 13, 21].map(|id| schedule.transfer(id).dst);
        assert_eq!(partners, [1, 7, 4]);
    }
}
