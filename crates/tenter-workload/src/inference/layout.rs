//! An inference's layout: pools, ranks, stages and requests that fit together.

use super::operators::Operators;
use super::requests::Request;
use super::spec::{InferenceSpec, PoolSpec};
use crate::scale_up::ScaleUp;
use crate::transformer::{
    AcceleratorSpec, Checked, ExpertExchange, Grid, ModelSpec, Place, Precision, RankOrder,
    check_kv_heads, dimensions, divides, figures, wrong,
};
use tenter_language::units::Rate;

/// Phases that a pool computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Both phases: prompts and answers.
    Both,
    /// Prefill: prompts, and with them each answer's first token.
    Prefill,
    /// Decode: all tokens in answers behind the first ones.
    Decode,
}

impl Role {
    /// Returns the pool's name in tables and keys.
    pub fn word(self) -> &'static str {
        match self {
            Role::Both => "all",
            Role::Prefill => "prefill",
            Role::Decode => "decode",
        }
    }

    /// Returns the path to a key that belongs to the pool.
    pub(super) fn key(self, key: &str) -> String {
        match self {
            Role::Both => key.to_owned(),
            Role::Prefill | Role::Decode => format!("pools.{}.{key}", self.word()),
        }
    }
}

/// Ranks that hold replicas of the model and compute the same phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Phases that the pool computes.
    pub role: Role,
    /// First rank of the pool within the job.
    pub first_rank: u32,
    /// Coordinates for its ranks, which count from 0 within the pool.
    pub grid: Grid,
    /// Ranks over which a layer's experts are spread.
    pub ep: u32,
    /// Most requests that a batch may hold.
    pub max_batch: u32,
    /// How tokens reach experts, and results come back.
    pub exchange: ExpertExchange,
}

impl Pool {
    /// Returns the rank count along each dimension.
    pub fn size(&self) -> Place {
        self.grid.size
    }

    /// Returns the job's rank at coordinates within the pool.
    pub fn rank(&self, place: Place) -> u32 {
        self.first_rank + self.grid.rank(place)
    }

    /// Counts the replicas whose experts are spread over the same ranks. They run iterations in
    /// lockstep.
    pub fn replicas_together(&self) -> u32 {
        (self.ep / self.grid.size.tp).max(1)
    }

    /// Returns the replica that serves a request, and the batch (slot) there.
    pub fn replica_of(&self, request: &Request) -> (u32, u32) {
        let Place { dp, pp, .. } = self.grid.size;
        // Deals to replicas in turn, and at each replica to its batches in turn.
        (request.dealt % dp, request.dealt / dp % pp)
    }
}

/// Rates that the scheduler assumes between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Scale-up domain of a host, if any.
    pub within: Option<ScaleUp>,
    /// Rate of a NIC, in each direction.
    pub network: Rate,
}

/// An inference whose numbers fit together.
#[derive(Clone, Debug)]
pub struct Inference {
    /// Specification as the scenario gives it.
    pub spec: InferenceSpec,
    /// The model's dimensions, looked up if it has a name.
    pub model: ModelSpec,
    /// The accelerator's figures, looked up if it has a name.
    pub accelerator: AcceleratorSpec,
    /// One pool, or the prefill pool and the decode pool.
    pub pools: Vec<Pool>,
    /// Requests, drawn and in the order of their numbers.
    pub requests: Vec<Request>,
    /// Rates that the scheduler assumes between ranks.
    pub reach: Reach,
}

/// Most output tokens and prompt parts in a run. Each is work in an iteration.
const WORK_MAX: u64 = 20_000_000;

impl Inference {
    /// Fits `spec` to the job's rank count and draws its requests from `seed`. Without a rank
    /// count, the pools say how many ranks there are.
    ///
    /// # Errors
    /// Returns an error if the ranks do not fit the pools, or the requests are more work than a run
    /// may have.
    pub fn new(
        spec: &InferenceSpec,
        ranks: Option<u32>,
        seed: u64,
        reach: Reach,
    ) -> Checked<Inference> {
        let model = dimensions(&spec.model);
        let accelerator = figures(&spec.accelerator);
        spec.precision.check(&accelerator)?;
        let pools = pools(spec, ranks)?;
        for pool in &pools {
            check_pool(&model, pool)?;
            let key = pool.role.key("expert_exchange");
            pool.exchange.check(&key, spec.expert_skew)?;
        }
        let count = u64::from(spec.requests.count);
        let tokens = count * u64::from(spec.requests.output_tokens.largest());
        let prompts = u64::from(spec.requests.prompt_tokens.largest());
        let chunks = count * prompts.div_ceil(u64::from(spec.batch_tokens));
        // Checked before requests are drawn and scheduled, which takes memory for each of these.
        if tokens + chunks > WORK_MAX {
            let what = format!("make up to {} tokens and parts of prompts", tokens + chunks);
            let fits = WORK_MAX * count / (tokens + chunks);
            let remedy = format!("give at most {fits}: {WORK_MAX} are the most of a run");
            return wrong("requests.count", what, remedy);
        }
        Ok(Inference {
            requests: spec.requests.drawn(seed),
            spec: spec.clone(),
            model,
            accelerator,
            pools,
            reach,
        })
    }

    /// Counts the ranks in all pools.
    pub fn ranks(&self) -> u32 {
        self.pools.iter().map(|pool| pool.grid.ranks()).sum()
    }

    /// Returns true if one pool prefills and another one decodes.
    pub fn is_disaggregated(&self) -> bool {
        self.pools.len() > 1
    }

    /// Returns the number of layers in each stage of a pool.
    pub fn layers_of_stage(&self, pool: &Pool) -> u32 {
        self.model.layers / pool.grid.size.pp
    }

    /// Returns the layers in one stage of a pool.
    pub fn layers(&self, pool: &Pool, stage: u32) -> std::ops::Range<u32> {
        let each = self.layers_of_stage(pool);
        stage * each..(stage + 1) * each
    }

    /// Counts the layers with a dense feed-forward part, and those with experts.
    pub(super) fn kinds_of_layers(&self, layers: std::ops::Range<u32>) -> [u32; 2] {
        let all = layers.end - layers.start;
        let first_with_experts = match self.model.experts {
            0 => layers.end,
            _ => self.model.dense_layers.clamp(layers.start, layers.end),
        };
        let dense = first_with_experts - layers.start;
        [dense, all - dense]
    }

    /// Returns the operators for any rank in a pool.
    pub fn operators(&self, pool: &Pool) -> Operators<'_> {
        Operators {
            model: &self.model,
            accelerator: &self.accelerator,
            tp: pool.grid.size.tp,
            ep: pool.ep,
            fp8: self.spec.precision == Precision::Fp8,
            cached_bytes: self.spec.kv_precision.bytes(),
        }
    }
}

fn grid(of: &PoolSpec, dp: u32) -> Grid {
    Grid {
        size: Place {
            tp: of.tp,
            cp: 1,
            dp,
            pp: of.pp,
        },
        order: RankOrder::default(),
    }
}

/// Most ranks that all pools may have together.
const RANKS_MAX: u64 = (u32::MAX >> 8) as u64;

fn pools(spec: &InferenceSpec, ranks: Option<u32>) -> Checked<Vec<Pool>> {
    let ways = spec.ways();
    let roles: &[Role] = match ways.len() {
        1 => &[Role::Both],
        _ => &[Role::Prefill, Role::Decode],
    };
    let mut pools = Vec::new();
    let mut first_rank = 0_u64;
    for (of, &role) in ways.iter().zip(roles) {
        let model = u64::from(of.tp) * u64::from(of.pp);
        let dp = match (role, spec.dp, ranks) {
            // Only a single pool can take its replica count from the job's ranks.
            (Role::Both, None, Some(ranks)) => replicas(of, u64::from(ranks))?,
            _ => of.dp,
        };
        let first = first_rank;
        first_rank = first_rank.saturating_add(model.saturating_mul(u64::from(dp)));
        if first_rank > RANKS_MAX {
            let what = format!("is {dp}, which makes more than {RANKS_MAX} ranks");
            return wrong(&role.key("dp"), what, "give fewer".to_owned());
        }
        pools.push(Pool {
            role,
            first_rank: first as u32,
            grid: grid(of, dp),
            ep: of.ep,
            max_batch: of.max_batch.unwrap_or(spec.max_batch),
            exchange: of.expert_exchange.unwrap_or(spec.expert_exchange),
        });
    }
    if let Some(ranks) = ranks.filter(|&ranks| u64::from(ranks) != first_rank) {
        let (key, verb) = if pools.len() > 1 {
            ("pools", "make")
        } else {
            ("dp", "makes")
        };
        let what = format!("{verb} {first_rank} ranks, and the job has {ranks}");
        return wrong(key, what, format!("give {first_rank} `ranks`"));
    }
    Ok(pools)
}

/// Returns how many replicas `ranks` ranks make.
fn replicas(of: &PoolSpec, ranks: u64) -> Checked<u32> {
    let model = u64::from(of.tp) * u64::from(of.pp);
    if ranks.is_multiple_of(model) && ranks > 0 {
        return Ok((ranks / model) as u32);
    }
    let below = ranks / model * model;
    let what = format!(
        "is {}, and the job has {ranks} ranks, no multiple of tp {} · pp {} = {model}",
        of.tp, of.tp, of.pp
    );
    let remedy = match below {
        0 => format!("give {model} `ranks`"),
        _ => format!("give {below} or {} `ranks`", below + model),
    };
    wrong("tp", what, remedy)
}

fn check_pool(model: &ModelSpec, pool: &Pool) -> Checked<()> {
    let Place { tp, dp, pp, .. } = pool.grid.size;
    let key = |key: &str| pool.role.key(key);
    divides(&key("tp"), tp, "the heads of the model", model.heads)?;
    divides(&key("tp"), tp, "the width `ffn`", model.ffn)?;
    check_kv_heads(&key("tp"), tp, model)?;
    divides(&key("pp"), pp, "the layers of the model", model.layers)?;
    if model.experts == 0 && pool.ep > 1 {
        let what = format!("is {}, and the model has no experts", pool.ep);
        return wrong(&key("ep"), what, "leave it out".to_owned());
    }
    // Tensor-parallel ranks then share every expert and cut its width.
    if pool.ep == 1 {
        let width = model.expert_ffn();
        if model.experts > 0 {
            divides(&key("tp"), tp, "the width of an expert", width)?;
        }
        return Ok(());
    }
    divides(&key("ep"), pool.ep, "the experts of a layer", model.experts)?;
    divides(&key("ep"), pool.ep, "the ranks of a stage", tp * dp)?;
    // An expert group consists of whole tensor-parallel groups, or is part of one.
    if pool.ep.is_multiple_of(tp) || tp.is_multiple_of(pool.ep) {
        return Ok(());
    }
    let what = format!(
        "is {}, which is neither a multiple nor a divisor of `tp` ({tp})",
        pool.ep
    );
    wrong(&key("ep"), what, format!("give {tp}"))
}
