//! A rank's progress in its collectives.

use std::collections::BTreeMap;

use super::collectives::Share;
use super::schedule::GraphSchedule;
use super::turn::{Action, Turn};
use crate::Countdown;

/// A rank's progress in one collective.
#[derive(Clone, Debug)]
struct CollectiveProgress {
    /// The rank's collective operation; `None` until the rank takes part.
    operation: Option<u32>,
    /// Transfers to the rank that have not arrived, and its own that have not been acknowledged.
    left: Share,
    /// Dependencies that remain for transfers which the rank will send.
    waits: Countdown<u32>,
    /// Transfers released by arrivals before the rank takes part, which post them then.
    held: Vec<u32>,
}

/// Collectives in which a rank takes part, or whose transfers have reached it before it does.
#[derive(Clone, Debug)]
pub(super) struct CollectiveRuns {
    rank: u32,
    runs: BTreeMap<u32, CollectiveProgress>,
}

impl CollectiveRuns {
    pub(super) fn new(rank: u32) -> CollectiveRuns {
        CollectiveRuns {
            rank,
            runs: BTreeMap::new(),
        }
    }

    /// Enters collective `number` as `operation`, and posts its initial and held transfers. Returns
    /// the operation if the collective is over at once, since the rank's last transfers came
    /// earlier.
    pub(super) fn take_part(
        &mut self,
        operation: u32,
        number: u32,
        turn: &mut Turn<'_>,
    ) -> Option<u32> {
        let collectives = turn.schedule.collectives();
        let rank = collectives.number_in_group(number, self.rank);
        let (of, base) = collectives.schedule(number);
        let mut ids = Vec::new();
        of.initial(rank, &mut ids);
        let run = self.run(turn.schedule, number);
        run.operation = Some(operation);
        // Held transfers follow the initial ones, as if the rank had taken part before the
        // arrivals.
        ids.append(&mut run.held);
        turn.actions
            .extend(ids.into_iter().map(|id| Action::Post(base + id)));
        self.over(number)
    }

    /// Counts an arrival and posts the transfers it releases, or holds them until the rank takes
    /// part. Returns the operation if the collective is now over at this rank.
    pub(super) fn arrived(&mut self, transfer: u32, turn: &mut Turn<'_>) -> Option<u32> {
        let collectives = turn.schedule.collectives();
        let (number, local) = collectives.locate(transfer);
        let (of, base) = collectives.schedule(number);
        let run = self.run(turn.schedule, number);
        // A rank that takes part earlier may send before this one does.
        run.left.receives -= 1;
        let mut released = Vec::new();
        of.released_by(local, &mut released);
        for next in released {
            if !run.waits.is_last(next, of.dependencies(next)) {
                continue;
            }
            if run.operation.is_some() {
                turn.act(Action::Post(base + next));
            } else {
                run.held.push(next);
            }
        }
        self.over(number)
    }

    /// Counts an acknowledgement. Returns the operation if the collective is now over at this rank.
    pub(super) fn acknowledged(&mut self, transfer: u32, turn: &Turn<'_>) -> Option<u32> {
        let (number, _) = turn.schedule.collectives().locate(transfer);
        self.run(turn.schedule, number).left.sends -= 1;
        self.over(number)
    }

    /// Returns the progress in collective `number`, which may be created by an arrival before the
    /// rank takes part.
    fn run(&mut self, schedule: &GraphSchedule, number: u32) -> &mut CollectiveProgress {
        let rank = self.rank;
        self.runs
            .entry(number)
            .or_insert_with(|| CollectiveProgress {
                operation: None,
                left: schedule.collectives().share(number, rank),
                waits: Countdown::default(),
                held: Vec::new(),
            })
    }

    /// Drops a finished collective's progress and returns its operation. It is finished once all
    /// transfers have arrived and all own ones have been acknowledged.
    fn over(&mut self, number: u32) -> Option<u32> {
        let run = self.runs.get(&number)?;
        let operation = run.operation.filter(|_| run.left == Share::default())?;
        self.runs.remove(&number);
        Some(operation)
    }
}
