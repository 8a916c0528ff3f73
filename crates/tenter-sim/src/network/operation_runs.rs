//! Where the ranks of a host stand in their graphs of operations.

use std::collections::BTreeMap;

use tenter_units::Instant;
use tenter_workload::graph::{Metered, OperationLog, RankRun};
use tenter_workload::{Countdown, JobId, RankId};

/// The log of a rank of a job in one of its turns.
#[derive(Debug)]
pub(crate) struct RankLog {
    pub(crate) job: JobId,
    pub(crate) turn: u32,
    pub(crate) rank: RankId,
    /// By place in the graph.
    pub(crate) operations: Vec<OperationLog>,
}

/// Where the ranks of a host with a graph of operations stand.
#[derive(Debug, Default)]
pub(crate) struct OperationRuns {
    /// By the number of the rank on its host, as far as one has begun.
    runs: Vec<Option<RankRun>>,
    /// When the first rank here of each job began with the graph that the job is at.
    pub(crate) since: BTreeMap<JobId, Instant>,
    /// Queue pairs that have not acknowledged their share of a transfer that is done once it is
    /// acknowledged, by the number of the rank and transfer.
    pub(crate) unacknowledged: Countdown<(u16, u32)>,
    /// The logs of ranks that are done, where they are kept.
    pub(crate) logs: Vec<RankLog>,
    /// What the time of ranks that are done went by with: job, turn and rank.
    pub(crate) metered: Vec<((JobId, u32, RankId), Metered)>,
}

impl OperationRuns {
    /// Where a rank stands, if it has begun.
    pub(crate) fn get(&self, number: u16) -> Option<&RankRun> {
        self.runs.get(usize::from(number))?.as_ref()
    }

    /// The ranks that have begun, by their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u16, &RankRun)> {
        (0..)
            .zip(&self.runs)
            .filter_map(|(number, run)| Some((number, run.as_ref()?)))
    }

    fn get_mut(&mut self, number: u16) -> Option<&mut RankRun> {
        self.runs.get_mut(usize::from(number))?.as_mut()
    }

    /// Where a rank stands, which begins if it has not; `job` is its job.
    pub(crate) fn begun(
        &mut self,
        number: u16,
        job: JobId,
        now: Instant,
        begin: impl FnOnce() -> RankRun,
    ) -> &mut RankRun {
        let place = usize::from(number);
        if self.runs.len() <= place {
            self.runs.resize_with(place + 1, || None);
        }
        self.runs[place].get_or_insert_with(|| {
            self.since.entry(job).or_insert(now);
            begin()
        })
    }

    /// Keeps the log of a rank that is done in a turn.
    pub(crate) fn keep_log(&mut self, number: u16, job: JobId, turn: u32, rank: RankId) {
        let log = self.get_mut(number).and_then(RankRun::take_log);
        self.logs.extend(log.map(|operations| RankLog {
            job,
            turn,
            rank,
            operations,
        }));
        let metered = self.get(number).and_then(RankRun::metered);
        let metered = metered.map(|metered| ((job, turn, rank), metered.clone()));
        self.metered.extend(metered);
    }

    /// Forgets the ranks of a job, by their numbers.
    pub(crate) fn forget(&mut self, job: JobId, is_of_job: impl Fn(u16) -> bool) {
        self.since.remove(&job);
        for (number, run) in (0..).zip(&mut self.runs) {
            if is_of_job(number) {
                *run = None;
            }
        }
        self.unacknowledged.forget(|(number, _)| is_of_job(*number));
    }
}
