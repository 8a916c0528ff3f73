//! A rank's work in an iteration, described by calls to a sink. One sink adds operations to a
//! graph, another one adds up time.

use super::layout::{Inference, Pool};
use super::load::Load;
use super::operators::Operators;
use super::sizes::Sizes;
use crate::collective::Direction;
use crate::graph::{CollectiveName, GraphError};

/// Receiver for an iteration's parts, in order.
pub(super) trait Sink {
    /// Computes for `seconds`, on top of what the rank has computed.
    fn compute(&mut self, seconds: f64);

    /// Runs a collective among tensor-parallel ranks.
    fn tensor(&mut self, name: CollectiveName, bytes: u64) -> Result<(), GraphError>;

    /// Sends tokens to the experts in `layer`, or gets results back.
    fn exchange(&mut self, layer: u32, way: Direction, bytes: u64) -> Result<(), GraphError>;

    /// Returns the rank's computing in `layer`'s experts, relative to evenly spread tokens.
    fn expert_load(&self, layer: u32) -> f64;
}

/// An iteration over one replica's batch, at any stage in a pool.
pub(super) struct Pass<'a> {
    of: &'a Inference,
    pool: &'a Pool,
    operators: Operators<'a>,
    load: Load,
    sizes: Sizes,
    /// Tokens that reach an expert group's ranks.
    expert_tokens: u64,
}

type Done = Result<(), GraphError>;

impl<'a> Pass<'a> {
    /// Describes an iteration with `load`. Exchanges with experts are filled up to `padded` tokens,
    /// the most that any replica in the exchange has.
    pub(super) fn new(of: &'a Inference, pool: &'a Pool, load: Load, padded: u64) -> Pass<'a> {
        let tp = u64::from(pool.grid.size.tp);
        let expert_tokens = match pool.ep {
            1 => load.tokens,
            ep => (padded * u64::from(ep)).div_ceil(tp),
        };
        Pass {
            of,
            pool,
            operators: of.operators(pool),
            load,
            sizes: Sizes::new(of, pool, load, padded),
            expert_tokens,
        }
    }

    /// Returns the message sizes, in bytes.
    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Describes all that a rank in `stage` computes, and the collectives that it takes part in.
    pub(super) fn run(&self, stage: u32, sink: &mut impl Sink) -> Done {
        self.begin(stage, sink)?;
        for layer in self.of.layers(self.pool, stage) {
            self.layer(layer, sink)?;
        }
        self.end(stage, sink)
    }

    /// Describes the part before a stage's layers.
    pub(super) fn begin(&self, stage: u32, sink: &mut impl Sink) -> Done {
        sink.compute(self.of.spec.step_overhead.ps() as f64 / 1e12);
        let tokens = self.load.tokens;
        if stage == 0 && tokens > 0 {
            sink.compute(self.operators.embedding(tokens));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        Ok(())
    }

    /// Describes one layer, attention first.
    pub(super) fn layer(&self, layer: u32, sink: &mut impl Sink) -> Done {
        let tokens = self.load.tokens;
        if tokens > 0 {
            sink.compute(self.operators.attention(&self.load));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        // Even without tokens: other replicas in the group wait for this one's exchanges.
        if self.of.model.has_experts(layer) {
            self.experts(layer, sink)?;
        } else if tokens > 0 {
            sink.compute(self.operators.dense(tokens));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        Ok(())
    }

    /// Describes the part behind a stage's layers.
    pub(super) fn end(&self, stage: u32, sink: &mut impl Sink) -> Done {
        if stage + 1 == self.pool.grid.size.pp && self.load.outputs > 0 {
            sink.compute(self.operators.head(self.load.outputs));
            sink.tensor(CollectiveName::AllReduce, self.sizes.choice)?;
        }
        Ok(())
    }

    fn experts(&self, layer: u32, sink: &mut impl Sink) -> Done {
        let operators = &self.operators;
        let tokens = self.load.tokens;
        if self.of.model.shared_experts > 0 && tokens > 0 {
            sink.compute(operators.shared(tokens));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        if self.pool.ep == 1 {
            sink.compute(operators.router(tokens) + operators.experts(tokens, 1.0));
            sink.compute(operators.behind_experts(tokens));
            return sink.tensor(CollectiveName::AllReduce, self.sizes.activations);
        }
        // Each tensor-parallel rank dispatches its own share of the tokens, so none is sent twice.
        let own = tokens.div_ceil(u64::from(self.pool.grid.size.tp));
        sink.compute(operators.router(own));
        sink.exchange(layer, Direction::Dispatch, self.sizes.dispatch)?;
        let load = sink.expert_load(layer);
        sink.compute(operators.experts(self.expert_tokens, load));
        sink.exchange(layer, Direction::Combine, self.sizes.combine)?;
        sink.compute(operators.behind_experts(own));
        sink.tensor(CollectiveName::AllGather, self.sizes.activations)
    }
}
