//! What a collective by one algorithm must answer.

use tenter_config::Component;
use tenter_units::Time;

use super::member::{CollectiveMember, Factor};
use super::nccl::{NcclCollective, NcclKeys};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

/// A collective by one algorithm: a component with its keys, of which each value is a schedule for
/// any number of ranks.
pub(crate) trait Collective: Component {
    /// What is known of it without running it.
    const MEMBER: CollectiveMember;

    /// Its transfers, where ranks and size are within the limits of its member.
    ///
    /// # Errors
    /// A number of ranks that does not suit it, a root that is no rank, or more chunks than ids.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError>;

    /// Its completion time on an ideal switch, by formula, or a lower bound.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time;

    /// What passes within the hosts before the first transfer can be sent, and once more after the
    /// last has arrived; zero where the algorithm does not tell hosts apart.
    fn within_hosts(&self, _size_bytes: u64) -> Time {
        Time::ZERO
    }

    /// Algorithm bandwidth over size per time.
    ///
    /// Source: the `*GetBw` functions of NVIDIA/nccl-tests.
    fn algbw(&self) -> Factor {
        Factor::One
    }

    /// The bytes of a chunk, where the algorithm passes on one chunk after the other.
    fn chunk_bytes(&self) -> Option<u64> {
        None
    }

    /// The NPUs of a host, where the algorithm counts on a domain that joins them.
    fn hands_over(&self) -> Option<u32> {
        None
    }

    /// The size that it has by itself, in bytes, where none is given with it.
    fn own_size(&self) -> Option<u64> {
        None
    }

    /// How many transfers a rank may send another beside two for each rank and one for each chunk.
    fn more_of_a_way(&self) -> u64 {
        0
    }

    /// How many bytes a byte of the buffer is on the wire at most.
    fn wire_times(&self) -> u64 {
        1
    }

    /// What NCCL chooses by, where it carries out the collective as NCCL does.
    fn nccl(&self) -> Option<(NcclCollective, &NcclKeys)> {
        None
    }

    /// The same with other keys of that kind.
    fn with_nccl(&self, _keys: NcclKeys) -> Option<Self> {
        None
    }

    /// Whether it depends on a random draw.
    fn draws(&self) -> bool {
        false
    }
}
