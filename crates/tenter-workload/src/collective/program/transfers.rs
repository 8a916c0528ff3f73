//! Algorithms step by step as graphs of transfers.
//!
//! A transfer waits for all that had to arrive at its rank before its step could run. Queue pairs
//! keep their order, so the last arrival of each chunk on each way into the rank says all, whether
//! chunks have queue pairs of their own or not. Copies and sums take no time, and sends never wait
//! for room at their receiver.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::checked::Program;
use super::parts::ProgramStep;
use crate::collective::chunks::Chunks;
use crate::of_rank::of_rank;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// No collective has more transfers, nor do these wait for more arrivals together.
const TRANSFERS_MAX: usize = 1 << 22;
const WAITS_MAX: usize = 1 << 26;

/// A transfer, and what it waits for.
#[derive(Clone, Debug)]
struct Sent {
    transfer: Transfer,
    /// The transfers that it waits for, ascending.
    after: Vec<u32>,
    /// Those that wait for it, ascending.
    released: Vec<u32>,
}

/// The transfers of an algorithm for a size.
#[derive(Debug, Default)]
pub(super) struct Table {
    ranks: u32,
    sent: Vec<Sent>,
    /// Ids by source, and by what tells the ways of a source from each other in both scopes.
    ways: [Vec<(u32, Destination, u32)>; 2],
    /// Ids of transfers that wait for nothing, by source and id.
    initial: Vec<(u32, u32)>,
}

/// The scopes in the order of [`Table::ways`].
const SCOPES: [QueuePairScope; 2] = [QueuePairScope::RankPair, QueuePairScope::Chunk];

/// A connection of all, and the label of a chunk there.
type Way = (u32, u32);

/// How far arrivals at a rank have come: the last of each way, by the way.
type Clock = Rc<Vec<(Way, u32)>>;

/// The later of two clocks, way by way.
fn later(one: &Clock, other: &Clock) -> Clock {
    if Rc::ptr_eq(one, other) || other.is_empty() {
        return Rc::clone(one);
    }
    if one.is_empty() {
        return Rc::clone(other);
    }
    let mut both: BTreeMap<Way, u32> = one.iter().copied().collect();
    for &(way, id) in other.iter() {
        let last = both.entry(way).or_insert(id);
        *last = id.max(*last);
    }
    Rc::new(both.into_iter().collect())
}

/// Numbers the connections of an algorithm: each pair of ranks has one for every channel and number
/// of chunks. Transfers of different lengths may overtake each other on parallel queue pairs.
#[derive(Debug, Default)]
struct Connections {
    /// By source, destination, channel and count; the connection of the pair, and its number among
    /// all.
    known: BTreeMap<(u32, u32, u32, u32), (u32, u32)>,
    /// What has a chunk of a pair as its label: source, destination and label to the connection.
    labels: BTreeMap<(u32, u32, u32), u32>,
    /// The label of the chunks of a connection that cannot have their own.
    other_labels: BTreeMap<(u32, u32, u32, u32), u32>,
    /// The next label of a pair that no chunk has.
    next_label: BTreeMap<(u32, u32), u32>,
}

impl Connections {
    fn new(program: &Program) -> Connections {
        let mut connections = Connections::default();
        for (_, rank, step) in program.steps() {
            if let Some(to) = step.send {
                let key = (rank, to.peer, to.channel, step.count);
                connections.known.insert(key, (0, 0));
            }
        }
        let mut last = None;
        for (number, (&(src, dst, ..), connection)) in (0..).zip(&mut connections.known) {
            let next = match last {
                Some((pair, connection)) if pair == (src, dst) => connection + 1,
                _ => 0,
            };
            *connection = (next, number);
            last = Some(((src, dst), next));
        }
        connections
    }

    /// The chunk as which records have the transfer: the one of its step, unless a transfer of
    /// another connection has it, whose order to this one is not known.
    fn label(&mut self, src: u32, dst: u32, connection: u32, chunk: u32) -> u32 {
        if *self.labels.entry((src, dst, chunk)).or_insert(connection) == connection {
            return chunk;
        }
        let next = self.next_label.entry((src, dst)).or_insert(LABELS);
        *self
            .other_labels
            .entry((src, dst, connection, chunk))
            .or_insert_with(|| {
                *next += 1;
                *next - 1
            })
    }
}

/// How the size of a collective is cut.
struct Cut<'p> {
    program: &'p Program,
    chunks: Chunks,
    /// How often the steps are run, each time with a part of each chunk.
    rounds: u32,
}

impl Cut<'_> {
    /// Bytes on the wire of a step in a round.
    fn bytes(&self, step: &ProgramStep, round: u32) -> u64 {
        let count = self.chunks.count();
        let first = first_chunk(step);
        let of_chunk = |place: u32| {
            let bytes = self.chunks.bytes((first + place) % count);
            Chunks::new(bytes, self.rounds).bytes(round)
        };
        let data = (0..step.count).map(of_chunk);
        let data = data.fold(0_u64, u64::saturating_add);
        self.program.parts().protocol.bytes(data)
    }
}

/// The chunk that tells which a step is about.
fn first_chunk(step: &ProgramStep) -> u32 {
    let slot = step.sources.first().or(step.store.as_ref());
    slot.map_or(0, |slot| slot.chunk)
}

impl Table {
    /// The transfers of an algorithm for a size, in that number of rounds; `None`
    /// where there are too many of them.
    pub(super) fn new(program: &Program, size_bytes: u64, rounds: u32) -> Option<Table> {
        let cut = Cut {
            program,
            chunks: Chunks::new(size_bytes, program.parts().chunks),
            rounds,
        };
        let mut table = Table {
            ranks: program.ranks(),
            ..Table::default()
        };
        let mut connections = Connections::new(program);
        let reduces = receivers_that_reduce(program);
        let mut clocks: Vec<Clock> = vec![Clock::default(); program.parts().blocks.len()];
        let mut waits = 0;
        for round in 0..rounds {
            waits += table.round(&cut, round, &mut connections, &reduces, &mut clocks);
            if table.sent.len() > TRANSFERS_MAX || waits > WAITS_MAX {
                return None;
            }
        }
        table.index();
        Some(table)
    }

    /// Runs all steps once; gives how many arrivals their transfers wait for.
    fn round(
        &mut self,
        cut: &Cut<'_>,
        round: u32,
        connections: &mut Connections,
        reduces: &[bool],
        clocks: &mut [Clock],
    ) -> usize {
        let (program, mut waits) = (cut.program, 0);
        let count = program.wired().len() as usize;
        let mut done: Vec<Clock> = vec![Clock::default(); count];
        // What a step has sent: its way and id.
        let mut sent: Vec<Option<(Way, u32)>> = vec![None; count];
        for (number, rank, step) in program.steps() {
            let block = program.wired().block_of(number) as usize;
            let mut clock = Rc::clone(&clocks[block]);
            for &other in program.wired().after(number) {
                clock = later(&clock, &done[other as usize]);
            }
            let sender = program.wired().sender(number);
            if let Some((way, id)) = sender.and_then(|sender| sent[sender as usize]) {
                clock = later(&clock, &Rc::new(vec![(way, id)]));
            }
            if let Some(to) = step.send {
                let key = (rank, to.peer, to.channel, step.count);
                let (connection, number_of_all) = connections.known[&key];
                let chunk = connections.label(rank, to.peer, connection, first_chunk(step));
                let transfer = Transfer {
                    src: rank,
                    dst: to.peer,
                    bytes: cut.bytes(step, round),
                    chunk,
                    channel: connection,
                    step: 0,
                    reduce: reduces[number as usize],
                };
                sent[number as usize] = Some(((number_of_all, chunk), self.sent.len() as u32));
                waits += clock.len();
                self.push(transfer, &clock);
            }
            done[number as usize] = Rc::clone(&clock);
            clocks[block] = clock;
        }
        waits
    }

    fn push(&mut self, transfer: Transfer, clock: &Clock) {
        let mut after: Vec<u32> = clock.iter().map(|(_, id)| *id).collect();
        after.sort_unstable();
        let id = self.sent.len() as u32;
        let mut step = 0;
        for &other in &after {
            let other = &mut self.sent[other as usize];
            other.released.push(id);
            step = step.max(other.transfer.step + 1);
        }
        if after.is_empty() {
            self.initial.push((transfer.src, id));
        }
        self.sent.push(Sent {
            transfer: Transfer { step, ..transfer },
            after,
            released: Vec::new(),
        });
    }

    fn index(&mut self) {
        self.initial.sort_unstable();
        for (scope, ways) in SCOPES.into_iter().zip(&mut self.ways) {
            let sent = (0..).zip(&self.sent);
            ways.extend(sent.map(|(id, of)| (of.transfer.src, of.transfer.way(scope), id)));
            ways.sort_unstable();
        }
    }

    /// Adds the ways of another table, on which nothing is sent.
    pub(super) fn destinations(&self, scope: QueuePairScope) -> Vec<(u32, Destination)> {
        let ways = self.ways(scope).iter();
        let mut found: Vec<_> = ways.map(|&(src, to, _)| (src, to)).collect();
        found.dedup();
        found
    }

    fn ways(&self, scope: QueuePairScope) -> &[(u32, Destination, u32)] {
        match scope {
            QueuePairScope::RankPair => &self.ways[0],
            QueuePairScope::Chunk => &self.ways[1],
        }
    }

    /// Transfers and how long the longest chain of hops is, each of which takes what `hop` says;
    /// the bytes that the busiest port sends or receives.
    pub(super) fn bounds<T: Copy + Default + Ord>(&self, hop: impl Fn(T, u64) -> T) -> (T, u64) {
        let mut ends: Vec<T> = Vec::with_capacity(self.sent.len());
        let mut ports: BTreeMap<(u32, bool), u64> = BTreeMap::new();
        for of in &self.sent {
            let start = of.after.iter().map(|&other| ends[other as usize]).max();
            ends.push(hop(start.unwrap_or_default(), of.transfer.bytes));
            for end in [(of.transfer.src, true), (of.transfer.dst, false)] {
                let port = ports.entry(end).or_default();
                *port = port.saturating_add(of.transfer.bytes);
            }
        }
        let chain = ends.into_iter().max().unwrap_or_default();
        (chain, ports.into_values().max().unwrap_or(0))
    }
}

/// Labels of chunks begin behind those that any buffer has.
const LABELS: u32 = 1 << 30;

/// Whether what a step sends is added to something where it arrives.
fn receivers_that_reduce(program: &Program) -> Vec<bool> {
    let mut reduces = vec![false; program.wired().len() as usize];
    for (number, _, step) in program.steps() {
        if let Some(sender) = program.wired().sender(number) {
            reduces[sender as usize] = !step.sources.is_empty();
        }
    }
    reduces
}

/// A table beside the ways of others.
pub(super) struct Listed {
    pub(super) table: Table,
    /// Further ways, which larger or smaller sizes use, in both scopes; sorted.
    pub(super) others: [Vec<(u32, Destination)>; 2],
}

impl Schedule for Listed {
    fn ranks(&self) -> u32 {
        self.table.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.table.sent.len() as u32
    }

    fn transfer(&self, id: u32) -> Transfer {
        self.table.sent[id as usize].transfer
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let own = of_rank(&self.table.initial, rank, |(src, _)| *src);
        out.extend(own.iter().map(|(_, id)| id));
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.table.sent[id as usize].released);
    }

    fn dependencies(&self, id: u32) -> u32 {
        self.table.sent[id as usize].after.len() as u32
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let own = of_rank(self.table.ways(scope), rank, |(src, ..)| *src);
        let mut found: Vec<Destination> = own.iter().map(|(_, to, _)| *to).collect();
        let others = &self.others[usize::from(scope == QueuePairScope::Chunk)];
        let others = of_rank(others, rank, |(src, _)| *src);
        found.extend(others.iter().map(|(_, to)| *to));
        found.sort_unstable();
        found.dedup();
        out.append(&mut found);
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let ways = self.table.ways(scope);
        let first = ways.partition_point(|&(from, way, _)| (from, way) < (src, to));
        let &(from, way, id) = ways.get(first + nth as usize)?;
        ((from, way) == (src, to)).then_some(id)
    }
}
