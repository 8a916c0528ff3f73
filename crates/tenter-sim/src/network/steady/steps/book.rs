//! Keeps the send and arrival times of each queue pair's packets while whole steps are compared.

use std::collections::VecDeque;

use tenter_fabric::net::{FlowEnd, ReceiveSlot, SENT_UNIT_PS};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::spread::{Spread, Travel};
use crate::network::context::Context;
use crate::network::partition_records::DeliveredHalf;
use crate::network::schedules::Schedules;
use crate::network::steady::latency::Starts;
use crate::network::steady::log::Logged;
use crate::network::steady::numbers::Numbers;
use crate::network::steady::state::{Network, Repetition};
use crate::network::watch::Watcher;

/// A run of packets that travel one after the other, each later than the one before by the same
/// time.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: Travel,
    /// Packet count in the run.
    count: u32,
    /// Delay from packet to packet, in ps beyond whole latency units.
    by: u8,
}

impl Row {
    fn each(self) -> impl Iterator<Item = Travel> + Clone {
        let later = move |travel: &Travel| Some(travel.later(self.by));
        std::iter::successors(Some(self.first), later).take(self.count as usize)
    }
}

/// State of a receiving queue pair at the beginning of the observed period, as it should be again
/// at its end.
#[derive(Clone, Debug)]
struct Opening {
    /// Latencies of the packets that had been accepted of the current transfer.
    accepted: Option<Spread>,
    /// Packets under way at that time.
    sent: Vec<Logged>,
    /// Packets that were accepted before the log began; their send times are unknown, so their
    /// latencies cannot be replayed.
    unheard: u32,
}

/// Logged packets of a receiving queue pair.
#[derive(Clone, Debug, Default)]
struct QueuePair {
    /// Packets under way, in sending order.
    sent: VecDeque<Logged>,
    /// Packets accepted of transfers that are not complete.
    travels: VecDeque<Row>,
    /// Packets of such transfers whose send times are unknown.
    unheard: u32,
}

impl QueuePair {
    /// Handles an accepted packet; returns false if it is unexpected.
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
        // A packet without a logged departure was sent before the log began; it must precede all
        // others.
        self.unheard += 1;
        self.travels.is_empty()
    }

    /// Returns the latencies of the packets accepted of incomplete transfers, moved by `by` ps
    /// beyond whole units; `None` if there are none.
    fn accepted(&self, by: u8) -> Option<Spread> {
        let travels = self.travels.iter().flat_map(|row| row.each());
        let is_any = !self.travels.is_empty();
        is_any.then(|| Spread::new(travels.map(|travel| travel.later(by))))
    }

    /// Removes the packets of the oldest transfer, which has `frames`, and returns their latencies
    /// if all are known.
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

/// The book with the packets of all queue pairs.
#[derive(Debug, Default)]
pub(super) struct Book {
    numbers: Numbers,
    queue_pairs: Vec<QueuePair>,
    /// Each queue pair's state at the beginning of the observed period.
    openings: Vec<Opening>,
    /// For each partition the records that have been examined.
    looked_at: Vec<usize>,
    /// For each record in the observed period, partition by partition, the latencies of its
    /// packets.
    spreads: Option<Vec<Vec<Spread>>>,
    /// Set if something necessary is unknown.
    fails: bool,
}

impl Book {
    /// Opens an empty book for all queue pairs.
    pub(super) fn begin<W: Watcher>(network: &Network<'_, W>) -> Book {
        let mut numbers = Numbers::default();
        network.read_numbers(&mut numbers);
        // In the order in which `numbers` counts receiving queue pairs: places index this list.
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

    /// Begins the observed period, whose length is `period`.
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

    /// Enters packets that are sent and accepted again in each of `periods` further periods.
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
                // The first repetition comes a period later.
                first: Travel::new(*sent, of.at).later(by),
                count: periods as u32,
                by,
            });
        }
        for of in self.queue_pairs.iter_mut().flat_map(|of| &mut of.sent) {
            of.go_on(repetition.period, periods, &repetition.advance);
        }
    }

    /// Moves everything from the logs into the book.
    pub(super) fn hear<W: Watcher>(&mut self, network: &mut Network<'_, W>) {
        // Departures first: an accepted packet is sought among them.
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
        // Deliveries last: all packets of a transfer must have been accepted.
        let (context, schedules) = network.jobs();
        for (part, delivered) in network.delivered().enumerate() {
            let before = std::mem::replace(&mut self.looked_at[part], delivered.len());
            for half in delivered.get(before..).unwrap_or_default() {
                self.take(part, half, context, schedules);
            }
        }
    }

    /// Computes the latencies of a delivered flow, whose packets leave the book.
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

    /// Returns the latencies for a partition's records in the observed period, in their order;
    /// `None` if any is unknown.
    pub(super) fn spreads(&self, part: usize) -> Option<&[Spread]> {
        let known = self.spreads.as_ref()?.get(part).filter(|_| !self.fails);
        known.map(Vec::as_slice)
    }

    /// Returns the send times of the packets under way.
    pub(super) fn starts(&self, numbers: &Numbers) -> Starts {
        let sent = self
            .queue_pairs
            .iter()
            .flat_map(|of| of.sent.iter().copied());
        let sent: Vec<Logged> = sent.collect();
        Starts::new(&sent, numbers)
    }

    /// Returns the latencies of the packets that a queue pair has accepted of its current transfer;
    /// `None` if there are none.
    ///
    /// # Errors
    ///
    /// If not all are known, or if they or the packets under way differ from those a period before.
    /// States do not include latencies, so two equal states may belong to periods with different
    /// ones.
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
        // An opening's latencies are already those of a period later.
        let spread = of.accepted(0);
        if spread != before.accepted || !next.eq(of.sent.iter().copied()) {
            return Err(NotAgain);
        }
        Ok(spread)
    }
}

/// Error: some send times are unknown, or packets did not travel as a period before.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotAgain;

/// Returns the queue pair on which a flow was delivered.
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
