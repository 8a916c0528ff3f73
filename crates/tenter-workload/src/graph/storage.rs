//! Graphs as they are stored: once, in flat arrays, shared by all that carry them out.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_units::Time;

use super::collectives::Collectives;
use super::error::Unmatched;
use super::matching::Matching;
use super::measured::{Measured, MeasuredOperations};
use super::operation::{Operation, OperationKind, Stored};
use super::rank_graph::{RankGraph, between};
use super::ways::Ways;

/// A graph of operations over a number of ranks.
///
/// Each operation takes 24 bytes, 4 for where its edges begin and 4 while it runs; each edge takes
/// 4 bytes, each send 12 more, and each operation of a recording with times 16 more.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(super) ranks: Vec<RankGraph>,
    /// For each transfer the place of its send in its rank.
    pub(super) sends: Vec<u32>,
    /// The first transfer of each rank, and at the end how many there are.
    pub(super) first_send: Vec<u32>,
    /// Where ranks send to, and how many messages.
    pub(super) ways: Ways,
    /// For each transfer the receive that takes it, where that is known.
    receives: Vec<u32>,
    unmatched: Vec<Unmatched>,
    /// What groups of ranks run together.
    pub(super) collectives: Arc<Collectives>,
    /// The longest that a stream of any rank computes, and the longest that one waits.
    longest_stream: Time,
    longest_wait: Time,
    busiest_bytes: u64,
    size_bytes: u64,
}

impl Graph {
    /// Numbers the sends of ranks whose peers are all ranks.
    pub(super) fn new(mut ranks: Vec<RankGraph>, collectives: Collectives) -> Graph {
        let mut graph = Graph {
            collectives: Arc::new(collectives),
            longest_stream: longest_stream(&ranks, |operation| match operation {
                Operation::Compute { time } => time,
                _ => Time::ZERO,
            }),
            longest_wait: longest_stream(&ranks, |operation| match operation {
                Operation::Wait { time } => time,
                _ => Time::ZERO,
            }),
            busiest_bytes: 0,
            size_bytes: 1,
            receives: Vec::new(),
            unmatched: Vec::new(),
            sends: Vec::new(),
            first_send: vec![0],
            ways: Ways::default(),
            ranks: Vec::new(),
        };
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for (rank, of) in (0_u32..).zip(&mut ranks) {
            counts.clear();
            for (place, stored) in (0..).zip(&mut of.operations) {
                if let Operation::Send { peer, .. } = stored.operation()
                    && peer != rank
                {
                    stored.transfer = graph.sends.len() as u32;
                    graph.sends.push(place);
                    *counts.entry(peer).or_default() += 1;
                }
            }
            graph.ways.push(&counts);
            graph.first_send.push(graph.sends.len() as u32);
        }
        let matching = Matching::new(&mut ranks, graph.sends.len() as u32);
        (graph.receives, graph.unmatched) = (matching.receives, matching.unmatched);
        graph.ranks = ranks;
        let (busiest_bytes, size_bytes) = graph.busiest();
        Graph {
            busiest_bytes,
            size_bytes,
            ..graph
        }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// How many operations there are.
    pub fn operations(&self) -> u64 {
        self.ranks.iter().map(|of| of.operations.len() as u64).sum()
    }

    /// The memory that it takes, and that its ranks take to carry it out, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let (operations, waits) = (self.operations(), self.edges());
        let (of_operation, of_send) = (size_of::<Stored>() + 2 * size_of::<u32>(), 12);
        operations.saturating_mul(of_operation as u64)
            + waits.saturating_mul(size_of::<u32>() as u64)
            + u64::from(self.messages()) * of_send
            + self.measured_entries() * MeasuredOperations::ENTRY_BYTES as u64
    }

    /// How many operations of one rank there are.
    pub fn operations_of(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].operations.len() as u32
    }

    /// How many waits of one operation for another there are.
    pub fn edges(&self) -> u64 {
        self.ranks
            .iter()
            .map(|of| of.edges.edges.len() as u64)
            .sum()
    }

    /// What waits for an operation of a rank: the places of those operations, and whether they wait
    /// for its start alone.
    pub fn followers(&self, rank: u32, place: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.rank(rank).edges.of(place)
    }

    /// When an operation was carried out where it was recorded; none where that is not known.
    pub fn measured(&self, rank: u32, place: u32) -> Option<Measured> {
        self.rank(rank).measured.get(place)
    }

    /// Whether it is known of any operation when it was carried out.
    pub fn is_measured(&self) -> bool {
        self.measured_entries() > 0
    }

    fn measured_entries(&self) -> u64 {
        self.ranks.iter().map(|of| of.measured.len() as u64).sum()
    }

    /// The groups of ranks, and their collectives.
    pub fn collectives(&self) -> &Arc<Collectives> {
        &self.collectives
    }

    /// How many messages go from one rank to another.
    pub fn messages(&self) -> u32 {
        self.sends.len() as u32
    }

    /// An operation of a rank, and the label of its stream.
    pub fn operation(&self, rank: u32, place: u32) -> (Operation, u32) {
        let of = &self.ranks[rank as usize];
        let stored = &of.operations[place as usize];
        (stored.operation(), of.streams[usize::from(stored.stream)])
    }

    pub(super) fn rank(&self, rank: u32) -> &RankGraph {
        &self.ranks[rank as usize]
    }

    pub(super) fn stored(&self, rank: u32, place: u32) -> &Stored {
        &self.ranks[rank as usize].operations[place as usize]
    }

    /// The messages: who sends how many bytes to whom.
    pub fn sends(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        (0..self.ranks()).flat_map(move |rank| {
            let own = self.sends[between(&self.first_send, rank)].iter();
            own.filter_map(move |&place| match self.stored(rank, place).operation() {
                Operation::Send { peer, bytes, .. } => Some((rank, peer, bytes)),
                _ => None,
            })
        })
    }

    /// The rank of a transfer, and the place of its send there.
    pub(super) fn send_of(&self, transfer: u32) -> (u32, u32) {
        let next = self.first_send.partition_point(|&first| first <= transfer);
        (next as u32 - 1, self.sends[transfer as usize])
    }

    /// The transfer of a send; none of one to the rank itself.
    pub fn transfer_of(&self, rank: u32, place: u32) -> Option<u32> {
        self.stored(rank, place).known_transfer()
    }

    /// Messages of a tag between two ranks that are not as many as the receives for them, in order;
    /// none where a receive takes from any rank or any tag, since nobody knows before the run.
    pub fn unmatched(&self) -> &[Unmatched] {
        &self.unmatched
    }

    /// The receive that takes a transfer whatever happens, by its place, where that is known.
    pub(super) fn receive_of(&self, transfer: u32) -> Option<u32> {
        Operation::unless_any(self.receives[transfer as usize])
    }

    /// The bytes of messages that the rank with most to send or to receive sends or receives.
    pub fn busiest_bytes(&self) -> u64 {
        self.busiest_bytes
    }

    /// The size of what the rank with most of it sends or receives, at least 1: its messages, and
    /// its collectives as nccl-tests counts their sizes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The longest that a stream of any rank computes, which no run is faster than.
    pub fn longest_stream(&self) -> Time {
        self.longest_stream
    }

    /// The longest that a stream of any rank waits for times to come.
    pub fn longest_wait(&self) -> Time {
        self.longest_wait
    }

    /// What the busiest port sends or receives, of messages alone and with collectives.
    fn busiest(&self) -> (u64, u64) {
        let mut ports = vec![[0_u64; 2]; self.ranks.len()];
        for (rank, peer, bytes) in self.sends() {
            for (end, side) in [(rank, 0), (peer, 1)] {
                let port = &mut ports[end as usize][side];
                *port = port.saturating_add(bytes);
            }
        }
        let busiest = ports.iter().flatten().copied().max().unwrap_or(0);
        for number in 0..self.collectives.len() as u32 {
            let (group, _, bytes) = self.collectives.get(number);
            for &rank in self.collectives.ranks_of(group) {
                for port in &mut ports[rank as usize] {
                    *port = port.saturating_add(bytes);
                }
            }
        }
        let size = ports.into_iter().flatten().max().unwrap_or(0);
        (busiest, size.max(1))
    }

    /// How many operations of each kind there are.
    pub fn counts(&self) -> BTreeMap<OperationKind, u64> {
        let mut counts = BTreeMap::new();
        for stored in self.ranks.iter().flat_map(|of| &of.operations) {
            *counts.entry(stored.kind).or_default() += 1;
        }
        counts
    }
}

/// The longest sum over a stream.
fn longest_stream(ranks: &[RankGraph], takes: impl Fn(Operation) -> Time) -> Time {
    let mut longest = Time::ZERO;
    for of in ranks {
        let mut streams = vec![Time::ZERO; of.streams.len()];
        for stored in &of.operations {
            let sum = &mut streams[usize::from(stored.stream)];
            *sum = sum.saturating_add(takes(stored.operation()));
        }
        longest = longest.max(streams.into_iter().max().unwrap_or_default());
    }
    longest
}
