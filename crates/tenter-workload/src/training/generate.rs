//! Generator that turns one training step into a graph.

use super::blocks::{Blocks, ExpertTraffic};
use super::data_parallel::DataParallel;
use super::groups::Groups;
use super::layout::Training;
use super::memory;
use super::operators::{Block, BlockKind, Passes};
use super::schedule::{Pass, Slot};
use super::spec::{Recompute, Sharding};
use super::step::TrainingStep;
use super::traffic::Sizes;
use crate::collective::Direction;
use crate::graph::{CollectiveName, Graph, GraphBuilder, GraphError};
use crate::transformer::{
    Communicator, Communicators, Computed, Place, Program, Purpose, Stream, Unfit, cannot_run,
};

/// Tag bit for messages in a context-parallel ring, which keeps them apart from messages between
/// stages.
const RING_TAG: u32 = 1 << 31;
/// Tag for a tied embedding's gradient. No message between stages has it: their tags name the later
/// part of the model, which is never part 0.
const EMBEDDING_TAG: u32 = 0;

type Built<T> = Result<T, GraphError>;

/// Builds a training step's graph, with the facts that are known before it runs.
///
/// # Errors
/// A model that does not fit into memory, collectives that their ranks cannot run, and more
/// operations or transfers than can be numbered.
pub fn step(training: &Training) -> Result<(Graph, TrainingStep), Unfit> {
    if training.spec.check_memory {
        memory::check(training)?;
    }
    let built = graph(training);
    let (graph, computed) = built.map_err(|error| cannot_run(&error, "batch", "makes a step"))?;
    let known = TrainingStep::new(training, computed);
    Ok((graph, known))
}

fn graph(training: &Training) -> Built<(Graph, Computed)> {
    let spec = &training.spec;
    let mut builder = GraphBuilder::default();
    let mut communicators = Communicators::new(&spec.tp_algorithms, &spec.algorithms);
    let mut computed = Computed::default();
    let stages: Vec<Vec<u32>> = (0..spec.pp).map(|of| training.grid.stage(of)).collect();
    let model = Blocks::new(training);
    for rank in 0..training.grid.ranks() {
        let place = training.grid.place(rank);
        let mut program = Program::new(
            rank,
            &mut builder.collectives,
            &mut communicators,
            &mut computed,
        );
        let groups = Groups::new(training, rank, place, &stages, &mut program)?;
        let of_rank = OfRank {
            training,
            place,
            model: &model,
            sizes: Sizes::new(training),
            groups,
            ring_messages: 0,
            expert_number: expert_number(rank, &stages[place.pp as usize], spec.ep),
            layer: 0,
        };
        of_rank.step(&mut program)?;
        let of = program.finish();
        builder.add(of)?;
    }
    Ok((builder.finish()?, computed))
}

/// Returns a rank's index among the ranks over which experts are spread.
fn expert_number(rank: u32, stage: &[u32], ep: u32) -> usize {
    let index = stage.iter().position(|&own| own == rank).unwrap_or(0);
    index % ep as usize
}

/// A unit: weights are gathered and gradients reduced unit by unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Embedding,
    Layer(u32),
    Head,
}

/// Generates one rank's program for a step.
struct OfRank<'t> {
    training: &'t Training,
    place: Place,
    model: &'t Blocks,
    sizes: Sizes,
    groups: Groups,
    /// Messages that the rank has sent in its ring so far, for their tags.
    ring_messages: u32,
    /// Index among the ranks over which experts are spread.
    expert_number: usize,
    /// Layer that is being generated.
    layer: u32,
}

impl OfRank<'_> {
    fn step(mut self, program: &mut Program<'_, '_>) -> Built<()> {
        let training = self.training;
        let stage = self.place.pp;
        let mut data = DataParallel::new(training, self.groups.data);
        let slots = training.pipeline.slots(stage);
        let mut first_use: Vec<(u32, [u64; 2])> = Vec::new();
        for slot in slots.iter().filter(|slot| slot.pass == Pass::Forward) {
            if slot.micro_batch == 0 {
                let units = self.units(slot.chunk).into_iter();
                // In the order in which the forward pass of the first micro-batch needs them.
                first_use.extend(units.map(|unit| (self.number(unit), self.weights(unit))));
            }
        }
        data.gather_ahead(program, &first_use)?;
        for slot in slots {
            self.slot(program, &mut data, slot)?;
        }
        data.end_step(program)?;
        self.sum_shared(program)?;
        let spec = &training.spec;
        let (dense, experts) = training.weights_of_stage(stage);
        // With `zero` each replica updates its own shard of the weights.
        let share = |weights: u64, of: Option<Communicator>| {
            let is_shared = spec.zero != Sharding::None;
            let ranks = of.filter(|_| is_shared).map_or(1, Communicator::size);
            weights as f64 / f64::from(ranks)
        };
        let own = share(dense, self.groups.data[0].gradients)
            + share(experts, self.groups.data[1].gradients);
        program.compute(self.model.operators.optimizer(own), Purpose::Optimizer);
        data.gather_behind(program, [dense, experts])
    }

    /// Reduces weight gradients that several ranks hold: those replicated in a tensor-parallel
    /// group, and a tied embedding's at both ends of the pipeline.
    fn sum_shared(&self, program: &mut Program<'_, '_>) -> Built<()> {
        let training = self.training;
        let bytes = training.spec.gradient_precision.bytes();
        if training.shares_activations() {
            let replicated: u64 = (0..training.pipeline.chunks)
                .flat_map(|chunk| training.layers(self.part(chunk)))
                .map(|layer| training.replicated_weights(layer))
                .sum();
            let name = CollectiveName::AllReduce;
            program.collective(self.groups.tensor, name, bytes * replicated)?;
        }
        // A pairwise exchange instead of an all-reduce, so that waiting for the other end shows as
        // a wait for its message.
        if let Some(peer) = self.groups.embedding {
            let tied = bytes * training.vocabulary_weights();
            program.exchange(peer, EMBEDDING_TAG, tied);
        }
        Ok(())
    }

    /// Returns the model part that the rank runs as model chunk `chunk`.
    fn part(&self, chunk: u32) -> u32 {
        chunk * self.training.pipeline.stages + self.place.pp
    }

    /// Returns the units in the rank's model chunk `chunk`, in forward order.
    fn units(&self, chunk: u32) -> Vec<Unit> {
        let part = self.part(chunk);
        let mut units = Vec::new();
        if part == 0 {
            units.push(Unit::Embedding);
        }
        units.extend(self.training.layers(part).map(Unit::Layer));
        if part + 1 == self.training.parts() {
            units.push(Unit::Head);
        }
        units
    }

    fn number(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Embedding => 0,
            Unit::Layer(layer) => layer + 1,
            Unit::Head => self.training.model.layers + 1,
        }
    }

    /// Counts a unit's weights: those that all data-parallel ranks share, and those in experts.
    fn weights(&self, unit: Unit) -> [u64; 2] {
        let training = self.training;
        match unit {
            Unit::Layer(layer) => [
                training.dense_weights(layer),
                training.expert_weights(layer),
            ],
            // A tied matrix is counted at the embedding.
            Unit::Head if training.model.tied && training.parts() == 1 => [0, 0],
            Unit::Embedding | Unit::Head => [training.vocabulary_weights(), 0],
        }
    }

    fn blocks(&self, unit: Unit) -> Vec<Block> {
        match unit {
            Unit::Embedding => vec![self.model.embedding],
            Unit::Head => vec![self.model.head],
            Unit::Layer(layer) if self.training.model.has_experts(layer) => {
                self.model.experts.clone()
            }
            Unit::Layer(_) => self.model.dense.clone(),
        }
    }

    fn slot(
        &mut self,
        program: &mut Program<'_, '_>,
        data: &mut DataParallel<'_>,
        slot: Slot,
    ) -> Built<()> {
        // Neighbouring parts are at neighbouring stages, and the last stage is followed by the
        // first one with the next chunk.
        let part = self.part(slot.chunk);
        let is_last = slot.micro_batch + 1 == self.training.pipeline.micro_batches;
        let splits = self.training.pipeline.splits_backward();
        let units = self.units(slot.chunk);
        match slot.pass {
            Pass::Forward => {
                // Part 0 has its inputs from the data set.
                self.receive(program, slot, part.checked_sub(1));
                for unit in units {
                    self.enter(unit);
                    data.begin_unit(program, self.weights(unit))?;
                    if slot.micro_batch == 0 {
                        data.await_unit(program, self.number(unit));
                    }
                    for block in self.blocks(unit) {
                        self.forward(program, &block, Purpose::Forward)?;
                    }
                }
                let next = Some(part + 1).filter(|&next| next < self.training.parts());
                self.send(program, slot, next);
            }
            Pass::Backward => {
                let next = Some(part + 1).filter(|&next| next < self.training.parts());
                self.receive(program, slot, next);
                for unit in units.into_iter().rev() {
                    self.enter(unit);
                    data.begin_unit(program, self.weights(unit))?;
                    self.backward_of(program, unit, splits)?;
                    if !splits {
                        data.end_unit(program, self.weights(unit), is_last)?;
                    }
                }
                self.send(program, slot, part.checked_sub(1));
            }
            Pass::Weights => {
                for unit in units.into_iter().rev() {
                    self.enter(unit);
                    let blocks = self.blocks(unit);
                    let of_block = |block: &Block| {
                        let core = block.core.weights * self.load(block.kind);
                        block.before.weights + core + block.after.weights
                    };
                    let seconds = blocks.iter().map(of_block).sum();
                    program.compute(seconds, Purpose::Backward);
                    data.end_unit(program, self.weights(unit), is_last)?;
                }
            }
        }
        Ok(())
    }

    /// Notes the layer if the unit that follows is one.
    fn enter(&mut self, unit: Unit) {
        if let Unit::Layer(layer) = unit {
            self.layer = layer;
        }
    }

    /// Returns the traffic to the layer's experts; `None` if tokens are spread evenly.
    fn expert_traffic(&self) -> Option<&ExpertTraffic> {
        let all = &self.model.experts_to;
        // Layers deal their experts in turn to the next rank; evenly spread tokens have no list.
        let place = (self.layer as usize).checked_rem(all.len())?;
        all.get(place)
    }

    /// Returns the factor on an expert block's core at this rank, relative to evenly spread tokens.
    fn load(&self, kind: BlockKind) -> f64 {
        let traffic = self.expert_traffic().filter(|_| kind == BlockKind::Experts);
        let load = traffic.and_then(|of| of.loads.get(self.expert_number));
        load.copied().unwrap_or(1.0)
    }

    /// Adds the collective that takes tokens or their gradients to experts or back.
    fn exchange(
        &self,
        program: &mut Program<'_, '_>,
        way: Direction,
        purpose: Purpose,
        after: &[u32],
    ) -> Built<Option<u32>> {
        let of = self.groups.expert;
        let is_backward = purpose == Purpose::Backward;
        let bytes = if way == Direction::Dispatch && !is_backward {
            self.sizes.dispatch
        } else {
            self.sizes.combine
        };
        if let Some([dispatch, combine]) = &self.model.kernels {
            // Kernels count each token once, and know themselves how many copies it needs.
            let bytes = bytes / u64::from(self.training.model.top_k);
            let kind = match way {
                Direction::Dispatch => dispatch,
                Direction::Combine => combine,
            };
            return program.own_collective_after(of, kind, bytes, after);
        }
        let Some(traffic) = self.expert_traffic() else {
            return program.collective_after(of, CollectiveName::AllToAll, bytes, after);
        };
        let kind = match (way, is_backward) {
            (Direction::Dispatch, false) => &traffic.dispatch,
            (Direction::Dispatch, true) => &traffic.gradients,
            (Direction::Combine, _) => &traffic.combine,
        };
        program.own_collective_after(of, kind, bytes, after)
    }

    /// Returns the rank with the same coordinates at the stage that runs `part`.
    fn peer(&self, part: u32) -> u32 {
        let pp = part % self.training.pipeline.stages;
        self.training.grid.rank(Place { pp, ..self.place })
    }

    /// Returns the tag for a message between two neighbouring parts: the later part, the
    /// micro-batch, and the direction.
    fn tag(&self, later: u32, slot: Slot) -> u32 {
        let message = later * self.training.pipeline.micro_batches + slot.micro_batch;
        2 * message + u32::from(slot.pass == Pass::Backward)
    }

    /// Waits for the activations or gradients that come from another model part.
    fn receive(&self, program: &mut Program<'_, '_>, slot: Slot, from: Option<u32>) {
        let Some(from) = from.filter(|_| self.training.pipeline.stages > 1) else {
            return;
        };
        let tag = self.tag(from.max(self.part(slot.chunk)), slot);
        let bytes = self.sizes.between_stages;
        let receive = program.receive(Stream::PipelineReceive, self.peer(from), tag, bytes);
        program.also_after(&[receive]);
    }

    fn send(&self, program: &mut Program<'_, '_>, slot: Slot, to: Option<u32>) {
        let Some(to) = to.filter(|_| self.training.pipeline.stages > 1) else {
            return;
        };
        let tag = self.tag(to.max(self.part(slot.chunk)), slot);
        let bytes = self.sizes.between_stages;
        let sent = program.send(Stream::Pipeline, self.peer(to), tag, bytes);
        if !self.training.spec.overlap.pp {
            program.also_after(&[sent]);
        }
    }

    /// Adds the collective before a block: with sharded activations an all-gather.
    fn tensor_before(&self, program: &mut Program<'_, '_>, after: &[u32]) -> Built<Option<u32>> {
        if !self.training.shares_activations() {
            return Ok(None);
        }
        let (name, bytes) = (CollectiveName::AllGather, self.sizes.activations);
        program.collective_after(self.groups.tensor, name, bytes, after)
    }

    /// Adds the collective behind a block: an all-reduce, or a reduce-scatter with sharded
    /// activations.
    fn tensor_after(&self, program: &mut Program<'_, '_>, after: &[u32]) -> Built<Option<u32>> {
        let name = if self.training.shares_activations() {
            CollectiveName::ReduceScatter
        } else {
            CollectiveName::AllReduce
        };
        program.collective_after(self.groups.tensor, name, self.sizes.activations, after)
    }

    /// Adds a block's forward pass.
    fn forward(
        &mut self,
        program: &mut Program<'_, '_>,
        block: &Block,
        purpose: Purpose,
    ) -> Built<()> {
        match block.kind {
            BlockKind::Embedding => {
                let place = program.compute(block.all().forward, purpose);
                let sum = self.tensor_after(program, &[place])?;
                program.also_after(sum.as_slice());
            }
            BlockKind::Head => {
                let front = program.front().to_vec();
                let gathered = self.tensor_before(program, &front)?;
                program.also_after(gathered.as_slice());
                program.compute(block.all().forward, purpose);
                // Each rank has a part of the vocabulary only, so the losses are summed over the
                // tensor-parallel group.
                let name = CollectiveName::AllReduce;
                program.collective(self.groups.tensor, name, self.sizes.losses)?;
            }
            BlockKind::Experts => {
                let passes = [block.before, block.core, block.after].map(|of| of.forward);
                self.experts(program, passes, purpose)?;
            }
            BlockKind::Attention | BlockKind::Dense | BlockKind::Shared => {
                let passes = [block.before, block.core, block.after].map(|of| of.forward);
                self.tensor_parallel(program, block.kind, passes, purpose)?;
            }
        }
        Ok(())
    }

    /// Adds the forward pass for a block that tensor-parallel ranks compute together.
    fn tensor_parallel(
        &mut self,
        program: &mut Program<'_, '_>,
        kind: BlockKind,
        seconds: [f64; 3],
        purpose: Purpose,
    ) -> Built<()> {
        let front = program.front().to_vec();
        let gathered = self.tensor_before(program, &front)?;
        if !self.training.spec.overlap.tp {
            program.also_after(gathered.as_slice());
        }
        let first = program.next_place();
        self.compute_block(program, kind, 1, seconds, purpose);
        let computed = program.front().to_vec();
        let sum = if self.training.spec.overlap.tp {
            // As if both were cut into fine chunks: the collective starts with the computing, and
            // what follows waits for the longer one.
            let sum = self.tensor_after(program, &[])?;
            if let Some(place) = sum {
                program.after_start(place, first);
            }
            program.also_after(gathered.as_slice());
            sum
        } else {
            self.tensor_after(program, &computed)?
        };
        program.also_after(sum.as_slice());
        Ok(())
    }

    /// Adds a block's computing. Attention over several context-parallel ranks goes step by step
    /// round a ring.
    fn compute_block(
        &mut self,
        program: &mut Program<'_, '_>,
        kind: BlockKind,
        ring_bytes: u64,
        [before, core, after]: [f64; 3],
        purpose: Purpose,
    ) {
        let ranks = self.training.grid.size.cp;
        if kind != BlockKind::Attention || ranks == 1 {
            program.compute(before + core + after, purpose);
            return;
        }
        program.compute(before, purpose);
        self.ring(program, core, ring_bytes * self.sizes.ring_step, purpose);
        program.compute(after, purpose);
    }

    /// Adds attention in a context-parallel group: keys and values go round while each rank
    /// computes with those that it has.
    fn ring(&mut self, program: &mut Program<'_, '_>, core: f64, bytes: u64, purpose: Purpose) {
        let (grid, own) = (&self.training.grid, self.place);
        let ranks = grid.size.cp;
        let at = |cp: u32| grid.rank(Place { cp, ..own });
        let [next, previous] = [1, ranks - 1].map(|step| at((own.cp + step) % ranks));
        let is_beside = self.training.spec.overlap.cp;
        let share = core / f64::from(ranks);
        let mut here = program.front().to_vec();
        // The first share needs no message: it uses the rank's own keys and values.
        if is_beside {
            program.compute(share, purpose);
        }
        for _ in 1..ranks {
            let tag = RING_TAG | self.ring_messages;
            self.ring_messages += 1;
            program.send_after(Stream::Context, next, tag, bytes, &here);
            let receive = program.receive(Stream::ContextReceive, previous, tag, bytes);
            // Only what has been received can be sent on.
            here = vec![receive];
            program.also_after(&here);
            if is_beside {
                program.compute(share, purpose);
            }
        }
        if !is_beside {
            program.compute(core, purpose);
        }
    }

    /// Adds a layer's experts: dispatch, their feed-forward parts, and combination.
    fn experts(
        &self,
        program: &mut Program<'_, '_>,
        [before, core, after]: [f64; 3],
        purpose: Purpose,
    ) -> Built<()> {
        // Uneven tokens make the core longer or shorter at this rank than even ones.
        let core = core * self.load(BlockKind::Experts);
        program.compute(before, purpose);
        let is_beside = self.training.spec.overlap.ep;
        let front = program.front().to_vec();
        let sent = self.exchange(program, Direction::Dispatch, purpose, &front)?;
        if !is_beside {
            program.also_after(sent.as_slice());
        }
        let computed = program.compute(core, purpose);
        let after_core = if is_beside {
            Vec::new()
        } else {
            vec![computed]
        };
        let returned = self.exchange(program, Direction::Combine, purpose, &after_core)?;
        // Beside computing, the way back begins with the experts and not behind them, as with fine
        // chunks.
        if let Some(place) = returned.filter(|_| is_beside) {
            program.after_start(place, computed);
        }
        program.also_after(sent.as_slice());
        program.also_after(returned.as_slice());
        program.compute(after, purpose);
        Ok(())
    }

    /// Adds a unit's backward pass, with full recomputation before it.
    fn backward_of(
        &mut self,
        program: &mut Program<'_, '_>,
        unit: Unit,
        splits: bool,
    ) -> Built<()> {
        let blocks = self.blocks(unit);
        let is_layer = matches!(unit, Unit::Layer(_));
        // The embedding and the output layer are not recomputed.
        if is_layer && self.training.spec.recompute == Recompute::Full {
            for block in &blocks {
                self.forward(program, block, Purpose::Recompute)?;
            }
        }
        for block in blocks.iter().rev() {
            self.backward(program, block, splits)?;
        }
        Ok(())
    }

    fn backward(
        &mut self,
        program: &mut Program<'_, '_>,
        block: &Block,
        splits: bool,
    ) -> Built<()> {
        // Where passes are split, gradients of weights are computed later, as a pass of their own.
        let weights = if splits { 0.0 } else { block.all().weights };
        match block.kind {
            BlockKind::Embedding => {
                let front = program.front().to_vec();
                let gathered = self.tensor_before(program, &front)?;
                program.also_after(gathered.as_slice());
                program.compute(block.all().input + weights, Purpose::Backward);
            }
            BlockKind::Head => {
                program.compute(block.all().input + weights, Purpose::Backward);
                let front = program.front().to_vec();
                let sum = self.tensor_after(program, &front)?;
                program.also_after(sum.as_slice());
            }
            BlockKind::Experts => {
                let with_weights = |of: Passes| of.input + if splits { 0.0 } else { of.weights };
                // The forward pass in reverse: gradients come in where results went out.
                let passes = [block.after, block.core, block.before].map(with_weights);
                self.experts(program, passes, Purpose::Backward)?;
            }
            BlockKind::Attention | BlockKind::Dense | BlockKind::Shared => {
                self.tensor_backward(program, block, weights)?;
            }
        }
        Ok(())
    }

    /// Adds the backward pass for a block that tensor-parallel ranks compute together. With sharded
    /// activations the block's input is gathered once more, since weight gradients need it.
    fn tensor_backward(
        &mut self,
        program: &mut Program<'_, '_>,
        block: &Block,
        weights: f64,
    ) -> Built<()> {
        let is_selective = self.training.spec.recompute == Recompute::Selective;
        if is_selective && block.recomputed > 0.0 {
            program.compute(block.recomputed, Purpose::Recompute);
        }
        let is_beside = self.training.spec.overlap.tp;
        let front = program.front().to_vec();
        let gathered = self.tensor_before(program, &front)?;
        let once_more = self.tensor_before(program, gathered.as_slice())?;
        if !is_beside {
            program.also_after(gathered.as_slice());
            program.also_after(once_more.as_slice());
        }
        let first = program.next_place();
        let [before, core, after] = [block.before, block.core, block.after].map(|of| of.input);
        // Gradients of keys and values go round the ring with them, hence twice the bytes.
        let passes = [after + weights, core, before];
        self.compute_block(program, block.kind, 2, passes, Purpose::Backward);
        let computed = program.front().to_vec();
        let sum = if is_beside {
            let sum = self.tensor_after(program, &[])?;
            if let Some(place) = sum {
                program.after_start(place, first);
            }
            program.also_after(gathered.as_slice());
            program.also_after(once_more.as_slice());
            sum
        } else {
            self.tensor_after(program, &computed)?
        };
        program.also_after(sum.as_slice());
        Ok(())
    }
}
