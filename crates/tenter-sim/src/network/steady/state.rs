//! The state of a whole network: noted, compared, carried on.

use tenter_engine::{Home, LocalNode, Part};
use tenter_net::{Packet, ReceiveSlot, UnderWay, Visitor};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

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

/// A state that has been noted.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// When it was.
    pub(super) at: Instant,
    values: Vec<u64>,
    /// Where the values of each node end.
    ends: Vec<usize>,
    numbers: Numbers,
    /// Transfers and requests that had ended.
    ended: u64,
    /// What had arrived of streams without end.
    endless: u64,
    /// Whether there is something that is not gone through, and the same over whole steps.
    pub(super) refused: bool,
    refused_steps: bool,
}

impl Noted {
    /// How many values it has.
    pub(super) fn size(&self) -> u64 {
        self.values.len() as u64
    }
}

/// What a state has in common with the one that was noted a period before.
#[derive(Debug)]
pub(super) struct Repetition {
    /// How long the period is.
    pub(super) period: Time,
    pub(super) bounds: Bounds,
    /// How far sequence numbers advance in a period.
    pub(super) advance: Numbers,
    /// Data packets under way.
    under_way: Vec<(UnderWay, u32)>,
}

impl Repetition {
    /// Whether it is known of all data packets under way when they were sent.
    pub(super) fn is_known_from(&self, starts: &Starts) -> bool {
        let mut under_way = self.under_way.iter();
        under_way.all(|(of, sent)| {
            let start = starts.of(&self.advance, of.host, of.slot, of.sequence);
            start.is_some_and(|start| (start.ps() / tenter_net::SENT_UNIT_PS) as u32 == *sent)
        })
    }
}

/// Some further periods of a state that repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump<'a> {
    /// The state a period ago.
    pub(super) noted: &'a Noted,
    pub(super) now: Instant,
    pub(super) repetition: &'a Repetition,
    /// When packets were sent.
    pub(super) starts: &'a Starts,
    pub(super) periods: u64,
}

/// All parts of a network, between two windows.
#[derive(Debug)]
pub(super) struct Network<'a, W: Watcher> {
    pub(super) parts: &'a mut [Part<Fabric<W>>],
}

impl<W: Watcher> Network<'_, W> {
    /// How many transfers and requests have ended, and how much of streams without end has arrived:
    /// while it stays the same, ranks do nothing.
    pub(super) fn ended(&self) -> u64 {
        let of_part = |part: &Part<Fabric<W>>| {
            let records = &part.nodes.partition_records;
            (records.delivered.len() + records.acknowledged.len()) as u64
        };
        self.parts.iter().map(of_part).sum::<u64>() + self.endless()
    }

    /// How much of streams without end has arrived.
    fn endless(&self) -> u64 {
        let endless = |part: &Part<Fabric<W>>| -> u64 {
            let records = &part.nodes.partition_records;
            records.endless.iter().flatten().sum()
        };
        self.parts.iter().map(endless).sum()
    }

    /// What the parts have recorded.
    pub(super) fn records(&self) -> impl Iterator<Item = &PartitionRecords> {
        self.parts.iter().map(|part| &part.nodes.partition_records)
    }

    /// The same, to add to.
    pub(super) fn records_mut(&mut self) -> impl Iterator<Item = &mut PartitionRecords> {
        let parts = self.parts.iter_mut();
        parts.map(|part| &mut part.nodes.partition_records)
    }

    /// The transfers that have been delivered, part by part.
    pub(super) fn delivered(&self) -> impl Iterator<Item = &[DeliveredHalf]> {
        self.records().map(|records| &records.delivered[..])
    }

    /// What is the same for all parts, and what jobs run.
    pub(super) fn jobs(&self) -> (&Context, &Schedules) {
        let first = &self.parts[0].nodes;
        (&first.context, &first.schedules)
    }

    /// How many packets each receiving queue pair has accepted of the transfer that it receives,
    /// host by host.
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

    /// When the last of so many transfers and requests has ended that ended last.
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

    /// Packets of any kind that have been sent, counted once per link.
    pub(super) fn packet_hops(&self) -> u64 {
        let nodes = self.parts.iter().flat_map(|part| &part.nodes.nodes);
        let sent = nodes.map(|node| node.sum_of_ports(tenter_net::Transmitter::packets));
        sent.sum()
    }

    /// Data packets that NICs have discarded or sent again: while there are more of them, no state
    /// comes back.
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

    /// The fewest packets that a queue pair in its turn has left of its request, and the first host
    /// that has one with the most.
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

    /// Notes the state at `now`.
    pub(super) fn note(&mut self, now: Instant, noted: &mut Noted) {
        noted.at = now;
        noted.values.clear();
        noted.ends.clear();
        (noted.refused, noted.refused_steps) = (false, false);
        noted.ended = self.ended();
        noted.endless = self.endless();
        self.read_numbers(&mut noted.numbers);
        for part in &mut *self.parts {
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

    /// Compares the state at `now` with one that was noted before; nothing where they differ.
    pub(super) fn repeats(&mut self, noted: &Noted, now: Instant) -> Option<Repetition> {
        if self.ended() != noted.ended {
            return None;
        }
        self.compare(noted, now, None)
    }

    /// The same over whole steps, in which transfers end and others follow them.
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
                let is_whole = comparison.before.next().is_none();
                if !comparison.is_same || !is_whole {
                    return None;
                }
            }
        }
        self.flows_agree(&repetition.advance).then_some(repetition)
    }

    /// Whether both ends of each queue pair advance alike.
    fn flows_agree(&self, advance: &Numbers) -> bool {
        use tenter_net::FlowEnd::{Receive, Send};
        let nodes = self.parts.iter().flat_map(|part| &part.nodes.nodes);
        let mut hosts = nodes.filter_map(|node| match node {
            NodeModel::Host(host) => Some(&host.nic),
            NodeModel::Switch(_) => None,
        });
        hosts.all(|nic| {
            let slots = (0..).map(tenter_net::SendSlot::new);
            let mut slots = slots.take(nic.next_sequences().count());
            slots.all(|slot| {
                let own = advance.of(Send(nic.host(), slot));
                let (host, there) = nic.receiver_of(slot);
                own == 0 || own == advance.of(Receive(host, there))
            })
        })
    }

    /// Listens to all hosts from now on.
    pub(super) fn listen(&mut self) {
        for part in &mut *self.parts {
            let before = part.nodes.steady_log.take();
            let travels = before.and_then(|before| before.travels);
            let log = SteadyLog::of_all(travels);
            part.nodes.steady_log = Some(Box::new(log));
        }
    }

    /// Listens for all that travels from now on.
    pub(super) fn follow_travels(&mut self) {
        for part in &mut *self.parts {
            let log = SteadyLog::of_travels(Box::default());
            part.nodes.steady_log = Some(Box::new(log));
        }
    }

    /// Listens no longer for all that travels.
    pub(super) fn forget_travels(&mut self) {
        self.logs().for_each(|log| log.travels = None);
    }

    /// Listens to one host alone.
    pub(super) fn listen_to(&mut self, home: Home) {
        self.stop_listening();
        if let Some(part) = self.parts.get_mut(usize::from(home.part)) {
            let log = SteadyLog::of_host(home.node);
            part.nodes.steady_log = Some(Box::new(log));
        }
    }

    pub(super) fn stop_listening(&mut self) {
        for part in &mut *self.parts {
            let log = part.nodes.steady_log.take();
            let travels = log.and_then(|log| log.travels);
            let log = travels.map(SteadyLog::of_travels);
            part.nodes.steady_log = log.map(Box::new);
        }
    }

    pub(super) fn logs(&mut self) -> impl Iterator<Item = &mut SteadyLog> {
        let parts = self.parts.iter_mut();
        parts.filter_map(|part| part.nodes.steady_log.as_deref_mut())
    }

    /// When all data packets under way were sent; nothing unless the log knows it of each.
    pub(super) fn starts(&mut self, repetition: &Repetition) -> Option<Starts> {
        let numbers = &repetition.advance;
        let logged = self.logs().flat_map(|log| log.sent.iter().copied());
        let logged: Vec<Logged> = logged.collect();
        let starts = Starts::new(&logged, numbers);
        repetition.is_known_from(&starts).then_some(starts)
    }

    /// Carries the state on by so many periods; the packets accepted in the period before, with
    /// when they were sent, as in each of these. Nothing where it could not.
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

    /// Makes the state what it is so many periods later, but for logs, records and latencies.
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
                // The comparison has gone through all nodes.
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
                    NodeModel::Host(host) if steps.is_some() => {
                        host.nic.set_timeouts(&part.nodes.context.nic, now + span);
                    }
                    NodeModel::Host(_) => {}
                }
            }
            part.lane.leap(now + span, under_way);
        }
    }

    /// Makes the logs those of so many periods later, for packets that are still under way.
    fn carry_logs_on(&mut self, jump: &Jump<'_>) {
        let Repetition {
            period, advance, ..
        } = jump.repetition;
        for log in self.logs() {
            log.accepted.clear();
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

    /// The packets accepted in the period before a jump, and for each when it was sent, or
    /// would have been in a steady state; nothing unless that is known of all.
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
            let start = own.or_else(|| before(next()?));
            start.map(|start| (of, start))
        };
        accepted.map(sent).collect()
    }
}

/// Goes through a node and what is on its way to it, which is returned.
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
    visitor.exact(items.len() as u64);
    for (input, packet) in &mut items {
        visitor.exact(u64::from(*input));
        packet.steady_under_way(visitor);
    }
    items
}
