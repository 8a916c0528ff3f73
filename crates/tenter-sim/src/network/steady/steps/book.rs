//! When the packets of each queue pair were sent and accepted, while whole steps are compared.

use std::collections::VecDeque;

use tenter_net::{FlowEnd, ReceiveSlot, SENT_UNIT_PS};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use super::spread::{Spread, Travel};
use crate::network::context::Context;
use crate::network::partition_records::DeliveredHalf;
use crate::network::schedules::Schedules;
use crate::network::steady::latency::Starts;
use crate::network::steady::log::Logged;
use crate::network::steady::numbers::Numbers;
use crate::network::steady::state::{Network, Repetition};
use crate::network::watch::Watcher;

/// Packets that travel one after another, each so much later than the one before.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: Travel,
    /// How many there are.
    count: u32,
    /// By how much each is later, in ps beyond whole units of latencies.
    by: u8,
}

impl Row {
    fn each(self) -> impl Iterator<Item = Travel> + Clone {
        let later = move |travel: &Travel| Some(travel.later(self.by));
        std::iter::successors(Some(self.first), later).take(self.count as usize)
    }
}

/// What there was of a receiving queue pair when records began, as it is to be a period later.
#[derive(Clone, Debug)]
struct Opening {
    /// What the packets took that had been accepted of the transfer under way.
    accepted: Option<Spread>,
    /// Packets under way.
    sent: Vec<Logged>,
    /// How many had been accepted of which it was not known when they were sent.
    unheard: u32,
}

/// What is heard of a receiving queue pair.
#[derive(Clone, Debug, Default)]
struct QueuePair {
    /// Packets under way.
    sent: VecDeque<Logged>,
    /// Packets accepted of transfers that have not been delivered.
    travels: VecDeque<Row>,
    /// Packets accepted of the same of which it is not known when they were sent.
    unheard: u32,
}

impl QueuePair {
    /// Whether it is as expected.
    fn accept(&mut self, of: &Logged) -> bool {
        let next = self.sent.front().copied();
        if let Some(sent) = next.filter(|sent| sent.sequence == of.sequence) {
            self.sent.pop_front();
            self.travels.push_back(Row {
                first: Travel::new(sent.at, of.at),
                count: 1,
                by: 0,
            });
            return true;
        }
        // It was sent before all that has been heard of.
        self.unheard += 1;
        self.travels.is_empty()
    }

    /// What the packets took that have been accepted of transfers that have not been delivered, if
    /// all happened so much later, in ps beyond whole units; none where there are none.
    fn accepted(&self, by: u8) -> Option<Spread> {
        let travels = self.travels.iter().flat_map(|row| row.each());
        let is_any = !self.travels.is_empty();
        is_any.then(|| Spread::new(travels.map(|travel| travel.later(by))))
    }

    /// Takes the packets of the oldest transfer out, if all have been heard of.
    fn take(&mut self, frames: u32) -> Option<Spread> {
        let unheard = self.unheard.min(frames);
        self.unheard -= unheard;
        let (mut rows, mut heard) = (0, 0);
        while heard < frames - unheard {
            heard += self.travels.get(rows)?.count;
            rows += 1;
        }
        let is_whole = unheard == 0 && heard == frames;
        let travels = self.travels.range(..rows).flat_map(|row| row.each());
        let spread = is_whole.then(|| Spread::new(travels));
        self.travels.drain(..rows);
        spread
    }
}

/// The book of all queue pairs.
#[derive(Debug, Default)]
pub(super) struct Book {
    numbers: Numbers,
    queue_pairs: Vec<QueuePair>,
    /// What there was of each when records began.
    openings: Vec<Opening>,
    /// So many records of each part have been looked at.
    looked_at: Vec<usize>,
    /// Of each record from some on, part by part, what its packets took.
    spreads: Option<Vec<Vec<Spread>>>,
    /// Whether something is not known that is needed.
    fails: bool,
}

impl Book {
    /// An empty one, from now on.
    pub(super) fn begin<W: Watcher>(network: &Network<'_, W>) -> Book {
        let mut numbers = Numbers::default();
        network.read_numbers(&mut numbers);
        let accepted = network.accepted_by_slot();
        let queue_pairs = accepted.map(|(_, _, unheard)| QueuePair {
            unheard,
            ..QueuePair::default()
        });
        let queue_pairs = queue_pairs.collect();
        let delivered = network.delivered();
        Book {
            numbers,
            queue_pairs,
            openings: Vec::new(),
            looked_at: delivered.map(<[DeliveredHalf]>::len).collect(),
            spreads: None,
            fails: false,
        }
    }

    /// Records are to be known from now on, for a period.
    pub(super) fn begin_period(&mut self, period: Time) {
        self.spreads = Some(vec![Vec::new(); self.looked_at.len()]);
        let by = (period.ps() % SENT_UNIT_PS) as u8;
        let openings = self.queue_pairs.iter().map(|of| Opening {
            accepted: of.accepted(by),
            sent: of.sent.iter().copied().collect(),
            unheard: of.unheard,
        });
        self.openings = openings.collect();
    }

    /// These packets are sent and accepted again, in so many periods after the one that they
    /// belong to.
    pub(super) fn hear_again(
        &mut self,
        accepted: &[(Logged, Instant)],
        repetition: &Repetition,
        periods: u64,
    ) {
        let by = (repetition.period.ps() % SENT_UNIT_PS) as u8;
        for (of, sent) in accepted {
            let Some(place) = self.numbers.place(of.end()) else {
                self.fails = true;
                continue;
            };
            self.queue_pairs[place].travels.push_back(Row {
                first: Travel::new(*sent, of.at).later(by),
                count: periods as u32,
                by,
            });
        }
        for of in self.queue_pairs.iter_mut().flat_map(|of| &mut of.sent) {
            of.go_on(repetition.period, periods, &repetition.advance);
        }
    }

    /// Writes down what has been heard since the last time.
    pub(super) fn hear<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        for log in network.logs() {
            for of in log.travels.iter_mut().flat_map(|all| all.sent.drain(..)) {
                match self.numbers.place(of.end()) {
                    Some(place) => self.queue_pairs[place].sent.push_back(of),
                    None => self.fails = true,
                }
            }
        }
        for log in network.logs() {
            for of in log
                .travels
                .iter_mut()
                .flat_map(|all| all.accepted.drain(..))
            {
                let place = self.numbers.place(of.end());
                let is_known = place.is_some_and(|place| self.queue_pairs[place].accept(&of));
                self.fails |= !is_known;
            }
        }
        let (context, schedules) = network.jobs();
        for (part, delivered) in network.delivered().enumerate() {
            let before = std::mem::replace(&mut self.looked_at[part], delivered.len());
            for half in delivered.get(before..).unwrap_or_default() {
                self.take(part, half, context, schedules);
            }
        }
    }

    fn take(
        &mut self,
        part: usize,
        half: &DeliveredHalf,
        context: &Context,
        schedules: &Schedules,
    ) {
        let place = receiver(half, context, schedules)
            .and_then(|(host, slot)| self.numbers.place(FlowEnd::Receive(host, slot)));
        let spread = place.and_then(|place| self.queue_pairs[place].take(half.frames));
        if let Some(spreads) = &mut self.spreads {
            self.fails |= spread.is_none();
            spreads[part].extend(spread);
        }
    }

    /// What the packets of the records of a part took, in the order of these; nothing where it is
    /// not known of one.
    pub(super) fn spreads(&self, part: usize) -> Option<&[Spread]> {
        let known = self.spreads.as_ref()?.get(part).filter(|_| !self.fails);
        known.map(Vec::as_slice)
    }

    /// When the packets under way were sent.
    pub(super) fn starts(&self, numbers: &Numbers) -> Starts {
        let sent = self
            .queue_pairs
            .iter()
            .flat_map(|of| of.sent.iter().copied());
        let sent: Vec<Logged> = sent.collect();
        Starts::new(&sent, numbers)
    }

    /// What the packets took that have been accepted of the transfer that a queue pair receives:
    /// none where there are none.
    ///
    /// # Errors
    ///
    /// It is not known of all, or they or those under way are not what they were a period before.
    /// States do not tell what packets have taken; so two may be the same while packets of one
    /// period took something else than those of the next.
    pub(super) fn under_way(
        &self,
        host: HostId,
        slot: ReceiveSlot,
        accepted: u32,
        repetition: &Repetition,
    ) -> Result<Option<Spread>, NotAgain> {
        let place = self.numbers.place(FlowEnd::Receive(host, slot));
        let place = place.ok_or(NotAgain)?;
        let of = self.queue_pairs.get(place).ok_or(NotAgain)?;
        let before = self.openings.get(place).ok_or(NotAgain)?;
        let heard: u32 = of.travels.iter().map(|row| row.count).sum();
        if before.unheard > 0 || of.unheard > 0 || heard != accepted {
            return Err(NotAgain);
        }
        let next = before.sent.iter().map(|sent| {
            let mut next = *sent;
            next.go_on(repetition.period, 1, &repetition.advance);
            next
        });
        let spread = of.accepted(0);
        if spread != before.accepted || !next.eq(of.sent.iter().copied()) {
            return Err(NotAgain);
        }
        Ok(spread)
    }
}

/// It is not known when all packets were sent, or they have not travelled as a period before.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotAgain;

/// The queue pair on which a transfer was delivered.
fn receiver(
    half: &DeliveredHalf,
    context: &Context,
    schedules: &Schedules,
) -> Option<(HostId, ReceiveSlot)> {
    let key = half.key;
    let plan = &context.jobs[key.job];
    let transfer = schedules.of(key.job).transfer(key.transfer);
    let first = plan.pairs.find_for(&transfer)?.receive;
    let rank = transfer.receiver();
    let slot = first.after(u32::from(key.queue_pair));
    Some((plan.job.hosts[rank], plan.places[rank].receive_slot(slot)))
}
