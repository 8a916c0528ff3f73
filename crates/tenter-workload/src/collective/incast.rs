//! Incast: all other ranks send to the root at once.
//!
//! Origin: gather, parallel (N:1), in "AI Fabric Test Methodology" (Keysight); sizes and bus
//! bandwidth as for the gather in NVIDIA/nccl-tests. Parameter: the root, by default 0.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::limits::RANKS;
use super::member::{CollectiveMember, Factor};
use super::star::{Direction, Star};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All other ranks send to one.
    pub struct Incast as "`jobs[].collectives[]` with `collective: incast` and `algorithm: parallel`" {
        /// The rank that all others send to.
        root: u32 = "0", in RANKS;
    }
}

impl Collective for Incast {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "incast",
        algorithm: "parallel",
        summary: "all other ranks send a block to one root at once",
        model_page: "docs/models/collective-incast.md",
        ranks_max: u32::MAX,
        // The root already has its own block.
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
    fn everyone_but_the_root_sends_its_block() {
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes; rank 1's stays where it is.
        let incast = Incast { root: 1 }.schedule(4, 10).unwrap();
        let sent: Vec<_> = (0..3)
            .map(|id| incast.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 2), (2, 1, 2), (3, 1, 3)]);
    }

    #[test]
    fn the_root_must_be_a_rank() {
        let refused = Incast { root: 4 }.schedule(4, 10).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "incast (parallel): root 4 is not one of the 4 ranks; give a root from 0 to 3"
        );
    }
}
