//! All-reduce as NCCL carries it out.
//!
//! Origin: the tuning model of NVIDIA/nccl.

use tenter_language::config::component;

use super::member::{CollectiveMember, Factor};
use super::nccl::{NcclCollective, NcclKeys};
use super::nccl_member::{NcclMember, nics_divide};

component! {
    /// All-reduce by the algorithm, the protocol and the channels that NCCL's model chooses.
    pub struct AllReduceNccl as "`jobs[].collectives[]` with `collective: all-reduce` and `algorithm: nccl`" {
        check nics_divide;
        ..nccl: NcclKeys, "What NCCL's choice depends on.";
    }
}

impl NcclMember for AllReduceNccl {
    const OF: NcclCollective = NcclCollective::AllReduce;
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-reduce",
        algorithm: "nccl",
        summary: "the algorithm, protocol and channels that NCCL's model chooses",
        model_page: "docs/models/collective-all-reduce-nccl.md",
        // A ring on one channel has 2n(n−1) transfers, which must not exceed 2³²−1 ids.
        ranks_max: 46_341,
        busbw: Factor::TwiceAllButOwn,
    };

    fn with(keys: NcclKeys) -> AllReduceNccl {
        AllReduceNccl { nccl: keys }
    }

    fn keys(&self) -> &NcclKeys {
        &self.nccl
    }
}
