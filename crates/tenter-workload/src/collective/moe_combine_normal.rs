//! Combination of experts' results, within hosts and then from each host once.
//!
//! Origin: the normal kernels of `DeepEP` (`DeepSeek`), over RDMA and `NVLink`.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::member::CollectiveMember;
use super::moe::{
    Direction, ExpertKeys, MORE_OF_A_WAY, Mode, NormalKeys, Plan, member, moe_member,
};
use super::nccl::ideal;
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// Combination of experts' results, within hosts and then from each host once.
    pub struct MoeCombineNormal as "`jobs[].collectives[]` with `collective: moe-combine` and `algorithm: normal`" {
        ..experts: ExpertKeys, "Tokens, the experts that they choose, and the kernel.";
        ..normal: NormalKeys, "What the kernels that go by hosts have beside.";
    }
}

moe_member!(
    MoeCombineNormal,
    Combine,
    Normal,
    |own| Some(&own.normal),
    member(
        ["moe-combine", "normal"],
        "results are added up within hosts, and come back from each host once",
        "docs/models/collective-moe-combine-normal.md",
    )
);
