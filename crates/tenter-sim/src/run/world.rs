//! What the actors of a trial share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tenter_plan::CircuitChange;
use tenter_record::{Control, Counts, Progress, Sink, Stop, StopKind};
use tenter_topology::CableEnd;
use tenter_units::{ById, Instant, Time};
use tenter_workload::JobId;

use crate::error::SimulationError;
use crate::network::{Context, Driver, JobPlan};
use crate::results::{FlowTable, Missing};

use super::broken::Broken;
use super::deadlock;
use super::followers::Followers;
use super::routes::Routes;

/// Where a job is.
#[derive(Debug, Default)]
pub(super) struct JobState {
    /// The collective that runs, or ran last.
    pub(super) turn: u32,
    /// When the next one starts.
    pub(super) next_start: Option<Instant>,
    /// Whether a collective runs.
    pub(super) running: bool,
    /// Whether it will not end within the hosts before time is up.
    pub(super) overdue: bool,
    /// When its last collective ended, or when it was seen that none of its will end any more.
    pub(super) end: Option<Instant>,
}

/// What others than the circuits must know of circuits that change.
#[derive(Debug, Default)]
pub(super) struct Moving {
    /// Changes that have not begun.
    pub(super) announced: VecDeque<CircuitChange>,
    /// Optical switches that are not done with their last change.
    pub(super) switches: BTreeSet<u32>,
    /// By the sending port of each circuit: what was missing at the other end when it came up.
    pub(super) missing: BTreeMap<CableEnd, Missing>,
}

impl Moving {
    /// Whether a change is under way, or waits.
    pub(super) fn is_any(&self) -> bool {
        !self.switches.is_empty() || !self.announced.is_empty()
    }
}

/// The network between two windows, and all that actors have to tell each other.
pub(super) struct World<'a, D: Driver> {
    pub(super) driver: &'a mut D,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) context: Arc<Context>,
    /// The instant at which all nodes stand.
    pub(super) now: Instant,
    /// The instant at which the trial ends at the latest.
    pub(super) limit: Instant,
    pub(super) jobs: ById<JobId, JobState>,
    pub(super) followers: Followers,
    /// Whether some job would go on for ever.
    pub(super) has_background: bool,
    /// How soon after the end of any job circuits may follow, if they do at all.
    pub(super) steered_after: Option<Time>,
    pub(super) flow_table: FlowTable,
    pub(super) routes: Routes,
    pub(super) broken: Broken,
    pub(super) moving: Moving,
    /// Rows of tables that actors fill.
    pub(super) counts: Counts,
    /// That the trial is to end here, and why.
    pub(super) stopped: Option<Stop>,
}

/// Tells the sink how far the trial is; why it ends here, if the sink says so.
///
/// # Errors
/// When the sink fails.
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
    /// # Errors
    /// When a collective cannot be run by its ranks.
    pub(super) fn new(
        driver: &'a mut D,
        sink: &'a mut dyn Sink,
    ) -> Result<World<'a, D>, SimulationError> {
        let context = Arc::clone(&driver.fabric(0).context);
        let first = |plan: &JobPlan| JobState {
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

    /// How far the trial is, after so many packet-hops.
    pub(super) fn progress(&self, packet_hops: u64) -> Progress {
        let (flows_done, flows_total) = self.flow_table.judged_flows();
        Progress {
            simulated: self.now.since_start(),
            packet_hops,
            flows_done,
            flows_total,
        }
    }

    /// The jobs that are no background load.
    pub(super) fn judged(&self) -> impl Iterator<Item = JobId> {
        let jobs = self.context.jobs.numbered();
        jobs.filter(|(_, plan)| !plan.job.background)
            .map(|(job, _)| job)
    }

    /// Whether no job under test has anything left to do.
    pub(super) fn is_done(&self) -> bool {
        let done = |job: JobId| {
            let state = &self.jobs[job];
            !state.running && state.next_start.is_none()
        };
        self.judged().all(done)
    }

    /// Whether all packets of the jobs under test are acknowledged as well. What goes on then is of
    /// no consequence: levels of idle ports that are refreshed once more, pauses that run out,
    /// background jobs.
    pub(super) fn is_settled(&self) -> bool {
        self.is_done() && self.judged().all(|job| self.flow_table.is_settled(job))
    }

    /// The frames that wait for each other in a cycle, if there are any.
    pub(super) fn deadlock(&self) -> Option<Stop> {
        let why = deadlock::find(self.driver, self.now)?;
        Some(Stop {
            by: StopKind::Deadlock,
            why,
        })
    }

    /// Brings the records of all parts together and hands complete rows to the sink.
    pub(super) fn collect(&mut self) -> Result<(), SimulationError> {
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
