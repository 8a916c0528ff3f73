//! Where a rank stands in its collectives.

use std::collections::BTreeMap;

use super::collectives::Share;
use super::schedule::GraphSchedule;
use super::turn::{Action, Turn};
use crate::Countdown;

/// Where a rank stands in a collective.
#[derive(Clone, Debug)]
struct CollectiveProgress {
    /// Its operation, once the rank takes part.
    operation: Option<u32>,
    /// Transfers that have not arrived, or not been acknowledged.
    left: Share,
    /// Arrivals that transfers still wait for.
    waits: Countdown<u32>,
    /// Transfers that the rank may send once it takes part.
    held: Vec<u32>,
}

/// The collectives that a rank is in, or of which something has arrived before it is.
#[derive(Clone, Debug)]
pub(super) struct CollectiveRuns {
    rank: u32,
    runs: BTreeMap<u32, CollectiveProgress>,
}

impl CollectiveRuns {
    /// Those of a rank that is in none.
    pub(super) fn new(rank: u32) -> CollectiveRuns {
        CollectiveRuns {
            rank,
            runs: BTreeMap::new(),
        }
    }

    /// The rank takes part in a collective from now on, by an operation; gives that if it is over
    /// at once.
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
        ids.append(&mut run.held);
        turn.actions
            .extend(ids.into_iter().map(|id| Action::Post(base + id)));
        self.over(number)
    }

    /// A transfer of a collective has arrived, and may release others; gives the operation that is
    /// over with it.
    pub(super) fn arrived(&mut self, transfer: u32, turn: &mut Turn<'_>) -> Option<u32> {
        let collectives = turn.schedule.collectives();
        let (number, local) = collectives.locate(transfer);
        let (of, base) = collectives.schedule(number);
        let run = self.run(turn.schedule, number);
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

    /// A transfer of a collective has been acknowledged; gives the operation that is over with it.
    pub(super) fn acknowledged(&mut self, transfer: u32, turn: &Turn<'_>) -> Option<u32> {
        let (number, _) = turn.schedule.collectives().locate(transfer);
        self.run(turn.schedule, number).left.sends -= 1;
        self.over(number)
    }

    /// Where the rank stands in a collective, perhaps before it takes part.
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

    /// Forgets a collective of which everything has arrived and been acknowledged, and gives its
    /// operation.
    fn over(&mut self, number: u32) -> Option<u32> {
        let run = self.runs.get(&number)?;
        let operation = run.operation.filter(|_| run.left == Share::default())?;
        self.runs.remove(&number);
        Some(operation)
    }
}
