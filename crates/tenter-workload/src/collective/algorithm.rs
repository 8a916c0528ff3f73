//! The trait that every collective algorithm implements.

use tenter_language::config::Component;
use tenter_language::units::Time;

use super::member::{CollectiveMember, Factor};
use super::nccl::{NcclCollective, NcclKeys};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

/// A collective by one algorithm: a component with its keys. Each value makes a schedule for any
/// rank count that suits it.
pub(crate) trait Collective: Component {
    /// Static description: names, limits, bus bandwidth.
    const MEMBER: CollectiveMember;

    /// Builds the transfers for a rank count and a size within the limits in [`Self::MEMBER`].
    ///
    /// # Errors
    /// A rank count that does not suit the algorithm, a root that is no rank, or more chunks than
    /// ids.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError>;

    /// Returns the completion time on an ideal switch, or a lower bound for it.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time;

    /// Returns the time spent within the hosts before the first transfer can be sent; the same time
    /// passes again after the last arrival. Zero if the algorithm does not distinguish hosts.
    fn within_hosts(&self, _size_bytes: u64) -> Time {
        Time::ZERO
    }

    /// Returns the ratio between algorithm bandwidth and size over time.
    ///
    /// Source: the `*GetBw` functions in NVIDIA/nccl-tests.
    fn algbw(&self) -> Factor {
        Factor::One
    }

    /// Returns the chunk length in bytes if the algorithm passes on one chunk after the other.
    fn chunk_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the NPUs per host if the algorithm counts on a scale-up domain that joins them.
    fn hands_over(&self) -> Option<u32> {
        None
    }

    /// Returns the size in bytes if it follows from the keys, so that no `size` is given.
    fn own_size(&self) -> Option<u64> {
        None
    }

    /// Returns the transfers that one rank may send another, beyond two for each rank and one for
    /// each chunk.
    fn more_of_a_way(&self) -> u64 {
        0
    }

    /// Returns the most wire bytes for one buffer byte.
    fn wire_times(&self) -> u64 {
        1
    }

    /// Returns the collective and the keys by which NCCL chooses, if the algorithm follows NCCL's
    /// choice.
    fn nccl(&self) -> Option<(NcclCollective, &NcclKeys)> {
        None
    }

    /// Returns the same algorithm with other keys for NCCL's choice.
    fn with_nccl(&self, _keys: NcclKeys) -> Option<Self> {
        None
    }

    /// Returns true if the transfers depend on a random draw.
    fn draws(&self) -> bool {
        false
    }
}
