//! Steering: circuits follow the traffic of jobs.
//!
//! ```text
//!   a job starts or ends ─┐
//!                         ├─▶ traffic between leaves ─choose─▶ better by the threshold? ─▶ change
//!   counters, at times ───┘
//! ```
//!
//! Decisions are made at sync points, where every node stands at the same instant.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::plan::{
    CircuitChange, Plan, SteeringController, SteeringDemand, SteeringPlan, WINDOW_MAX,
};
use tenter_fabric::steering::{Estimate, Scenes, Traffic};
use tenter_fabric::topology::{HostId, Topology};
use tenter_language::units::{ById, Instant, Time};
use tenter_results::SteeringRow;
use tenter_workload::flow_workload::FlowWorkload;
use tenter_workload::{Flow, JobId, RankId, Traffic as Sent, WorkloadError};

use crate::error::SimulationError;
use crate::network::{Context, Driver, NodeModel};

use super::actor::EdgeActor;
use super::world::{JobState, World};

/// Delay from the end of a job until the controller knows it. It equals the longest window, so that
/// the end is known everywhere by then.
const END_KNOWN_AFTER: Time = WINDOW_MAX;

/// The actor that decides on circuits.
#[derive(Debug, Default)]
pub(super) struct Steering {
    controller: Option<Controller>,
    rows: Vec<SteeringRow>,
}

#[derive(Debug)]
struct Controller {
    plan: SteeringPlan,
    /// The fabric with its initial circuits.
    home: Topology,
    /// The fabric with its circuits after all announced changes.
    current: Topology,
    /// True if packets may spill from circuits into the tree.
    spills: bool,
    /// For each job its traffic, phase by phase, while it runs.
    running: ById<JobId, Option<Vec<Traffic>>>,
    /// True if jobs have started or ended since the last decision.
    has_changed: bool,
    /// For each host the packets acknowledged at the last reading, by sending QP index.
    counted: ById<HostId, Vec<u32>>,
    /// True if nothing had been sent at the last reading.
    is_quiet: bool,
    /// Time of the next reading of counters.
    next: Instant,
}

impl Steering {
    pub(super) fn new(plan: &Plan) -> Steering {
        let circuits = plan.circuits.as_ref();
        let steering = circuits.and_then(|circuits| circuits.steering);
        let controller = steering.map(|steering| Controller {
            plan: steering,
            home: plan.topology.clone(),
            current: plan.topology.clone(),
            spills: plan.spill().is_some(),
            running: vec![None; plan.jobs.len()].into(),
            has_changed: false,
            is_quiet: false,
            counted: ById::default(),
            next: match steering.demand {
                SteeringDemand::Jobs => Instant::NEVER,
                SteeringDemand::Counters => Instant::at(steering.interval),
            },
        });
        Steering {
            controller,
            rows: Vec::new(),
        }
    }

    /// Returns the circuits to change at `now`, if it is time for a decision and a change is
    /// worthwhile.
    fn decide<D: Driver>(&mut self, world: &World<'_, D>) -> Option<CircuitChange> {
        let of = self.controller.as_mut()?;
        let now = world.now;
        of.forget(&world.jobs, now);
        let traffic = match of.plan.demand {
            SteeringDemand::Jobs => {
                if !std::mem::take(&mut of.has_changed) {
                    return None;
                }
                of.of_jobs()
            }
            SteeringDemand::Counters => {
                if now < of.next {
                    return None;
                }
                of.next = (now + Time::LEAST).next_multiple_of(of.plan.interval);
                let counted = of.counted(world.driver);
                of.is_quiet = counted.is_empty();
                Scenes::of(counted)
            }
        };
        if traffic.is_empty() {
            // Without traffic there is nothing to prefer: any future demand fits these circuits as
            // well as others.
            return None;
        }
        let (row, change) = of.change_for(&traffic, now);
        self.rows.push(row);
        change
    }
}

impl<D: Driver> EdgeActor<D> for Steering {
    fn begin(&mut self, world: &mut World<'_, D>) {
        world.steered_after = self.controller.as_ref().map(|_| END_KNOWN_AFTER);
    }

    /// Returns the next decision. None is made while circuits change; those that are due follow
    /// immediately after.
    fn next(&self, world: &World<'_, D>) -> Instant {
        match &self.controller {
            Some(of) if !world.moving.is_any() => of.end(&world.jobs).min(of.next),
            _ => Instant::NEVER,
        }
    }

    /// Skips readings after one that showed no traffic: an empty network has sent nothing since.
    fn next_if_empty(&self, world: &World<'_, D>) -> Instant {
        match &self.controller {
            Some(of) if of.is_quiet && !world.moving.is_any() => of.end(&world.jobs),
            _ => self.next(world),
        }
    }

    /// Skips the readings before `to`.
    fn skip(&mut self, _: &mut World<'_, D>, to: Instant) -> Result<(), SimulationError> {
        if let Some(of) = &mut self.controller
            && of.next < to
        {
            of.next = to.next_multiple_of(of.plan.interval);
            of.is_quiet = false;
        }
        Ok(())
    }

    fn act(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        if let Some(of) = &mut self.controller {
            of.note_starts(&world.context, &world.jobs)?;
        }
        if !world.moving.is_any() {
            let change = self.decide(world);
            world.moving.announced.extend(change);
        }
        Ok(())
    }

    fn end(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        world.counts.steering = std::mem::take(&mut self.rows);
        Ok(())
    }
}

impl Controller {
    /// Notes the jobs that have started.
    ///
    /// # Errors
    /// If a collective cannot be run by its ranks.
    fn note_starts(
        &mut self,
        context: &Context,
        jobs: &ById<JobId, JobState>,
    ) -> Result<(), WorkloadError> {
        for (job, state) in jobs.numbered() {
            if state.running && self.running[job].is_none() {
                let traffic = match self.plan.demand {
                    SteeringDemand::Jobs => phases_of(context, job)?,
                    SteeringDemand::Counters => Vec::new(),
                };
                self.running[job] = Some(traffic);
                self.has_changed = true;
            }
        }
        Ok(())
    }

    /// Returns when the end of a running job becomes known. The delay is fixed, so that additional
    /// sync points, such as samples, do not lead to earlier decisions.
    fn known(&self, job: JobId, state: &JobState) -> Option<Instant> {
        let end = state.end.filter(|_| !state.running)?;
        self.running[job].as_ref()?;
        Some(end.saturating_add(END_KNOWN_AFTER))
    }

    /// Returns when the next end of a job becomes known.
    fn end(&self, jobs: &ById<JobId, JobState>) -> Instant {
        let jobs = jobs.numbered();
        let ends = jobs.filter_map(|(job, state)| self.known(job, state));
        ends.min().unwrap_or(Instant::NEVER)
    }

    /// Removes the jobs whose ends are known.
    fn forget(&mut self, jobs: &ById<JobId, JobState>, now: Instant) {
        for (job, state) in jobs.numbered() {
            if self.known(job, state).is_some_and(|known| known <= now) {
                self.running[job] = None;
                self.has_changed = true;
            }
        }
    }

    /// Returns the demand of the running jobs, each of which repeats its phases as often as it can.
    fn of_jobs(&self) -> Scenes {
        let running = self.running.iter().flatten();
        let jobs: Vec<&[Traffic]> = running.map(Vec::as_slice).collect();
        Scenes::of_jobs(&self.home, &jobs)
    }

    /// Returns the packets that queue pairs had acknowledged since the last reading.
    fn counted<D: Driver>(&mut self, driver: &D) -> Traffic {
        let mut traffic = Traffic::new(&self.home);
        self.counted.resize(self.home.hosts, Vec::new());
        for (host, before) in self.home.host_ids().zip(&mut self.counted) {
            let NodeModel::Host(of) = driver.node(host) else {
                continue;
            };
            for (slot, (to, packets)) in of.nic.acknowledged().into_iter().enumerate() {
                if before.len() == slot {
                    before.push(0);
                }
                // Counters wrap at 32 bits.
                let last = std::mem::replace(&mut before[slot], packets);
                traffic.add(host, to, u64::from(packets.wrapping_sub(last)));
            }
        }
        traffic
    }

    /// Decides on the circuits for a demand; returns the row of the decision, and the change if
    /// there is one.
    fn change_for(
        &mut self,
        traffic: &Scenes,
        now: Instant,
    ) -> (SteeringRow, Option<CircuitChange>) {
        let choice = match self.plan.controller {
            SteeringController::Estimate => {
                tenter_fabric::steering::choose(&self.home, traffic, self.spills)
            }
            SteeringController::Greedy => {
                tenter_fabric::steering::choose_greedily(&self.home, traffic, self.spills)
            }
        };
        let before = tenter_fabric::steering::estimate(&self.current, traffic, self.spills);
        // The threshold is in percent, the comparison in thousandths.
        let better = |before| choice.estimate.improves(before, self.plan.threshold.0 * 10);
        let mut row = SteeringRow {
            time: now.since_start(),
            trigger: match self.plan.demand {
                SteeringDemand::Jobs => "jobs".to_owned(),
                SteeringDemand::Counters => "counters".to_owned(),
            },
            jobs: self.running.iter().flatten().count() as u32,
            ..SteeringRow::default()
        };
        let nic = traffic.nic_time(&self.home).max(1) as f64;
        let figures = |of: Estimate| (of.busiest as f64 / nic, of.total as f64 / nic);
        (row.busiest_before, row.links_before) = before.map(figures).unwrap_or_default();
        (row.busiest_after, row.links_after) = figures(choice.estimate);
        let mut change = None;
        let always = self.plan.controller == SteeringController::Greedy;
        if always || before.is_none_or(better) {
            let rewirings = tenter_fabric::steering::rewirings(&self.current, &choice.topology);
            // The best circuits may be those that are set.
            row.changed = !rewirings.is_empty();
            row.optical_switches = rewirings.len() as u32;
            self.current = choice.topology;
            change = row.changed.then_some(CircuitChange {
                at: now.since_start(),
                rewirings,
            });
        }
        row.direct_circuits = self.current.direct_circuits().count() as u32;
        (row, change)
    }
}

/// Most phases that are kept for a job. In longer jobs the phases with least traffic, such as the
/// dot products of a solver, are added up.
const PHASES_MAX: usize = 8;
/// Most steps of a collective that are kept separate; further ones are added to the last. In a
/// ring, for example, all are alike.
const STEPS_MAX: usize = 256;

/// Returns the traffic of a job in one pass of its sequence, phase by phase.
fn phases_of(context: &Context, job: JobId) -> Result<Vec<Traffic>, WorkloadError> {
    let plan = &context.jobs[job];
    let mut phases: Vec<Traffic> = Vec::new();
    for number in 0..plan.job.sequence.len() as u32 {
        match &plan.run(number).traffic {
            Sent::Flows(flows) => phases.push(traffic_of_streams(context, job, flows)),
            Sent::FlowWorkload(workload) => {
                phases.push(traffic_of_flows(context, job, workload));
            }
            _ => phases.extend(steps_of(context, job, number)?),
        }
        join_small(&context.topology, &mut phases);
    }
    Ok(phases)
}

/// Returns the traffic of a collective in each of its steps.
fn steps_of(context: &Context, job: JobId, number: u32) -> Result<Vec<Traffic>, WorkloadError> {
    let plan = &context.jobs[job];
    let schedule = plan.schedule(number)?;
    let mut steps: Vec<Traffic> = Vec::new();
    for id in 0..schedule.transfer_count() {
        let transfer = schedule.transfer(id);
        if context.is_carried(job, &transfer) {
            continue;
        }
        let step = (transfer.step as usize).min(STEPS_MAX - 1);
        while steps.len() <= step {
            steps.push(Traffic::new(&context.topology));
        }
        let hosts = plan.job.ends(&transfer);
        // Steps are kept apart, because traffic in one cannot use links that are idle in another.
        steps[step].add(hosts[0], hosts[1], transfer.bytes);
    }
    Ok(steps)
}

/// Drops phases without traffic, and adds up the smallest if there are too many.
fn join_small(topology: &Topology, phases: &mut Vec<Traffic>) {
    phases.retain(|phase| !phase.is_empty());
    phases.sort_by_cached_key(|phase| Reverse(phase.busiest_nic(topology)));
    for small in phases.split_off(phases.len().min(PHASES_MAX)) {
        if let Some(last) = phases.last_mut() {
            last.add_all(&small);
        }
    }
}

/// Returns the traffic of endless streams, by their rates.
fn traffic_of_streams(context: &Context, job: JobId, flows: &[Flow]) -> Traffic {
    let hosts = &context.jobs[job].job.hosts;
    let mut traffic = Traffic::new(&context.topology);
    for flow in flows {
        let [src, dst] = [flow.src, flow.dst].map(|rank| hosts[RankId::new(rank)]);
        if !context.is_within_domain(src, dst) {
            traffic.add(src, dst, flow.rate.bits_per_second() >> 10);
        }
    }
    traffic
}

/// Returns the traffic of a flow workload: by its matrix, by the number of flows under way at a
/// time, or, in an open loop, with the same total for each sender.
fn traffic_of_flows(context: &Context, job: JobId, flows: &FlowWorkload) -> Traffic {
    let hosts = &context.jobs[job].job.hosts;
    let mut traffic = Traffic::new(&context.topology);
    let mut receivers: BTreeMap<u32, u64> = BTreeMap::new();
    for way in &flows.ways {
        *receivers.entry(way.src).or_default() += 1;
    }
    for (index, way) in flows.ways.iter().enumerate() {
        let amount = match flows.weights() {
            Some(weights) => weights.of(index),
            None if flows.is_open() => (1 << 32) / receivers[&way.src],
            None => u64::from(way.parallel),
        };
        let [src, dst] = [way.src, way.dst].map(|rank| hosts[RankId::new(rank)]);
        if !context.is_within_domain(src, dst) {
            traffic.add(src, dst, amount);
        }
    }
    traffic
}
