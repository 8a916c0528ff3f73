//! Dispatch of tokens to experts, once to each host and from there to its ranks.
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
    /// Dispatch of tokens to experts, once to each host and from there to its ranks.
    pub struct MoeDispatchNormal as "`jobs[].collectives[]` with `collective: moe-dispatch` and `algorithm: normal`" {
        ..experts: ExpertKeys, "Tokens, the experts that they choose, and the kernel.";
        ..normal: NormalKeys, "What the kernels that go by hosts have beside.";
    }
}

moe_member!(
    MoeDispatchNormal,
    Dispatch,
    Normal,
    |own| Some(&own.normal),
    member(
        ["moe-dispatch", "normal"],
        "tokens go once to each host, and within it to the ranks with their experts",
        "docs/models/collective-moe-dispatch-normal.md",
    )
);
