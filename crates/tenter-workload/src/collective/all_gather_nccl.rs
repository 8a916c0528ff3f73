//! All-gather as NCCL carries it out.
//!
//! Origin: the tuning model of NVIDIA/nccl.

use tenter_language::config::component;

use super::member::{CollectiveMember, Factor};
use super::nccl::{NcclCollective, NcclKeys};
use super::nccl_member::{NcclMember, nics_divide};

component! {
    /// All-gather by the algorithm, the protocol and the channels that NCCL's model chooses.
    pub struct AllGatherNccl as "`jobs[].collectives[]` with `collective: all-gather` and `algorithm: nccl`" {
        check nics_divide;
        ..nccl: NcclKeys, "What NCCL's choice depends on.";
    }
}

impl NcclMember for AllGatherNccl {
    const OF: NcclCollective = NcclCollective::AllGather;
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-gather",
        algorithm: "nccl",
        summary: "the algorithm, protocol and channels that NCCL's model chooses",
        model_page: "docs/models/collective-all-gather-nccl.md",
        // A ring on one channel has n(n−1) transfers. The limit is the all-reduce's, which has
        // twice as many.
        ranks_max: 46_341,
        busbw: Factor::AllButOwn,
    };

    fn with(keys: NcclKeys) -> AllGatherNccl {
        AllGatherNccl { nccl: keys }
    }

    fn keys(&self) -> &NcclKeys {
        &self.nccl
    }
}
