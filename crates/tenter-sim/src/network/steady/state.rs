//! The state of a whole network: recording, comparing and advancing it.

use tenter_engine::{Home, LocalNode, Part};
use tenter_fabric::net::{Packet, ReceiveSlot, UnderWay, Visitor};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::latency::{Starts, Units};
use super::log::{Logged, SteadyLog};
use super::numbers::Numbers;
use super::shifts::Shifts;
use super::visitors::{Bounds, Comparison, Leap, Notes};
use crate::network::context::Context;
use crate::network::fabric::{Fabric, NodeModel};
use crate::network::partition_records::{DeliveredHalf, PartitionRecords};
use crate::network::schedules::Schedules;
use crate::network::watch::Watcher;

/// A recorded state, as a list of values.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// Time at which it was recorded.
    pub(super) at: Instant,
    values: Vec<u64>,
    /// For each node the end of its values.
    ends: Vec<usize>,
    /// Next sequence numbers of all queue pairs.
    numbers: Numbers,
    /// Transfers and requests that had ended.
    ended: u64,
    /// Frame bytes that had arrived of endless streams.
    endless: u64,
    /// Set if a component's state cannot be visited.
    pub(super) refused: bool,
    /// Set if a component's state cannot be compared over whole steps.
    refused_steps: bool,
}

impl Noted {
    /// Returns how many values were recorded.
    pub(super) fn size(&self) -> u64 {
        self.values.len() as u64
    }
}

/// Result of comparing a state with one a period earlier, if they agree.
#[derive(Debug)]
pub(super) struct Repetition {
    /// Time from the recorded state to the present one.
    pub(super) period: Time,
    /// The extent to which the steady state continues.
    pub(super) bounds: Bounds,
    /// Advance of all sequence numbers in a period.
    pub(super) advance: Numbers,
    /// Data packets under way, with the send times that they carry, in units of 128 ps.
    under_way: Vec<(UnderWay, u32)>,
}

impl Repetition {
    /// Returns true if `starts` has the send times of all data packets under way.
    pub(super) fn is_known_from(&self, starts: &Starts) -> bool {
        let mut under_way = self.under_way.iter();
        under_way.all(|(of, sent)| {
            let start = starts.of(&self.advance, of.host, of.slot, of.sequence);
            start.is_some_and(|start| {
                (start.ps() / tenter_fabric::net::SENT_UNIT_PS) as u32 == *sent
            })
        })
    }
}

/// A jump over further periods of a state that repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump<'a> {
    /// The state a period ago.
    pub(super) noted: &'a Noted,
    pub(super) now: Instant,
    pub(super) repetition: &'a Repetition,
    /// Send times of the packets under way.
    pub(super) starts: &'a Starts,
    pub(super) periods: u64,
}

/// All partitions of a network, between two windows.
#[derive(Debug)]
pub(super) struct Network<'a, W: Watcher> {
    pub(super) parts: &'a mut [Part<Fabric<W>>],
}

impl<W: Watcher> Network<'_, W> {
    /// Returns the number of transfers and requests that have ended, plus the bytes that have
    /// arrived of endless streams. While the sum stays the same, ranks do nothing.
    pub(super) fn ended(&self) -> u64 {
        let of_part = |part: &Part<Fabric<W>>| {
            let records = &part.nodes.partition_records;
            (records.delivered.len() + records.acknowledged.len()) as u64
        };
        self.parts.iter().map(of_part).sum::<u64>() + self.endless()
    }

    /// Returns the bytes that have arrived of endless streams.
    fn endless(&self) -> u64 {
        let endless = |part: &Part<Fabric<W>>| -> u64 {
            let records = &part.nodes.partition_records;
            records.endless.iter().flatten().sum()
        };
        self.parts.iter().map(endless).sum()
    }

    /// Iterates over the partitions' records.
    pub(super) fn records(&self) -> impl Iterator<Item = &PartitionRecords> {
        self.parts.iter().map(|part| &part.nodes.partition_records)
    }

    /// Iterates over the partitions' records, for changes.
    pub(super) fn records_mut(&mut self) -> impl Iterator<Item = &mut PartitionRecords> {
        let parts = self.parts.iter_mut();
        parts.map(|part| &mut part.nodes.partition_records)
    }

    /// Iterates over the delivered transfers, partition by partition.
    pub(super) fn delivered(&self) -> impl Iterator<Item = &[DeliveredHalf]> {
        self.records().map(|records| &records.delivered[..])
    }

    /// Returns the shared data, and the schedules that jobs run.
    pub(super) fn jobs(&self) -> (&Context, &Schedules) {
        let first = &self.parts[0].nodes;
        (&first.context, &first.schedules)
    }

    /// Iterates over the receiving queue pairs, host by host, with the packets that each has
    /// accepted of its current transfer.
    pub(super) fn accepted_by_slot(&self) -> impl Iterator<Item = (HostId, ReceiveSlot, u32)> {
        let context = self.jobs().0;
        let hosts = context.topology.host_ids();
        hosts.flat_map(|host| {
            let accepted = match self.host(context.home(host)) {
                NodeModel::Host(model) => Some(model.nic.accepted()),
                NodeModel::Switch(_) => None,
            };
            let numbered = (0..)
                .map(ReceiveSlot::new)
                .zip(accepted.into_iter().flatten());
            numbered.map(move |(slot, accepted)| (host, slot, accepted))
        })
    }

    /// Returns the latest end among the last `count` transfers and requests.
    pub(super) fn last_end(&self, count: u64) -> Option<Instant> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let of_part = |part: &Part<Fabric<W>>| {
            let records = &part.nodes.partition_records;
            let delivered = records.delivered.iter().rev().take(count);
            let acknowledged = records.acknowledged.iter().rev().take(count);
            let delivered = delivered.map(|half| half.at);
            delivered.chain(acknowledged.map(|half| half.at)).max()
        };
        self.parts.iter().filter_map(of_part).max()
    }

    /// Returns the packets of any kind that have been sent, counted once per link.
    pub(super) fn packet_hops(&self) -> u64 {
        let nodes = self.parts.iter().flat_map(|part| &part.nodes.nodes);
        let sent = nodes.map(|node| node.sum_of_ports(tenter_fabric::net::Transmitter::packets));
        sent.sum()
    }

    /// Returns the data packets that NICs have discarded or sent again. While that number grows, no
    /// state recurs.
    pub(super) fn lost(&self) -> u64 {
        let nodes = self.parts.iter().flat_map(|part| &part.nodes.nodes);
        let of_node = |node: &NodeModel| match node {
            NodeModel::Host(host) => {
                let counters = host.nic.counters();
                let discarded = counters.out_of_sequence + counters.duplicate_request;
                discarded + counters.retransmitted_packets
            }
            NodeModel::Switch(_) => 0,
        };
        nodes.map(of_node).sum()
    }

    /// Returns the fewest packets that an active queue pair has left of its request, and the first
    /// host with a queue pair that has the most left.
    pub(super) fn left_to_send(&self) -> Option<(u32, Home)> {
        let context = &self.parts.first()?.nodes.context;
        let homes = context.topology.host_ids().map(|host| context.home(host));
        let left = homes.filter_map(|home| match self.host(home) {
            NodeModel::Host(host) => host
                .nic
                .left_to_send()
                .map(|(least, most)| (least, most, home)),
            NodeModel::Switch(_) => None,
        });
        let bounds = left.reduce(|(least, most, home), next| {
            let least = least.min(next.0);
            if next.1 > most {
                (least, next.1, next.2)
            } else {
                (least, most, home)
            }
        });
        bounds.map(|(least, _, home)| (least, home))
    }

    /// Records the state at `now`.
    pub(super) fn note(&mut self, now: Instant, noted: &mut Noted) {
        noted.at = now;
        noted.values.clear();
        noted.ends.clear();
        (noted.refused, noted.refused_steps) = (false, false);
        noted.ended = self.ended();
        noted.endless = self.endless();
        self.read_numbers(&mut noted.numbers);
        for part in &mut *self.parts {
            // Partition by partition: the comparison reads the values back in this order.
            for index in 0..part.nodes.nodes.len() {
                let mut notes = Notes {
                    values: &mut noted.values,
                    refused: &mut noted.refused,
                    refused_steps: &mut noted.refused_steps,
                };
                go_through(part, index, now, &mut notes);
                noted.ends.push(noted.values.len());
            }
        }
    }

    pub(super) fn read_numbers(&self, numbers: &mut Numbers) {
        numbers.clear();
        let Some(first) = self.parts.first() else {
            return;
        };
        let context = &first.nodes.context;
        for host in context.topology.host_ids() {
            if let NodeModel::Host(host) = self.host(context.home(host)) {
                let nic = &host.nic;
                numbers.add_host(nic.next_sequences(), nic.expected_sequences());
            }
        }
    }

    fn host(&self, home: Home) -> &NodeModel {
        &self.parts[usize::from(home.part)].nodes.nodes[home.node.index()]
    }

    /// Compares the state at `now` with a recorded one; returns `None` if they differ.
    pub(super) fn repeats(&mut self, noted: &Noted, now: Instant) -> Option<Repetition> {
        if self.ended() != noted.ended {
            return None;
        }
        self.compare(noted, now, None)
    }

    /// Compares over whole steps, in which transfers end and others take their places.
    pub(super) fn repeats_steps(
        &mut self,
        noted: &Noted,
        now: Instant,
        shifts: &mut Shifts,
    ) -> Option<Repetition> {
        if noted.refused_steps || self.endless() != noted.endless {
            return None;
        }
        self.compare(noted, now, Some(shifts))
    }

    fn compare(
        &mut self,
        noted: &Noted,
        now: Instant,
        mut steps: Option<&mut Shifts>,
    ) -> Option<Repetition> {
        if noted.refused {
            return None;
        }
        let mut numbers = Numbers::default();
        self.read_numbers(&mut numbers);
        let advance = numbers.since(&noted.numbers);
        let mut repetition = Repetition {
            period: now - noted.at,
            bounds: Bounds::NONE,
            advance,
            under_way: Vec::new(),
        };
        let (mut place, mut start) = (0, 0);
        for part in &mut *self.parts {
            for index in 0..part.nodes.nodes.len() {
                let end = *noted.ends.get(place)?;
                let before = noted.values.get(start..end)?;
                (place, start) = (place + 1, end);
                let mut comparison = Comparison {
                    before: before.iter(),
                    now,
                    period: repetition.period,
                    advance: &repetition.advance,
                    bounds: &mut repetition.bounds,
                    under_way: &mut repetition.under_way,
                    steps: steps.as_deref_mut(),
                    is_same: true,
                };
                go_through(part, index, now, &mut comparison);
                // Values that are left over are a difference, too: the state has become smaller.
                let is_whole = comparison.before.next().is_none();
                if !comparison.is_same || !is_whole {
                    return None;
                }
            }
        }
        self.flows_agree(&repetition.advance).then_some(repetition)
    }

    /// Returns true if both ends of each queue pair advance alike.
    fn flows_agree(&self, advance: &Numbers) -> bool {
        use tenter_fabric::net::FlowEnd::{Receive, Send};
        let nodes = self.parts.iter().flat_map(|part| &part.nodes.nodes);
        let mut hosts = nodes.filter_map(|node| match node {
            NodeModel::Host(host) => Some(&host.nic),
            NodeModel::Switch(_) => None,
        });
        hosts.all(|nic| {
            let slots = (0..).map(tenter_fabric::net::SendSlot::new);
            let mut slots = slots.take(nic.next_sequences().count());
            slots.all(|slot| {
                let own = advance.of(Send(nic.host(), slot));
                let (host, there) = nic.receiver_of(slot);
                // A queue pair that sent nothing is not compared: if it was never opened, its
                // receiver is unknown.
                own == 0 || own == advance.of(Receive(host, there))
            })
        })
    }

    /// Logs all hosts from now on.
    pub(super) fn listen(&mut self) {
        for part in &mut *self.parts {
            let before = part.nodes.steady_log.take();
            let travels = before.and_then(|before| before.travels);
            let log = SteadyLog::of_all(travels);
            part.nodes.steady_log = Some(Box::new(log));
        }
    }

    /// Logs all data packets from now on, for the comparison of whole steps.
    pub(super) fn follow_travels(&mut self) {
        for part in &mut *self.parts {
            let log = SteadyLog::of_travels(Box::default());
            part.nodes.steady_log = Some(Box::new(log));
        }
    }

    /// Stops logging for the comparison of whole steps.
    pub(super) fn forget_travels(&mut self) {
        self.logs().for_each(|log| log.travels = None);
    }

    /// Logs one host's departures only.
    pub(super) fn listen_to(&mut self, home: Home) {
        self.stop_listening();
        if let Some(part) = self.parts.get_mut(usize::from(home.part)) {
            let log = SteadyLog::of_host(home.node);
            part.nodes.steady_log = Some(Box::new(log));
        }
    }

    /// Stops logging, except for the comparison of whole steps.
    pub(super) fn stop_listening(&mut self) {
        for part in &mut *self.parts {
            let log = part.nodes.steady_log.take();
            let travels = log.and_then(|log| log.travels);
            let log = travels.map(SteadyLog::of_travels);
            part.nodes.steady_log = log.map(Box::new);
        }
    }

    /// Iterates over the partitions' logs.
    pub(super) fn logs(&mut self) -> impl Iterator<Item = &mut SteadyLog> {
        let parts = self.parts.iter_mut();
        parts.filter_map(|part| part.nodes.steady_log.as_deref_mut())
    }

    /// Returns the send times of all data packets under way; `None` unless the log has each.
    pub(super) fn starts(&mut self, repetition: &Repetition) -> Option<Starts> {
        let numbers = &repetition.advance;
        let logged = self.logs().flat_map(|log| log.sent.iter().copied());
        let logged: Vec<Logged> = logged.collect();
        let starts = Starts::new(&logged, numbers);
        repetition.is_known_from(&starts).then_some(starts)
    }

    /// Advances the state by the jump's periods. Returns the packets that were accepted in the last
    /// period, with their send times, which stand for those in each jumped period; `None` if the
    /// jump is impossible.
    pub(super) fn leap(&mut self, jump: &Jump<'_>) -> Option<Vec<(Logged, Instant)>> {
        let accepted = self.accepted_in_period(jump)?;
        self.carry_on(jump, None);
        self.carry_logs_on(jump);
        let mut units = Units::new(jump.repetition.period, jump.periods);
        for &(of, sent) in &accepted {
            let latencies = units.latencies(of.at, sent);
            self.nic(of.host, |nic| nic.add_latencies(of.slot, latencies));
        }
        Some(accepted)
    }

    /// Advances the state by the jump's periods, without logs, records and latencies.
    pub(super) fn carry_on(&mut self, jump: &Jump<'_>, steps: Option<&Shifts>) {
        let Jump {
            noted,
            now,
            repetition,
            starts,
            periods,
        } = *jump;
        let span = repetition.period * periods;
        let (mut place, mut start) = (0, 0);
        for part in &mut *self.parts {
            let mut under_way = Vec::new();
            for index in 0..part.nodes.nodes.len() {
                let node = LocalNode::new(index as u32);
                // The comparison has visited all nodes, so each has its values.
                let end = noted.ends.get(place).copied().unwrap_or(start);
                let before = noted.values.get(start..end).unwrap_or_default();
                (place, start) = (place + 1, end);
                let mut leap = Leap {
                    before: before.iter(),
                    periods,
                    span,
                    advance: &repetition.advance,
                    starts,
                    steps,
                };
                let items = go_through(part, index, now, &mut leap);
                under_way.extend(
                    items
                        .into_iter()
                        .map(|(input, packet)| (node, input, packet)),
                );
                match &mut part.nodes.nodes[index] {
                    NodeModel::Switch(switch) => switch.leaped(),
                    // Whole steps are compared without their timeouts, so these are set anew, to
                    // the earliest instants at which they could matter.
                    NodeModel::Host(host) if steps.is_some() => {
                        host.nic.set_timeouts(&part.nodes.context.nic, now + span);
                    }
                    NodeModel::Host(_) => {}
                }
            }
            part.lane.leap(now + span, under_way);
        }
    }

    /// Advances the logs by the jump's periods, and keeps packets that are still under way.
    fn carry_logs_on(&mut self, jump: &Jump<'_>) {
        let Repetition {
            period, advance, ..
        } = jump.repetition;
        for log in self.logs() {
            log.accepted.clear();
            // Packets below the next expected number have been accepted.
            log.sent.retain(|of| {
                let expected = jump.noted.numbers.of(of.end());
                let expected = expected.wrapping_add(advance.of(of.end()));
                of.sequence.wrapping_sub(expected).cast_signed() >= 0
            });
            for of in &mut log.sent {
                of.go_on(*period, jump.periods, advance);
            }
        }
    }

    pub(super) fn nic(&mut self, host: HostId, change: impl FnOnce(&mut tenter_endpoint::Nic)) {
        let Some(first) = self.parts.first() else {
            return;
        };
        let home = first.nodes.context.home(host);
        let part = &mut self.parts[usize::from(home.part)];
        if let NodeModel::Host(host) = &mut part.nodes.nodes[home.node.index()] {
            change(&mut host.nic);
        }
    }

    /// Returns the packets accepted in the period before a jump, with their send times, or those
    /// that they would have had in a steady state; `None` unless all are known.
    fn accepted_in_period(&mut self, jump: &Jump<'_>) -> Option<Vec<(Logged, Instant)>> {
        let (starts, numbers) = (jump.starts, &jump.repetition.advance);
        let period = jump.repetition.period;
        let accepted = self.logs().flat_map(|log| log.accepted.iter().copied());
        let accepted = accepted.filter(|of| of.at + period >= jump.now);
        let sent = |of: Logged| {
            let next = of.sequence.wrapping_add(numbers.of(of.end()));
            let own = starts.of(numbers, of.host, of.slot, of.sequence);
            let next = || starts.of(numbers, of.host, of.slot, next);
            let before = |next: Instant| {
                let may = next.since_start() >= period;
                may.then(|| next - period)
            };
            // A packet that left before the log began has a successor, which left a period later.
            let start = own.or_else(|| before(next()?));
            start.map(|start| (of, start))
        };
        accepted.map(sent).collect()
    }
}

/// Visits a node and the packets on their way to it; returns these.
fn go_through<W: Watcher, V: Visitor>(
    part: &mut Part<Fabric<W>>,
    index: usize,
    now: Instant,
    visitor: &mut V,
) -> Vec<(u16, Packet)> {
    let Part { lane, nodes } = part;
    match &mut nodes.nodes[index] {
        NodeModel::Host(host) => host.steady(&nodes.context.nic, visitor),
        NodeModel::Switch(switch) => switch.steady(now, visitor),
    }
    let mut items = lane.in_order(LocalNode::new(index as u32));
    // Their number first, so that what follows has the same meaning in both states.
    visitor.exact(items.len() as u64);
    for (input, packet) in &mut items {
        visitor.exact(u64::from(*input));
        packet.steady_under_way(visitor);
    }
    items
}
