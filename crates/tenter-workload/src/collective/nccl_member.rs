//! The common part of all collectives that NCCL carries out.

use tenter_language::config::{Component, Reader};
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::member::CollectiveMember;
use super::nccl::{self, MORE_OF_A_WAY, NcclCollective, NcclKeys, WIRE_TIMES, ideal};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

/// A collective whose algorithm, protocol and channels NCCL's model chooses; every one is a
/// [`Collective`].
pub(super) trait NcclMember: Component {
    /// Collective that NCCL's model is asked for.
    const OF: NcclCollective;
    /// Static description: names, limits, bus bandwidth.
    const MEMBER: CollectiveMember;

    /// Makes the collective from the keys that NCCL's choice depends on.
    fn with(keys: NcclKeys) -> Self;

    /// Returns the keys that NCCL's choice depends on.
    fn keys(&self) -> &NcclKeys;
}

/// Refuses a NIC count that does not divide the NPUs of a server.
pub(super) fn nics_divide<M: NcclMember>(own: &M, reader: &mut dyn Reader) -> bool {
    nccl::nics_divide(own.keys(), reader)
}

impl<M: NcclMember> Collective for M {
    const MEMBER: CollectiveMember = <M as NcclMember>::MEMBER;

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let member = &<M as NcclMember>::MEMBER;
        self.keys().schedule(M::OF, member, ranks, size_bytes)
    }

    /// Takes the busiest port's time, or the longest chain of steps with their latencies.
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
