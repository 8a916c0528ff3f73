//! Dispatch of tokens to experts, and combination of their results, by the kernels of libraries.
//!
//! ```text
//!   ExpertKeys + ranks ─▶ copies of each token ──▶ Direct, or TwoStage over hosts
//!   ExpertKernels ──────▶ Kernel: launch, and the rate of copies within a domain
//! ```
//!
//! Origin: `DeepEP` (`DeepSeek`) for `normal` and `low-latency`, the two-sided `NVLink` kernel of
//! `TensorRT-LLM` for `nvlink`.

mod copies;
mod direct;
mod kernels;
mod keys;
mod plan;
#[cfg(test)]
mod tests;
mod two_stage;

pub use kernels::ExpertKernels;
pub use keys::ExpertKeys;
pub(crate) use keys::{NormalKeys, TokenPrecision};
pub(super) use plan::{MORE_OF_A_WAY, Plan, member, moe_member};

/// Direction in which tokens cross between ranks and experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Tokens go to the ranks with their experts.
    Dispatch,
    /// Results come back to the ranks with the tokens.
    Combine,
}

/// Algorithm of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Once to each host, and from there to its ranks.
    Normal,
    /// Every choice straight to its rank.
    LowLatency,
    /// Once to each rank of one scale-up domain.
    Nvlink,
}
