//! Memory that an inference takes on an accelerator: weights, and keys and values.

use super::layout::{Inference, Pool, Role};
use crate::transformer::{Checked, wrong};

/// Memory in bytes at the rank that needs most in a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes in weights, scales excluded.
    pub weights: u64,
    /// Bytes in keys and values for a request with the longest prompt and the longest answer.
    pub of_request: u64,
    /// Most requests that a replica holds at a time.
    pub requests: u64,
}

impl Memory {
    /// Returns the bytes in weights and in keys and values together.
    pub fn all(&self) -> u64 {
        let cache = self.of_request.saturating_mul(self.requests);
        self.weights.saturating_add(cache)
    }
}

/// Counts the weights that a rank holds in a pipeline stage.
pub(super) fn weights_of_stage(of: &Inference, pool: &Pool, stage: u32) -> u64 {
    let model = &of.model;
    let size = pool.grid.size;
    let tp = u64::from(size.tp);
    let mut weights = 0;
    for layer in of.layers(pool, stage) {
        let attention = model.attention_weights_at(size.tp) + model.norm_weights();
        weights = u64::saturating_add(weights, attention);
        if !model.has_experts(layer) {
            weights = weights.saturating_add(model.dense_weights().div_ceil(tp));
            continue;
        }
        let router = u64::from(model.hidden) * u64::from(model.experts);
        let shared = (model.shared_weights() - router).div_ceil(tp);
        weights = weights.saturating_add(router + shared);
        let experts = model.expert_weights();
        let experts = experts.saturating_mul(u64::from(model.experts));
        // With `ep: 1` tensor-parallel ranks share each expert; otherwise experts are whole.
        let ways = if pool.ep == 1 { tp } else { u64::from(pool.ep) };
        weights = weights.saturating_add(experts.div_ceil(ways));
    }
    let ends = u64::from(stage == 0) + u64::from(stage + 1 == size.pp);
    let tied = u64::from(model.tied && size.pp == 1);
    let vocabulary = model.vocabulary_weights().div_ceil(tp);
    weights.saturating_add((ends - tied) * vocabulary)
}

/// Returns the memory at the rank that needs most in a pool.
pub(super) fn of_pool(of: &Inference, pool: &Pool) -> Memory {
    let spec = &of.spec;
    let size = pool.grid.size;
    let stages = 0..size.pp;
    let weights = stages.map(|stage| weights_of_stage(of, pool, stage)).max();
    let kept = of.operators(pool).kept_of_token() * spec.kv_precision.bytes();
    let of_token = kept * u64::from(of.layers_of_stage(pool));
    let [prompt, output] = [&spec.requests.prompt_tokens, &spec.requests.output_tokens]
        .map(|tokens| u64::from(tokens.largest()));
    // The last token of an answer is never an input, so it leaves no keys and values.
    let longest = match pool.role {
        Role::Prefill => prompt,
        Role::Both | Role::Decode => prompt + output - 1,
    };
    // As many batches as stages are under way.
    let batches = u64::from(pool.max_batch) * u64::from(size.pp);
    let users = spec.requests.concurrency.unwrap_or(spec.requests.count);
    // Requests are dealt evenly to replicas.
    let most = users.min(spec.requests.count).div_ceil(size.dp);
    Memory {
        weights: weights.unwrap_or(0).saturating_mul(spec.precision.bytes()),
        of_request: of_token.saturating_mul(longest),
        requests: batches.min(u64::from(most)),
    }
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// Refuses pools that need more memory than the accelerator has.
pub(super) fn check(of: &Inference) -> Checked<()> {
    for pool in &of.pools {
        check_pool(of, pool)?;
    }
    Ok(())
}

fn check_pool(of: &Inference, pool: &Pool) -> Checked<()> {
    let has = of.accelerator.memory.count();
    let needs = of_pool(of, pool);
    if needs.all() <= has {
        return Ok(());
    }
    // As many batches as stages are under way at once, and each holds keys and values of its
    // requests.
    let pp = u64::from(pool.grid.size.pp);
    let left = has.saturating_sub(needs.weights);
    let fits = left / needs.of_request.max(1) / pp;
    if fits == 0 {
        let what = format!(
            "is {}: a rank needs {} for weights and {} for {pp} requests, and the accelerator has {}",
            pool.size().tp,
            gigabytes(needs.weights),
            gigabytes(needs.of_request.saturating_mul(pp)),
            gigabytes(has)
        );
        let remedy = "use more `tp` or `pp`, shorter requests, `precision: fp8`, or an accelerator with more memory; `check_memory: false` runs it anyway";
        return wrong(&pool.role.key("tp"), what, remedy.to_owned());
    }
    let what = format!(
        "is {}: keys and values of {} requests need {} beside {} of weights, and the accelerator has {}",
        pool.max_batch,
        needs.requests,
        gigabytes(needs.all() - needs.weights),
        gigabytes(needs.weights),
        gigabytes(has)
    );
    let key = match pool.role {
        Role::Both => "max_batch".to_owned(),
        role => role.key("max_batch"),
    };
    wrong(&key, what, format!("give {fits}, with which they fit"))
}
