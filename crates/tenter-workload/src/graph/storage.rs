//! Graphs as they are stored: once, in flat arrays, shared by all that carry them out.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_units::Time;

use super::collectives::{Collectives, SiteOf};
use super::edge::Edge;
use super::error::Unmatched;
use super::matching::match_up;
use super::measured::{Measured, MeasuredOperations};
use super::operation::{Operation, OperationKind, Stored, StoredKind};
use super::operations::{Message, Operations};
use super::rank_graph::RankGraph;
use super::ways::Ways;
use crate::site::{Instead, Misfit};

/// A graph of operations over a number of ranks.
///
/// Each operation takes 20 bytes while it runs, and each message 24, so a send and the receive that
/// takes its message take 32 bytes each. A receive needs 8 more where only the run tells what it
/// takes, or where it expects another size than its message has. A size of 2 GiB or more needs 8
/// more, a recorded time 24, and an operation that n > 1 others wait for 4·(n + 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    operations: Arc<Operations>,
    ranks: Arc<[RankGraph]>,
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
    /// Of ranks whose peers are all ranks: finds who takes which message.
    pub(super) fn new(
        mut operations: Operations,
        ranks: Vec<RankGraph>,
        collectives: Collectives,
    ) -> Graph {
        let unmatched = match_up(&mut operations);
        operations.shrink();
        let longest = |kind| longest_stream(&operations, &ranks, kind);
        let mut graph = Graph {
            longest_stream: longest(StoredKind::Compute),
            longest_wait: longest(StoredKind::Wait),
            busiest_bytes: 0,
            size_bytes: 1,
            unmatched,
            collectives: Arc::new(collectives),
            operations: Arc::new(operations),
            ranks: ranks.into(),
        };
        (graph.busiest_bytes, graph.size_bytes) = graph.busiest();
        graph
    }

    /// The same graph with what its collectives ask of the hosts of their ranks, and a sentence for
    /// each kind of them that runs by its usual algorithm instead. Operations are shared.
    ///
    /// # Errors
    /// A collective that does not suit its site.
    pub fn at(
        self: &Arc<Graph>,
        site_of: &SiteOf<'_>,
    ) -> Result<(Arc<Graph>, Vec<String>), Misfit> {
        let Some(fitted) = self.collectives.at(site_of)? else {
            return Ok((Arc::clone(self), Vec::new()));
        };
        let sentence = |((usual, why), count): (&(String, Instead), &u64)| {
            format!("{count} of its collectives run as {usual}: {why}")
        };
        let sentences = fitted.instead.iter().map(sentence).collect();
        let graph = Graph {
            collectives: Arc::new(fitted.collectives),
            ..Graph::clone(self)
        };
        Ok((Arc::new(graph), sentences))
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// How many operations there are.
    pub fn operations(&self) -> u64 {
        self.operations.all().len() as u64
    }

    /// The memory that it takes, and that its ranks take to carry it out, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let in_lists: usize = self.ranks.iter().map(|of| of.lists.len()).sum();
        self.operations.memory_bytes()
            + (in_lists * size_of::<u32>()) as u64
            + self.measured_entries() * MeasuredOperations::ENTRY_BYTES as u64
    }

    /// How many operations of one rank there are.
    pub fn operations_of(&self, rank: u32) -> u32 {
        self.operations.of(rank).len() as u32
    }

    /// How many waits of one operation for another there are.
    pub fn edges(&self) -> u64 {
        let ranks = self.operations.by_rank().zip(self.ranks.iter());
        let waits = ranks.flat_map(|((_, operations), of)| {
            let counts = operations.iter().map(|stored| of.followers(stored).count());
            counts.map(|count| count as u64)
        });
        waits.sum()
    }

    /// What waits for an operation of a rank: the places of those operations, and whether they wait
    /// for its start alone.
    pub fn followers(&self, rank: u32, place: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let edges = self.edges_of(rank, place);
        edges.map(|edge| (edge.operation(), edge.on_start()))
    }

    /// What waits for an operation of a rank.
    pub(super) fn edges_of(&self, rank: u32, place: u32) -> impl Iterator<Item = Edge> + '_ {
        self.rank(rank).followers(self.stored(rank, place))
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
        self.operations.messages().len() as u32
    }

    /// An operation of a rank, and the label of its stream.
    pub fn operation(&self, rank: u32, place: u32) -> (Operation, u32) {
        let stream = usize::from(self.stored(rank, place).stream);
        let label = self.rank(rank).streams[stream];
        (self.operations.operation(rank, place), label)
    }

    pub(super) fn rank(&self, rank: u32) -> &RankGraph {
        &self.ranks[rank as usize]
    }

    pub(super) fn stored(&self, rank: u32, place: u32) -> &Stored {
        self.operations.get(rank, place)
    }

    /// Prefetches the operations of a rank that come soon behind one: most ranks carry theirs out
    /// about in their order.
    #[inline]
    pub(super) fn prefetch_behind(&self, rank: u32, place: u32) {
        self.operations.prefetch_behind(rank, place);
    }

    /// Prefetches the messages of a rank that come soon behind one.
    #[inline]
    pub(super) fn prefetch_messages_behind(&self, message: u32) {
        self.operations.prefetch_messages_behind(message);
    }

    /// The operations of a rank.
    pub(super) fn stored_of(&self, rank: u32) -> &[Stored] {
        self.operations.of(rank)
    }

    /// The messages: who sends how many bytes to whom.
    pub fn sends(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let messages = self.operations.messages().iter();
        messages.map(|message| (message.src, message.dst, self.operations.bytes_of(message)))
    }

    /// The rank of a transfer, and the place of its send there.
    pub(super) fn send_of(&self, transfer: u32) -> (u32, u32) {
        let message = self.message(transfer);
        (message.src, message.place)
    }

    /// The message of a transfer.
    pub(super) fn message(&self, transfer: u32) -> &Message {
        &self.operations.messages()[transfer as usize]
    }

    /// The payload of a message, in bytes.
    pub(super) fn bytes_of(&self, message: &Message) -> u64 {
        self.operations.bytes_of(message)
    }

    /// Where ranks send to, and how many messages.
    pub(super) fn ways(&self) -> &Ways {
        &self.operations.ways
    }

    /// The transfer of a send, or the one that a receive takes whatever happens; none of a send to
    /// the rank itself.
    pub fn transfer_of(&self, rank: u32, place: u32) -> Option<u32> {
        let stored = self.stored(rank, place);
        stored.sent().or_else(|| stored.taken())
    }

    /// Messages of a tag between two ranks that are not as many as the receives for them, in order;
    /// none where a receive takes from any rank or any tag, since nobody knows before the run.
    pub fn unmatched(&self) -> &[Unmatched] {
        &self.unmatched
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
        for stored in self.operations.all() {
            *counts.entry(stored.operation_kind()).or_default() += 1;
        }
        counts
    }
}

/// The longest sum of times of a form over a stream.
fn longest_stream(operations: &Operations, ranks: &[RankGraph], kind: StoredKind) -> Time {
    let mut longest = Time::ZERO;
    for ((_, operations), of) in operations.by_rank().zip(ranks) {
        let mut streams = vec![Time::ZERO; of.streams.len()];
        for stored in operations.iter().filter(|stored| stored.kind == kind) {
            let sum = &mut streams[usize::from(stored.stream)];
            *sum = sum.saturating_add(stored.time());
        }
        longest = longest.max(streams.into_iter().max().unwrap_or_default());
    }
    longest
}
