//! Dispatch of tokens to experts, every choice straight to its rank.
//!
//! Origin: the low-latency kernels of `DeepEP` (`DeepSeek`), whose GPUs ask their NICs themselves
//! (IBGDA).

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
    /// Dispatch of tokens to experts, every choice straight to its rank.
    pub struct MoeDispatchLowLatency as "`jobs[].collectives[]` with `collective: moe-dispatch` and `algorithm: low-latency`" {
        ..experts: ExpertKeys, "Tokens, the experts that they choose, and the kernel.";
    }
}

moe_member!(
    MoeDispatchLowLatency,
    Dispatch,
    LowLatency,
    |_| None,
    member(
        ["moe-dispatch", "low-latency"],
        "every choice of a token goes straight to the rank with the expert",
        "docs/models/collective-moe-dispatch-low-latency.md",
    )
);
