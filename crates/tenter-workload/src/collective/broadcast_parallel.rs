//! Broadcast, parallel: the root sends the same whole message to each of the others, all at once.
//!
//! Origin: broadcast, parallel, in "AI Fabric Test Methodology" (Keysight); size and bus bandwidth
//! as for the broadcast in NVIDIA/nccl-tests. Parameter: the root, by default 0.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::limits::RANKS;
use super::member::{CollectiveMember, Factor};
use super::star::Star;
use crate::closed_form::{IdealSwitch, times};
use crate::{Schedule, WorkloadError};

component! {
    /// One rank sends the same message to every other, all at once.
    pub struct BroadcastParallel as "`jobs[].collectives[]` with `collective: broadcast` and `algorithm: parallel`" {
        /// The rank that all others receive from.
        root: u32 = "0", in RANKS;
    }
}

impl Collective for BroadcastParallel {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "broadcast",
        algorithm: "parallel",
        summary: "one root sends the same message to every rank at once",
        model_page: "docs/models/collective-broadcast-parallel.md",
        ranks_max: u32::MAX,
        // Counted as if the message left the root only once, as in nccl-tests.
        busbw: Factor::One,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let star = Star::of_copies(&Self::MEMBER, ranks, self.root, size_bytes)?;
        Ok(Box::new(star))
    }

    /// Takes (n−1)·c(S) + L: the root's port sends n−1 copies.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        times(switch.whole(), switch.others()).saturating_add(switch.latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_the_same_message() {
        let broadcast = BroadcastParallel { root: 1 }.schedule(3, 7).unwrap();
        let sent: Vec<_> = (0..2)
            .map(|id| broadcast.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes, t.chunk))
            .collect();
        assert_eq!(sent, [(1, 0, 7, 0), (1, 2, 7, 0)]);
    }
}
