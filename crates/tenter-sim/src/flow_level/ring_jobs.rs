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
    /// Completion times of transfers, with how many took each: where rates change because rings of
    /// other jobs begin or end, those at the rates that they have had for longest.
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
    /// How many transfers there were.
    pub fn flows(&self) -> u64 {
        self.times.values().sum()
    }
}

/// What is known of the rings of a job before they begin: the flow of each rank, with what comes
/// behind it, what all of them move, and what the longest way back takes.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownRings {
    pub(super) flows: Vec<(FlowSpec, Time)>,
    pub(super) taken: RingsTaken,
    pub(super) back: Time,
}

/// What rings take from their begin to their last arrival at some rates, and how long their
/// transfers take.
#[derive(Clone, Debug)]
pub(super) struct AtRates {
    pub(super) whole: Time,
    pub(super) times: BTreeMap<Time, u64>,
}

/// Rings of a job that are under way as a whole.
#[derive(Clone, Debug)]
pub(super) struct RingsUnderWay {
    pub(super) rings: Rings,
    pub(super) begin: Instant,
    /// When they end at the present rates.
    pub(super) end: Instant,
    present: AtRates,
    /// Since when they have had these rates.
    since: Instant,
    /// The times of transfers at those rates that they have had for longest until then, and for how
    /// long that was.
    longest: (Time, BTreeMap<Time, u64>),
}

impl RingsUnderWay {
    pub(super) fn new(rings: Rings, begin: Instant, present: AtRates) -> RingsUnderWay {
        RingsUnderWay {
            rings,
            begin,
            end: begin.saturating_add(present.whole),
            present,
            since: begin,
            longest: (Time::ZERO, BTreeMap::new()),
        }
    }

    /// They have other rates from now on: what is left of them takes as much more or less time as
    /// the whole of them would.
    pub(super) fn go_on(&mut self, present: AtRates, now: Instant) {
        let rest = u128::from(self.end.saturating_since(now).ps());
        let rest = rest * u128::from(present.whole.ps());
        let rest = rest.checked_div(u128::from(self.present.whole.ps()));
        let rest = rest.and_then(|rest| u64::try_from(rest).ok());
        let before = std::mem::replace(&mut self.present, present);
        self.note(now, before.times);
        self.end = now.saturating_add(Time::from_ps(rest.unwrap_or(0)));
    }

    /// Until now transfers have taken these times.
    fn note(&mut self, now: Instant, times: BTreeMap<Time, u64>) {
        let span = now.saturating_since(self.since);
        if span >= self.longest.0 {
            self.longest = (span, times);
        }
        self.since = now;
    }

    /// What they have taken when they end.
    pub(super) fn taken(mut self, known: &KnownRings) -> RingsTaken {
        let times = std::mem::take(&mut self.present.times);
        self.note(self.end, times);
        RingsTaken {
            last: self.end,
            acknowledged: self.end.saturating_add(known.back),
            times: self.longest.1,
            ..known.taken.clone()
        }
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
    let flows: Vec<_> = specs.iter().map(|spec| fluid.begin(*spec)).collect();
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
