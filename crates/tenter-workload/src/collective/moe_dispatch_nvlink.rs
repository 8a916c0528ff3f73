//! Dispatch of tokens to experts in one scale-up domain.
//!
//! Origin: the two-sided `NVLink` kernel of `TensorRT-LLM`.

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
    /// Dispatch of tokens to experts in one scale-up domain.
    pub struct MoeDispatchNvlink as "`jobs[].collectives[]` with `collective: moe-dispatch` and `algorithm: nvlink`" {
        ..experts: ExpertKeys, "Tokens, the experts that they choose, and the kernel.";
    }
}

moe_member!(
    MoeDispatchNvlink,
    Dispatch,
    Nvlink,
    |_| None,
    member(
        ["moe-dispatch", "nvlink"],
        "tokens go once to each rank with their experts, in one scale-up domain",
        "docs/models/collective-moe-dispatch-nvlink.md",
    )
);
