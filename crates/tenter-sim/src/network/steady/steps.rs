//! Jumps over whole steps of collectives.
//!
//! A collective that goes from step to step does the same in many of them: transfers end, and
//! others follow them, on the same queue pairs and as large. Where the state of the network a time
//! after a step is that of an earlier step but for the numbers of transfers, what happens in any
//! number of further periods of so many steps is known, and is not carried out.
//!
//! `shifts` tells how transfers follow each other, `same` how long a schedule goes on like that,
//! `book` knows of each packet of a period when it was sent, and `spread` what latencies come of it
//! in later ones.

mod book;
mod same;
mod spread;

use std::cmp::Reverse;

use tenter_endpoint::{Latencies, Marks};
use tenter_net::{FlowEnd, ReceiveSlot};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};
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

/// So long after a step it is compared with others.
const AFTER_STEP: Time = Time::from_us(2);
/// So many steps are looked at, and no more if none repeats.
const STEPS_MAX: u32 = 512;
/// So many steps at least are worth it.
const PERIODS_MIN: u64 = 2;
/// A jump adds no more records than this, of which each part keeps some 100 bytes: they are
/// collected before the next one.
pub(crate) const RECORDS_PER_JUMP: u64 = if cfg!(debug_assertions) {
    2_000
} else {
    1_000_000
};

/// The flows whose deliveries are taken for ends of steps: of a rank of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lead {
    job: JobId,
    turn: u32,
    rank: u32,
    queue_pair: u16,
}

/// What has been found of steps.
#[derive(Debug, Default)]
enum Phase {
    /// States after steps are compared: so many after the one that is noted, which is compared with
    /// so many.
    #[default]
    Compares,
    /// Steps repeat in so long. What is under way now ends first: not all of it has been heard of.
    Settles(Box<Book>, Time),
    /// A period is watched from the state that is noted on.
    Watches(Box<Book>, Vec<u64>),
}

/// Steps that repeat.
#[derive(Clone, Copy, Debug)]
struct Known {
    period: Time,
    step: Time,
    /// Whether it has repeated before the last edge, and not yet after it.
    is_from_before: bool,
}

/// How many records a part had.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    delivered: usize,
    acknowledged: usize,
    marked: usize,
}

/// The look for steps that repeat.
#[derive(Debug, Default)]
pub(super) struct Steps {
    lead: Option<Lead>,
    /// Whether one has ended since the last edge.
    has_led: bool,
    /// So many records of each part have been looked at.
    looked_at: Vec<usize>,
    /// When the state is looked at next.
    stop: Option<Instant>,
    phase: Phase,
    /// What has repeated.
    known: Option<Known>,
    noted: Noted,
    /// The records of each part when it was noted.
    counts: Vec<Counts>,
    /// Steps since then, how many there will be before another one is noted, and all.
    since: u32,
    span: u32,
    looks: u32,
    /// Whether there is nothing to look for up to the next edge.
    is_over: bool,
}

/// What a jump over whole steps came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct JumpedSteps {
    pub(super) period: Time,
    pub(super) periods: u64,
    /// Whether it ended for the records that it added, which are to be collected.
    pub(super) is_full: bool,
}

impl Steps {
    /// Goes on behind an edge, where records may have been collected. A state from before it still
    /// is one to compare with.
    pub(super) fn begin<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
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

    /// Whether steps are looked for.
    pub(super) fn is_active(&self) -> bool {
        !self.is_over && self.lead.is_some() && self.looks < STEPS_MAX
    }

    /// Whether all that travels is listened to.
    pub(super) fn is_listening(&self) -> bool {
        !matches!(self.phase, Phase::Compares)
    }

    /// Looks for none before other transfers are under way.
    pub(super) fn give_up<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        network.forget_travels();
        self.phase = Phase::Compares;
        self.known = None;
        self.stop = None;
        self.looks = STEPS_MAX;
    }

    /// What is written down of it.
    fn book(&mut self) -> Option<&mut Book> {
        match &mut self.phase {
            Phase::Compares => None,
            Phase::Settles(book, _) | Phase::Watches(book, _) => Some(book),
        }
    }

    /// When the state is looked at next.
    pub(super) fn stop(&self) -> Instant {
        self.stop.unwrap_or(Instant::NEVER)
    }

    /// Writes down what has been heard, so that it does not pile up.
    pub(super) fn hear<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        if let Some(book) = self.book() {
            book.hear(network);
        }
    }

    /// The packets that a jump within steps accepts, in each of so many periods.
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

    /// Transfers have ended.
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
            // Steps may be shorter than the time after them.
            self.stop = self.stop.or(last.filter(|stop| *stop > now));
        }
    }

    /// Looks at the state where it was to be looked at; what was jumped over, if anything was.
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
                // Up to an edge there may be no room for one.
                let has_room =
                    |known: &Known| now.saturating_add(known.period * PERIODS_MIN) < edge;
                let goes_on = |known: &Known| jumped.is_some() || !has_room(known);
                // Other steps than those before an edge are compared anew.
                let was_guess = self.known.is_some_and(|known| known.is_from_before);
                self.is_over = jumped.is_none() && !was_guess;
                self.known = self.known.filter(goes_on).map(|known| Known {
                    is_from_before: false,
                    ..known
                });
                // Behind the jump other steps may follow.
                (self.span, self.looks) = (0, 0);
                self.looked_at = network.delivered().map(<[_]>::len).collect();
                jumped
            }
        }
    }

    /// Compares the state after a step with that of an earlier one (Brent, as within steps). What
    /// repeated before an edge is taken to do so after it.
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

    /// Listens to all that travels, and watches a period once what is under way now has ended.
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

    /// In how many periods more transfers follow those that have ended since the state was noted.
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

    /// Jumps over as many periods as will be like the one since the state was noted.
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
        let arrived = arrived.map(|(before, now)| before.checked_sub(*now));
        let arrived: Vec<u64> = arrived.collect::<Option<_>>()?;
        // The last transfer of a collective arrives in no jump.
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

    /// In how many periods at most a jump adds as many records as it may.
    fn periods_per_jump<W: Watcher>(&self, network: &Network<'_, W>) -> u64 {
        let records = network.records().zip(&self.counts);
        let of_period = records.map(|(records, from)| Counts::of(records).since(from));
        (RECORDS_PER_JUMP / of_period.sum::<u64>().max(1)).max(PERIODS_MIN)
    }

    /// The records of later periods, part by part.
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

/// How what happens in a period happens in later ones.
struct Later<'a> {
    period: Time,
    periods: u64,
    shifts: &'a Shifts,
}

impl Later<'_> {
    /// What packets take so many periods later.
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

/// Records of a part that a jump adds.
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

    /// How many there are more than at some time.
    fn since(self, before: &Counts) -> u64 {
        let now = self.delivered + self.acknowledged + self.marked;
        let then = before.delivered + before.acknowledged + before.marked;
        now.saturating_sub(then) as u64
    }
}

/// What each receiving queue pair will have accepted of the transfer that it receives after so many
/// periods; nothing where it is not known of all that have received anything, or where packets
/// have not travelled as those a period before.
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

/// How many transfers of each job have not arrived.
fn missing<W: Watcher>(network: &Network<'_, W>) -> Vec<u64> {
    let (context, _) = network.jobs();
    let jobs = context.jobs.numbered();
    jobs.map(|(job, _)| context.progress.missing(job)).collect()
}
