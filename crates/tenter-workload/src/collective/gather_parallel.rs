//! Gather, parallel: all ranks send their share to the root at once (N:1).
//!
//! Origin: gather, parallel, in "AI Fabric Test Methodology" (Keysight) and the grouped sends and
//! receives in NVIDIA/nccl-tests `gather.cu`; sizes and bus bandwidth as there. Parameter: the
//! root, by default 0.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::limits::RANKS;
use super::member::{CollectiveMember, Factor};
use super::star::{Direction, Star};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All ranks send their share to one, all at once.
    pub struct GatherParallel as "`jobs[].collectives[]` with `collective: gather` and `algorithm: parallel`" {
        /// The rank that all others send to.
        root: u32 = "0", in RANKS;
    }
}

impl Collective for GatherParallel {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "gather",
        algorithm: "parallel",
        summary: "all ranks send their share to one root at once",
        model_page: "docs/models/collective-gather-parallel.md",
        ranks_max: u32::MAX,
        // The root already has its own share.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let star = Star::of_blocks(
            &Self::MEMBER,
            ranks,
            self.root,
            size_bytes,
            Direction::ToRoot,
        )?;
        Ok(Box::new(star))
    }

    /// Takes (n−1)·c + L: the root's port receives n−1 blocks.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.one_port(switch.others())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_go_to_the_root() {
        // S = 7 over 3 ranks: ⌊i·7/3⌋ = 0, 2, 4, 7.
        let gather = GatherParallel { root: 0 }.schedule(3, 7).unwrap();
        let sent: Vec<_> = (0..2)
            .map(|id| gather.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(1, 0, 2), (2, 0, 3)]);
    }
}
