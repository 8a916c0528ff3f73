//! Measurements by ranks in training and inference, and the bytes that they sent.

use std::collections::BTreeMap;
use std::rc::Rc;

use tenter_language::units::Time;
use tenter_workload::graph::{GraphSchedule, Metered};
use tenter_workload::transformer::{Parallelism, Stream};
use tenter_workload::{JobId, Operations, RankId};

use super::flow_table::FlowTable;
use super::iteration_id::IterationId;
use crate::network::{Context, Driver, JobPlan, NodeModel};

/// Measurements that ranks made, by rank.
pub(super) type Ranks<'a> = BTreeMap<u32, &'a Metered>;

/// A completed iteration in a job whose ranks measure.
pub(super) struct Iteration<'a> {
    pub(super) plan: &'a JobPlan,
    pub(super) of: IterationId,
    pub(super) warm_up: bool,
    pub(super) operations: &'a Operations,
    pub(super) ranks: Ranks<'a>,
    /// Time from its start to its end.
    pub(super) duration: Time,
    /// Bytes that the job sends in each iteration.
    pub(super) volumes: Rc<Volumes>,
}

/// Returns the iterations in which all ranks that have any work have measured.
pub(super) fn iterations<'a, D: Driver>(
    driver: &'a D,
    flow_table: &'a FlowTable,
) -> Vec<Iteration<'a>> {
    let context = driver.context();
    let mut volumes: BTreeMap<JobId, Rc<Volumes>> = BTreeMap::new();
    let mut iterations = Vec::new();
    for ((job, number), ranks) in metered(driver) {
        let plan = &context.jobs[job];
        let tally = &flow_table.tallies[job][number as usize];
        let (Some(end), Some(schedule), Some(operations)) = (
            tally.end,
            GraphSchedule::of(&*tally.schedule),
            plan.run(number).traffic.operations(),
        ) else {
            continue;
        };
        // A step that the trial's end has cut off has no times to compare.
        if !is_whole(schedule, &ranks) {
            continue;
        }
        let volumes = volumes
            .entry(job)
            .or_insert_with(|| Rc::new(Volumes::new(context, job, schedule)));
        let turn = plan.turn(number);
        iterations.push(Iteration {
            plan,
            of: IterationId {
                job,
                iteration: turn.iteration,
            },
            warm_up: turn.warm_up,
            operations,
            ranks,
            duration: end - tally.start,
            volumes: Rc::clone(volumes),
        });
    }
    iterations
}

/// Returns what finished ranks have measured, by job and instance.
fn metered<D: Driver>(driver: &D) -> BTreeMap<(JobId, u32), Ranks<'_>> {
    let mut ranks: BTreeMap<(JobId, u32), Ranks<'_>> = BTreeMap::new();
    for (_, model) in driver.nodes() {
        if let NodeModel::Host(host) = model {
            for ((job, turn, rank), metered) in &host.operation_logs().metered {
                let of = ranks.entry((*job, *turn)).or_default();
                of.insert(rank.number(), metered);
            }
        }
    }
    ranks
}

/// Returns true if all ranks that have any work have measured.
fn is_whole(schedule: &GraphSchedule, ranks: &Ranks<'_>) -> bool {
    let graph = schedule.graph();
    let has_measured = |rank| graph.operations_of(rank) == 0 || ranks.contains_key(&rank);
    (0..graph.ranks()).all(has_measured)
}

/// Returns the time in which a rank did not compute, by parallelism: first the time when messages
/// were under way, then the time when they had not been sent.
pub(super) fn exposed(of: &Metered) -> [[Time; 2]; Parallelism::ALL.len()] {
    let mut exposed = [[Time::ZERO; 2]; Parallelism::ALL.len()];
    for &(label, with, waiting) in &of.streams {
        if let Some(own) = Stream::of_label(label).and_then(Stream::parallelism) {
            exposed[own as usize][0] += with;
            exposed[own as usize][1] += waiting;
        }
    }
    exposed
}

/// Bytes that all ranks send, by stream label: within domains, and over the network.
pub(super) struct Volumes(BTreeMap<u32, [u64; 2]>);

impl Volumes {
    /// Counts the bytes in a job's graph.
    pub(super) fn new(context: &Context, job: JobId, schedule: &GraphSchedule) -> Volumes {
        let hosts = &context.jobs[job].job.hosts;
        let host = |rank: u32| hosts[RankId::new(rank)];
        let is_within = |a: u32, b: u32| context.is_within_domain(host(a), host(b));
        Volumes(schedule.bytes_by_stream(is_within))
    }

    /// Returns a parallelism's bytes: within domains, and over the network.
    pub(super) fn of(&self, parallelism: Parallelism) -> [u64; 2] {
        let mut sum = [0; 2];
        for (label, bytes) in &self.0 {
            let own = Stream::of_label(*label).and_then(Stream::parallelism);
            if own == Some(parallelism) {
                sum = [sum[0] + bytes[0], sum[1] + bytes[1]];
            }
        }
        sum
    }
}
