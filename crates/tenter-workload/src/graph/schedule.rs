//! A graph as a schedule: its messages are transfers, whose order on each way is that of posting.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tenter_engine::{prefetch_at, values_per_line};
use tenter_units::{Instant, Time};

use super::collectives::CollectiveTransfers;
use super::error::GraphError;
use super::handshake::{Handshakes, What};
use super::operation::{Stored, StoredKind, Timing};
use super::storage::Graph;
use super::ways::Ways;
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
/// in between. Where each message has a queue pair of its own, its lane is the place of its send,
/// and nothing needs to be read.
#[derive(Debug)]
pub struct GraphSchedule {
    graph: Arc<Graph>,
    timing: Timing,
    /// Those of large messages, where these have any.
    handshakes: Option<Handshakes>,
    posted: Box<[AtomicU32]>,
    collectives: CollectiveTransfers,
    /// Whether anything is done when it is acknowledged, and not before.
    hears_acknowledgements: bool,
    /// When each message was posted, in ps, where ranks are metered: its receiver reads that once
    /// the message is there, as above.
    posted_at: Option<Box<[AtomicU64]>>,
    /// Operations of each rank whose times are kept, ascending.
    marks: Marks,
}

/// Operations of each rank whose times are kept, ascending; ranks beyond have none.
pub type Marks = Arc<Vec<Vec<u32>>>;

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
        let handshakes = timing
            .rendezvous
            .then(|| Handshakes::new(&graph, timing.eager_bytes));
        let handshakes = handshakes.transpose()?.flatten();
        let end = handshakes
            .as_ref()
            .map_or(graph.messages(), Handshakes::end);
        let collectives = CollectiveTransfers::new(&graph.collectives, end, LANE_OF_MESSAGES + 1)?;
        let eager = timing.eager_bytes;
        let hears_acknowledgements = collectives.end() > end
            || eager < u64::MAX && graph.sends().any(|(_, _, bytes)| bytes > eager);
        let posted = (0..end).map(|_| AtomicU32::new(NOT_POSTED));
        Ok(GraphSchedule {
            posted: posted.collect(),
            collectives,
            hears_acknowledgements,
            handshakes,
            timing,
            posted_at: None,
            marks: Marks::default(),
            graph,
        })
    }

    /// The same, whose ranks measure what their time goes by with, and when marked operations ran.
    #[must_use]
    pub fn metered(self, marks: Marks) -> GraphSchedule {
        let messages = 0..self.graph.messages();
        let posted_at = messages.map(|_| AtomicU64::new(u64::MAX)).collect();
        GraphSchedule {
            posted_at: Some(posted_at),
            marks,
            ..self
        }
    }

    /// The marked operations of a rank, where ranks measure what their time goes by with.
    pub(super) fn marks_of(&self, rank: u32) -> Option<&[u32]> {
        self.posted_at.as_ref()?;
        let marks = self.marks.get(rank as usize);
        Some(marks.map_or(&[], Vec::as_slice))
    }

    /// When a message was posted, where that is known.
    pub(super) fn posted_at(&self, transfer: u32) -> Option<Instant> {
        let at = self.posted_at.as_ref()?.get(transfer as usize)?;
        let at = Instant::from_ps(at.load(Ordering::Acquire));
        (!at.is_never()).then_some(at)
    }

    /// The graph that a schedule is, if it is one.
    pub fn of(schedule: &dyn Schedule) -> Option<&GraphSchedule> {
        schedule.operations()?.downcast_ref()
    }

    /// The collectives with their transfers.
    pub(super) fn collectives(&self) -> &CollectiveTransfers {
        &self.collectives
    }

    /// What a transfer is.
    pub(super) fn what(&self, transfer: u32) -> What {
        if transfer < self.graph.messages() {
            return What::Message(transfer);
        }
        let handshakes = self.handshakes.as_ref();
        handshakes.map_or(What::Part, |of| of.what(transfer))
    }

    /// The request and the clearance of a message; `None` where it is sent without.
    pub(super) fn handshake_of(&self, message: u32) -> Option<(u32, u32)> {
        self.handshakes.as_ref()?.of(message)
    }

    /// The message of a send, by its rank and its place there, and its clearance; `None` where it
    /// is sent without.
    pub(super) fn clearance_of(&self, rank: u32, place: u32) -> Option<(u32, u32)> {
        let handshakes = self.handshakes.as_ref()?;
        let message = self.graph.transfer_of(rank, place)?;
        let (_, clearance) = handshakes.of(message)?;
        Some((message, clearance))
    }

    /// The ways of messages, and of what lets them be sent.
    pub(super) fn ways(&self) -> &Ways {
        let of_handshakes = self.handshakes.as_ref().map(Handshakes::ways);
        of_handshakes.unwrap_or(self.graph.ways())
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
    pub(super) fn write_down(&self, rank: u32, way: usize, nth: u32, transfer: u32, now: Instant) {
        // Handshakes are numbered behind the messages.
        let times = self.posted_at.as_ref();
        if let Some(at) = times.and_then(|times| times.get(transfer as usize)) {
            at.store(now.ps(), Ordering::Release);
        }
        let place = (self.ways().places(rank, way).start + nth) as usize;
        self.posted[place].store(transfer, Ordering::Release);
        prefetch_at(&self.posted, place + values_per_line::<AtomicU32>());
    }

    /// Whether anything is done when it is acknowledged, and not before.
    pub fn hears_acknowledgements(&self) -> bool {
        self.hears_acknowledgements
    }

    /// Whether something is done when a transfer is acknowledged, and not before.
    pub fn is_done_when_acknowledged(&self, transfer: u32) -> bool {
        if !self.hears_acknowledgements {
            return false;
        }
        match self.what(transfer) {
            What::Message(_) => {
                let message = self.graph.message(transfer);
                self.graph.bytes_of(message) > self.timing.eager_bytes
            }
            What::Request(_) | What::Clearance(_) => false,
            What::Part => true,
        }
    }

    /// A message, as a transfer.
    fn message(&self, id: u32) -> Transfer {
        let message = self.graph.message(id);
        Transfer {
            src: message.src,
            dst: message.dst,
            bytes: self.graph.bytes_of(message),
            chunk: message.place,
            channel: LANE_OF_MESSAGES,
            step: 0,
            reduce: false,
        }
    }

    /// The transfers of a lane that one message has for itself.
    fn nth_of_message(&self, src: u32, to: Destination, nth: u32) -> Option<u32> {
        if to.lane >= Handshakes::CLEARANCE_LANE {
            let place = to.lane - Handshakes::CLEARANCE_LANE;
            let message = self.graph.transfer_of(to.dst, place)?;
            let (_, clearance) = self.handshake_of(message)?;
            return (nth == 0).then_some(clearance);
        }
        let message = self.graph.transfer_of(src, to.lane)?;
        match (self.handshake_of(message), nth) {
            (Some((request, _)), 0) => Some(request),
            (Some(_), 1) | (None, 0) => Some(message),
            _ => None,
        }
    }

    /// The lanes of a rank that each message has for itself.
    fn lanes_of_messages(&self, rank: u32, out: &mut Vec<Destination>) {
        for (lane, stored) in (0..).zip(self.graph.stored_of(rank)) {
            if let Some(message) = stored.sent() {
                let dst = self.graph.message(message).dst;
                out.push(Destination { dst, lane });
            }
        }
        let cleared = self.handshakes.iter().flat_map(|of| of.cleared_by(rank));
        out.extend(cleared.map(|message| {
            let (dst, place) = self.graph.send_of(message);
            let lane = Handshakes::CLEARANCE_LANE + place;
            Destination { dst, lane }
        }));
    }

    /// How long an operation occupies its stream.
    pub(super) fn time_on_stream(&self, stored: &Stored) -> Time {
        match stored.kind {
            StoredKind::Compute => self.timing.computing(stored.time()),
            StoredKind::Wait => stored.time(),
            StoredKind::Send
            | StoredKind::SendToSelf
            | StoredKind::Receive
            | StoredKind::OpenReceive => self.timing.overhead,
            // It ends when all is sent and received.
            StoredKind::Collective => Time::ZERO,
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
        let of_handshake = |message: u32| Transfer {
            bytes: Handshakes::BYTES,
            ..self.message(message)
        };
        match self.what(id) {
            What::Message(message) => self.message(message),
            What::Request(message) => of_handshake(message),
            What::Clearance(message) => {
                let request = of_handshake(message);
                Transfer {
                    src: request.dst,
                    dst: request.src,
                    chunk: Handshakes::CLEARANCE_LANE + request.chunk,
                    ..request
                }
            }
            What::Part => self.collectives.transfer(id),
        }
    }

    /// None: a [`RankRun`](super::RankRun) says what a rank posts.
    fn initial(&self, _rank: u32, _out: &mut Vec<u32>) {}

    /// None: a [`RankRun`](super::RankRun) says what a rank posts.
    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn latency(&self, id: u32) -> Time {
        match self.what(id) {
            What::Part => {
                let (number, local) = self.collectives.locate(id);
                self.collectives.schedule(number).0.latency(local)
            }
            _ => Time::ZERO,
        }
    }

    fn operations(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        match scope {
            QueuePairScope::RankPair => {
                out.extend(self.ways().counts(rank).map(|(dst, _)| Destination {
                    dst,
                    lane: LANE_OF_MESSAGES,
                }));
                self.collectives.pairs(rank, out);
            }
            QueuePairScope::Chunk => self.lanes_of_messages(rank, out),
        }
        out[start..].sort_unstable();
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        if scope == QueuePairScope::Chunk {
            return self.nth_of_message(src, to, nth);
        }
        if to.lane != LANE_OF_MESSAGES {
            return self.collectives.nth(src, to, nth);
        }
        let ways = self.ways();
        let places = ways.places(src, ways.to(src, to.dst)?);
        let place = places.start.checked_add(nth)?;
        if place >= places.end {
            return None;
        }
        let id = self.posted[place as usize].load(Ordering::Acquire);
        (id != NOT_POSTED).then_some(id)
    }
}
