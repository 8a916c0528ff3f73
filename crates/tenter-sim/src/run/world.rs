//! The state that the actors of a trial share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::plan::CircuitChange;
use tenter_fabric::topology::CableEnd;
use tenter_language::units::{ById, Instant, Time};
use tenter_results::{Control, Counts, Progress, Sink, Stop, StopKind};
use tenter_workload::JobId;

use crate::error::SimulationError;
use crate::network::{Context, Driver, JobPlan};
use crate::results::{FlowTable, Missing};

use super::broken::Broken;
use super::deadlock;
use super::followers::Followers;
use super::routes::Routes;

/// The state of a job in the run.
#[derive(Debug, Default)]
pub(super) struct JobState {
    /// Instance that runs, or ran last.
    pub(super) turn: u32,
    /// Start of the next collective, if it is known.
    pub(super) next_start: Option<Instant>,
    /// True while a collective runs.
    pub(super) running: bool,
    /// True if its last phase within hosts would end after the trial's limit.
    pub(super) overdue: bool,
    /// End of its last collective, or the time at which the job was given up.
    pub(super) end: Option<Instant>,
}

/// Circuit changes, as far as other actors must know them.
#[derive(Debug, Default)]
pub(super) struct Moving {
    /// Changes that have not begun.
    pub(super) announced: VecDeque<CircuitChange>,
    /// Optical switches that are busy with a change.
    pub(super) switches: BTreeSet<u32>,
    /// For the sending port of each circuit what was missing at the other end when the circuit came
    /// up.
    pub(super) missing: BTreeMap<CableEnd, Missing>,
}

impl Moving {
    /// Returns true if a change is under way, or waits.
    pub(super) fn is_any(&self) -> bool {
        !self.switches.is_empty() || !self.announced.is_empty()
    }
}

/// The network between two windows, with everything that actors share.
pub(super) struct World<'a, D: Driver> {
    pub(super) driver: &'a mut D,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) context: Arc<Context>,
    /// The instant at which all nodes stand.
    pub(super) now: Instant,
    /// The latest end of the trial.
    pub(super) limit: Instant,
    /// The state of each job.
    pub(super) jobs: ById<JobId, JobState>,
    /// For each job those that start after it.
    pub(super) followers: Followers,
    /// True if a job would run for ever.
    pub(super) has_background: bool,
    /// Time from the end of a job to the steering decision that may follow; `None` without
    /// steering.
    pub(super) steered_after: Option<Time>,
    pub(super) flow_table: FlowTable,
    pub(super) routes: Routes,
    /// Present faults, which the fault actor maintains.
    pub(super) broken: Broken,
    /// Circuit changes, which the circuit and steering actors maintain.
    pub(super) moving: Moving,
    /// Rows of the tables that actors fill.
    pub(super) counts: Counts,
    /// Set if the trial must end now, with the reason.
    pub(super) stopped: Option<Stop>,
}

/// Reports progress to the sink; returns a stop if the sink asks for the trial's end.
///
/// # Errors
/// If the sink fails.
pub(super) fn tell(
    sink: &mut dyn Sink,
    progress: &Progress,
) -> Result<Option<Stop>, SimulationError> {
    Ok(match sink.progress(progress)? {
        Control::Continue => None,
        Control::Stop => Some(Stop {
            by: StopKind::User,
            why: format!("stopped by you at {}", progress.simulated.rounded()),
        }),
    })
}

impl<'a, D: Driver> World<'a, D> {
    /// Makes the state at the trial's start.
    ///
    /// # Errors
    /// If a collective cannot be run by its ranks.
    pub(super) fn new(
        driver: &'a mut D,
        sink: &'a mut dyn Sink,
    ) -> Result<World<'a, D>, SimulationError> {
        let context = Arc::clone(&driver.fabric(0).context);
        let first = |plan: &JobPlan| JobState {
            // A job behind another one starts when that ends, as `followers` knows.
            next_start: (plan.has_turn(0) && plan.job.after.is_none())
                .then(|| plan.first_start(Instant::START)),
            ..JobState::default()
        };
        Ok(World {
            driver,
            sink,
            now: Instant::START,
            limit: Instant::NEVER,
            jobs: context.jobs.iter().map(first).collect(),
            followers: Followers::new(&context.jobs),
            has_background: context.jobs.iter().any(|plan| plan.job.turns().is_none()),
            steered_after: None,
            flow_table: FlowTable::new(&context)?,
            routes: Routes::new(&context),
            broken: Broken::default(),
            moving: Moving::default(),
            counts: Counts::default(),
            stopped: None,
            context,
        })
    }

    /// Returns the trial's progress, given its packet-hops so far.
    pub(super) fn progress(&self, packet_hops: u64) -> Progress {
        let (flows_done, flows_total) = self.flow_table.judged_flows();
        Progress {
            simulated: self.now.since_start(),
            packet_hops,
            flows_done,
            flows_total,
        }
    }

    /// Iterates over the measured jobs.
    pub(super) fn judged(&self) -> impl Iterator<Item = JobId> {
        let jobs = self.context.jobs.numbered();
        jobs.filter(|(_, plan)| !plan.job.background)
            .map(|(job, _)| job)
    }

    /// Returns true if no measured job has anything left to do.
    pub(super) fn is_done(&self) -> bool {
        let done = |job: JobId| {
            let state = &self.jobs[job];
            !state.running && state.next_start.is_none()
        };
        self.judged().all(done)
    }

    /// Returns true if, in addition, all packets of the measured jobs are acknowledged. Later
    /// events change no result: refreshed levels of idle ports, pauses that run out, background
    /// jobs.
    pub(super) fn is_settled(&self) -> bool {
        self.is_done() && self.judged().all(|job| self.flow_table.is_settled(job))
    }

    /// Returns the deadlock in the network, if there is one.
    pub(super) fn deadlock(&self) -> Option<Stop> {
        let why = deadlock::find(self.driver, self.now)?;
        Some(Stop {
            by: StopKind::Deadlock,
            why,
        })
    }

    /// Joins the records of all partitions, and hands complete rows to the sink.
    pub(super) fn collect(&mut self) -> Result<(), SimulationError> {
        // All deliveries first: a flow's acknowledgement may be in another partition than its
        // delivery.
        for part in 0..self.driver.parts() {
            let partition_records = &mut self.driver.fabric_mut(part).partition_records;
            self.flow_table
                .take_delivered(&self.context, partition_records);
        }
        for part in 0..self.driver.parts() {
            let partition_records = &mut self.driver.fabric_mut(part).partition_records;
            self.flow_table.take_acknowledged(partition_records);
        }
        let sink = &mut *self.sink;
        Ok(self
            .flow_table
            .book(&self.context, |rows| sink.flows(rows))?)
    }
}
