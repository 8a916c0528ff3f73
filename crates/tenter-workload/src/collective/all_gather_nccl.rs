//! All-gather as NCCL carries it out.
//!
//! Origin: the tuning model of NVIDIA/nccl.

use tenter_config::component;
use tenter_units::Time;

use super::algorithm::Collective;
use super::member::{CollectiveMember, Factor};
use super::nccl::{MORE_OF_A_WAY, NcclCollective, NcclKeys, WIRE_TIMES, ideal};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// All-gather by the algorithm, the protocol and the channels that NCCL's model chooses.
    pub struct AllGatherNccl as "`jobs[].collectives[]` with `collective: all-gather` and `algorithm: nccl`" {
        ..nccl: NcclKeys, "What NCCL's choice depends on.";
    }
}

impl Collective for AllGatherNccl {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-gather",
        algorithm: "nccl",
        summary: "the algorithm, protocol and channels that NCCL's model chooses",
        model_page: "docs/models/collective-all-gather-nccl.md",
        // A ring on one channel: n(n−1) ≤ 2³²−1.
        ranks_max: 46_341,
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let of = (ranks, size_bytes);
        self.nccl
            .schedule(NcclCollective::AllGather, &Self::MEMBER, of)
    }

    /// The busiest port, or the longest chain of steps with their latencies.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let schedule = self.schedule(switch.ranks, switch.size_bytes);
        schedule.map_or(Time::ZERO, |schedule| ideal(&*schedule, switch))
    }

    fn hands_over(&self) -> Option<u32> {
        Some(self.nccl.npus_per_host)
    }

    fn more_of_a_way(&self) -> u64 {
        MORE_OF_A_WAY
    }

    fn wire_times(&self) -> u64 {
        WIRE_TIMES
    }

    fn nccl(&self) -> Option<(NcclCollective, &NcclKeys)> {
        Some((NcclCollective::AllGather, &self.nccl))
    }
}
