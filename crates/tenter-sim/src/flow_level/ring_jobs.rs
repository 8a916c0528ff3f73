//! Which jobs are rings that may be run as a whole, and what these take.

use std::collections::BTreeMap;

use tenter_flow::{FlowRate, FlowSpec, Fluid};
use tenter_units::{Instant, Time};
use tenter_workload::{JobId, QueuePairScope, Rings, Schedule, WorkloadError};

use crate::network::{Context, JobPlan};

/// What rings took that were run as a whole.
#[derive(Clone, Debug, Default)]
pub struct RingsTaken {
    /// The last arrival, in ps.
    pub last: Instant,
    /// Its acknowledgement, in ps.
    pub acknowledged: Instant,
    /// Completion times of transfers, with how many took each.
    pub times: BTreeMap<Time, u64>,
    /// Data frames of all transfers.
    pub frames: u64,
    /// Their frame bytes.
    pub frame_bytes: u64,
    /// Payload of all transfers.
    pub payload: u64,
    /// The time of the payload at the slowest NIC.
    pub mesh: Time,
    /// Whether the job is under test, and no background load.
    pub is_judged: bool,
}

impl RingsTaken {
    /// The same, begun so much later.
    pub(super) fn later(mut self, by: Time) -> RingsTaken {
        self.last = self.last.saturating_add(by);
        self.acknowledged = self.acknowledged.saturating_add(by);
        self
    }

    /// How many transfers there were.
    pub fn flows(&self) -> u64 {
        self.times.values().sum()
    }
}

/// Whether all jobs run nothing but rings that may be run as a whole, as far as their settings go.
pub(super) fn may_be_whole(context: &Context) -> bool {
    let may = |plan: &JobPlan| {
        let schedules = plan.job.schedules().unwrap_or_default();
        let mut schedules = schedules.iter();
        plan.job.queue_pairs == 1
            && plan.least_latency.is_none()
            && plan.job.queue_pair_scope == QueuePairScope::RankPair
            && plan
                .job
                .sequence
                .iter()
                .all(|run| run.drawn_from_bytes.is_none())
            && schedules.all(|schedule| schedule.rings().is_some())
    };
    context.nic.start_skew_max.is_zero() && context.jobs.iter().all(may)
}

/// Why a collective with more transfers than ids cannot be run, where it is not run as a whole.
pub(super) fn shared(collective: String, schedule: &dyn Schedule) -> WorkloadError {
    WorkloadError::SharedRings {
        collective,
        ranks: schedule.ranks(),
    }
}

/// Whether all flows that there may ever be at once have the rates that they would have alone: then
/// no flow ever holds another back.
pub(super) fn are_free(fluid: &mut Fluid, specs: &[FlowSpec]) -> bool {
    let rates = rates_at_once(fluid, specs);
    let mut pairs = rates.iter().zip(specs);
    pairs.all(|(rate, spec)| *rate == fluid.rate_alone(spec))
}

/// The rates of flows that are all under way, and no others.
pub(super) fn rates_at_once(fluid: &mut Fluid, specs: &[FlowSpec]) -> Vec<FlowRate> {
    let flows: Vec<_> = specs
        .iter()
        .map(|spec| fluid.begin(*spec))
        .collect();
    fluid.settle(Instant::START);
    let rates = flows.iter().map(|flow| fluid.rate(*flow)).collect();
    for flow in flows {
        fluid.withdraw(flow);
    }
    fluid.settle(Instant::START);
    rates
}

/// How many transfers the largest collective of a job has.
pub(super) fn most_transfers(plan: &JobPlan) -> u64 {
    let schedules = plan.job.schedules().unwrap_or_default();
    let transfers = schedules.iter().map(|schedule| schedule.transfers());
    transfers.max().unwrap_or(0)
}

/// The rings that a job ever runs, one for each stride.
pub(super) fn rings_of(context: &Context, job: JobId) -> Vec<Rings> {
    let schedules = context.jobs[job].job.schedules().unwrap_or_default();
    let rings = schedules.iter().filter_map(|schedule| schedule.rings());
    let mut rings: Vec<Rings> = rings.collect();
    rings.sort_unstable_by_key(|rings| (rings.stride, rings.bytes));
    // Gaps behind messages make small ones load more of their NIC than large ones.
    if context.nic.message_gap.is_zero() {
        rings.dedup_by_key(|rings| rings.stride);
    }
    rings.dedup();
    rings
}

/// The time of rings on a full mesh: what a rank sends, at the slowest NIC.
pub(super) fn mesh(context: &Context, job: JobId, rings: Rings) -> Time {
    let nics = context.nics_of(job);
    let slowest = nics.iter().map(|(_, rate)| *rate).min();
    let bits = 8 * u128::from(rings.bytes) * u128::from(rings.steps);
    slowest.map_or(Time::ZERO, |rate| rate.time_of_bits(bits))
}
