//! A graph as a schedule: its messages are transfers, whose order on each way is that of posting.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tenter_units::Time;

use super::collectives::CollectiveTransfers;
use super::error::GraphError;
use super::operation::{Operation, Timing};
use super::storage::Graph;
use crate::collective::{CollectiveMember, Factor};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// What is known of graphs without running them.
pub static MEMBER: CollectiveMember = CollectiveMember {
    collective: "operations",
    algorithm: "graph",
    summary: "ranks compute, send and receive as a graph of operations says",
    model_page: "docs/models/collective-operations.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// The transfers of a graph, and for one run of it the order in which they are posted.
///
/// Queue pairs keep their order, and which send of a rank comes first is known only when the graph
/// runs. So the sender writes down what it posts, and the receiver of the n-th message of a way
/// reads there which one that is: by then it has been written, since the message has crossed a link
/// in between.
#[derive(Debug)]
pub struct GraphSchedule {
    graph: Arc<Graph>,
    timing: Timing,
    posted: Box<[AtomicU32]>,
    collectives: CollectiveTransfers,
    /// When each message was posted, in ps, where ranks are metered: its receiver reads that once
    /// the message is there, as above.
    posted_at: Option<Box<[AtomicU64]>>,
}

/// The lane of messages; those of collectives follow.
const LANE_OF_MESSAGES: u32 = 0;
/// Not posted yet.
const NOT_POSTED: u32 = u32::MAX;

impl GraphSchedule {
    /// One run of a graph.
    ///
    /// # Errors
    /// Collectives that their ranks cannot run, and more transfers than can be numbered.
    pub fn new(graph: Arc<Graph>, timing: Timing) -> Result<GraphSchedule, GraphError> {
        let messages = graph.messages();
        let posted = (0..messages).map(|_| AtomicU32::new(NOT_POSTED));
        let behind_messages = (messages, LANE_OF_MESSAGES + 1);
        Ok(GraphSchedule {
            posted: posted.collect(),
            collectives: CollectiveTransfers::new(&graph.collectives, behind_messages)?,
            timing,
            posted_at: None,
            graph,
        })
    }

    /// The same, whose ranks measure what their time goes by with.
    #[must_use]
    pub fn metered(self) -> GraphSchedule {
        let messages = 0..self.graph.messages();
        let posted_at = messages.map(|_| AtomicU64::new(u64::MAX)).collect();
        GraphSchedule {
            posted_at: Some(posted_at),
            ..self
        }
    }

    /// Whether ranks measure what their time goes by with.
    pub(super) fn is_metered(&self) -> bool {
        self.posted_at.is_some()
    }

    /// When a message was posted, where that is known.
    pub(super) fn posted_at(&self, transfer: u32) -> Option<u64> {
        let at = self.posted_at.as_ref()?.get(transfer as usize)?;
        Some(at.load(Ordering::Acquire)).filter(|&at| at < u64::MAX)
    }

    /// The graph that a schedule is, if it is one.
    pub fn of(schedule: &dyn Schedule) -> Option<&GraphSchedule> {
        schedule.operations()?.downcast_ref()
    }

    /// The collectives with their transfers.
    pub(super) fn collectives(&self) -> &CollectiveTransfers {
        &self.collectives
    }

    /// Whether a transfer is a message, and of no collective.
    pub(super) fn is_message(&self, transfer: u32) -> bool {
        transfer < self.graph.messages()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What operations take.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// The `nth` message of a rank's way is this transfer.
    pub(super) fn write_down(
        &self,
        (rank, way): (u32, usize),
        nth: u32,
        (transfer, now): (u32, u64),
    ) {
        if let Some(at) = &self.posted_at {
            at[transfer as usize].store(now, Ordering::Release);
        }
        let base = self.graph.ways_of(rank)[way].base;
        self.posted[(base + nth) as usize].store(transfer, Ordering::Release);
    }

    /// Whether something is done when a transfer is acknowledged, and not before.
    pub fn is_done_when_acknowledged(&self, transfer: u32) -> bool {
        !self.is_message(transfer) || self.transfer(transfer).bytes > self.timing.eager_bytes
    }

    /// How long an operation occupies its stream.
    pub(super) fn time_on_stream(&self, rank: u32, place: u32) -> Time {
        match self.graph.stored(rank, place).operation() {
            Operation::Compute { time } => self.timing.computing(time),
            Operation::Wait { time } => time,
            Operation::Send { .. } | Operation::Receive { .. } => self.timing.overhead,
            // It ends when all is sent and received.
            Operation::Collective { .. } => Time::ZERO,
        }
    }

    /// How many things must be done before all is: messages that arrive, and ranks with operations.
    pub fn things_to_do(&self) -> u64 {
        let ranks = 0..self.graph.ranks();
        let busy = ranks.filter(|&rank| self.graph.operations_of(rank) > 0);
        u64::from(self.transfer_count()) + busy.count() as u64
    }
}

impl Schedule for GraphSchedule {
    fn ranks(&self) -> u32 {
        self.graph.ranks()
    }

    fn transfer_count(&self) -> u32 {
        self.collectives.end()
    }

    fn transfer(&self, id: u32) -> Transfer {
        if !self.is_message(id) {
            return self.collectives.transfer(id);
        }
        let (src, place) = self.graph.send_of(id);
        let (dst, bytes) = match self.graph.operation(src, place).0 {
            Operation::Send { peer, bytes, .. } => (peer, bytes),
            _ => (src, 0),
        };
        Transfer {
            src,
            dst,
            bytes,
            chunk: place,
            channel: LANE_OF_MESSAGES,
            step: 0,
            reduce: false,
        }
    }

    /// None: a [`RankRun`](super::RankRun) says what a rank posts.
    fn initial(&self, _rank: u32, _out: &mut Vec<u32>) {}

    /// None: a [`RankRun`](super::RankRun) says what a rank posts.
    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn operations(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn pairs(&self, rank: u32, _scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        let ways = self.graph.ways_of(rank).iter();
        out.extend(ways.map(|way| Destination {
            dst: way.dst,
            lane: LANE_OF_MESSAGES,
        }));
        self.collectives.pairs(rank, out);
        out[start..].sort_unstable();
    }

    fn nth(&self, src: u32, to: Destination, _scope: QueuePairScope, nth: u32) -> Option<u32> {
        if to.lane != LANE_OF_MESSAGES {
            return self.collectives.nth(src, to, nth);
        }
        let ways = self.graph.ways_of(src);
        let place = self.graph.way(src, to.dst)?;
        let end = self.graph.first_way[src as usize] as usize + place + 1;
        let end = self
            .graph
            .ways
            .get(end)
            .map_or(self.posted.len() as u32, |way| way.base);
        let index = ways[place]
            .base
            .checked_add(nth)
            .filter(|&index| index < end)?;
        let id = self.posted[index as usize].load(Ordering::Acquire);
        (id != NOT_POSTED).then_some(id)
    }
}
