//! Scatter, parallel: the root sends each rank its share, all at once.
//!
//! Origin: the grouped sends and receives in NVIDIA/nccl-tests `scatter.cu`; sizes and bus
//! bandwidth as there. Parameter: the root, by default 0.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::limits::RANKS;
use super::member::{CollectiveMember, Factor};
use super::star::{Direction, Star};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// One rank sends every other its share, all at once.
    pub struct ScatterParallel as "`jobs[].collectives[]` with `collective: scatter` and `algorithm: parallel`" {
        /// The rank that all others receive from.
        root: u32 = "0", in RANKS;
    }
}

impl Collective for ScatterParallel {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "scatter",
        algorithm: "parallel",
        summary: "one root sends every rank its share at once",
        model_page: "docs/models/collective-scatter-parallel.md",
        ranks_max: u32::MAX,
        // The root keeps its own share.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let star = Star::of_blocks(
            &Self::MEMBER,
            ranks,
            self.root,
            size_bytes,
            Direction::FromRoot,
        )?;
        Ok(Box::new(star))
    }

    /// Takes (n−1)·c + L: the root's port sends n−1 blocks.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.one_port(switch.others())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_from_the_root() {
        // S = 7 over 3 ranks: ⌊i·7/3⌋ = 0, 2, 4, 7.
        let scatter = ScatterParallel { root: 0 }.schedule(3, 7).unwrap();
        let sent: Vec<_> = (0..2)
            .map(|id| scatter.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 2), (0, 2, 3)]);
    }
}
