//! Combination of experts' results, each straight from its rank.
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
    /// Combination of experts' results, each straight from its rank.
    pub struct MoeCombineLowLatency as "`jobs[].collectives[]` with `collective: moe-combine` and `algorithm: low-latency`" {
        ..experts: ExpertKeys, "Tokens, the experts that they choose, and the kernel.";
    }
}

moe_member!(
    MoeCombineLowLatency,
    Combine,
    LowLatency,
    |_| None,
    member(
        ["moe-combine", "low-latency"],
        "the result of every choice comes straight back from the rank with the expert",
        "docs/models/collective-moe-combine-low-latency.md",
    )
);
