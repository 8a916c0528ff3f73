//! Data-parallel communication: gradient reductions, and all-gathers for sharded weights.

use super::layout::Training;
use super::spec::Sharding;
use crate::graph::{CollectiveName, GraphError};
use crate::transformer::{Communicator, Program};

/// Bytes per weight in messages, at 16 bits.
const WEIGHT_BYTES: u64 = 2;

/// Communicators for one weight kind: weights that all data-parallel ranks share, or experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ways {
    pub(super) gradients: Option<Communicator>,
    pub(super) parameters: Option<Communicator>,
}

/// Pending reductions for one weight kind.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Number of gradients that are computed and not yet sent.
    gradients: u64,
    /// Places of the collectives for which the optimizer waits.
    sums: Vec<u32>,
}

/// A rank's data-parallel communication while its program is built.
pub(super) struct DataParallel<'t> {
    training: &'t Training,
    /// Communicators for shared weights, and for experts.
    ways: [Ways; 2],
    waiting: [Waiting; 2],
    /// First operation in the last unit whose weights were gathered. The next unit's gathering may
    /// begin with it.
    unit_start: Option<u32>,
    /// For each unit, the gathering collectives for which its first forward pass waits.
    gathered: Vec<(u32, Vec<u32>)>,
}

type Built<T> = Result<T, GraphError>;

impl<'t> DataParallel<'t> {
    pub(super) fn new(training: &'t Training, ways: [Ways; 2]) -> DataParallel<'t> {
        DataParallel {
            training,
            ways,
            waiting: Default::default(),
            unit_start: None,
            gathered: Vec::new(),
        }
    }

    /// Returns how many gradients or weights fill a bucket, at least 1.
    fn bucket(&self) -> u64 {
        let spec = &self.training.spec;
        (spec.gradient_bucket.count() / spec.gradient_precision.bytes()).max(1)
    }

    /// Begins a unit's forward or backward pass. If weights are sharded they are gathered first,
    /// with overlap from the moment the previous unit begins.
    pub(super) fn begin_unit(
        &mut self,
        program: &mut Program<'_, '_>,
        weights: [u64; 2],
    ) -> Built<()> {
        let spec = &self.training.spec;
        if !spec.zero.of_weights() {
            return Ok(());
        }
        let mut gathered = Vec::new();
        for (of, weights) in self.ways.iter().zip(weights) {
            let (name, bytes) = (CollectiveName::AllGather, WEIGHT_BYTES * weights);
            let after = match self.unit_start {
                // Without overlap the rank first finishes what it computes.
                _ if !spec.overlap.parameters => program.front().to_vec(),
                _ => Vec::new(),
            };
            let Some(place) = program.collective_after(of.parameters, name, bytes, &after)? else {
                continue;
            };
            if let (true, Some(start)) = (spec.overlap.parameters, self.unit_start) {
                program.after_start(place, start);
            }
            gathered.push(place);
        }
        program.also_after(&gathered);
        self.unit_start = Some(program.next_place());
        Ok(())
    }

    /// Gathers the weights that the previous step's optimizer has changed, while the forward pass
    /// begins.
    pub(super) fn gather_ahead(
        &mut self,
        program: &mut Program<'_, '_>,
        units: &[(u32, [u64; 2])],
    ) -> Built<()> {
        let spec = &self.training.spec;
        if !self.gathers_at_ends() || !spec.overlap.parameters {
            return Ok(());
        }
        self.gathered = units.iter().map(|(unit, _)| (*unit, Vec::new())).collect();
        for kind in 0..self.ways.len() {
            // Several units may share a bucket; each of them waits for the bucket that completes
            // it.
            let (mut waiting, mut first) = (0, 0);
            for (place, (_, weights)) in units.iter().enumerate() {
                waiting += weights[kind];
                if waiting < self.bucket() && place + 1 < units.len() {
                    continue;
                }
                let done = self.gather(program, kind, waiting, &[])?;
                for (_, gathered) in &mut self.gathered[first..=place] {
                    gathered.extend(&done);
                }
                (waiting, first) = (0, place + 1);
            }
        }
        Ok(())
    }

    /// Returns true if weights are gathered once in a step: the optimizer is sharded, but not the
    /// weights.
    fn gathers_at_ends(&self) -> bool {
        let zero = self.training.spec.zero;
        zero != Sharding::None && !zero.of_weights()
    }

    /// Makes a unit's first forward pass wait for its weights.
    pub(super) fn await_unit(&mut self, program: &mut Program<'_, '_>, unit: u32) {
        let Some(place) = self.gathered.iter().position(|(own, _)| *own == unit) else {
            return;
        };
        // A unit waits once in a step, in its first micro-batch.
        let (_, gathered) = self.gathered.swap_remove(place);
        program.also_after(&gathered);
    }

    /// Gathers `weights` weights in buckets and returns the collectives' places.
    fn gather(
        &self,
        program: &mut Program<'_, '_>,
        kind: usize,
        weights: u64,
        after: &[u32],
    ) -> Built<Vec<u32>> {
        let mut places = Vec::new();
        let mut left = weights;
        while left > 0 {
            let now = left.min(self.bucket());
            let (name, bytes) = (CollectiveName::AllGather, WEIGHT_BYTES * now);
            let of = self.ways[kind].parameters;
            places.extend(program.collective_after(of, name, bytes, after)?);
            left -= now;
        }
        Ok(places)
    }

    /// Adds a unit's gradients, and reduces full buckets if that overlaps with computing. `is_last`
    /// is set in the last micro-batch of the step.
    pub(super) fn end_unit(
        &mut self,
        program: &mut Program<'_, '_>,
        weights: [u64; 2],
        is_last: bool,
    ) -> Built<()> {
        let spec = &self.training.spec;
        // Without sharded gradients micro-batches accumulate locally, and the last one reduces the
        // sum.
        if !is_last && !spec.zero.of_gradients() {
            return Ok(());
        }
        for (waiting, weights) in self.waiting.iter_mut().zip(weights) {
            waiting.gradients += weights;
        }
        if !spec.overlap.gradients && !spec.zero.of_gradients() {
            return Ok(());
        }
        // Sharded gradients are reduced for each micro-batch, however few they are.
        let least = if spec.zero.of_gradients() {
            1
        } else {
            self.bucket()
        };
        self.sum(program, least)
    }

    /// Reduces gradients bucket by bucket while at least `least` are pending.
    fn sum(&mut self, program: &mut Program<'_, '_>, least: u64) -> Built<()> {
        let spec = &self.training.spec;
        let name = if spec.zero == Sharding::None {
            CollectiveName::AllReduce
        } else {
            CollectiveName::ReduceScatter
        };
        // With sharded weights all gradients of a unit are reduced together, as FSDP does.
        let most = if spec.zero.of_weights() {
            u64::MAX
        } else {
            self.bucket()
        };
        let front = program.front().to_vec();
        for (waiting, ways) in self.waiting.iter_mut().zip(&self.ways) {
            while waiting.gradients >= least {
                let now = waiting.gradients.min(most);
                let bytes = spec.gradient_precision.bytes() * now;
                let place = program.collective_after(ways.gradients, name, bytes, &front)?;
                waiting.gradients -= now;
                waiting.sums.extend(place);
                if let (false, Some(place)) = (spec.overlap.gradients, place) {
                    program.also_after(&[place]);
                }
            }
        }
        Ok(())
    }

    /// Reduces the remaining gradients, and makes the optimizer wait for all reductions.
    pub(super) fn end_step(&mut self, program: &mut Program<'_, '_>) -> Built<()> {
        self.sum(program, 1)?;
        for waiting in &self.waiting {
            program.also_after(&waiting.sums);
        }
        Ok(())
    }

    /// Gathers the weights that the optimizer has changed, unless the next step gathers them while
    /// it begins.
    pub(super) fn gather_behind(
        &mut self,
        program: &mut Program<'_, '_>,
        weights: [u64; 2],
    ) -> Built<()> {
        if !self.gathers_at_ends() || self.training.spec.overlap.parameters {
            return Ok(());
        }
        let front = program.front().to_vec();
        for (kind, weights) in weights.into_iter().enumerate() {
            let places = self.gather(program, kind, weights, &front)?;
            program.also_after(&places);
        }
        Ok(())
    }
}
