//! Jobs whose rings may run as a whole, and these rings' results.

use std::collections::BTreeMap;

use crate::fluid::{FlowRate, FlowSpec, Fluid};
use tenter_language::units::{Instant, Time};
use tenter_workload::{JobId, QueuePairScope, Rings, Schedule, WorkloadError};

use crate::network::{Context, JobPlan};

/// Result from rings that ran as a whole.
#[derive(Clone, Debug, Default)]
pub struct RingsTaken {
    /// Instant of the last arrival.
    pub last: Instant,
    /// Instant at which its acknowledgement arrives.
    pub acknowledged: Instant,
    /// Completion times, each with the number of transfers that took it. If rates changed because
    /// other jobs' rings began or ended, these are the times at the rates that held for longest.
    pub times: BTreeMap<Time, u64>,
    /// Data frames in all transfers.
    pub frames: u64,
    /// Bytes of these frames, headers and FCS included.
    pub frame_bytes: u64,
    /// Payload bytes in all transfers.
    pub payload: u64,
    /// Time that a rank's payload takes at the slowest NIC.
    pub mesh: Time,
    /// True for a measured job, false for background load.
    pub is_judged: bool,
}

impl RingsTaken {
    /// Returns the number of transfers, which rows call flows.
    pub(crate) fn flows(&self) -> u64 {
        self.times.values().sum()
    }
}

/// Facts about a job's rings that are known before they begin. `flows` holds each rank's flow and
/// the time from its end to the arrival, `taken` the totals, and `back` the longest time that an
/// acknowledgement takes.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownRings {
    pub(super) flows: Vec<(FlowSpec, Time)>,
    pub(super) taken: RingsTaken,
    pub(super) back: Time,
}

/// Rings at constant rates: the time from begin to last arrival, and each transfer time with the
/// number of transfers that took it.
#[derive(Clone, Debug)]
pub(super) struct AtRates {
    pub(super) whole: Time,
    pub(super) times: BTreeMap<Time, u64>,
}

/// A job's rings that are running as a whole.
#[derive(Clone, Debug)]
pub(super) struct RingsUnderWay {
    pub(super) rings: Rings,
    pub(super) begin: Instant,
    /// End at the present rates.
    pub(super) end: Instant,
    present: AtRates,
    /// Instant at which the present rates began.
    since: Instant,
    /// The longest span with constant rates until then: how long it lasted, and the transfer times
    /// during it.
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

    /// Changes the rates. The fraction of work that is left stays the same, so the remaining time
    /// scales with the total time.
    pub(super) fn go_on(&mut self, present: AtRates, now: Instant) {
        let rest = u128::from(self.end.saturating_since(now).ps());
        let rest = rest * u128::from(present.whole.ps());
        // Rings that take no time have nothing left to scale.
        let rest = rest.checked_div(u128::from(self.present.whole.ps()));
        let rest = rest.and_then(|rest| u64::try_from(rest).ok());
        let before = std::mem::replace(&mut self.present, present);
        self.note(now, before.times);
        self.end = now.saturating_add(Time::from_ps(rest.unwrap_or(0)));
    }

    /// Closes the span since the last change, during which transfers took `times`.
    fn note(&mut self, now: Instant, times: BTreeMap<Time, u64>) {
        let span = now.saturating_since(self.since);
        // Of equal spans the later one counts.
        if span >= self.longest.0 {
            self.longest = (span, times);
        }
        self.since = now;
    }

    /// Returns the result once the rings have ended.
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

/// Returns true if all jobs run only rings that may run as a whole, as far as settings decide it.
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
    // With skewed starts the ranks would not begin together.
    context.nic.start_skew_max.is_zero() && context.jobs.iter().all(may)
}

/// Returns the error for a collective with more transfers than ids, which can run only as a whole.
pub(super) fn shared(collective: String, schedule: &dyn Schedule) -> WorkloadError {
    WorkloadError::SharedRings {
        collective,
        ranks: schedule.ranks(),
    }
}

/// Returns true if every flow has its full rate even when all are under way. Then none ever holds
/// another back.
pub(super) fn are_free(fluid: &mut Fluid, specs: &[FlowSpec]) -> bool {
    let rates = rates_at_once(fluid, specs);
    let mut pairs = rates.iter().zip(specs);
    pairs.all(|(rate, spec)| *rate == fluid.rate_alone(spec))
}

/// Returns the flows' rates when they and no others are under way.
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

/// Returns the transfer count in the job's largest collective.
pub(super) fn most_transfers(plan: &JobPlan) -> u64 {
    let schedules = plan.job.schedules().unwrap_or_default();
    let transfers = schedules.iter().map(|schedule| schedule.transfers());
    transfers.max().unwrap_or(0)
}

/// Returns all rings that the job ever runs, one for each stride if sizes do not matter.
pub(super) fn rings_of(context: &Context, job: JobId) -> Vec<Rings> {
    let schedules = context.jobs[job].job.schedules().unwrap_or_default();
    let rings = schedules.iter().filter_map(|schedule| schedule.rings());
    let mut rings: Vec<Rings> = rings.collect();
    rings.sort_unstable_by_key(|rings| (rings.stride, rings.bytes));
    // A gap behind each message makes small messages load more of their NIC than large ones.
    if context.nic.message_gap.is_zero() {
        rings.dedup_by_key(|rings| rings.stride);
    }
    rings.dedup();
    rings
}

/// Returns the rings' time on a full mesh: each rank's bytes at the slowest NIC.
pub(super) fn mesh(context: &Context, job: JobId, rings: Rings) -> Time {
    let nics = context.nics_of(job);
    let slowest = nics.iter().map(|(_, rate)| *rate).min();
    let bits = 8 * u128::from(rings.bytes) * u128::from(rings.steps);
    slowest.map_or(Time::ZERO, |rate| rate.time_of_bits(bits))
}
