//! Pipeline schedules: the order in which each stage runs forward and backward passes.

use tenter_language::config::choice;

/// The order in which stages run their passes.
///
/// Sources: `GPipe` (Huang et al., 2019); 1F1B and interleaved 1F1B (Narayanan et al., "Efficient
/// Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", 2021); ZB-H1 (Qi et al.,
/// "Zero Bubble Pipeline Parallelism", 2023).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineSchedule {
    /// All forward passes, followed by all backward passes.
    GPipe,
    /// After a warm-up, one forward and one backward pass in turn (1F1B).
    OneForwardOneBackward,
    /// 1F1B with several model chunks (virtual stages) at each stage.
    Interleaved,
    /// ZB-H1: weight gradients are a separate pass, delayed to fill the pipeline's bubble.
    ZeroBubble,
}

choice!(PipelineSchedule {
    "gpipe" => GPipe,
    "1f1b" => OneForwardOneBackward,
    "interleaved" => Interleaved,
    "zero-bubble" => ZeroBubble,
});

/// A pass through the layers that a stage has in one model chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Forward, from inputs to outputs.
    Forward,
    /// Backward, from output gradients to input gradients, and to weight gradients unless these are
    /// a separate pass.
    Backward,
    /// Weight gradients, if the schedule delays them.
    Weights,
}

/// One micro-batch's pass at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// Pass that the stage runs.
    pub pass: Pass,
    /// Index of the model chunk (virtual stage) that this stage runs.
    pub chunk: u32,
    /// Micro-batch that passes, counted from 0.
    pub micro_batch: u32,
}

/// A pipeline: its shape and its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Order in which stages run their passes.
    pub schedule: PipelineSchedule,
    /// Stages in the pipeline, at least 1.
    pub stages: u32,
    /// Model chunks at each stage; above 1 in interleaved schedules only.
    pub chunks: u32,
    /// Micro-batches in a step, per pipeline.
    pub micro_batches: u32,
}

impl Pipeline {
    /// Returns true if weight gradients are a separate pass.
    pub fn splits_backward(&self) -> bool {
        self.schedule == PipelineSchedule::ZeroBubble && self.stages > 1
    }

    /// Returns the passes that `stage` runs, in order.
    pub fn slots(&self, stage: u32) -> Vec<Slot> {
        let passes = self.micro_batches * self.chunks;
        // With few micro-batches the warm-up ends early.
        let first = self.forwards_before_backwards(stage).min(passes);
        let mut slots: Vec<Slot> = (0..first).map(|nth| self.forward(nth)).collect();
        for nth in 0..passes {
            if first + nth < passes {
                slots.push(self.forward(first + nth));
            }
            slots.push(self.backward(nth));
            // Later stages delay more weight passes. They run them at the end, while the earlier
            // stages still wait for backward passes.
            if self.splits_backward() && nth >= stage {
                slots.push(self.weights(nth - stage));
            }
        }
        if self.splits_backward() {
            let left = passes.saturating_sub(stage)..passes;
            slots.extend(left.map(|nth| self.weights(nth)));
        }
        slots
    }

    /// Returns how many forward passes `stage` runs before it alternates.
    fn forwards_before_backwards(&self, stage: u32) -> u32 {
        let behind = self.stages - stage - 1;
        match self.schedule {
            PipelineSchedule::GPipe => self.micro_batches,
            PipelineSchedule::OneForwardOneBackward | PipelineSchedule::ZeroBubble => behind,
            PipelineSchedule::Interleaved => 2 * behind + (self.chunks - 1) * self.stages,
        }
    }

    /// Returns the chunk and micro-batch for the `nth` forward pass. With several chunks, `stages`
    /// micro-batches at a time go through one chunk after the other.
    fn nth(&self, nth: u32) -> (u32, u32) {
        if self.chunks == 1 {
            return (0, nth);
        }
        let round = self.stages * self.chunks;
        let chunk = nth % round / self.stages;
        (chunk, nth / round * self.stages + nth % self.stages)
    }

    fn forward(&self, nth: u32) -> Slot {
        let (chunk, micro_batch) = self.nth(nth);
        Slot {
            pass: Pass::Forward,
            chunk,
            micro_batch,
        }
    }

    fn backward(&self, nth: u32) -> Slot {
        let (chunk, micro_batch) = self.nth(nth);
        Slot {
            pass: Pass::Backward,
            // Backward passes go through the chunks in reverse.
            chunk: self.chunks - 1 - chunk,
            micro_batch,
        }
    }

    fn weights(&self, nth: u32) -> Slot {
        Slot {
            pass: Pass::Weights,
            ..self.backward(nth)
        }
    }

    /// Returns the time for which a stage is idle in a step if messages take no time: the bubble.
    /// For one micro-batch and all chunks together, a stage takes `forward` in the forward pass,
    /// `input` for input gradients, and `weights` for weight gradients.
    pub fn bubble(&self, forward: f64, input: f64, weights: f64) -> f64 {
        let others = f64::from(self.stages - 1);
        match self.schedule {
            PipelineSchedule::ZeroBubble => others * (forward + input - weights),
            _ => others * (forward + input + weights) / f64::from(self.chunks),
        }
    }

    /// Returns the most micro-batches whose activations `stage` holds at a time. One chunk's
    /// activations count as 1/`chunks`.
    pub fn kept(&self, stage: u32) -> f64 {
        let [stages, chunks, micro_batches] =
            [self.stages, self.chunks, self.micro_batches].map(f64::from);
        let own = f64::from(stage);
        let most = match self.schedule {
            PipelineSchedule::GPipe => micro_batches,
            PipelineSchedule::Interleaved => stages + (stages - 1.0 - 2.0 * own) / chunks,
            PipelineSchedule::OneForwardOneBackward => stages - own,
            PipelineSchedule::ZeroBubble => stages,
        };
        most.min(micro_batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Runs the slots of all stages with messages that take no time, and returns how long the step
    /// takes.
    fn step(pipeline: &Pipeline, [forward, input, weights]: [u64; 3]) -> u64 {
        let whole = pipeline.chunks * pipeline.stages;
        let mut done: BTreeMap<(Pass, u32, u32), u64> = BTreeMap::new();
        let lists: Vec<Vec<Slot>> = (0..pipeline.stages).map(|of| pipeline.slots(of)).collect();
        let mut next = vec![0; lists.len()];
        let mut free = vec![0_u64; lists.len()];
        while next
            .iter()
            .zip(&lists)
            .any(|(next, list)| *next < list.len())
        {
            let before: usize = next.iter().sum();
            for (stage, list) in (0..).zip(&lists) {
                let index = stage as usize;
                while let Some(slot) = list.get(next[index]) {
                    let part = slot.chunk * pipeline.stages + stage;
                    let waits = match slot.pass {
                        Pass::Forward => part.checked_sub(1).map(|part| (Pass::Forward, part)),
                        Pass::Backward if part + 1 < whole => Some((Pass::Backward, part + 1)),
                        Pass::Backward => Some((Pass::Forward, part)),
                        Pass::Weights => Some((Pass::Backward, part)),
                    };
                    let waits = waits.map(|(pass, part)| done.get(&(pass, part, slot.micro_batch)));
                    let start = match waits {
                        None => free[index],
                        Some(Some(&end)) => free[index].max(end),
                        Some(None) => break,
                    };
                    let takes = match slot.pass {
                        Pass::Forward => forward,
                        Pass::Backward if pipeline.splits_backward() => input,
                        Pass::Backward => input + weights,
                        Pass::Weights => weights,
                    };
                    free[index] = start + takes;
                    done.insert((slot.pass, part, slot.micro_batch), start + takes);
                    next[index] += 1;
                }
            }
            assert!(
                next.iter().sum::<usize>() > before,
                "stages wait for each other"
            );
        }
        free.into_iter().max().unwrap_or(0)
    }

    /// A stage keeps what its forward passes have made until the last backward pass of the same
    /// micro-batch and part.
    #[test]
    fn a_stage_keeps_the_activations_that_its_slots_need() {
        for (schedule, chunks) in [
            (PipelineSchedule::GPipe, 1),
            (PipelineSchedule::OneForwardOneBackward, 1),
            (PipelineSchedule::ZeroBubble, 1),
            (PipelineSchedule::Interleaved, 1),
            (PipelineSchedule::Interleaved, 2),
            (PipelineSchedule::Interleaved, 5),
        ] {
            for stages in [2, 4, 7] {
                let pipeline = Pipeline {
                    schedule,
                    stages,
                    chunks,
                    micro_batches: stages * 3,
                };
                let last = if pipeline.splits_backward() {
                    Pass::Weights
                } else {
                    Pass::Backward
                };
                for stage in 0..stages {
                    let (mut kept, mut most) = (0_i32, 0);
                    for slot in pipeline.slots(stage) {
                        kept += i32::from(slot.pass == Pass::Forward);
                        most = most.max(kept);
                        kept -= i32::from(slot.pass == last);
                    }
                    let found = f64::from(most) / f64::from(chunks);
                    let expected = pipeline.kept(stage);
                    let about = format!("{pipeline:?} {stage}: {found} {expected}");
                    assert!((found - expected).abs() < 1e-9, "{about}");
                }
            }
        }
    }

    /// Every pass of every micro-batch and part is there once, and the step is as long as the
    /// formula of the bubble says.
    #[test]
    fn the_bubble_of_each_schedule_is_that_of_its_formula() {
        for (schedule, chunks) in [
            (PipelineSchedule::GPipe, 1),
            (PipelineSchedule::OneForwardOneBackward, 1),
            (PipelineSchedule::ZeroBubble, 1),
            (PipelineSchedule::Interleaved, 2),
            (PipelineSchedule::Interleaved, 5),
        ] {
            for stages in [1, 2, 4, 7] {
                for rounds in [2, 3, 6] {
                    let pipeline = Pipeline {
                        schedule,
                        stages,
                        chunks,
                        micro_batches: stages * rounds,
                    };
                    for stage in 0..stages {
                        let mut slots = pipeline.slots(stage);
                        let all = slots.len();
                        slots.sort_unstable();
                        slots.dedup();
                        let passes = if pipeline.splits_backward() { 3 } else { 2 };
                        let expected = passes * stages * rounds * chunks;
                        assert_eq!((slots.len(), all), (expected as usize, expected as usize));
                    }
                    // Per part of the model.
                    let times = [10, 12, 9];
                    let whole = f64::from(chunks * stages * rounds) * 31.0;
                    let [forward, input, weights] =
                        times.map(|time| time as f64 * f64::from(chunks));
                    let bubble = pipeline.bubble(forward, input, weights);
                    let found = step(&pipeline, times) as f64;
                    let about = format!("{pipeline:?}: {found} for {whole} + {bubble}");
                    assert!((found - whole - bubble).abs() < 1e-9, "{about}");
                }
            }
        }
    }
}
