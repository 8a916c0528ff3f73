//! Where jobs are: which collective runs, and how many of its transfers are missing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_engine::{Control, Stream};
use tenter_net::{ReceiveSlot, SendSlot};
use tenter_units::{ById, Instant, Time};
use tenter_workload::flow_workload::FlowWorkload;
use tenter_workload::{
    CollectiveRun, Job, JobId, QueuePairs, RankId, RankReceiveSlot, RankSendSlot, Schedule,
    WorkloadError,
};

use super::unloaded::Unloaded;

/// Where in a job's whole run one of its collectives stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Index in the job's sequence.
    pub(crate) index: u32,
    /// Repetition of the sequence, warm-up included.
    pub(crate) iteration: u32,
    pub(crate) warm_up: bool,
}

/// A job with what never changes while it runs.
#[derive(Debug)]
pub(crate) struct JobPlan {
    pub(crate) job: Job,
    pub(crate) pairs: QueuePairs,
    /// For each rank its number among the ranks on its host, over all jobs.
    pub(crate) places: ById<RankId, Place>,
    /// Where its flows go, where it runs a workload of flows.
    pub(crate) unloaded: Unloaded,
    /// The latency of the shortest path between two of its NICs, in ps; `None` where no transfer
    /// waits for its latency to pass.
    pub(crate) least_latency: Option<Time>,
    /// Seed of what it draws.
    pub(crate) seed: u64,
}

/// A rank of a job, on its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankHere {
    pub(crate) job: JobId,
    pub(crate) rank: RankId,
    /// First receive slot of the rank.
    pub(crate) receive_base: ReceiveSlot,
    /// Its NPU, of those that share the NIC.
    pub(crate) npu: u16,
}

/// Where a rank lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// First send slot of the rank on its host's NIC.
    pub(crate) send_base: SendSlot,
    /// First receive slot of the rank on its host's NIC.
    pub(crate) receive_base: ReceiveSlot,
}

impl RankHere {
    /// The number among the queue pairs of the rank of one of its NIC.
    pub(crate) fn own_receive_slot(&self, slot: ReceiveSlot) -> RankReceiveSlot {
        RankReceiveSlot::new(slot.since(self.receive_base))
    }
}

impl Place {
    /// The number at the NIC of a queue pair that the rank sends on.
    pub(crate) fn send_slot(self, slot: RankSendSlot) -> SendSlot {
        self.send_base.after(slot.number())
    }

    /// The number at the NIC of a queue pair that the rank receives on.
    pub(crate) fn receive_slot(self, slot: RankReceiveSlot) -> ReceiveSlot {
        self.receive_base.after(slot.number())
    }

    /// The number among the queue pairs of the rank of one of its NIC.
    pub(crate) fn own_send_slot(self, slot: SendSlot) -> RankSendSlot {
        RankSendSlot::new(slot.since(self.send_base))
    }
}

impl JobPlan {
    /// Whether the job has a turn of that number, counted from 0.
    pub(crate) fn has_turn(&self, number: u32) -> bool {
        self.job
            .turns()
            .is_none_or(|turns| u64::from(number) < turns)
    }

    /// When it starts; `None` where that depends on another job.
    pub(crate) fn own_start(&self) -> Option<Instant> {
        let start = Instant::at(self.job.start);
        self.job.after.is_none().then_some(start)
    }

    /// When its first collective starts, where `start` counts from `origin`.
    pub(crate) fn first_start(&self, origin: Instant) -> Instant {
        let start = origin.saturating_add(self.job.start);
        start.saturating_add(self.compute(0))
    }

    /// Whether its first collective never ends.
    pub(crate) fn is_endless(&self) -> bool {
        let first = self.job.sequence.first();
        first.is_some_and(|run| run.traffic.is_endless())
    }

    /// Whether it runs a graph of operations.
    pub(crate) fn has_operations(&self) -> bool {
        let first = self.job.sequence.first();
        first.is_some_and(|run| run.traffic.operations().is_some())
    }

    /// What its flows are, where it runs a workload of flows.
    pub(crate) fn flow_workload(&self) -> Option<&FlowWorkload> {
        self.job.sequence.first()?.traffic.flow_workload()
    }

    /// Where that turn stands.
    pub(crate) fn turn(&self, number: u32) -> Turn {
        let length = self.job.sequence.len() as u32;
        let iteration = number / length;
        Turn {
            index: number % length,
            iteration,
            warm_up: iteration < self.job.warm_up,
        }
    }

    /// What the turn of that number runs.
    pub(crate) fn run(&self, number: u32) -> &CollectiveRun {
        &self.job.sequence[self.turn(number).index as usize]
    }

    /// The size of the collective of that turn.
    pub(crate) fn size_bytes(&self, number: u32) -> u64 {
        let run = self.run(number);
        let Some(least) = run.drawn_from_bytes else {
            return run.size_bytes;
        };
        let mut stream = self.stream("size", number);
        least + stream.below(run.size_bytes - least + 1)
    }

    /// What the ranks compute before that turn.
    pub(crate) fn compute(&self, number: u32) -> Time {
        let draw = |bound| self.stream("compute", number).below(bound);
        self.run(number).compute.draw(draw)
    }

    /// Each turn has a stream of its own, so that none needs to be remembered.
    fn stream(&self, what: &str, number: u32) -> Stream {
        let purpose = format!("{what} of collective {number}");
        Stream::new(self.seed, &self.job.name, &purpose)
    }

    /// The schedule of that turn.
    pub(crate) fn schedule(&self, number: u32) -> Result<Arc<dyn Schedule>, WorkloadError> {
        let kind = &self.run(number).traffic;
        let schedule = kind.schedule(self.job.ranks(), self.size_bytes(number))?;
        Ok(Arc::from(schedule))
    }

    /// What passes within hosts before the first and after the last transfer of that turn.
    pub(crate) fn within_hosts(&self, number: u32) -> Time {
        let kind = &self.run(number).traffic;
        kind.within_hosts(self.size_bytes(number))
    }
}

/// What all threads know about the progress of the jobs.
///
/// Counters are updated inside windows by whichever thread receives; they are read between windows
/// only, when every update of the window is in. So what is read does not depend on the threads.
#[derive(Debug)]
pub struct JobProgress {
    jobs: ById<JobId, Counters>,
    /// The earliest edge that a finished collective asks for.
    edge: AtomicU64,
}

#[derive(Debug)]
struct Counters {
    missing: AtomicU64,
    last_arrival: AtomicU64,
    /// From the last arrival to the next collective; [`Time::MAX`] when there is none.
    gap: AtomicU64,
    /// When the job starts; [`Instant::NEVER`] while another is waited for.
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

    /// The job that was waited for has ended: this one starts at `at`.
    pub(crate) fn set_start(&self, job: JobId, at: Instant) {
        self.jobs[job].start.store(at.ps(), Ordering::Release);
    }

    /// When the job started or will start; `None` while another is waited for.
    pub(crate) fn start(&self, job: JobId) -> Option<Instant> {
        let start = instant(&self.jobs[job].start);
        (!start.is_never()).then_some(start)
    }

    /// A collective of `transfers` begins; when all have arrived, an edge is wanted `gap` later.
    pub(crate) fn begin(&self, job: JobId, transfers: u64, gap: Option<Time>) {
        let counters = &self.jobs[job];
        counters.missing.store(transfers, Ordering::Relaxed);
        counters.last_arrival.store(0, Ordering::Relaxed);
        counters
            .gap
            .store(gap.unwrap_or(Time::MAX).ps(), Ordering::Relaxed);
    }

    /// One more thing must be done before the job is.
    pub(crate) fn started(&self, job: JobId) {
        self.jobs[job].missing.fetch_add(1, Ordering::AcqRel);
    }

    /// A transfer of the job's collective has arrived whole.
    #[inline]
    pub(crate) fn arrived(&self, job: JobId, at: Instant) {
        let counters = &self.jobs[job];
        counters.last_arrival.fetch_max(at.ps(), Ordering::AcqRel);
        if counters.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let last = instant(&counters.last_arrival);
            let gap = Time::from_ps(counters.gap.load(Ordering::Relaxed));
            let edge = last.saturating_add(gap);
            self.edge.fetch_min(edge.ps(), Ordering::AcqRel);
        }
    }

    /// So many transfers have arrived in a jump, which has not been to the last one; what arrived
    /// last before it comes again so much later.
    pub(crate) fn arrived_in_jump(&self, job: JobId, transfers: u64, span: Time) {
        if transfers > 0 {
            let counters = &self.jobs[job];
            counters.missing.fetch_sub(transfers, Ordering::AcqRel);
            counters.last_arrival.fetch_add(span.ps(), Ordering::AcqRel);
        }
    }

    /// How many transfers of the job's collective have not arrived.
    pub fn missing(&self, job: JobId) -> u64 {
        self.jobs[job].missing.load(Ordering::Acquire)
    }

    pub(crate) fn last_arrival(&self, job: JobId) -> Instant {
        instant(&self.jobs[job].last_arrival)
    }

    /// The edge that finished collectives ask for; asking again starts anew.
    pub(crate) fn take_edge(&self) -> Instant {
        Instant::from_ps(self.edge.swap(Instant::NEVER.ps(), Ordering::AcqRel))
    }
}

/// An instant that threads share.
fn instant(shared: &AtomicU64) -> Instant {
    Instant::from_ps(shared.load(Ordering::Acquire))
}

impl Control for JobProgress {
    fn edge_after(&self, _window_end: Instant) -> Instant {
        instant(&self.edge)
    }
}
