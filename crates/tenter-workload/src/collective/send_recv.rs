//! Send-recv: each rank sends its whole buffer to the next one and receives that of the one before.
//!
//! Origin: NVIDIA/nccl-tests `sendrecv.cu`; size and bus bandwidth as there. It has no parameters;
//! the ring is the order of the ranks.

use super::one_each::OneEach;
use super::{CollectiveKind, CollectiveMember, Factor};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "send-recv",
    algorithm: "ring",
    summary: "each rank sends everything to the next one",
    model_page: "docs/models/collective-send-recv.md",
    ranks_max: u32::MAX,
    // Every byte crosses one port each way.
    busbw: Factor::One,
    default: CollectiveKind::SendRecv,
};

/// Round the ring of the ranks.
pub(super) fn schedule(ranks: u32, size_bytes: u64) -> OneEach {
    OneEach::new((1..ranks).chain([0]).collect(), size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn everybody_sends_to_the_next() {
        let schedule = schedule(3, 7);
        let sent: Vec<_> = (0..3)
            .map(|id| schedule.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 7), (1, 2, 7), (2, 0, 7)]);
    }
}
