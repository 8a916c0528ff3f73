//! Keys of dispatch and combination.

use std::ops::RangeInclusive;

use tenter_language::config::{Idle, Reader, choice, component};
use tenter_language::units::{Bytes, Rate, Time};

use super::Direction;
use super::kernels::ExpertKernels;
use crate::collective::NpuGeneration;
use crate::collective::limits::{CHUNKS, COUNTS};

/// Number format in which a token's values are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenPrecision {
    /// 16-bit brain floating point, 2 bytes a value.
    Bf16,
    /// 8-bit floating point, 1 byte a value, with a 4-byte scale for every 128 values.
    Fp8,
    /// 4-bit floating point, half a byte a value, with a 1-byte scale for every 16 values.
    Nvfp4,
}

choice!(TokenPrecision {
    "bf16" => Bf16,
    "fp8" => Fp8,
    "nvfp4" => Nvfp4,
});

impl TokenPrecision {
    /// Returns the bytes of `width` values with their scales; a block that has begun has a scale.
    pub(crate) const fn bytes(self, width: u64) -> u64 {
        match self {
            TokenPrecision::Bf16 => 2 * width,
            TokenPrecision::Fp8 => width + 4 * width.div_ceil(128),
            TokenPrecision::Nvfp4 => width.div_ceil(2) + width.div_ceil(16),
        }
    }
}

component! {
    /// Tokens, the experts that they choose, and the kernel that carries them.
    pub struct ExpertKeys as "`jobs[].collectives[]` with `collective: moe-dispatch` or `moe-combine`" {
        idle idle;
        /// Tokens of each rank, in place of a size: the size is their bytes, each token once.
        tokens: Option<u32> = absent "those of the size", in 1..=100_000_000;
        /// Values of a token; with `tokens` they say its bytes.
        hidden: u32 = "7168", in 1..=1_000_000, from "DeepSeek-V3";
        /// Numbers in which tokens are sent; with `tokens` they say the bytes of one.
        precision: Option<TokenPrecision> = absent "`fp8` of dispatch, `bf16` of combination";
        /// Experts that each token chooses, all of them different.
        top_k: u32 = "8", in 1..=1_000, from "DeepSeek-V3";
        /// Experts, of which each rank holds an equal part; each is chosen equally often.
        experts: u32 = "256", in 1..=1_000_000, from "DeepSeek-V3";
        /// NPUs of each host; ranks that follow each other share a host. Needed only where
        /// `endpoint.host` has no `scale_up`.
        npus_per_host: Option<u32> = absent "`endpoint.host.scale_up.npus_per_host`", in COUNTS;
        /// Generation of the NPUs; `kernels` follows from it.
        generation: Option<NpuGeneration> = absent "`endpoint.host.scale_up.generation`, or else `hopper`";
        /// GPU on which the launch and the rates of the kernels were measured.
        kernels: Option<ExpertKernels> = absent "`endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of `blackwell`, `h100` of others";
        /// Time from the start to the first bytes, in place of that of `kernels`.
        launch: Option<Time> = absent "that of `kernels` for this number of hosts", in Time::ZERO..=Time::from_us(1_000_000);
        /// Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
        /// place of that of `kernels`.
        kernel_rate: Option<Rate> = absent "that of `kernels`", in RATES;
        check has_experts;
    }
}

component! {
    /// Keys of the kernels that go by hosts: groups of hosts, processors and pieces.
    pub struct NormalKeys {
        /// Hosts among which a token may choose its experts; the router takes the best ones.
        hosts_per_token: Option<u32> = absent "all hosts", in COUNTS;
        /// Streaming multiprocessors that each NPU gives the kernel.
        sms: u32 = "24", in 1..=1_000, from "DeepEP's tests: 24 of 132";
        /// Length of the pieces in which a message over the fabric is passed on; messages of more
        /// than 64 pieces have longer ones.
        chunk_bytes as "chunk_size": u64 as Bytes = "256KiB", in CHUNKS, from "the order of 32 tokens, DeepEP's piece over RDMA";
    }
}

/// Permitted rates of a kernel.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(1_000_000);

/// Lists the keys that say a token's bytes, if nothing counts tokens.
fn idle(keys: &ExpertKeys) -> Vec<Idle> {
    if keys.tokens.is_some() {
        return Vec::new();
    }
    let what = "has no effect without `tokens`";
    let remedy = "leave it out, or give `tokens` in place of a size";
    Idle::all(&["hidden", "precision"], what, remedy)
}

/// Refuses more choices than experts.
fn has_experts(keys: &ExpertKeys, reader: &mut dyn Reader) -> bool {
    let holds = keys.top_k <= keys.experts;
    if !holds {
        let what = format!("is {}, and there are {} experts", keys.top_k, keys.experts);
        let remedy = "give at most as many as `experts`";
        reader.refuse("top_k", &what, remedy);
    }
    holds
}

impl ExpertKeys {
    /// Returns the bytes of a rank's tokens, each once; `None` if a size says them.
    pub(super) fn size(&self, direction: Direction) -> Option<u64> {
        let usual = match direction {
            Direction::Dispatch => TokenPrecision::Fp8,
            Direction::Combine => TokenPrecision::Bf16,
        };
        let precision = self.precision.unwrap_or(usual);
        let of_token = precision.bytes(u64::from(self.hidden));
        self.tokens.map(|tokens| u64::from(tokens) * of_token)
    }
}
