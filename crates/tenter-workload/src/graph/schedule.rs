//! A graph as a schedule: messages are transfers, in the order on each queue pair that the run
//! decides.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tenter_engine::{prefetch_at, values_per_line};
use tenter_language::units::{Instant, Rate, Time};

use super::collectives::CollectiveTransfers;
use super::error::GraphError;
use super::handshake::{Handshakes, What};
use super::operation::{Stored, StoredKind, Timing};
use super::storage::Graph;
use super::ways::Ways;
use crate::collective::{CollectiveMember, Factor};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// Describes graphs among the collectives.
pub static MEMBER: CollectiveMember = CollectiveMember {
    collective: "operations",
    algorithm: "graph",
    summary: "ranks compute, send and receive as a graph of operations says",
    model_page: "docs/models/collective-operations.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// A graph's transfers, with the order in which one run posts them.
///
/// Queue pairs keep their order, but only the run decides which send comes first at a rank. The
/// sender therefore writes down what it posts, and the n-th message's receiver looks it up. The
/// entry is written by then, since the message has crossed a link in between. With a queue pair for
/// each message (scope `chunk`) the lane is the send's place, and nothing is looked up.
#[derive(Debug)]
pub struct GraphSchedule {
    graph: Arc<Graph>,
    timing: Timing,
    /// Handshakes for large messages; `None` without rendezvous or large messages.
    handshakes: Option<Handshakes>,
    /// Transfer posted as the n-th from one rank to another, at the place that [`Ways`] has for it.
    posted: Box<[AtomicU32]>,
    collectives: CollectiveTransfers,
    /// True if some operation ends with an acknowledgement, so that the endpoint must report these.
    hears_acknowledgements: bool,
    /// Times at which messages were posted, in ps; `None` unless ranks are metered. The receiver
    /// reads the time once the message is here, as with `posted`.
    posted_at: Option<Box<[AtomicU64]>>,
    /// Operations whose times a metered run keeps.
    marks: Marks,
}

/// Places of marked operations by rank, ascending; ranks beyond the list have none.
pub type Marks = Arc<Vec<Vec<u32>>>;

/// Lane that messages use; the collectives' lanes follow.
const LANE_OF_MESSAGES: u32 = 0;
/// Entry for a transfer that has not been posted.
const NOT_POSTED: u32 = u32::MAX;

impl GraphSchedule {
    /// Prepares one run.
    ///
    /// # Errors
    /// Collectives that cannot run with their ranks or size, and more transfers than can be
    /// numbered.
    pub(crate) fn new(graph: Arc<Graph>, timing: Timing) -> Result<GraphSchedule, GraphError> {
        let handshakes = timing
            .rendezvous
            .then(|| Handshakes::new(&graph, timing.eager_bytes));
        let handshakes = handshakes.transpose()?.flatten();
        let end = handshakes
            .as_ref()
            .map_or(graph.messages(), Handshakes::end);
        // Messages are numbered first, then handshakes, then transfers of collectives.
        let collectives = CollectiveTransfers::new(&graph.collectives, end, LANE_OF_MESSAGES + 1)?;
        let eager = timing.eager_bytes;
        // A collective ends at a rank once its own transfers are acknowledged.
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

    /// Makes ranks attribute their time, and keep the times at which marked operations ran.
    #[must_use]
    pub(crate) fn metered(self, marks: Marks) -> GraphSchedule {
        let messages = 0..self.graph.messages();
        let posted_at = messages.map(|_| AtomicU64::new(u64::MAX)).collect();
        GraphSchedule {
            posted_at: Some(posted_at),
            marks,
            ..self
        }
    }

    /// Returns a rank's marked operations, or `None` if the run is not metered.
    pub(super) fn marks_of(&self, rank: u32) -> Option<&[u32]> {
        self.posted_at.as_ref()?;
        let marks = self.marks.get(rank as usize);
        Some(marks.map_or(&[], Vec::as_slice))
    }

    /// Returns when a message was posted; `None` if it has not been, or if the run is not metered.
    pub(super) fn posted_at(&self, transfer: u32) -> Option<Instant> {
        let at = self.posted_at.as_ref()?.get(transfer as usize)?;
        let at = Instant::from_ps(at.load(Ordering::Acquire));
        (!at.is_never()).then_some(at)
    }

    /// Returns the graph behind `schedule`, if it is one.
    pub fn of(schedule: &dyn Schedule) -> Option<&GraphSchedule> {
        schedule.operations()?.downcast_ref()
    }

    /// Returns the collectives with their transfers.
    pub(super) fn collectives(&self) -> &CollectiveTransfers {
        &self.collectives
    }

    /// Returns what a transfer number stands for.
    pub(super) fn what(&self, transfer: u32) -> What {
        if transfer < self.graph.messages() {
            return What::Message(transfer);
        }
        let handshakes = self.handshakes.as_ref();
        handshakes.map_or(What::Part, |of| of.what(transfer))
    }

    /// Returns a message's request and clearance; `None` if it needs no handshake.
    pub(super) fn handshake_of(&self, message: u32) -> Option<(u32, u32)> {
        self.handshakes.as_ref()?.of(message)
    }

    /// Returns the message that `rank` sends at `place`, and its clearance; `None` if it needs no
    /// handshake.
    pub(super) fn clearance_of(&self, rank: u32, place: u32) -> Option<(u32, u32)> {
        let handshakes = self.handshakes.as_ref()?;
        let message = self.graph.transfer_of(rank, place)?;
        let (_, clearance) = handshakes.of(message)?;
        Some((message, clearance))
    }

    /// Returns the rank pairs that exchange messages, with their transfers counted. Handshakes are
    /// included.
    pub(super) fn ways(&self) -> &Ways {
        let of_handshakes = self.handshakes.as_ref().map(Handshakes::ways);
        of_handshakes.unwrap_or(self.graph.ways())
    }

    /// Returns the graph that the schedule runs.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the costs of operations and the messaging protocol.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Records that rank `rank` posts `transfer` as the `nth` one on its pair `way`, at time `now`.
    pub(super) fn write_down(&self, rank: u32, way: usize, nth: u32, transfer: u32, now: Instant) {
        // Handshakes have numbers beyond `posted_at`; their times are never asked for.
        let times = self.posted_at.as_ref();
        if let Some(at) = times.and_then(|times| times.get(transfer as usize)) {
            at.store(now.ps(), Ordering::Release);
        }
        let place = (self.ways().places(rank, way).start + nth) as usize;
        // Release pairs with the receiver's acquire: it may run on another thread.
        self.posted[place].store(transfer, Ordering::Release);
        // The next messages to the same rank are written behind this one.
        prefetch_at(&self.posted, place + values_per_line::<AtomicU32>());
    }

    /// Returns true if some operation ends with an acknowledgement.
    pub fn hears_acknowledgements(&self) -> bool {
        self.hears_acknowledgements
    }

    /// Returns true if some operation ends when this transfer is acknowledged.
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

    /// Returns a message as a transfer.
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

    /// Returns the `nth` transfer on a queue pair that serves one message: its request, if it has
    /// one, and the message, or in the other direction the clearance.
    fn nth_of_message(&self, src: u32, to: Destination, nth: u32) -> Option<u32> {
        if to.lane >= Handshakes::CLEARANCE_LANE {
            let place = to.lane - Handshakes::CLEARANCE_LANE;
            let message = self.graph.transfer_of(to.dst, place)?;
            let (_, clearance) = self.handshake_of(message)?;
            return (nth == 0).then_some(clearance);
        }
        let message = self.graph.transfer_of(src, to.lane)?;
        match (self.handshake_of(message), nth) {
            // The request precedes its message on the queue pair that both share.
            (Some((request, _)), 0) => Some(request),
            (Some(_), 1) | (None, 0) => Some(message),
            _ => None,
        }
    }

    /// Lists a rank's queue pairs if each message has its own.
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

    /// Returns the time for which an operation occupies its stream.
    pub(super) fn time_on_stream(&self, stored: &Stored) -> Time {
        match stored.kind {
            StoredKind::Compute => self.timing.computing(stored.time()),
            StoredKind::Wait => stored.time(),
            StoredKind::Send
            | StoredKind::SendToSelf
            | StoredKind::Receive
            | StoredKind::OpenReceive => self.timing.overhead,
            // A collective keeps its stream busy until its last transfer.
            StoredKind::Collective => Time::ZERO,
        }
    }

    /// Counts the completions that end a run: all transfers, and all ranks with operations.
    pub fn things_to_do(&self) -> u64 {
        let ranks = 0..self.graph.ranks();
        // A rank without operations never reports its end.
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

    /// Appends nothing: a [`RankRun`](super::RankRun) decides what a rank posts.
    fn initial(&self, _rank: u32, _out: &mut Vec<u32>) {}

    /// Appends nothing: a [`RankRun`](super::RankRun) decides what a rank posts.
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

    fn pace(&self, id: u32) -> Option<Rate> {
        let What::Part = self.what(id) else {
            return None;
        };
        let (number, local) = self.collectives.locate(id);
        self.collectives.schedule(number).0.pace(local)
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
            // Graphs with collectives are refused with this scope.
            QueuePairScope::Chunk => self.lanes_of_messages(rank, out),
        }
        // Messages and collectives were appended apart; callers expect one ascending list.
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
