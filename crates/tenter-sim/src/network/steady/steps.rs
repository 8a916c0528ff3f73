//! Jumps over whole steps of collectives.
//!
//! A collective that goes from step to step repeats itself: transfers end, and others of the same
//! size take their places on the same queue pairs. If the state some time after a step equals that
//! after an earlier step, apart from transfer numbers, all further periods of that many steps are
//! known and need not be simulated.
//!
//! `shifts` describes how transfers follow each other, `same` computes how long a schedule
//! continues like that, `book` keeps the send time of each packet in a period, and `spread` the
//! resulting latencies in later periods.

mod book;
mod same;
mod spread;

use std::cmp::Reverse;

use tenter_endpoint::{Latencies, Marks};
use tenter_fabric::net::{FlowEnd, ReceiveSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};
use tenter_workload::JobId;

use self::book::Book;
use self::spread::Spread;
use super::log::Logged;
use super::shifts::Shifts;
use super::state::{Jump, Network, Noted, Repetition};
use crate::network::partition_records::{
    AcknowledgedHalf, DeliveredHalf, FlowKey, PartitionRecords,
};
use crate::network::watch::Watcher;

/// Delay after a step's end until its state is compared, so that the state has settled.
const AFTER_STEP: Time = Time::from_us(2);
/// Most steps that are compared before the search for repeating steps gives up.
const STEPS_MAX: u32 = 512;
/// Fewest periods that are worth a jump.
const PERIODS_MIN: u64 = 2;
/// Most records that a jump adds. A partition keeps some 100 bytes for each, and they are collected
/// before the next jump.
pub(crate) const RECORDS_PER_JUMP: u64 = if cfg!(debug_assertions) {
    2_000
} else {
    1_000_000
};

/// The flows whose deliveries mark the ends of steps: those that one rank of a job sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lead {
    job: JobId,
    turn: u32,
    rank: u32,
    queue_pair: u16,
}

/// Progress of the search for repeating steps.
#[derive(Debug, Default)]
enum Phase {
    /// States after steps are compared with the recorded one, which is replaced after 1, 2, 4 …
    /// steps.
    #[default]
    Compares,
    /// Steps repeat with this period. Transfers under way must end first, because the book does not
    /// have all of their packets.
    Settles(Box<Book>, Time),
    /// One period is observed, beginning at the recorded state. The vector has each job's missing
    /// transfers at that time.
    Watches(Box<Book>, Vec<u64>),
}

/// Steps that were found to repeat.
#[derive(Clone, Copy, Debug)]
struct Known {
    period: Time,
    step: Time,
    /// True if they repeated before the last sync point and have not yet been confirmed after it.
    is_from_before: bool,
}

/// Record counts of a partition.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    delivered: usize,
    acknowledged: usize,
    marked: usize,
}

/// The search for steps that repeat.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The flows that mark the ends of steps.
    lead: Option<Lead>,
    /// True if one of these flows has ended since the last sync point.
    has_led: bool,
    /// For each partition the records that have been examined.
    looked_at: Vec<usize>,
    /// Time at which the state is examined next.
    stop: Option<Instant>,
    phase: Phase,
    /// The steps that have repeated, if any.
    known: Option<Known>,
    /// The state to compare with.
    noted: Noted,
    /// Record counts of the partitions when it was recorded.
    counts: Vec<Counts>,
    /// Steps since it was recorded.
    since: u32,
    /// Steps after which another state is recorded.
    span: u32,
    /// Steps that were compared so far.
    looks: u32,
    /// True if there is nothing to find before the next sync point.
    is_over: bool,
}

/// Result of a jump over whole steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct JumpedSteps {
    pub(super) period: Time,
    pub(super) periods: u64,
    /// True if the number of records ended it, which must be collected now.
    pub(super) is_full: bool,
}

impl Steps {
    /// Continues behind a sync point, where records may have been collected. A state recorded
    /// before it can still be compared with.
    pub(super) fn begin<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        // The book counts records that may have been collected, so the observation starts over.
        if self.is_listening() {
            network.forget_travels();
            self.phase = Phase::Compares;
            self.span = 0;
        }
        self.lead = self.lead.filter(|_| self.has_led);
        if let Some(known) = &mut self.known {
            known.is_from_before = true;
        }
        self.has_led = false;
        self.is_over = false;
        self.stop = None;
        self.looked_at = network.delivered().map(<[_]>::len).collect();
        self.counts = network.records().map(Counts::of).collect();
    }

    /// Returns true if repeating steps are being searched.
    pub(super) fn is_active(&self) -> bool {
        !self.is_over && self.lead.is_some() && self.looks < STEPS_MAX
    }

    /// Returns true if all data packets are being logged.
    pub(super) fn is_listening(&self) -> bool {
        !matches!(self.phase, Phase::Compares)
    }

    /// Gives up until transfers of another instance are under way.
    pub(super) fn give_up<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        network.forget_travels();
        self.phase = Phase::Compares;
        self.known = None;
        self.stop = None;
        self.looks = STEPS_MAX;
    }

    /// Returns the book, if packets are being logged.
    fn book(&mut self) -> Option<&mut Book> {
        match &mut self.phase {
            Phase::Compares => None,
            Phase::Settles(book, _) | Phase::Watches(book, _) => Some(book),
        }
    }

    /// Returns the time at which the state is examined next.
    pub(super) fn stop(&self) -> Instant {
        self.stop.unwrap_or(Instant::NEVER)
    }

    /// Moves logged packets into the book, so that logs stay short.
    pub(super) fn hear<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        if let Some(book) = self.book() {
            book.hear(network);
        }
    }

    /// Enters the packets that a jump within steps accepts, once for each of its periods.
    pub(super) fn hear_again(
        &mut self,
        accepted: &[(Logged, Instant)],
        repetition: &Repetition,
        periods: u64,
    ) {
        if let Some(book) = self.book() {
            book.hear_again(accepted, repetition, periods);
        }
    }

    /// Handles transfers that have ended: finds the ends of steps among them.
    pub(super) fn see_ends<W: Watcher>(&mut self, network: &Network<'_, W>, now: Instant) {
        let (_, schedules) = network.jobs();
        let mut ended = Vec::new();
        for (part, delivered) in network.delivered().enumerate() {
            let before = std::mem::replace(&mut self.looked_at[part], delivered.len());
            for half in delivered.get(before..).unwrap_or_default() {
                let FlowKey { job, transfer, .. } = half.key;
                let schedule = schedules.of(job);
                if same::is_plain(schedule) {
                    let lead = Lead {
                        job,
                        turn: half.turn,
                        rank: schedule.transfer(transfer).src,
                        queue_pair: half.key.queue_pair,
                    };
                    ended.push((lead, half.at));
                }
            }
        }
        let is_past = |lead: &Lead| {
            let mut others = ended.iter().filter(|(of, _)| of.job == lead.job);
            others.any(|(of, _)| of.turn > lead.turn)
        };
        if self.lead.as_ref().is_none_or(is_past) {
            // By content, so that the choice does not depend on threads.
            self.lead = ended.iter().map(|(of, _)| *of).max_by_key(|of| {
                let Lead {
                    job,
                    turn,
                    rank,
                    queue_pair,
                } = *of;
                (Reverse(job), turn, Reverse((rank, queue_pair)))
            });
            self.looks = 0;
        }
        let of_lead = ended.iter().filter(|(of, _)| Some(*of) == self.lead);
        let last = of_lead.map(|(_, at)| *at + AFTER_STEP).max();
        self.has_led |= last.is_some();
        if last.is_some() && !self.is_listening() && self.is_active() {
            // Steps may be shorter than `AFTER_STEP`; a stop in the past is useless.
            self.stop = self.stop.or(last.filter(|stop| *stop > now));
        }
    }

    /// Examines the state at the chosen time; returns the jump, if there was one.
    pub(super) fn look<W: Watcher>(
        &mut self,
        network: &mut Network<'_, W>,
        now: Instant,
        edge: Instant,
    ) -> Option<JumpedSteps> {
        self.stop = None;
        match std::mem::take(&mut self.phase) {
            Phase::Compares => {
                self.compare(network, now);
                None
            }
            Phase::Settles(mut book, period) => {
                book.hear(network);
                book.begin_period(period);
                self.note(network, now);
                let missing = missing(network);
                self.phase = Phase::Watches(book, missing);
                self.stop = Some(now.saturating_add(period));
                None
            }
            Phase::Watches(mut book, missing) => {
                book.hear(network);
                network.forget_travels();
                let jumped = self.jump(network, now, edge, &book, &missing);
                // Shortly before a sync point there may be no room for a jump, which says nothing
                // about the steps.
                let has_room =
                    |known: &Known| now.saturating_add(known.period * PERIODS_MIN) < edge;
                let goes_on = |known: &Known| jumped.is_some() || !has_room(known);
                // If steps from before a sync point do not repeat, they are compared anew instead
                // of given up.
                let was_guess = self.known.is_some_and(|known| known.is_from_before);
                self.is_over = jumped.is_none() && !was_guess;
                self.known = self.known.filter(goes_on).map(|known| Known {
                    is_from_before: false,
                    ..known
                });
                // Behind the jump the steps may be different.
                (self.span, self.looks) = (0, 0);
                self.looked_at = network.delivered().map(<[_]>::len).collect();
                jumped
            }
        }
    }

    /// Compares the state after a step with an earlier one (Brent's method, as within steps). Steps
    /// that repeated before a sync point are assumed to repeat after it.
    fn compare<W: Watcher>(&mut self, network: &mut Network<'_, W>, now: Instant) {
        if let Some(known) = self.known.filter(|known| known.is_from_before) {
            self.settle(network, now, known);
            return;
        }
        self.looks += 1;
        if self.span > 0 {
            self.since += 1;
            let mut shifts = Shifts::default();
            let repetition = network.repeats_steps(&self.noted, now, &mut shifts);
            if let Some(repetition) = repetition {
                let period = repetition.period;
                // The steps repeat, but the schedule ends or changes too soon for a jump.
                if self.lasts(network, &shifts) < PERIODS_MIN {
                    self.is_over = true;
                } else {
                    let step = period / u64::from(self.since);
                    let known = Known {
                        period,
                        step,
                        is_from_before: false,
                    };
                    self.settle(network, now, known);
                }
                return;
            }
        }
        if self.since == self.span {
            self.span = (2 * self.span).max(1);
            self.note(network, now);
        }
    }

    /// Logs all data packets, and schedules the observation of a period for when the transfers
    /// under way have ended.
    fn settle<W: Watcher>(&mut self, network: &mut Network<'_, W>, now: Instant, known: Known) {
        self.known = Some(known);
        network.follow_travels();
        self.phase = Phase::Settles(Box::new(Book::begin(network)), known.period);
        self.stop = Some(now.saturating_add(known.step + known.step / 4));
    }

    fn note<W: Watcher>(&mut self, network: &mut Network<'_, W>, now: Instant) {
        network.note(now, &mut self.noted);
        self.since = 0;
        self.counts = network.records().map(Counts::of).collect();
    }

    /// Returns for how many further periods the schedule continues as since the recorded state.
    fn lasts<W: Watcher>(&self, network: &Network<'_, W>, shifts: &Shifts) -> u64 {
        let (context, schedules) = network.jobs();
        let records = network.records();
        let keys = records.zip(&self.counts).flat_map(|(records, from)| {
            let delivered = records.delivered.get(from.delivered..);
            let acknowledged = records.acknowledged.get(from.acknowledged..);
            let delivered = delivered.unwrap_or_default().iter();
            let acknowledged = acknowledged.unwrap_or_default().iter();
            let delivered = delivered.map(|half| (half.key, half.turn));
            delivered.chain(acknowledged.map(|half| (half.key, half.turn)))
        });
        same::periods(keys, shifts, context, schedules)
    }

    /// Jumps over as many periods as will equal the one since the recorded state.
    fn jump<W: Watcher>(
        &self,
        network: &mut Network<'_, W>,
        now: Instant,
        edge: Instant,
        book: &Book,
        missing_before: &[u64],
    ) -> Option<JumpedSteps> {
        let mut shifts = Shifts::default();
        let repetition = network.repeats_steps(&self.noted, now, &mut shifts)?;
        let Repetition { period, bounds, .. } = repetition;
        let until = bounds.until.min(edge);
        let whole = until.saturating_since(now) / period;
        let missing = missing(network);
        let arrived = missing_before.iter().zip(&missing);
        // A number that has grown belongs to another collective, which has begun meanwhile.
        let arrived = arrived.map(|(before, now)| before.checked_sub(*now));
        let arrived: Vec<u64> = arrived.collect::<Option<_>>()?;
        // The last transfer of a collective must not arrive within a jump: it starts the next one.
        let arriving = arrived.iter().zip(&missing);
        let left = arriving.filter_map(|(each, left)| left.saturating_sub(1).checked_div(*each));
        let periods = [whole, bounds.periods, self.lasts(network, &shifts)];
        let possible = periods.into_iter().chain(left).min()?;
        let most = self.periods_per_jump(network);
        let periods = possible.min(most);
        let starts = book.starts(&repetition.advance);
        if periods < PERIODS_MIN || !repetition.is_known_from(&starts) {
            return None;
        }
        let later = Later {
            period,
            periods,
            shifts: &shifts,
        };
        let under_way = under_way(network, book, &repetition, &later)?;
        let added = self.records(network, book, &later)?;
        let jump = Jump {
            noted: &self.noted,
            now,
            repetition: &repetition,
            starts: &starts,
            periods,
        };
        network.carry_on(&jump, Some(&shifts));
        for (host, slot, latencies) in under_way {
            network.nic(host, |nic| nic.set_latencies(slot, latencies));
        }
        for (records, added) in network.records_mut().zip(added) {
            records.delivered.extend(added.delivered);
            records.acknowledged.extend(added.acknowledged);
            records.marked.extend(added.marked);
        }
        let (context, _) = network.jobs();
        for ((job, _), each) in context.jobs.numbered().zip(arrived) {
            context
                .progress
                .arrived_in_jump(job, each * periods, period * periods);
        }
        Some(JumpedSteps {
            period,
            periods,
            is_full: periods < possible,
        })
    }

    /// Returns the most periods of a jump that its limit of records allows.
    fn periods_per_jump<W: Watcher>(&self, network: &Network<'_, W>) -> u64 {
        let records = network.records().zip(&self.counts);
        let of_period = records.map(|(records, from)| Counts::of(records).since(from));
        (RECORDS_PER_JUMP / of_period.sum::<u64>().max(1)).max(PERIODS_MIN)
    }

    /// Computes the records of later periods, partition by partition; `None` if the book lacks
    /// packets.
    fn records<W: Watcher>(
        &self,
        network: &Network<'_, W>,
        book: &Book,
        later: &Later<'_>,
    ) -> Option<Vec<Added>> {
        let records = network.records().zip(&self.counts);
        let of_part = |(part, (records, from)): (usize, (&PartitionRecords, &Counts))| {
            let spreads = book.spreads(part)?;
            let delivered = records.delivered.get(from.delivered..)?;
            let acknowledged = records.acknowledged.get(from.acknowledged..)?;
            let marked = records.marked.get(from.marked..)?;
            // Spreads and records must correspond one by one.
            if spreads.len() != delivered.len() {
                return None;
            }
            let mut added = Added::default();
            for turn in 1..=later.periods {
                let delivered = delivered.iter().zip(spreads);
                let received = delivered.map(|(half, spread)| later.delivered(half, spread, turn));
                added.delivered.extend(received);
                let acknowledged = acknowledged.iter();
                let sent = acknowledged.map(|half| later.acknowledged(half, turn));
                added.acknowledged.extend(sent);
                let marked = marked.iter();
                added.marked.extend(
                    marked.map(|&(key, of, marks)| (later.shifts.key_after(key, turn), of, marks)),
                );
            }
            Some(added)
        };
        records.enumerate().map(of_part).collect()
    }
}

/// Computes events in later periods from those in the observed one.
struct Later<'a> {
    period: Time,
    periods: u64,
    shifts: &'a Shifts,
}

impl Later<'_> {
    /// Returns the latencies of packets `turn` periods later.
    fn latencies(&self, spread: &Spread, turn: u64) -> Latencies {
        spread.later((self.period * turn).ps())
    }

    fn delivered(&self, half: &DeliveredHalf, spread: &Spread, turn: u64) -> DeliveredHalf {
        let latencies = self.latencies(spread, turn);
        DeliveredHalf {
            key: self.shifts.key_after(half.key, turn),
            at: half.at + self.period * turn,
            latency_sum: latencies.sum,
            latency_min: latencies.min,
            latency_max: latencies.max,
            ..*half
        }
    }

    fn acknowledged(&self, half: &AcknowledgedHalf, turn: u64) -> AcknowledgedHalf {
        let by = self.period * turn;
        AcknowledgedHalf {
            key: self.shifts.key_after(half.key, turn),
            posted: half.posted + by,
            first_sent: half.first_sent + by,
            at: half.at + by,
            ..*half
        }
    }
}

/// Records that a jump adds to a partition.
#[derive(Debug, Default)]
struct Added {
    delivered: Vec<DeliveredHalf>,
    acknowledged: Vec<AcknowledgedHalf>,
    marked: Vec<(FlowKey, u32, Marks)>,
}

impl Counts {
    fn of(records: &PartitionRecords) -> Counts {
        Counts {
            delivered: records.delivered.len(),
            acknowledged: records.acknowledged.len(),
            marked: records.marked.len(),
        }
    }

    /// Returns how many records were added since an earlier count.
    fn since(self, before: &Counts) -> u64 {
        let now = self.delivered + self.acknowledged + self.marked;
        let then = before.delivered + before.acknowledged + before.marked;
        now.saturating_sub(then) as u64
    }
}

/// Returns the latencies of what each receiving queue pair has accepted of its current transfer
/// after the jump. `None` if that is unknown for one that has received anything, or if packets have
/// not travelled as a period before.
fn under_way<W: Watcher>(
    network: &Network<'_, W>,
    book: &Book,
    repetition: &Repetition,
    later: &Later<'_>,
) -> Option<Vec<(HostId, ReceiveSlot, Latencies)>> {
    let mut all = Vec::new();
    for (host, slot, accepted) in network.accepted_by_slot() {
        if repetition.advance.of(FlowEnd::Receive(host, slot)) > 0 {
            let spread = book.under_way(host, slot, accepted, repetition).ok()?;
            let latencies = spread.map(|spread| later.latencies(&spread, later.periods));
            all.extend(latencies.map(|latencies| (host, slot, latencies)));
        }
    }
    Some(all)
}

/// Returns for each job how many transfers have not arrived.
fn missing<W: Watcher>(network: &Network<'_, W>) -> Vec<u64> {
    let (context, _) = network.jobs();
    let jobs = context.jobs.numbered();
    jobs.map(|(job, _)| context.progress.missing(job)).collect()
}
