//! Storage for graphs: flat arrays that all runs share.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_language::units::Time;

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

/// Operations over several ranks, with the edges between them.
///
/// While it runs an operation takes 20 bytes and a message 24, so a send and the receive that takes
/// its message take 32 bytes each. A receive needs 8 more if only the run decides its message, or
/// if it expects another size than its message has. A size of 2 GiB or more needs 8 more, a
/// recorded time 24, and an operation with n > 1 followers 4·(n + 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    operations: Arc<Operations>,
    ranks: Arc<[RankGraph]>,
    unmatched: Vec<Unmatched>,
    /// Rank groups with their collectives.
    pub(super) collectives: Arc<Collectives>,
    /// Longest sum of computing times on one stream.
    longest_stream: Time,
    /// Longest sum of waiting times on one stream.
    longest_wait: Time,
    busiest_bytes: u64,
    size_bytes: u64,
}

impl Graph {
    /// Stores checked ranks, and assigns messages to receives as far as that is possible before a
    /// run.
    pub(super) fn new(
        mut operations: Operations,
        ranks: Vec<RankGraph>,
        collectives: Collectives,
    ) -> Graph {
        let unmatched = match_up(&mut operations);
        // After matching, most expected sizes are those of the messages.
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

    /// Fits collectives to their ranks' hosts, and returns the new graph with a sentence for each
    /// kind that falls back to its usual algorithm. Operations are shared with this graph.
    ///
    /// # Errors
    /// Returns the collective that cannot run on its ranks' hosts.
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

    /// Returns the number of ranks, at least 2.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Counts the operations over all ranks.
    pub fn operations(&self) -> u64 {
        self.operations.all().len() as u64
    }

    /// Returns the bytes that the graph takes, and that ranks take to run it.
    pub fn memory_bytes(&self) -> u64 {
        let in_lists: usize = self.ranks.iter().map(|of| of.lists.len()).sum();
        self.operations.memory_bytes()
            + (in_lists * size_of::<u32>()) as u64
            + self.measured_entries() * MeasuredOperations::ENTRY_BYTES as u64
    }

    /// Returns the number of operations of one rank.
    pub fn operations_of(&self, rank: u32) -> u32 {
        self.operations.of(rank).len() as u32
    }

    /// Counts the edges: one operation's waits for another.
    pub fn edges(&self) -> u64 {
        let ranks = self.operations.by_rank().zip(self.ranks.iter());
        let waits = ranks.flat_map(|((_, operations), of)| {
            let counts = operations.iter().map(|stored| of.followers(stored).count());
            counts.map(|count| count as u64)
        });
        waits.sum()
    }

    /// Iterates over the operations that wait for the one at `place`: their places, and true for
    /// those that wait only for its start.
    pub fn followers(&self, rank: u32, place: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let edges = self.edges_of(rank, place);
        edges.map(|edge| (edge.operation(), edge.on_start()))
    }

    /// Iterates over the edges to the operations that wait for the one at `place`.
    pub(super) fn edges_of(&self, rank: u32, place: u32) -> impl Iterator<Item = Edge> + '_ {
        self.rank(rank).followers(self.stored(rank, place))
    }

    /// Returns the time recorded for an operation; `None` if there is none.
    pub fn measured(&self, rank: u32, place: u32) -> Option<Measured> {
        self.rank(rank).measured.get(place)
    }

    /// Returns true if some operation has a recorded time.
    pub fn is_measured(&self) -> bool {
        self.measured_entries() > 0
    }

    fn measured_entries(&self) -> u64 {
        self.ranks.iter().map(|of| of.measured.len() as u64).sum()
    }

    /// Returns the rank groups and their collectives.
    pub fn collectives(&self) -> &Arc<Collectives> {
        &self.collectives
    }

    /// Counts the messages between different ranks.
    pub(crate) fn messages(&self) -> u32 {
        self.operations.messages().len() as u32
    }

    /// Returns a rank's operation, and its stream's label.
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

    /// Prefetches operations one cache line ahead: most ranks run theirs roughly by place.
    #[inline]
    pub(super) fn prefetch_behind(&self, rank: u32, place: u32) {
        self.operations.prefetch_behind(rank, place);
    }

    /// Prefetches messages about one cache line ahead.
    #[inline]
    pub(super) fn prefetch_messages_behind(&self, message: u32) {
        self.operations.prefetch_messages_behind(message);
    }

    /// Returns a rank's operations as they are stored.
    pub(super) fn stored_of(&self, rank: u32) -> &[Stored] {
        self.operations.of(rank)
    }

    /// Iterates over the messages: sender, receiver, and payload in bytes.
    pub fn sends(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let messages = self.operations.messages().iter();
        messages.map(|message| (message.src, message.dst, self.operations.bytes_of(message)))
    }

    /// Returns a message's sender, and the place of its send there.
    pub(super) fn send_of(&self, transfer: u32) -> (u32, u32) {
        let message = self.message(transfer);
        (message.src, message.place)
    }

    /// Returns the message with a transfer number.
    pub(super) fn message(&self, transfer: u32) -> &Message {
        &self.operations.messages()[transfer as usize]
    }

    /// Returns a message's payload in bytes.
    pub(super) fn bytes_of(&self, message: &Message) -> u64 {
        self.operations.bytes_of(message)
    }

    /// Returns the rank pairs that exchange messages, with message counts.
    pub(super) fn ways(&self) -> &Ways {
        &self.operations.ways
    }

    /// Returns the transfer for a send, or for a receive whose message is known before the run;
    /// `None` for other operations and for a send to the rank itself.
    pub fn transfer_of(&self, rank: u32, place: u32) -> Option<u32> {
        let stored = self.stored(rank, place);
        stored.sent().or_else(|| stored.taken())
    }

    /// Returns senders, receivers and tags whose messages are not as many as their receives, in
    /// order. Empty if any receive accepts any rank or tag, since only the run can tell then.
    pub fn unmatched(&self) -> &[Unmatched] {
        &self.unmatched
    }

    /// Returns the most message bytes that any rank sends, or receives.
    pub(crate) fn busiest_bytes(&self) -> u64 {
        self.busiest_bytes
    }

    /// Returns the most bytes that any rank sends, or receives: messages, and collectives by their
    /// size in nccl-tests. At least 1.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the longest sum of computing times on one stream, before `compute_ppm` applies.
    pub fn longest_stream(&self) -> Time {
        self.longest_stream
    }

    /// Returns the longest sum of [`Operation::Wait`] times on one stream.
    pub fn longest_wait(&self) -> Time {
        self.longest_wait
    }

    /// Returns the busiest port's load in bytes: for messages alone, and with collectives.
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
            // A collective counts with its nominal size, whatever its algorithm sends.
            for &rank in self.collectives.ranks_of(group) {
                for port in &mut ports[rank as usize] {
                    *port = port.saturating_add(bytes);
                }
            }
        }
        let size = ports.into_iter().flatten().max().unwrap_or(0);
        (busiest, size.max(1))
    }

    /// Counts the operations of each kind over all ranks.
    pub fn counts(&self) -> BTreeMap<OperationKind, u64> {
        let mut counts = BTreeMap::new();
        for stored in self.operations.all() {
            *counts.entry(stored.operation_kind()).or_default() += 1;
        }
        counts
    }
}

/// Returns the longest sum of times on one stream, over operations of this kind.
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
