//! What data-parallel ranks send each other: gradients to be summed, and weights to be gathered.

use super::layout::Training;
use super::spec::Sharding;
use crate::graph::{CollectiveName, GraphError};
use crate::transformer::{Communicator, Program};

/// Bytes of a weight.
const WEIGHT_BYTES: u64 = 2;

/// Weights of the same kind: those that all data-parallel ranks have, or those of experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ways {
    pub(super) gradients: Option<Communicator>,
    pub(super) parameters: Option<Communicator>,
}

/// What one kind of weights has waiting.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Gradients that are computed and not sent, in numbers.
    gradients: u64,
    /// Collectives that the optimizer waits for.
    sums: Vec<u32>,
}

/// The gradients and weights of a rank.
pub(super) struct DataParallel<'t> {
    training: &'t Training,
    /// Of weights that all have, and of experts.
    ways: [Ways; 2],
    waiting: [Waiting; 2],
    /// The first operation of the last unit whose weights were gathered.
    unit_start: Option<u32>,
    /// The gathering that the first forward pass of each unit waits for, by unit.
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

    /// Numbers of a bucket.
    fn bucket(&self) -> u64 {
        let spec = &self.training.spec;
        (spec.gradient_bucket.count() / spec.gradient_precision.bytes()).max(1)
    }

    /// The forward or backward pass of a unit begins: with shared weights they are gathered, as the
    /// unit before begins or right away.
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

    /// The weights of units that the optimizer has changed in the step before are gathered while
    /// the forward pass begins.
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

    /// Whether weights are gathered once in a step.
    fn gathers_at_ends(&self) -> bool {
        let zero = self.training.spec.zero;
        zero != Sharding::None && !zero.of_weights()
    }

    /// The first forward pass of a unit waits for its weights.
    pub(super) fn await_unit(&mut self, program: &mut Program<'_, '_>, unit: u32) {
        let Some(place) = self.gathered.iter().position(|(own, _)| *own == unit) else {
            return;
        };
        let (_, gathered) = self.gathered.swap_remove(place);
        program.also_after(&gathered);
    }

    /// Gathers a number of weights, bucket by bucket.
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

    /// The gradients of a unit are there; `is_last` of the last micro-batch of a step.
    pub(super) fn end_unit(
        &mut self,
        program: &mut Program<'_, '_>,
        weights: [u64; 2],
        is_last: bool,
    ) -> Built<()> {
        let spec = &self.training.spec;
        if !is_last && !spec.zero.of_gradients() {
            return Ok(());
        }
        for (waiting, weights) in self.waiting.iter_mut().zip(weights) {
            waiting.gradients += weights;
        }
        if !spec.overlap.gradients && !spec.zero.of_gradients() {
            return Ok(());
        }
        let least = if spec.zero.of_gradients() {
            1
        } else {
            self.bucket()
        };
        self.sum(program, least)
    }

    /// Sums gradients bucket by bucket while there are so many.
    fn sum(&mut self, program: &mut Program<'_, '_>, least: u64) -> Built<()> {
        let spec = &self.training.spec;
        let name = if spec.zero == Sharding::None {
            CollectiveName::AllReduce
        } else {
            CollectiveName::ReduceScatter
        };
        // Where weights are sharded, those of a unit are summed at once.
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

    /// Sums what is left; the optimizer waits for all sums.
    pub(super) fn end_step(&mut self, program: &mut Program<'_, '_>) -> Built<()> {
        self.sum(program, 1)?;
        for waiting in &self.waiting {
            program.also_after(&waiting.sums);
        }
        Ok(())
    }

    /// Gathers the weights that the optimizer has changed, where that does not wait for the next
    /// step.
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
