//! What a rank does in an iteration over a batch, as calls of a sink: one adds it to a graph,
//! another one adds up what it takes.

use super::layout::{Inference, Pool};
use super::load::Load;
use super::operators::Operators;
use super::sizes::Sizes;
use crate::graph::{CollectiveName, GraphError};
use crate::transformer::Way;

/// What takes the parts of an iteration, one after the other.
pub(super) trait Sink {
    /// Computing.
    fn compute(&mut self, seconds: f64);

    /// A collective of tensor-parallel ranks.
    fn tensor(&mut self, name: CollectiveName, bytes: u64) -> Result<(), GraphError>;

    /// Tokens go to the experts of a layer, or back.
    fn exchange(&mut self, layer: u32, way: Way, bytes: u64) -> Result<(), GraphError>;

    /// What a rank computes of the experts of a layer over what it would if tokens were spread
    /// evenly.
    fn expert_load(&self, layer: u32) -> f64;
}

/// An iteration over a batch at a stage of a pool.
pub(super) struct Pass<'a> {
    of: &'a Inference,
    pool: &'a Pool,
    operators: Operators<'a>,
    load: Load,
    sizes: Sizes,
    /// Tokens that the experts of a group get.
    expert_tokens: u64,
}

type Done = Result<(), GraphError>;

impl<'a> Pass<'a> {
    /// Of a batch, beside others of which one has `padded` tokens: what is sent to experts is
    /// filled up to it.
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

    /// The bytes of what is sent.
    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// All that a rank of the stage computes and takes part in.
    pub(super) fn run(&self, stage: u32, sink: &mut impl Sink) -> Done {
        self.begin(stage, sink)?;
        for layer in self.of.layers(self.pool, stage) {
            self.layer(layer, sink)?;
        }
        self.end(stage, sink)
    }

    /// What comes before the layers of a stage.
    pub(super) fn begin(&self, stage: u32, sink: &mut impl Sink) -> Done {
        sink.compute(self.of.spec.step_overhead.ps() as f64 / 1e12);
        let tokens = self.load.tokens;
        if stage == 0 && tokens > 0 {
            sink.compute(self.operators.embedding(tokens));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        Ok(())
    }

    /// A layer.
    pub(super) fn layer(&self, layer: u32, sink: &mut impl Sink) -> Done {
        let tokens = self.load.tokens;
        if tokens > 0 {
            sink.compute(self.operators.attention(&self.load));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        if self.of.model.has_experts(layer) {
            self.experts(layer, sink)?;
        } else if tokens > 0 {
            sink.compute(self.operators.dense(tokens));
            sink.tensor(CollectiveName::AllReduce, self.sizes.activations)?;
        }
        Ok(())
    }

    /// What comes behind the layers of a stage.
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
        // Each tensor-parallel rank sends its share of the tokens, and gets them back.
        let own = tokens.div_ceil(u64::from(self.pool.grid.size.tp));
        sink.compute(operators.router(own));
        sink.exchange(layer, Way::There, self.sizes.dispatch)?;
        let load = sink.expert_load(layer);
        sink.compute(operators.experts(self.expert_tokens, load));
        sink.exchange(layer, Way::Back, self.sizes.combine)?;
        sink.compute(operators.behind_experts(own));
        sink.tensor(CollectiveName::AllGather, self.sizes.activations)
    }
}
