//! Iterations of collectives, with their chunks.

use tenter_results::CollectiveRow;

use crate::report::chain::{Chain, Known};
use crate::report::table::FLOWS;
use crate::report::trial_data::{Chunk, TrialData};

/// One iteration, with its completed chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    /// Name of the job that the iteration belongs to.
    pub(super) job_name: &'a str,
    /// The iteration's row in the summary.
    pub(super) row: &'a CollectiveRow,
    /// Chunks, in the order in which they ended.
    pub(super) chunks: &'a [Chunk],
}

impl Run<'_> {
    /// Returns the chain that ends with the last chunk to arrive.
    pub(super) fn chain(&self, trial: &TrialData) -> Chain {
        let known = Known {
            unloaded: trial.unloaded.as_deref(),
            are_drawn: self.row.collective == FLOWS,
        };
        Chain::of(self.chunks, self.row.start.as_ns(), known)
    }

    /// Names job, collective and algorithm, without the size.
    pub(super) fn operation(&self) -> String {
        let CollectiveRow {
            collective,
            algorithm,
            ..
        } = self.row;
        format!("{}: {collective}, {algorithm}", self.job_name)
    }
}

/// Returns the chunks sorted by iteration; [`runs`] takes slices from the list.
pub(super) fn sorted_chunks(trial: &TrialData) -> Vec<Chunk> {
    let mut chunks = trial.chunks.clone();
    // The sort is stable: chunks of one iteration keep the order in which they ended.
    chunks.sort_by_key(|chunk| (chunk.job, chunk.collective, chunk.iteration));
    chunks
}

/// Returns all iterations, in summary order.
pub(super) fn runs<'a>(trial: &'a TrialData, chunks: &'a [Chunk]) -> Vec<Run<'a>> {
    let mut runs = Vec::new();
    for job in &trial.summary.jobs {
        for row in &job.collectives {
            let key = (row.job, row.index, row.iteration);
            let of = |chunk: &Chunk| (chunk.job, chunk.collective, chunk.iteration);
            let from = chunks.partition_point(|chunk| of(chunk) < key);
            let to = chunks.partition_point(|chunk| of(chunk) <= key);
            runs.push(Run {
                job_name: &job.job.name,
                row,
                chunks: &chunks[from..to],
            });
        }
    }
    runs
}

/// All iterations of one collective in a job's run order.
pub(super) type Iterations<'r, 'a> = Vec<&'r Run<'a>>;

/// Groups runs by operation, and within it by collective index, in the order in which they first
/// appear.
pub(super) fn grouped_by_operation<'r, 'a>(
    runs: &'r [Run<'a>],
) -> Vec<(String, Vec<Iterations<'r, 'a>>)> {
    let mut groups: Vec<(String, Vec<Iterations<'r, 'a>>)> = Vec::new();
    for run in runs {
        let operation = run.operation();
        let place = groups.iter().position(|group| group.0 == operation);
        let place = place.unwrap_or_else(|| {
            groups.push((operation, Vec::new()));
            groups.len() - 1
        });
        let sizes = &mut groups[place].1;
        let same = |known: &Iterations<'_, '_>| known[0].row.index == run.row.index;
        match sizes.iter_mut().find(|known| same(known)) {
            Some(known) => known.push(run),
            None => sizes.push(vec![run]),
        }
    }
    groups
}

/// Returns each collective's slowest iteration; measured iterations come before warm-ups.
pub(super) fn slowest<'r, 'a>(runs: &'r [Run<'a>]) -> Vec<&'r Run<'a>> {
    let mut slowest: Vec<&Run<'_>> = Vec::new();
    for run in runs {
        // An iteration without a completion time ranks below those that have one.
        let rank = |run: &Run<'_>| (!run.row.warm_up, run.row.completion_time);
        let same =
            |known: &&Run<'_>| (known.row.job, known.row.index) == (run.row.job, run.row.index);
        match slowest.iter().position(same) {
            Some(place) if rank(run) > rank(slowest[place]) => slowest[place] = run,
            Some(_) => {}
            None => slowest.push(run),
        }
    }
    slowest
}
