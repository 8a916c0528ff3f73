//! Builds graphs rank by rank: operations, and the edges between them.

use std::collections::BTreeMap;

use super::collectives::Collectives;
use super::edge::Edge;
use super::error::GraphError;
use super::measured::{Measured, MeasuredOperations};
use super::operation::{Operation, Stored, StoredKind};
use super::operations::{Message, Operations};
use super::progress::Progress;
use super::rank_graph::{RankGraph, between};
use super::storage::Graph;

/// One rank's program while it is put together.
#[derive(Clone, Debug, Default)]
pub struct RankBuilder {
    /// Operations with their stream index.
    operations: Vec<(Operation, u16)>,
    /// Labels of the rank's streams, by index, in order of first use.
    streams: Vec<u32>,
    /// Index of each stream, by its label.
    places: BTreeMap<u32, u16>,
    /// The last label and its index: consecutive operations mostly share a stream.
    last: Option<(u32, u16)>,
    /// Waiting operation, operation it waits for, and true if only that one's start counts.
    waits: Vec<(u32, u32, bool)>,
    /// The last collective that each group runs, by group.
    last_of_group: BTreeMap<u32, u32>,
    measured: MeasuredOperations,
    too_many_streams: bool,
}

impl RankBuilder {
    /// Most operations that a graph can have, and most edges within one rank.
    pub const OPERATIONS_MAX: u32 = Progress::WAITS_MAX;

    /// Adds collective `which` of `group` on `stream` and returns its place. It waits for the
    /// group's previous collective, since all ranks run a group's collectives in one order.
    pub fn add_collective(&mut self, group: u32, which: u32, stream: u32) -> u32 {
        let place = self.add(Operation::Collective { which }, stream);
        if let Some(before) = self.last_of_group.insert(group, place) {
            self.after(place, before);
        }
        place
    }

    /// Adds an operation on the stream with label `stream` and returns its place. Operations on one
    /// stream run one after the other, those on different streams side by side.
    pub fn add(&mut self, operation: Operation, stream: u32) -> u32 {
        let stream = match self.last {
            Some((label, place)) if label == stream => place,
            _ => self.place_of(stream),
        };
        self.operations.push((operation, stream));
        self.operations.len() as u32 - 1
    }

    fn place_of(&mut self, label: u32) -> u16 {
        let next = self.streams.len();
        let place = *self.places.entry(label).or_insert(next as u16);
        if usize::from(place) == next {
            // The flag is reported once the rank is complete; until then the index may wrap around.
            self.too_many_streams |= next > usize::from(u16::MAX) - 1;
            self.streams.push(label);
        }
        self.last = Some((label, place));
        place
    }

    /// Makes `operation` wait until `other`, an operation by the same rank, is done.
    pub fn after(&mut self, operation: u32, other: u32) {
        self.waits.push((operation, other, false));
    }

    /// Makes `operation` wait until `other`, an operation by the same rank, has started.
    pub fn after_start(&mut self, operation: u32, other: u32) {
        self.waits.push((operation, other, true));
    }

    /// Attaches the time recorded for an operation that was added before.
    pub fn measured(&mut self, operation: u32, measured: Measured) {
        self.measured.set(operation, measured);
    }

    /// Counts the operations added so far.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Estimates the bytes that the rank takes once it is stored in a graph.
    pub fn stored_bytes(&self) -> u64 {
        let operations = self.len() * (size_of::<Stored>() + size_of::<Message>());
        let waits = self.waits.len() * size_of::<u32>();
        let measured = self.measured.len() * MeasuredOperations::ENTRY_BYTES;
        (size_of::<RankGraph>() + operations + waits + measured) as u64
    }

    /// Returns true if no operation has been added.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Stores the next rank: groups its edges by the operation that is waited for, and refuses
    /// cycles.
    fn build(mut self, all: &mut Operations) -> Result<RankGraph, GraphError> {
        let rank = all.ranks();
        if self.too_many_streams {
            return Err(GraphError::TooManyStreams { rank });
        }
        let count = self.operations.len();
        // A counting sort: `first` becomes the index of each operation's first edge. Edges of one
        // operation keep the order in which they were added, which is the order in which a run
        // releases them.
        let mut first = vec![0_u32; count + 1];
        let mut waits = vec![0_u32; count];
        for &(operation, other, _) in &self.waits {
            first[other as usize + 1] += 1;
            waits[operation as usize] += 1;
        }
        for place in 0..count {
            first[place + 1] += first[place];
        }
        let mut next = first.clone();
        let mut edges = vec![Edge::new(0, false); self.waits.len()];
        for &(operation, other, on_start) in &self.waits {
            let slot = &mut next[other as usize];
            edges[*slot as usize] = Edge::new(operation, on_start);
            *slot += 1;
        }
        self.measured.shrink();
        let mut graph = RankGraph {
            streams: self.streams,
            lists: Vec::new(),
            measured: self.measured,
        };
        if let Some(operation) = circle(&first, &edges, waits) {
            return Err(GraphError::Circle { rank, operation });
        }
        all.push(self.operations.into_iter());
        graph.set_followers(all.of_mut(rank), &first, &edges);
        Ok(graph)
    }
}

/// Finds an operation on a cycle, or behind one, by a topological sort.
/// `edges` holds the edges to the operations that wait, grouped by the operation they wait for;
/// `first` has each group's index and the end. `waits` counts for each operation the others that it
/// waits for.
fn circle(first: &[u32], edges: &[Edge], mut waits: Vec<u32>) -> Option<u32> {
    let ready = (0..).zip(&waits).filter(|(_, waits)| **waits == 0);
    let mut ready: Vec<u32> = ready.map(|(operation, _)| operation).collect();
    while let Some(operation) = ready.pop() {
        for edge in &edges[between(first, operation)] {
            let next = edge.operation();
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    // An operation that never became ready is on a cycle, or waits for one that is.
    let left = waits.iter().position(|&waits| waits > 0);
    left.map(|operation| operation as u32)
}

/// A graph while its ranks are added.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    operations: Operations,
    ranks: Vec<RankGraph>,
    /// Rank groups with their collectives.
    pub collectives: Collectives,
}

impl GraphBuilder {
    /// Adds the next rank, beginning with rank 0.
    ///
    /// # Errors
    /// Operations that wait for each other in a cycle, and more operations, edges or streams than
    /// can be numbered.
    pub fn add(&mut self, rank: RankBuilder) -> Result<(), GraphError> {
        let operations = (self.operations.all().len() + rank.len()) as u64;
        // Progress keeps the waits of an operation in 30 bits, so a rank cannot have more edges
        // either.
        let most = RankBuilder::OPERATIONS_MAX;
        if operations > u64::from(most) || rank.waits.len() > most as usize {
            return Err(GraphError::TooManyOperations { most });
        }
        let rank = rank.build(&mut self.operations)?;
        self.ranks.push(rank);
        Ok(())
    }

    /// Checks the ranks against each other and stores the graph.
    ///
    /// # Errors
    /// Fewer than two ranks, no operations, peers that are no ranks, sends whose tag is
    /// [`Operation::ANY`], and collectives that some rank in their group does not run.
    pub fn finish(self) -> Result<Graph, GraphError> {
        let ranks = self.ranks.len() as u32;
        if ranks < 2 {
            return Err(GraphError::TooFewRanks { ranks });
        }
        if self.operations.all().is_empty() {
            return Err(GraphError::NoOperations);
        }
        check_peers(&self.operations)?;
        check_collectives(&self.operations, &self.collectives)?;
        Ok(Graph::new(self.operations, self.ranks, self.collectives))
    }
}

/// Refuses peers that are no ranks, and sends whose tag stands for any.
fn check_peers(all: &Operations) -> Result<(), GraphError> {
    let ranks = all.ranks();
    for (rank, operations) in all.by_rank() {
        for (operation, stored) in (0..).zip(operations) {
            let peer = match stored.kind {
                StoredKind::Send | StoredKind::SendToSelf if stored.tag() == Operation::ANY => {
                    return Err(GraphError::TagOfAny { rank, operation });
                }
                StoredKind::OpenReceive => Operation::unless_any(stored.asked_peer()),
                StoredKind::Send => Some(all.message(stored).dst),
                // A message to the rank itself needs no check.
                _ => None,
            };
            if let Some(peer) = peer.filter(|&peer| peer >= ranks) {
                return Err(GraphError::NoSuchPeer {
                    rank,
                    operation,
                    peer,
                    ranks,
                });
            }
        }
    }
    Ok(())
}

/// Checks that every rank in a group, and no other, runs each collective there exactly once.
fn check_collectives(operations: &Operations, collectives: &Collectives) -> Result<(), GraphError> {
    let mut runs: Vec<Vec<u32>> = vec![Vec::new(); collectives.len()];
    for (rank, of_rank) in operations.by_rank() {
        for stored in of_rank {
            if stored.kind == StoredKind::Collective {
                runs[stored.which() as usize].push(rank);
            }
        }
    }
    for (which, runs) in (0..).zip(runs) {
        let (group, _, _) = collectives.get(which);
        let mut expected = collectives.ranks_of(group).to_vec();
        // `runs` ascends because ranks were visited in order; a group may list its ranks in any
        // order.
        expected.sort_unstable();
        let (ranks, group_size) = (runs.len() as u32, expected.len() as u32);
        if runs != expected {
            return Err(GraphError::NotAllTakePart {
                which,
                ranks,
                group_size,
            });
        }
    }
    Ok(())
}
