//! Bookkeeping of puts for which a signal vouches, and limits on what a plan may demand.

use std::collections::BTreeMap;
use std::rc::Rc;

use tenter_workload::collective::{Program, StepName};

use super::json::{Read, wrong};

/// The last step of each helper that takes a block's puts, by rank and helper.
type Steps = BTreeMap<(u32, u32), StepName>;

/// Puts of a thread block, and puts that others had made before a common barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// Shared by the blocks that met at the last barrier.
    before: Rc<Steps>,
    since: Steps,
}

impl Taken {
    /// Notes that a helper at `rank` takes a put in `step`.
    pub(super) fn add(&mut self, rank: u32, step: StepName) {
        self.since.insert((rank, step.block), step);
    }

    /// Returns the last steps of all helpers at `rank`.
    pub(super) fn of_rank(&self, rank: u32) -> Vec<StepName> {
        let of = (rank, 0)..=(rank, u32::MAX);
        let mut steps: Steps = self
            .before
            .range(of.clone())
            .map(|(key, step)| (*key, *step))
            .collect();
        // Later steps of a helper replace earlier ones: its steps run in order.
        steps.extend(self.since.range(of).map(|(key, step)| (*key, *step)));
        steps.into_values().collect()
    }

    /// Joins several blocks' puts, and returns how many steps were visited.
    pub(super) fn met<'t>(blocks: impl Iterator<Item = &'t Taken>) -> (Taken, usize) {
        let (mut all, mut looked_at) = (Steps::new(), 0);
        let mut shared: Vec<&Rc<Steps>> = Vec::new();
        for of in blocks {
            // Most blocks met at the barrier before and share its set, which is visited once.
            let is_new = shared
                .last()
                .is_none_or(|last| !Rc::ptr_eq(last, &of.before));
            if is_new {
                shared.push(&of.before);
            }
            let before = is_new.then_some(&*of.before).into_iter().flatten();
            for (key, step) in before.chain(&of.since).map(|(key, step)| (*key, *step)) {
                looked_at += 1;
                let last = all.entry(key).or_insert(step);
                // A helper's steps run in order, so its last one vouches for all before.
                last.step = last.step.max(step.step);
            }
        }
        let taken = Taken {
            before: Rc::new(all),
            since: Steps::new(),
        };
        (taken, looked_at)
    }
}

/// Limits on what is left for a plan. Lists in a plan are short, but each entry may stand for a
/// great deal.
#[derive(Debug)]
pub(super) struct Budget {
    waits: usize,
    chunks: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            waits: WAITS_MAX,
            chunks: Program::CHUNKS_MAX,
        }
    }
}

/// Most waits of steps for other steps, when they are written out.
const WAITS_MAX: usize = 1 << 22;

impl Budget {
    /// Counts waits that are written out; `name` is the operation for the error.
    ///
    /// # Errors
    /// More waits than [`WAITS_MAX`].
    pub(super) fn waits(&mut self, count: usize, name: &str) -> Read<()> {
        let left = self.waits.checked_sub(count);
        self.waits = left.ok_or_else(|| {
            let what = format!(
                "{name}: waits for signals, barriers and packets up to here are more than {WAITS_MAX}"
            );
            wrong(
                what,
                "name a plan of fewer thread blocks, signals, barriers or packets",
            )
        })?;
        Ok(())
    }

    /// Counts chunks that an operation reads and writes.
    ///
    /// # Errors
    /// More chunks than an algorithm may move.
    pub(super) fn chunks(&mut self, count: u64, name: &str) -> Read<()> {
        let left = self.chunks.checked_sub(count);
        self.chunks = left.ok_or_else(|| {
            let most = Program::CHUNKS_MAX;
            let what = format!("{name}: operations up to here move more than {most} chunks");
            wrong(what, "correct `size`, or cut the buffers into fewer chunks")
        })?;
        Ok(())
    }

    /// Checks the number of steps after an operation.
    ///
    /// # Errors
    /// More steps than an algorithm may have.
    pub(super) fn steps(count: usize, name: &str) -> Read<()> {
        if count <= Program::STEPS_MAX {
            return Ok(());
        }
        let most = Program::STEPS_MAX;
        let what = format!("{name}: operations up to here take more than {most} steps");
        Err(wrong(what, "name a plan of fewer operations"))
    }
}
