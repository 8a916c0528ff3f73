//! Broadcast, parallel: the root sends the same whole message to each of the others, all at once.
//!
//! Origin: broadcast, parallel, of "AI Fabric Test Methodology" (Keysight); size and bus bandwidth
//! as the broadcast of NVIDIA/nccl-tests. Parameter: the root, 0 by default.

use super::star::Star;
use super::{CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "broadcast",
    algorithm: "parallel",
    summary: "one root sends the same message to every rank at once",
    model_page: "docs/models/collective-broadcast-parallel.md",
    ranks_max: u32::MAX,
    // As if the message left the root only once.
    busbw: Factor::One,
    default: CollectiveKind::BroadcastParallel { root: 0 },
};

pub(super) fn schedule(ranks: u32, size_bytes: u64, root: u32) -> Result<Star, WorkloadError> {
    Star::of_copies(&MEMBER, (ranks, root), size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn everyone_gets_the_same_message() {
        let broadcast = schedule(3, 7, 1).unwrap();
        let sent: Vec<_> = (0..2)
            .map(|id| broadcast.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes, t.chunk))
            .collect();
        assert_eq!(sent, [(1, 0, 7, 0), (1, 2, 7, 0)]);
    }
}
