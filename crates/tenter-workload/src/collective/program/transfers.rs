//! Step-by-step algorithms as graphs of transfers.
//!
//! A transfer waits for everything that must arrive at its rank before its step can run. Queue
//! pairs keep their order, so for each way into the rank and each chunk the last arrival implies
//! the earlier ones, whether chunks have separate queue pairs or not. Copies and sums take no time,
//! and sends never wait for room at the receiver.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::checked::Program;
use super::parts::ProgramStep;
use crate::collective::chunks::Chunks;
use crate::of_rank::of_rank;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// Most transfers in a collective, and most arrivals that these wait for together.
const TRANSFERS_MAX: usize = 1 << 22;
const WAITS_MAX: usize = 1 << 26;

/// A transfer with its dependencies.
#[derive(Clone, Debug)]
struct Sent {
    transfer: Transfer,
    /// Transfers that it waits for, in ascending order.
    after: Vec<u32>,
    /// Transfers that wait for it, in ascending order.
    released: Vec<u32>,
}

/// An algorithm's transfers for one size.
#[derive(Debug, Default)]
pub(super) struct Table {
    ranks: u32,
    sent: Vec<Sent>,
    /// Each transfer's (source, destination, id), in ascending order, once for each of [`SCOPES`].
    ways: [Vec<(u32, Destination, u32)>; 2],
    /// (Source, id) for each transfer that waits for nothing, in ascending order.
    initial: Vec<(u32, u32)>,
}

/// Scopes in the order of [`Table::ways`].
const SCOPES: [QueuePairScope; 2] = [QueuePairScope::RankPair, QueuePairScope::Chunk];

/// A connection by its number among all, and the label of a chunk there.
type Way = (u32, u32);

/// Progress of arrivals at a rank, as a vector clock: the last arrival on each way, in ascending
/// order.
type Clock = Rc<Vec<(Way, u32)>>;

/// Merges two clocks: the later arrival on each way.
fn later(one: &Clock, other: &Clock) -> Clock {
    // Steps that receive nothing share the clock of the step before: no merge, no memory.
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

/// Numbers the connections of an algorithm. Each pair of ranks has one for every channel and chunk
/// count, because transfers with different lengths may overtake each other on parallel queue pairs.
#[derive(Debug, Default)]
struct Connections {
    /// By source, destination, channel and count: the connection's number within its pair, and
    /// among all.
    known: BTreeMap<(u32, u32, u32, u32), (u32, u32)>,
    /// By source, destination and label: the connection on which this label is used.
    labels: BTreeMap<(u32, u32, u32), u32>,
    /// By source, destination, connection and chunk: the label of a chunk whose own number is
    /// taken.
    other_labels: BTreeMap<(u32, u32, u32, u32), u32>,
    /// Next free label for each rank pair.
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

    /// Returns the chunk number under which records have a transfer. It is the step's own chunk,
    /// unless another connection of the pair uses that number: the order between the two is
    /// unknown, so they need separate queue pairs in the scope of a chunk.
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

/// Division of a collective's size into chunks and rounds.
struct Cut<'p> {
    program: &'p Program,
    chunks: Chunks,
    /// Rounds in which the steps run, each time with a part of each chunk.
    rounds: u32,
}

impl Cut<'_> {
    /// Returns the wire bytes that a step sends in a round.
    fn bytes(&self, step: &ProgramStep, round: u32) -> u64 {
        let count = self.chunks.count();
        let first = first_chunk(step);
        let of_chunk = |place: u32| {
            // Scratch may have more chunks than the size. Lengths differ by a byte at most, so any
            // will do.
            let bytes = self.chunks.bytes((first + place) % count);
            Chunks::new(bytes, self.rounds).bytes(round)
        };
        let data = (0..step.count).map(of_chunk);
        let data = data.fold(0_u64, u64::saturating_add);
        self.program.parts().protocol.bytes(data)
    }
}

/// Returns the chunk that identifies a step's data.
fn first_chunk(step: &ProgramStep) -> u32 {
    let slot = step.sources.first().or(step.store.as_ref());
    slot.map_or(0, |slot| slot.chunk)
}

impl Table {
    /// Builds the transfers for a size in `rounds` rounds; `None` if there are too many.
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

    /// Runs all steps once and returns the number of arrivals that their transfers wait for.
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
        // (Way, id) of each step's transfer in this round.
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

    /// Lists the destinations of each source in this table, each once, in ascending order.
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

    /// Returns the longest chain of hops, and the most bytes that any port sends or receives.
    ///
    /// `hop` adds one hop with the given bytes to the length of a chain.
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

/// First label beyond the chunk numbers of any buffer.
const LABELS: u32 = 1 << 30;

/// Returns, for each step, true if its receiver adds the data to its own.
fn receivers_that_reduce(program: &Program) -> Vec<bool> {
    let mut reduces = vec![false; program.wired().len() as usize];
    for (number, _, step) in program.steps() {
        if let Some(sender) = program.wired().sender(number) {
            reduces[sender as usize] = !step.sources.is_empty();
        }
    }
    reduces
}

/// A table, together with the destinations of other sizes' tables.
pub(super) struct Listed {
    pub(super) table: Table,
    /// Destinations that larger or smaller sizes use, in both scopes, in ascending order.
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
