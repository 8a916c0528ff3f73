//! Collectives that NCCL carries out: what a member gives, and what all of them answer alike.

use tenter_config::{Component, Reader};
use tenter_units::Time;

use super::algorithm::Collective;
use super::member::CollectiveMember;
use super::nccl::{self, MORE_OF_A_WAY, NcclCollective, NcclKeys, WIRE_TIMES, ideal};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

/// A collective whose algorithm, protocol and channels NCCL's model chooses.
pub(super) trait NcclMember: Component {
    /// Which collective of NCCL it is.
    const OF: NcclCollective;
    /// What is known of it without running it.
    const MEMBER: CollectiveMember;

    /// With what the choice depends on.
    fn with(keys: NcclKeys) -> Self;

    /// What the choice depends on.
    fn keys(&self) -> &NcclKeys;
}

/// Refuses NICs that do not divide the NPUs of a server.
pub(super) fn nics_divide<M: NcclMember>(own: &M, reader: &mut dyn Reader) -> bool {
    nccl::nics_divide(own.keys(), reader)
}

impl<M: NcclMember> Collective for M {
    const MEMBER: CollectiveMember = <M as NcclMember>::MEMBER;

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let member = &<M as NcclMember>::MEMBER;
        self.keys().schedule(M::OF, member, ranks, size_bytes)
    }

    /// The busiest port, or the longest chain of steps with their latencies.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let schedule = self.schedule(switch.ranks, switch.size_bytes);
        schedule.map_or(Time::ZERO, |schedule| ideal(&*schedule, switch))
    }

    fn hands_over(&self) -> Option<u32> {
        self.keys().npus_per_host
    }

    fn more_of_a_way(&self) -> u64 {
        MORE_OF_A_WAY
    }

    fn wire_times(&self) -> u64 {
        WIRE_TIMES
    }

    fn with_nccl(&self, keys: NcclKeys) -> Option<M> {
        Some(M::with(keys))
    }

    fn nccl(&self) -> Option<(NcclCollective, &NcclKeys)> {
        Some((M::OF, self.keys()))
    }
}
