//! Reduce-scatter as NCCL carries it out.
//!
//! Origin: the tuning model of NVIDIA/nccl.

use tenter_language::config::component;

use super::member::{CollectiveMember, Factor};
use super::nccl::{NcclCollective, NcclKeys};
use super::nccl_member::{NcclMember, nics_divide};

component! {
    /// Reduce-scatter by the algorithm, the protocol and the channels that NCCL's model chooses.
    pub struct ReduceScatterNccl as "`jobs[].collectives[]` with `collective: reduce-scatter` and `algorithm: nccl`" {
        check nics_divide;
        ..nccl: NcclKeys, "What NCCL's choice depends on.";
    }
}

impl NcclMember for ReduceScatterNccl {
    const OF: NcclCollective = NcclCollective::ReduceScatter;
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "reduce-scatter",
        algorithm: "nccl",
        summary: "the algorithm, protocol and channels that NCCL's model chooses",
        model_page: "docs/models/collective-reduce-scatter-nccl.md",
        // A ring on one channel has n(n−1) transfers. The limit is the all-reduce's, which has
        // twice as many.
        ranks_max: 46_341,
        busbw: Factor::AllButOwn,
    };

    fn with(keys: NcclKeys) -> ReduceScatterNccl {
        ReduceScatterNccl { nccl: keys }
    }

    fn keys(&self) -> &NcclKeys {
        &self.nccl
    }
}
