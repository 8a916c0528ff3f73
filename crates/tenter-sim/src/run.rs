//! The run: from edge to edge until the network is empty.

use std::sync::Arc;

use tenter_engine::{Clock, Pace, RunOutcome};
use tenter_plan::{Plan, PowerProfile, SIMULATED_MAX};
use tenter_record::{
    CollectiveRow, Control, Counts, Digest, JobRow, Progress, Sink, SinkError, Stop, StopKind,
    Summary,
};
use tenter_topology::RoutingError;
use tenter_units::Time;
use tenter_workload::WorkloadError;
use tenter_workload::flow_workload::FlowSchedule;

use crate::build::{self, Context};
use crate::circuits::Circuits;
use crate::driver::{Driver, WindowedDriver};
use crate::fabric::NodeModel;
use crate::faults::Faults;
use crate::flow_table::FlowTable;
use crate::followers::Followers;
use crate::hash_paths::HashPath;
use crate::ideals::Ideals;
use crate::jobs::JobPlan;
use crate::queue_log::{self, QueueLog};
use crate::routes::Routes;
use crate::sampler::Sampler;
use crate::steering::{END_KNOWN_AFTER, Steering};
use crate::watch::{Unwatched, WatchLog, WatchTarget};
use crate::{conservation, deadlock, hash_paths, power, stall, summary};

/// How to run, as opposed to what: none of this changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads to spread the nodes over.
    pub threads: u16,
    /// By which the engine sees whether more than one thread pays. Without one, some windows are
    /// run on all threads and some on one, by turns.
    pub clock: Option<Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 1,
            clock: None,
        }
    }
}

/// Why a plan could not be run, or a run not be finished.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// Some hosts cannot reach each other.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// A collective cannot be run by its ranks.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// More queue pairs than any machine holds.
    #[error(
        "the jobs need {0} queue pairs, and {max} fit; use fewer ranks per job, or an algorithm with fewer peers",
        max = crate::build::QUEUE_PAIRS_MAX
    )]
    TooManyQueuePairs(u64),
    /// Nothing takes any time.
    #[error(
        "{0} takes no time at all: give the cable a delay, or the switch a pipeline latency or `forwarding: store-and-forward`"
    )]
    NoLookahead(String),
    /// The records could not be kept.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Frames did not add up: a defect of the simulator.
    #[error("frames are not conserved: {0}; please report this scenario with its seed as a defect")]
    Conservation(String),
}

/// What a trial leaves beside the rows its sink was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Everything about the trial at a glance; its wall times and peak memory are the caller's to
    /// fill in.
    pub summary: Summary,
    /// One row per job.
    pub jobs: Vec<JobRow>,
    /// One row per collective and iteration.
    pub collectives: Vec<CollectiveRow>,
    /// What ports, queues and switches have counted.
    pub counts: Counts,
    /// Digest of all completion times and counters.
    pub digest: Digest,
}

/// A simulation that is built and not yet run.
#[derive(Debug)]
pub struct Simulation<D: Driver> {
    driver: D,
    ideals: Ideals,
    name: String,
    threads: u16,
    sample_interval: Option<u64>,
    time_limit: Option<u64>,
    power: Option<PowerProfile>,
    faults: Faults,
    circuits: Circuits,
    steering: Steering,
}

impl Simulation<WindowedDriver<Unwatched>> {
    /// Builds a plan's network and schedule for the windowed engine.
    ///
    /// # Errors
    /// When hosts cannot reach each other, a collective cannot be run, or a link has no delay.
    pub fn new(plan: &Plan, options: Options) -> Result<Self, SimulationError> {
        let threads = threads(plan, options);
        let mut driver = build::build(plan, threads, |_| Unwatched)?;
        driver.pace = Pace::new(options.clock);
        Ok(Simulation::with_driver(driver, plan, threads))
    }
}

impl Simulation<WindowedDriver<QueueLog>> {
    /// Builds a plan's network and schedule, and records queues change by change at the ports that
    /// [`Plan::queue_changes`] names.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn recording(plan: &Plan, options: Options) -> Result<Self, SimulationError> {
        let threads = threads(plan, options);
        let log = plan.queue_changes.as_ref().map(QueueLog::new);
        let log = log.unwrap_or_default();
        let mut driver = build::build(plan, threads, |_| log.clone())?;
        driver.pace = Pace::new(options.clock);
        Ok(Simulation::with_driver(driver, plan, threads))
    }
}

impl Simulation<WindowedDriver<WatchLog>> {
    /// Builds a plan's network and schedule, watching a flow or a port for its first `limit` events
    /// on each thread.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn watched(
        plan: &Plan,
        options: Options,
        target: impl Fn(&Context) -> WatchTarget,
        limit: usize,
    ) -> Result<Self, SimulationError> {
        let threads = threads(plan, options);
        let mut driver = build::build(plan, threads, |context| {
            WatchLog::new(target(context), limit)
        })?;
        driver.pace = Pace::new(options.clock);
        Ok(Simulation::with_driver(driver, plan, threads))
    }
}

/// No more threads than switches: a thread without one would only wait.
fn threads(plan: &Plan, options: Options) -> u16 {
    let switches = plan.topology.nodes.len() - plan.topology.hosts;
    options
        .threads
        .clamp(1, switches.clamp(1, usize::from(u16::MAX)) as u16)
}

/// When rows are collected and progress is told: about once per so many packet-hops.
const HOPS_PER_REPORT: std::ops::Range<u64> = 500_000..4_000_000;
const FIRST_REPORT: Time = Time::from_us(10);
const REPORTS_APART: std::ops::RangeInclusive<u64> =
    Time::from_us(1).ps()..=Time::from_us(10_000).ps();

/// Where a job is.
#[derive(Debug, Default)]
struct JobState {
    /// The collective that runs, or ran last.
    turn: u32,
    /// When the next one starts.
    next_start: Option<u64>,
    /// Whether a collective runs.
    running: bool,
    /// Whether it will not end within the hosts before time is up.
    overdue: bool,
    /// When its last collective ended, or when it was seen that none of its will end any more.
    end: Option<u64>,
}

impl<D: Driver> Simulation<D> {
    /// A simulation over a driver of the caller's, built from the same plan.
    pub fn with_driver(driver: D, plan: &Plan, threads: u16) -> Simulation<D> {
        let ideals = Ideals::new(plan, driver.fabric(0).context());
        Simulation {
            driver,
            ideals,
            name: plan.name.clone(),
            threads,
            sample_interval: plan.sample_interval.map(Time::ps),
            time_limit: plan.time_limit.map(Time::ps),
            power: plan.power.clone(),
            faults: Faults::new(plan),
            circuits: Circuits::new(plan),
            steering: Steering::new(plan),
        }
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// The paths of all transfers of the jobs' sequences, once each, before anything has run;
    /// `None` where the load balancer may choose another port for each packet, or where there are
    /// more than 2²⁰.
    ///
    /// # Errors
    /// When a collective cannot be run by its ranks.
    pub fn hash_paths(&self) -> Result<Option<Vec<HashPath>>, SimulationError> {
        Ok(hash_paths::transfers(&self.driver)?)
    }

    /// Runs until every job is done and the network is empty, or until the time limit or the sink
    /// stops it. A limit that is reached when every job is done stops nothing.
    ///
    /// # Errors
    /// When the sink fails, or frames are not conserved.
    pub fn run(&mut self, sink: &mut impl Sink) -> Result<Outcome, SimulationError> {
        let mut course = RunLoop::new(&mut self.driver, sink)?;
        course.sampler = Sampler::new(self.sample_interval);
        course.faults = std::mem::take(&mut self.faults);
        course.circuits = std::mem::take(&mut self.circuits);
        course.steering = std::mem::take(&mut self.steering);
        let stopped = course.run(self.time_limit)?;
        let RunLoop {
            flow_table,
            now,
            faults,
            circuits,
            steering,
            ..
        } = course;
        let kept = conservation::check(&self.driver, circuits.missing());
        kept.map_err(SimulationError::Conservation)?;
        stop_sending(&mut self.driver, now);
        let trial = summary::Trial {
            name: &self.name,
            threads: self.threads,
            ended: now,
            ideals: &self.ideals,
            stalls: stall::explain(&self.driver, &faults, stopped.as_ref()),
            stopped,
        };
        let mut outcome = summary::outcome(&self.driver, &flow_table, trial);
        outcome.counts.circuits = circuits.into_rows();
        outcome.counts.steering = steering.into_rows();
        let profile = self.power.as_ref();
        let drawn = profile.map(|profile| power::of_run(profile, &self.driver, &outcome, now));
        outcome.summary.power = drawn;
        queue_log::collect(&self.driver, &mut outcome);
        Ok(outcome)
    }
}

/// What is handed to links and has not begun to be sent when the trial ends at `now` is not sent.
fn stop_sending<D: Driver>(driver: &mut D, now: u64) {
    for part in 0..driver.parts() {
        for node in &mut driver.fabric_mut(part).nodes {
            if let NodeModel::Switch(switch) = node {
                switch.stop_sending(now);
            }
        }
    }
}

/// One run under way.
struct RunLoop<'a, D: Driver, S: Sink> {
    driver: &'a mut D,
    sink: &'a mut S,
    context: Arc<Context>,
    jobs: Vec<JobState>,
    followers: Followers,
    flow_table: FlowTable,
    /// Whether some job would go on for ever.
    has_background: bool,
    /// When background jobs are cut off, once that is known.
    stop_at: Option<u64>,
    /// Whether they have been.
    was_cut: bool,
    sampler: Sampler,
    faults: Faults,
    circuits: Circuits,
    steering: Steering,
    routes: Routes,
    now: u64,
    report_at: u64,
    report_interval: u64,
    hops_reported: u64,
}

impl<'a, D: Driver, S: Sink> RunLoop<'a, D, S> {
    fn new(driver: &'a mut D, sink: &'a mut S) -> Result<Self, SimulationError> {
        let context = Arc::clone(&driver.fabric(0).context);
        let first = |plan: &JobPlan| JobState {
            next_start: (plan.has_turn(0) && plan.job.after.is_none()).then(|| plan.first_start(0)),
            ..JobState::default()
        };
        let jobs = context.jobs.iter().map(first).collect();
        let has_background = context.jobs.iter().any(|plan| plan.job.turns().is_none());
        let flow_table = FlowTable::new(&context)?;
        let routes = Routes::new(&context);
        let followers = Followers::new(&context.jobs);
        Ok(RunLoop {
            driver,
            sink,
            jobs,
            followers,
            flow_table,
            context,
            has_background,
            stop_at: None,
            was_cut: false,
            sampler: Sampler::new(None),
            faults: Faults::default(),
            circuits: Circuits::default(),
            steering: Steering::default(),
            routes,
            now: 0,
            report_at: FIRST_REPORT.ps(),
            report_interval: FIRST_REPORT.ps(),
            hops_reported: 0,
        })
    }

    /// Runs to the end; why that came early, if it did.
    fn run(&mut self, time_limit: Option<u64>) -> Result<Option<Stop>, SimulationError> {
        let stopped = self.run_edges(time_limit)?;
        self.collect()?;
        if stopped.is_none() && !self.was_cut {
            let of_flows = self.flow_table.last_event();
            self.now = of_flows.max(summary::last_event(self.driver));
        }
        if self.sampler.is_due_at_end(self.now) {
            self.sample(self.now)?;
        }
        Ok(stopped)
    }

    /// The loop over edges.
    fn run_edges(&mut self, time_limit: Option<u64>) -> Result<Option<Stop>, SimulationError> {
        let ceiling = SIMULATED_MAX.ps();
        let limit = time_limit.unwrap_or(ceiling).min(ceiling);
        self.circuits.begin(self.driver);
        loop {
            if self.faults.next() <= self.now {
                self.faults.apply(self.driver, &mut self.routes, self.now);
            }
            self.change_circuits()?;
            self.start_collectives()?;
            if !self.circuits.is_moving()
                && let Some(change) = self.steering.decide(self.driver, self.now)
            {
                self.circuits.announce(change);
                self.change_circuits()?;
            }
            let edge = self.next_edge(limit);
            match self.driver.run(self.now, edge, &self.context.progress) {
                RunOutcome::Edge(at) => self.now = at,
                // Nothing moves any more; whatever comes next is the next start of a collective, or
                // a link that comes up.
                RunOutcome::Empty => {
                    self.finish_collectives(limit);
                    self.stop_background();
                    let Some(next) = self.next_of_itself(limit) else {
                        // Where frames wait for credit nobody repeats anything.
                        return Ok(self.deadlock());
                    };
                    self.idle_until(next.min(limit))?;
                }
            }
            self.finish_collectives(limit);
            self.stop_background();
            if !self.faults.storming_hosts().is_empty() && self.is_done() {
                self.faults.end_storms(self.driver, self.now);
            }
            if self.sampler.is_due(self.now) {
                self.sample(self.now)?;
            }
            if let Some(stop) = self.report()? {
                return Ok(Some(stop));
            }
            if self.is_over()? {
                return Ok(None);
            }
            if self.now >= limit {
                self.collect()?;
                if self.is_settled() {
                    self.was_cut = self.has_background;
                    return Ok(None);
                }
                let kind = match time_limit {
                    Some(own) if own <= ceiling => "time limit",
                    _ => "longest simulation",
                };
                let limit = Time::from_ps(limit);
                return Ok(Some(Stop {
                    by: StopKind::TimeLimit,
                    why: format!("the {kind} of {limit} was reached"),
                }));
            }
        }
    }

    /// Changes the circuits that are due.
    fn change_circuits(&mut self) -> Result<(), SimulationError> {
        if self.circuits.next() <= self.now {
            let changed = self.circuits.apply(self.driver, &mut self.routes, self.now);
            changed.map_err(SimulationError::Conservation)?;
        }
        Ok(())
    }

    /// When something next happens in an empty network, if there is anything left to do.
    fn next_of_itself(&self, limit: u64) -> Option<u64> {
        let overdue = self.jobs.iter().any(|job| job.overdue).then_some(limit);
        let own = [self.next_start(), self.stop_at].into_iter().flatten();
        let own = own.min().or(overdue);
        let event = self.faults.next_event().min(self.circuits.next());
        let event = event.min(self.next_decision(self.steering.next_of_itself()));
        let event = Some(event).filter(|&event| event < u64::MAX);
        let left = self.has_background || !self.is_done();
        let next = own.into_iter().chain(event).min();
        next.filter(|_| left)
    }

    /// Whether no job under test has anything left to do.
    fn is_done(&self) -> bool {
        let done = |job: usize| {
            let state = &self.jobs[job];
            !state.running && state.next_start.is_none()
        };
        self.judged().all(done)
    }

    /// Whether all packets of the jobs under test are acknowledged as well. What goes on then is of
    /// no consequence: levels of idle ports that are refreshed once more, pauses that run out,
    /// background jobs.
    fn is_settled(&self) -> bool {
        self.is_done() && self.judged().all(|job| self.flow_table.is_settled(job))
    }

    /// The jobs that are no background load.
    fn judged(&self) -> impl Iterator<Item = usize> {
        let jobs = &self.context.jobs;
        (0..jobs.len()).filter(|&job| !jobs[job].job.background)
    }

    /// Lets time pass in an empty network; only the first sample has something to say.
    fn idle_until(&mut self, at: u64) -> Result<(), SimulationError> {
        if self.sampler.next() < at {
            self.sample(self.sampler.next())?;
            self.sampler.skip_to(at);
        }
        self.steering.skip_to(at);
        self.now = at;
        Ok(())
    }

    fn sample(&mut self, at: u64) -> Result<(), SimulationError> {
        let rows = self.sampler.take(&self.context, self.driver, at);
        Ok(self.sink.samples(&rows)?)
    }

    fn next_start(&self) -> Option<u64> {
        self.jobs.iter().filter_map(|job| job.next_start).min()
    }

    fn next_edge(&self, limit: u64) -> u64 {
        let start = self.next_start().unwrap_or(u64::MAX);
        limit
            .min(start)
            .min(self.stop_at.unwrap_or(u64::MAX))
            .min(self.report_at)
            .min(self.sampler.next())
            .min(self.faults.next())
            .min(self.circuits.next())
            .min(self.next_decision(self.steering.next()))
    }

    /// Nothing is decided while circuits change, and something may be as soon as they have.
    fn next_decision(&self, next: u64) -> u64 {
        if self.circuits.is_moving() {
            u64::MAX
        } else {
            next
        }
    }

    /// Starts every collective that is due.
    fn start_collectives(&mut self) -> Result<(), SimulationError> {
        for index in 0..self.jobs.len() {
            if self.jobs[index].next_start == Some(self.now) {
                self.jobs[index].next_start = None;
                self.jobs[index].running = true;
                self.start_collective(index)?;
            }
        }
        Ok(())
    }

    fn start_collective(&mut self, job: usize) -> Result<(), SimulationError> {
        let context = Arc::clone(&self.context);
        let plan = &context.jobs[job];
        let number = self.jobs[job].turn;
        if number == 0 {
            self.steering.starts(&context, job)?;
        }
        let schedule = plan.schedule(number)?;
        // Both ends of a hierarchical algorithm are outside the network.
        let within = plan.within_hosts(number);
        let sources = schedule.flow_workload().map(FlowSchedule::sources);
        context.progress.begin(
            job,
            sources.unwrap_or(u64::from(schedule.transfer_count())),
            self.trigger_after(job, number),
        );
        if !plan.is_endless() {
            let begins = (job, self.now);
            self.flow_table
                .begin(&context, begins, Arc::clone(&schedule));
        }
        for part in 0..self.driver.parts() {
            let schedules = &mut self.driver.fabric_mut(part).schedules;
            schedules.set(job, number, Arc::clone(&schedule));
        }
        for (rank, &host) in (0..).zip(&plan.job.hosts) {
            if !context.is_first_there(host, (job as u16, rank)) {
                continue;
            }
            let (part, node) = context.home(host);
            let fabric = self.driver.fabric_mut(usize::from(part));
            let NodeModel::Host(host) = &mut fabric.nodes[node as usize] else {
                continue;
            };
            // Before its first collective a job has left nothing behind.
            if number > 0 {
                host.reset(&context, job as u16);
            }
            if let Some(at) = host.start(&context, job as u16, self.now.saturating_add(within)) {
                self.driver.wake(usize::from(part), node, at);
            }
        }
        Ok(())
    }

    /// How long after the last arrival of a collective the whole network is told of it: the next
    /// one starts, or that of a job that waits for this one, or background jobs are cut off.
    fn trigger_after(&self, job: usize, number: u32) -> Option<u64> {
        let plan = &self.context.jobs[job];
        let delay = if plan.has_turn(number + 1) {
            plan.job.gap.ps().saturating_add(plan.compute(number + 1))
        } else {
            let background = self.context.background_delay;
            let background = self.has_background.then_some(background);
            // A pause storm keeps the network busy for ever; so the end of its victims is an edge.
            // And circuits follow the jobs that are left.
            let steering = self.steering.is_on().then_some(END_KNOWN_AFTER);
            let storms = self.faults.has_storms().then(|| plan.job.gap.ps());
            let follower = self.followers.soonest(job, &self.context.jobs);
            let own = background.or(storms).into_iter();
            own.chain(follower).chain(steering).min()?
        };
        Some(delay.saturating_add(plan.within_hosts(number)))
    }

    /// Says when background jobs are cut off, once the last of the others has ended or is known to
    /// have failed.
    fn stop_background(&mut self) {
        if !self.has_background || self.stop_at.is_some() {
            return;
        }
        let judged = |plan: &&JobPlan| !plan.job.background && plan.has_turn(0);
        let mut last = 0;
        for (plan, state) in self.context.jobs.iter().zip(&self.jobs) {
            if judged(&plan) {
                let Some(end) = state.end else { return };
                last = last.max(end);
            }
        }
        self.stop_at = Some(last.saturating_add(self.context.background_delay));
    }

    /// Whether background jobs are cut off now. What they hold up must not be lost of the others:
    /// as long as acknowledgements of these are under way, they run on.
    fn is_over(&mut self) -> Result<bool, SimulationError> {
        if self.stop_at.is_none_or(|at| at > self.now) {
            return Ok(false);
        }
        self.collect()?;
        let given_up = |job: usize| self.jobs[job].running && self.jobs[job].end.is_some();
        let settled = |job| {
            given_up(job) || self.flow_table.is_settled(job) || stall::has_failed(self.driver, job)
        };
        let cut = self.judged().all(settled);
        self.was_cut = cut;
        self.stop_at = Some(self.now.saturating_add(self.context.background_delay));
        Ok(self.was_cut)
    }

    /// Looks for jobs under test that will never end, where others would wait for that.
    fn give_up(&mut self) {
        if !self.has_background {
            return;
        }
        let runs = |&job: &usize| self.jobs[job].running;
        let failed = self.judged().filter(runs);
        let failed = failed.filter(|&job| {
            stall::has_failed(self.driver, job)
                || stall::stands_still(self.driver, job, &self.faults)
        });
        let mut failed: Vec<usize> = failed.collect();
        // Nor will those that wait for it.
        while let Some(job) = failed.pop() {
            self.jobs[job].end.get_or_insert(self.now);
            failed.extend(self.followers.of(job));
        }
    }

    /// Books every collective that has ended and says when the job's next one starts. One whose
    /// end within the hosts is later than `limit` goes on.
    fn finish_collectives(&mut self, limit: u64) {
        self.context.progress.take_edge();
        let mut ended = Vec::new();
        for (index, state) in self.jobs.iter_mut().enumerate() {
            if !state.running || self.context.progress.missing(index) > 0 {
                continue;
            }
            let plan = &self.context.jobs[index];
            let within = plan.within_hosts(state.turn);
            let last_arrival = self.context.progress.last_arrival(index);
            let end = last_arrival.saturating_add(within);
            if within > 0 && end > limit {
                state.overdue = true;
                continue;
            }
            state.running = false;
            self.flow_table.end(index, state.turn as usize, end);
            if plan.has_turn(state.turn + 1) {
                state.turn += 1;
                let pause = plan.job.gap.ps().saturating_add(plan.compute(state.turn));
                state.next_start = Some(end.saturating_add(pause));
            } else {
                state.end = Some(end);
                ended.push((index, end));
            }
        }
        for (job, end) in ended {
            self.steering.ends(job, end);
            self.start_followers(job, end);
        }
    }

    /// Says when the jobs start that wait for the end of another.
    fn start_followers(&mut self, job: usize, end: u64) {
        for &next in self.followers.of(job) {
            let plan = &self.context.jobs[next];
            let start = end.saturating_add(plan.job.start.ps());
            self.context.progress.set_start(next, start);
            self.jobs[next].next_start = Some(plan.first_start(end));
        }
    }

    /// The frames that wait for each other in a cycle, if there are any.
    fn deadlock(&self) -> Option<Stop> {
        let why = deadlock::find(self.driver, self.now)?;
        Some(Stop {
            by: StopKind::Deadlock,
            why,
        })
    }

    /// Collects rows and tells progress where it is time to; whether the sink wants to stop.
    fn report(&mut self) -> Result<Option<Stop>, SimulationError> {
        if self.now < self.report_at {
            return Ok(None);
        }
        self.collect()?;
        let hops = summary::packet_hops(self.driver);
        let done = hops - self.hops_reported;
        self.hops_reported = hops;
        if done < HOPS_PER_REPORT.start {
            self.report_interval = (self.report_interval * 2).min(*REPORTS_APART.end());
        } else if done > HOPS_PER_REPORT.end {
            self.report_interval = (self.report_interval / 2).max(*REPORTS_APART.start());
        }
        self.report_at = self.now + self.report_interval;
        if let Some(deadlock) = self.deadlock() {
            return Ok(Some(deadlock));
        }
        self.give_up();
        let (flows_done, flows_total) = self.flow_table.judged_flows();
        let progress = Progress {
            simulated: Time::from_ps(self.now),
            packet_hops: hops,
            flows_done,
            flows_total,
        };
        Ok(match self.sink.progress(&progress)? {
            Control::Continue => None,
            Control::Stop => Some(Stop {
                by: StopKind::User,
                why: format!("stopped by you at {}", Time::from_ps(self.now).rounded()),
            }),
        })
    }

    /// Brings the records of all parts together and hands complete rows to the sink.
    fn collect(&mut self) -> Result<(), SimulationError> {
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

/// Builds and runs a plan.
///
/// # Errors
/// Those of [`Simulation::new`] and [`Simulation::run`].
pub fn run(
    plan: &Plan,
    options: Options,
    sink: &mut impl Sink,
) -> Result<Outcome, SimulationError> {
    match plan.queue_changes {
        None => Simulation::new(plan, options)?.run(sink),
        Some(_) => Simulation::recording(plan, options)?.run(sink),
    }
}
