//! Where jobs are: which collective runs, and how many of its transfers are missing.

use std::sync::atomic::{AtomicU64, Ordering};

use tenter_engine::Control;
use tenter_workload::{CollectiveRun, Job, QueuePairs};

/// One collective of a job's whole run.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// Index in the job's sequence.
    pub(crate) index: u32,
    /// Repetition of the sequence, warm-up included.
    pub(crate) iteration: u32,
    pub(crate) warm_up: bool,
    pub(crate) run: CollectiveRun,
}

/// A job with what never changes while it runs.
#[derive(Debug)]
pub(crate) struct JobPlan {
    pub(crate) job: Job,
    pub(crate) pairs: QueuePairs,
    pub(crate) turns: Vec<Turn>,
    /// For each rank its number among the ranks on its host, over all jobs.
    pub(crate) places: Vec<Place>,
}

/// Where a rank lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// First send slot of the rank on its host's NIC.
    pub(crate) send_base: u32,
    /// First receive slot of the rank on its host's NIC.
    pub(crate) receive_base: u32,
}

impl JobPlan {
    pub(crate) fn turns(job: &Job) -> Vec<Turn> {
        let repeat = |iteration: u32| {
            (0..).zip(&job.sequence).map(move |(index, run)| Turn {
                index,
                iteration,
                warm_up: iteration < job.warm_up,
                run: run.clone(),
            })
        };
        (0..job.warm_up + job.iterations).flat_map(repeat).collect()
    }
}

/// What all threads know about the progress of the jobs.
///
/// Counters are updated inside windows by whichever thread receives; they are read between windows
/// only, when every update of the window is in. So what is read does not depend on the threads.
#[derive(Debug)]
pub struct JobProgress {
    jobs: Vec<Counters>,
    /// The earliest edge that a finished collective asks for.
    edge: AtomicU64,
}

#[derive(Debug)]
struct Counters {
    missing: AtomicU64,
    last_arrival: AtomicU64,
    /// From the last arrival to the next collective; `u64::MAX` when there is none.
    gap: AtomicU64,
}

impl JobProgress {
    pub(crate) fn new(jobs: usize) -> JobProgress {
        let counters = || Counters {
            missing: AtomicU64::new(0),
            last_arrival: AtomicU64::new(0),
            gap: AtomicU64::new(u64::MAX),
        };
        JobProgress {
            jobs: (0..jobs).map(|_| counters()).collect(),
            edge: AtomicU64::new(u64::MAX),
        }
    }

    /// A collective of `transfers` begins; when all have arrived, an edge is wanted `gap` later.
    pub(crate) fn begin(&self, job: usize, transfers: u64, gap: Option<u64>) {
        let counters = &self.jobs[job];
        counters.missing.store(transfers, Ordering::Relaxed);
        counters.last_arrival.store(0, Ordering::Relaxed);
        counters
            .gap
            .store(gap.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A transfer of the job's collective has arrived whole.
    #[inline]
    pub(crate) fn arrived(&self, job: usize, at: u64) {
        let counters = &self.jobs[job];
        counters.last_arrival.fetch_max(at, Ordering::AcqRel);
        if counters.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let last = counters.last_arrival.load(Ordering::Acquire);
            let edge = last.saturating_add(counters.gap.load(Ordering::Relaxed));
            self.edge.fetch_min(edge, Ordering::AcqRel);
        }
    }

    /// How many transfers of the job's collective have not arrived.
    pub fn missing(&self, job: usize) -> u64 {
        self.jobs[job].missing.load(Ordering::Acquire)
    }

    pub(crate) fn last_arrival(&self, job: usize) -> u64 {
        self.jobs[job].last_arrival.load(Ordering::Acquire)
    }

    /// The edge that finished collectives ask for; asking again starts anew.
    pub(crate) fn take_edge(&self) -> u64 {
        self.edge.swap(u64::MAX, Ordering::AcqRel)
    }
}

impl Control for JobProgress {
    fn edge_after(&self, _window_end: u64) -> u64 {
        self.edge.load(Ordering::Acquire)
    }
}
