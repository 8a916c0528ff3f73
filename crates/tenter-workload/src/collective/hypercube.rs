//! Hypercube: an all-gather in which ranks exchange with their neighbours in one dimension after
//! the other.
//!
//! Origin: NVIDIA/nccl-tests `hypercube.cu`; sizes and bandwidths as there. It has no parameters
//! and, as there, runs on powers of two only.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::butterfly::{Butterfly, Exchanges};
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All-gather along the edges of a hypercube, as nccl-tests has it.
    pub struct Hypercube;
}

impl Collective for Hypercube {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "hypercube",
        algorithm: "recursive-doubling",
        summary: "an all-gather along the edges of a hypercube, as nccl-tests has it",
        model_page: "docs/models/collective-hypercube.md",
        // k·2ᵏ transfers must not exceed 2³²−1 ids, so k = 27 at most.
        ranks_max: 1 << 27,
        // Nccl-tests already counts only moved bytes in the algorithm bandwidth.
        busbw: Factor::One,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        if !ranks.is_power_of_two() {
            let collective = Self::MEMBER.to_string();
            return Err(WorkloadError::NotPowerOfTwo { collective, ranks });
        }
        Ok(Box::new(Butterfly::new(
            ranks,
            size_bytes,
            Exchanges::Doubling,
        )))
    }

    /// Takes as long as the all-gather by recursive doubling, which is the same traffic.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        Exchanges::Doubling.ideal(switch)
    }

    /// Leaves out the block that a rank already has, as nccl-tests does.
    fn algbw(&self) -> Factor {
        Factor::AllButOwn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_follow_each_other() {
        let schedule = Hypercube.schedule(8, 8 << 10).unwrap();
        let sent = [3, 11, 19].map(|id| schedule.transfer(id));
        assert_eq!(sent.map(|t| t.src), [3, 3, 3]);
        assert_eq!(sent.map(|t| t.dst), [2, 1, 7]);
        assert_eq!(sent.map(|t| t.bytes), [1 << 10, 2 << 10, 4 << 10]);
    }

    #[test]
    fn other_numbers_of_ranks_are_refused() {
        let refused = Hypercube.schedule(12, 1).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "hypercube (recursive-doubling): 12 ranks are not the corners of a hypercube; \
             use a power of two such as 8 or 16, or all-gather"
        );
    }
}
