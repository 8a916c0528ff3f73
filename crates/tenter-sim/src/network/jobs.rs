//! The state of jobs: which collective runs, and how many of its transfers are missing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_engine::{Control, Stream};
use tenter_fabric::net::{ReceiveSlot, SendSlot};
use tenter_language::units::{ById, Instant, Time};
use tenter_workload::flow_workload::FlowWorkload;
use tenter_workload::{
    CollectiveRun, Job, JobId, QueuePairs, RankId, RankReceiveSlot, RankSendSlot, Schedule,
    WorkloadError,
};

use super::unloaded::Unloaded;

/// An instance: one collective in one iteration of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The collective's index in the job's sequence.
    pub(crate) index: u32,
    /// The iteration's number, counted from 0, warm-up included.
    pub(crate) iteration: u32,
    /// True if the iteration is a warm-up, which is not measured.
    pub(crate) warm_up: bool,
}

/// A job with the parts that never change while it runs.
#[derive(Debug)]
pub(crate) struct JobPlan {
    pub(crate) job: Job,
    /// The queue pairs between its ranks.
    pub(crate) pairs: QueuePairs,
    /// For each rank, where its QP indices begin at its host.
    pub(crate) places: ById<RankId, Place>,
    /// Unloaded times for the paths of its flows, if it runs a flow workload.
    pub(crate) unloaded: Unloaded,
    /// Shortest path's latency between two of its NICs; `None` if no transfer has to wait for a
    /// minimum latency.
    pub(crate) least_latency: Option<Time>,
    /// Seed for everything that the job draws.
    pub(crate) seed: u64,
}

/// A job's rank, as its host knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankHere {
    pub(crate) job: JobId,
    pub(crate) rank: RankId,
    /// First receiving QP index that the rank has.
    pub(crate) receive_base: ReceiveSlot,
    /// The rank's NPU among those that share the NIC.
    pub(crate) npu: u16,
}

/// First QP indices that a rank has at its host's NIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The rank's first sending QP index.
    pub(crate) send_base: SendSlot,
    /// The rank's first receiving QP index.
    pub(crate) receive_base: ReceiveSlot,
}

impl RankHere {
    /// Converts a receiving QP index at the NIC into one at the rank.
    pub(crate) fn own_receive_slot(&self, slot: ReceiveSlot) -> RankReceiveSlot {
        RankReceiveSlot::new(slot.since(self.receive_base))
    }
}

impl Place {
    /// Converts a sending QP index at the rank into one at the NIC.
    pub(crate) fn send_slot(self, slot: RankSendSlot) -> SendSlot {
        self.send_base.after(slot.number())
    }

    /// Converts a receiving QP index at the rank into one at the NIC.
    pub(crate) fn receive_slot(self, slot: RankReceiveSlot) -> ReceiveSlot {
        self.receive_base.after(slot.number())
    }

    /// Converts a sending QP index at the NIC into one at the rank.
    pub(crate) fn own_send_slot(self, slot: SendSlot) -> RankSendSlot {
        RankSendSlot::new(slot.since(self.send_base))
    }
}

impl JobPlan {
    /// Returns true if the job has instance `number`, counted from 0.
    pub(crate) fn has_turn(&self, number: u32) -> bool {
        self.job
            .turns()
            .is_none_or(|turns| u64::from(number) < turns)
    }

    /// Returns the job's start; `None` if it depends on another job.
    pub(crate) fn own_start(&self) -> Option<Instant> {
        let start = Instant::at(self.job.start);
        self.job.after.is_none().then_some(start)
    }

    /// Returns when the first collective starts, if the job's start time counts from `origin`.
    pub(crate) fn first_start(&self, origin: Instant) -> Instant {
        let start = origin.saturating_add(self.job.start);
        start.saturating_add(self.compute(0))
    }

    /// Returns true if the first collective never ends.
    pub(crate) fn is_endless(&self) -> bool {
        let first = self.job.sequence.first();
        first.is_some_and(|run| run.traffic.is_endless())
    }

    /// Returns true if the job runs an operation graph.
    pub(crate) fn has_operations(&self) -> bool {
        let first = self.job.sequence.first();
        first.is_some_and(|run| run.traffic.operations().is_some())
    }

    /// Returns the job's flow workload, if it runs one.
    pub(crate) fn flow_workload(&self) -> Option<&FlowWorkload> {
        self.job.sequence.first()?.traffic.flow_workload()
    }

    /// Returns where instance `number` stands in the job.
    pub(crate) fn turn(&self, number: u32) -> Turn {
        let length = self.job.sequence.len() as u32;
        let iteration = number / length;
        Turn {
            index: number % length,
            iteration,
            warm_up: iteration < self.job.warm_up,
        }
    }

    /// Returns the collective that instance `number` runs.
    pub(crate) fn run(&self, number: u32) -> &CollectiveRun {
        &self.job.sequence[self.turn(number).index as usize]
    }

    /// Returns the collective's size in instance `number`, which may be drawn.
    pub(crate) fn size_bytes(&self, number: u32) -> u64 {
        let run = self.run(number);
        let Some(least) = run.drawn_from_bytes else {
            return run.size_bytes;
        };
        let mut stream = self.stream("size", number);
        // Both bounds can be drawn.
        least + stream.below(run.size_bytes - least + 1)
    }

    /// Returns the ranks' computing time before instance `number`.
    pub(crate) fn compute(&self, number: u32) -> Time {
        let draw = |bound| self.stream("compute", number).below(bound);
        self.run(number).compute.draw(draw)
    }

    /// Returns a random stream for one instance, so that earlier draws need not be remembered.
    fn stream(&self, what: &str, number: u32) -> Stream {
        let purpose = format!("{what} of collective {number}");
        Stream::new(self.seed, &self.job.name, &purpose)
    }

    /// Makes the schedule for instance `number`.
    pub(crate) fn schedule(&self, number: u32) -> Result<Arc<dyn Schedule>, WorkloadError> {
        let kind = &self.run(number).traffic;
        let schedule = kind.schedule(self.job.ranks(), self.size_bytes(number))?;
        Ok(Arc::from(schedule))
    }

    /// Returns the time within hosts before the first transfer and after the last, in instance
    /// `number`.
    pub(crate) fn within_hosts(&self, number: u32) -> Time {
        let kind = &self.run(number).traffic;
        kind.within_hosts(self.size_bytes(number))
    }
}

/// The jobs' progress, which all threads share.
///
/// Receiving threads update the counters inside windows; they are read only between windows, when
/// every update has arrived. So the values do not depend on the threads.
#[derive(Debug)]
pub struct JobProgress {
    jobs: ById<JobId, Counters>,
    /// Earliest sync point that a finished collective asks for.
    edge: AtomicU64,
}

/// One job's progress, with times in ps.
#[derive(Debug)]
struct Counters {
    /// Transfers (or slots and operation ranks) that are not finished.
    missing: AtomicU64,
    /// The last arrival's time in this collective.
    last_arrival: AtomicU64,
    /// Time from the last arrival to the next collective; [`Time::MAX`] if there is none.
    gap: AtomicU64,
    /// Start of the job; [`Instant::NEVER`] while it waits for another.
    start: AtomicU64,
}

impl JobProgress {
    pub(crate) fn new(jobs: &ById<JobId, JobPlan>) -> JobProgress {
        let counters = |plan: &JobPlan| Counters {
            missing: AtomicU64::new(0),
            last_arrival: AtomicU64::new(0),
            gap: AtomicU64::new(Time::MAX.ps()),
            start: AtomicU64::new(plan.own_start().unwrap_or(Instant::NEVER).ps()),
        };
        JobProgress {
            jobs: jobs.iter().map(counters).collect(),
            edge: AtomicU64::new(Instant::NEVER.ps()),
        }
    }

    /// Sets the start of a job whose predecessor has ended.
    pub(crate) fn set_start(&self, job: JobId, at: Instant) {
        self.jobs[job].start.store(at.ps(), Ordering::Release);
    }

    /// Returns when the job started or will start; `None` while it waits for another.
    pub(crate) fn start(&self, job: JobId) -> Option<Instant> {
        let start = instant(&self.jobs[job].start);
        (!start.is_never()).then_some(start)
    }

    /// Begins a collective with `transfers` transfers. When all have arrived, a sync point is
    /// needed `gap` later.
    pub(crate) fn begin(&self, job: JobId, transfers: u64, gap: Option<Time>) {
        let counters = &self.jobs[job];
        counters.missing.store(transfers, Ordering::Relaxed);
        counters.last_arrival.store(0, Ordering::Relaxed);
        counters
            .gap
            .store(gap.unwrap_or(Time::MAX).ps(), Ordering::Relaxed);
    }

    /// Counts one more thing that must be finished before the collective is.
    pub(crate) fn started(&self, job: JobId) {
        self.jobs[job].missing.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a transfer (or another unit of the collective) that has finished at `at`.
    #[inline]
    pub(crate) fn arrived(&self, job: JobId, at: Instant) {
        let counters = &self.jobs[job];
        counters.last_arrival.fetch_max(at.ps(), Ordering::AcqRel);
        // Every arrival raises `last_arrival` before it is counted, so the last one to be counted
        // sees the maximum.
        if counters.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let last = instant(&counters.last_arrival);
            let gap = Time::from_ps(counters.gap.load(Ordering::Relaxed));
            let edge = last.saturating_add(gap);
            self.edge.fetch_min(edge.ps(), Ordering::AcqRel);
        }
    }

    /// Counts `transfers` arrivals within a jump, none of which is the collective's last. The last
    /// arrival before the jump recurs `span` later.
    pub(crate) fn arrived_in_jump(&self, job: JobId, transfers: u64, span: Time) {
        if transfers > 0 {
            let counters = &self.jobs[job];
            counters.missing.fetch_sub(transfers, Ordering::AcqRel);
            counters.last_arrival.fetch_add(span.ps(), Ordering::AcqRel);
        }
    }

    /// Returns how many transfers in the job's collective have not arrived.
    pub(crate) fn missing(&self, job: JobId) -> u64 {
        self.jobs[job].missing.load(Ordering::Acquire)
    }

    pub(crate) fn last_arrival(&self, job: JobId) -> Instant {
        instant(&self.jobs[job].last_arrival)
    }

    /// Returns the sync point that finished collectives ask for, and clears it.
    pub(crate) fn take_edge(&self) -> Instant {
        Instant::from_ps(self.edge.swap(Instant::NEVER.ps(), Ordering::AcqRel))
    }
}

/// Reads an instant that threads share.
fn instant(shared: &AtomicU64) -> Instant {
    Instant::from_ps(shared.load(Ordering::Acquire))
}

impl Control for JobProgress {
    fn edge_after(&self, _window_end: Instant) -> Instant {
        instant(&self.edge)
    }
}
