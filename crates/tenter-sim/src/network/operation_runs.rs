//! A host's ranks and their state in operation graphs.

use std::collections::BTreeMap;

use tenter_language::units::Instant;
use tenter_workload::graph::{Metered, OperationLog, RankRun};
use tenter_workload::{Countdown, JobId, RankId};

/// A rank's log from one instance of a job.
#[derive(Debug)]
pub(crate) struct RankLog {
    pub(crate) job: JobId,
    pub(crate) turn: u32,
    pub(crate) rank: RankId,
    /// The operations by their place in the graph.
    pub(crate) operations: Vec<OperationLog>,
}

/// The state of a host's ranks that run operation graphs.
#[derive(Debug, Default)]
pub(crate) struct OperationRuns {
    /// State by the rank's number on its host; `None` for ranks that have not begun.
    runs: Vec<Option<RankRun>>,
    /// For each job the time at which its first rank here began the current graph.
    pub(crate) since: BTreeMap<JobId, Instant>,
    /// Transfers that are done once they are acknowledged, by (rank's number, transfer), with the
    /// number of queue pairs that have not acknowledged their share.
    pub(crate) unacknowledged: Countdown<(u16, u32)>,
    /// Logs of ranks that are done, if logs are kept.
    pub(crate) logs: Vec<RankLog>,
    /// Times measured by ranks that are done, by job, instance and rank.
    pub(crate) metered: Vec<((JobId, u32, RankId), Metered)>,
}

impl OperationRuns {
    /// Returns the state of a rank, if it has begun.
    pub(crate) fn get(&self, number: u16) -> Option<&RankRun> {
        self.runs.get(usize::from(number))?.as_ref()
    }

    /// Iterates over the ranks that have begun, with their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u16, &RankRun)> {
        (0..)
            .zip(&self.runs)
            .filter_map(|(number, run)| Some((number, run.as_ref()?)))
    }

    fn get_mut(&mut self, number: u16) -> Option<&mut RankRun> {
        self.runs.get_mut(usize::from(number))?.as_mut()
    }

    /// Returns the state of a rank of `job`, which begins now if it has not.
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

    /// Keeps the log of a rank that is done with an instance.
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

    /// Discards the state of a job's ranks, which `is_of_job` recognises by number.
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
