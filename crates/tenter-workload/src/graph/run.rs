//! Runs one rank's part in a graph.

use std::collections::{BTreeMap, VecDeque};

use tenter_language::units::Instant;

use super::collective_runs::CollectiveRuns;
use super::handshake::What;
use super::inbox::{Envelope, Inbox};
use super::log::OperationLog;
use super::meter::Metered;
use super::operation::{Operation, StoredKind};
use super::progress::Progress;
use super::recorder::Recorder;
use super::schedule::GraphSchedule;
use super::turn::{Action, Consequences, Event, News, Turn};

/// A task in a stream's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Start(u32),
    /// Runs the overhead for a receive whose message is here.
    Take(u32),
}

#[derive(Clone, Debug, Default)]
struct Stream {
    busy: bool,
    queue: VecDeque<Task>,
}

/// One rank's state while it carries out a graph.
///
/// A stream starts its operations in the order in which they became ready; those that became ready
/// together start in the order of the graph's edges. A receive waits beside its stream and occupies
/// it only once its message is here. All consequences that take no time happen at the same instant.
#[derive(Clone, Debug)]
pub struct RankRun {
    rank: u32,
    progress: Progress,
    streams: Vec<Stream>,
    inbox: Inbox,
    /// Messages and handshakes posted so far to each destination.
    posted: Vec<u32>,
    /// Receives that were cleared and whose messages are under way, by message.
    cleared: BTreeMap<u32, u32>,
    /// Operations that are not done.
    left: u32,
    collectives: CollectiveRuns,
    recorder: Option<Box<Recorder>>,
}

impl RankRun {
    /// Creates a rank before its start; it keeps no log.
    pub fn new(schedule: &GraphSchedule, rank: u32) -> RankRun {
        let recorder = Recorder::new(schedule, rank, false);
        RankRun::with_recorder(schedule, rank, recorder)
    }

    /// Creates a rank before its start that keeps a log.
    pub fn with_log(schedule: &GraphSchedule, rank: u32) -> RankRun {
        let recorder = Recorder::new(schedule, rank, true);
        RankRun::with_recorder(schedule, rank, recorder)
    }

    fn with_recorder(
        schedule: &GraphSchedule,
        rank: u32,
        recorder: Option<Box<Recorder>>,
    ) -> RankRun {
        let graph = schedule.graph();
        let (of, operations) = (graph.rank(rank), graph.stored_of(rank));
        // Each run counts these down, so it has its own.
        let mut waits = vec![0; operations.len()];
        for edge in operations.iter().flat_map(|stored| of.followers(stored)) {
            waits[edge.operation() as usize] += 1;
        }
        RankRun {
            rank,
            progress: Progress::new(waits),
            streams: vec![Stream::default(); of.streams.len()],
            inbox: Inbox::default(),
            posted: vec![0; schedule.ways().count(rank)],
            cleared: BTreeMap::new(),
            left: operations.len() as u32,
            collectives: CollectiveRuns::new(rank),
            recorder,
        }
    }

    /// Takes the log, an entry for each operation; `None` if none is kept.
    pub fn take_log(&mut self) -> Option<Vec<OperationLog>> {
        self.recorder.as_mut()?.take_log()
    }

    /// Returns the log so far; `None` if none is kept.
    pub fn log(&self) -> Option<&[OperationLog]> {
        self.recorder.as_ref()?.log()
    }

    /// Returns the attributed times, if the schedule is [metered](GraphSchedule::metered).
    pub fn metered(&self) -> Option<&Metered> {
        self.recorder.as_ref()?.metered()
    }

    /// Counts the operations that are not done.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Lists the receives that wait for a message: place, source and tag, where `None` accepts any.
    /// They are sorted by place.
    pub fn waiting(&self, schedule: &GraphSchedule) -> Vec<(u32, Option<u32>, Option<u32>)> {
        let expected = self.progress.asked().filter_map(|place| {
            match schedule.graph().operation(self.rank, place).0 {
                Operation::Receive { peer, tag, .. } => Some((place, peer, tag)),
                _ => None,
            }
        });
        let waiting = self.inbox.waiting();
        let waiting = waiting.map(|(of, operation)| {
            let [peer, tag] = [of.peer, of.tag].map(Operation::unless_any);
            (operation, peer, tag)
        });
        let mut found: Vec<_> = waiting.chain(expected).collect();
        found.sort_unstable();
        found
    }

    /// Handles an event at the rank at time `now`. Appends what the rank posts, its wake-up times
    /// and its end to the actions.
    pub fn hear(
        &mut self,
        schedule: &GraphSchedule,
        news: News,
        now: Instant,
        consequences: &mut Consequences,
    ) {
        let Consequences { actions, events } = consequences;
        let turn = &mut Turn {
            schedule,
            now,
            events,
            actions,
        };
        match news {
            News::Start => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.start(now);
                }
                turn.events.extend(self.progress.ready().map(Event::Ready));
            }
            News::Arrived(transfer) => self.arrived(transfer, turn),
            News::Acknowledged(transfer) => match schedule.what(transfer) {
                What::Message(_) if schedule.is_done_when_acknowledged(transfer) => {
                    let (_, place) = schedule.graph().send_of(transfer);
                    turn.happens(Event::Done(place));
                }
                // Small messages were done when they were posted, and nothing waits for a
                // handshake.
                What::Message(_) | What::Request(_) | What::Clearance(_) => {}
                What::Part => {
                    let over = self.collectives.acknowledged(transfer, turn);
                    self.end_collective(over, turn);
                }
            },
            News::Woken(operation) => {
                let stored = schedule.graph().stored(self.rank, operation);
                // Only a collective with a base latency is woken; its stream stays busy until it is
                // over.
                if stored.kind == StoredKind::Collective {
                    let over = self.collectives.take_part(operation, stored.which(), turn);
                    self.end_collective(over, turn);
                } else {
                    self.streams[usize::from(stored.stream)].busy = false;
                    turn.happens(Event::Free(stored.stream));
                    self.complete(operation, turn);
                }
            }
        }
        self.settle(turn);
    }

    fn arrived(&mut self, transfer: u32, turn: &mut Turn<'_>) {
        match turn.schedule.what(transfer) {
            // A cleared message has its receive already; all others look for one now.
            What::Message(message) => match self.cleared.remove(&message) {
                Some(receive) => {
                    let send = turn.schedule.graph().send_of(message);
                    self.has_message(receive, send, turn);
                }
                None => self.match_up(message, turn),
            },
            What::Request(message) => self.match_up(message, turn),
            What::Clearance(message) => {
                // This rank is the sender, which may post the message now.
                let to = turn.schedule.graph().message(message).dst;
                self.post(to, message, turn);
            }
            What::Part => {
                let over = self.collectives.arrived(transfer, turn);
                self.end_collective(over, turn);
            }
        }
    }

    /// Finds the receive for a message that has arrived, or that its sender asks to send.
    fn match_up(&mut self, message: u32, turn: &mut Turn<'_>) {
        let of = turn.schedule.graph().message(message);
        let send = (of.src, of.place);
        match of.known_receive() {
            Some(receive) => {
                if self.progress.arrived(receive) {
                    self.is_matched(receive, send, turn);
                }
            }
            None => self.take_in(of.src, of.place, turn),
        }
    }

    /// Carries out all consequences at this instant, in the order in which they arose.
    fn settle(&mut self, turn: &mut Turn<'_>) {
        let before = self.left;
        // What follows from an event waits behind everything that has already happened.
        while let Some(event) = turn.events.pop_front() {
            match event {
                Event::Ready(operation) => self.ready(operation, turn),
                Event::Started(operation) => self.release(operation, true, turn),
                Event::Done(operation) => {
                    self.left -= 1;
                    // Most ranks run operations roughly by place, so the next ones are needed soon.
                    turn.schedule.graph().prefetch_behind(self.rank, operation);
                    self.progress.prefetch_behind(operation);
                    if let Some(recorder) = &mut self.recorder {
                        let is_last = self.left == 0;
                        recorder.done(turn.schedule, operation, turn.now, is_last);
                    }
                    self.release(operation, false, turn);
                }
                Event::Free(stream) => self.go_on(stream, turn),
            }
        }
        // `before` keeps later acknowledgements from reporting the end a second time.
        if self.left == 0 && before > 0 {
            turn.act(Action::Done);
        }
    }

    /// Queues a ready operation on its stream; a receive asks for its message instead.
    fn ready(&mut self, operation: u32, turn: &mut Turn<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.ready(operation, turn.now);
        }
        let stored = turn.schedule.graph().stored(self.rank, operation);
        if !matches!(stored.kind, StoredKind::Receive | StoredKind::OpenReceive) {
            return self.enqueue(stored.stream, Task::Start(operation), turn);
        }
        // Receives occupy no stream while they wait, so they start as soon as they are ready.
        if stored.starts_others() {
            turn.happens(Event::Started(operation));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.asked(operation, turn.now);
        }
        if let Some(message) = stored.taken() {
            if self.progress.ask(operation) {
                let send = turn.schedule.graph().send_of(message);
                self.is_matched(operation, send, turn);
            }
            return;
        }
        let (peer, tag) = (stored.asked_peer(), stored.tag());
        if let Some(sender) = self.inbox.asked(Envelope { peer, tag }, operation) {
            self.is_matched(operation, sender, turn);
        }
    }

    /// Counts down the operations that wait for this one's start (`starts` is set) or end.
    fn release(&mut self, operation: u32, starts: bool, turn: &mut Turn<'_>) {
        let edges = turn.schedule.graph().edges_of(self.rank, operation);
        for edge in edges.filter(|edge| edge.on_start() == starts) {
            let next = edge.operation();
            if self.progress.is_last(next) {
                if let Some(recorder) = &mut self.recorder {
                    recorder.released_by(next, operation);
                }
                turn.happens(Event::Ready(next));
            }
        }
    }

    /// Queues a task on a stream. It begins at once if the next event would do so anyway, because
    /// nothing is queued and no event is pending. Callers must therefore not add an event
    /// afterwards that has to precede the task.
    fn enqueue(&mut self, stream: u16, task: Task, turn: &mut Turn<'_>) {
        let of = &mut self.streams[usize::from(stream)];
        if !of.busy && of.queue.is_empty() && turn.events.is_empty() {
            return self.begin(stream, task, turn);
        }
        of.queue.push_back(task);
        turn.happens(Event::Free(stream));
    }

    /// Offers a message, given by its sender and its send's place, to receives that match by source
    /// and tag.
    fn take_in(&mut self, peer: u32, place: u32, turn: &mut Turn<'_>) {
        let tag = turn.schedule.graph().stored(peer, place).tag();
        if let Some(receive) = self.inbox.arrived(Envelope { peer, tag }, place) {
            self.is_matched(receive, (peer, place), turn);
        }
    }

    /// Handles a match. The receive has its message now, unless the sender waits for a clearance,
    /// which is posted instead.
    fn is_matched(&mut self, receive: u32, sender: (u32, u32), turn: &mut Turn<'_>) {
        let Some((message, clearance)) = turn.schedule.clearance_of(sender.0, sender.1) else {
            return self.has_message(receive, sender, turn);
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.requested(receive, turn.now);
        }
        self.cleared.insert(message, receive);
        self.post(sender.0, clearance, turn);
    }

    /// Handles a receive's message: the receive is done, or occupies its stream for the overhead.
    fn has_message(&mut self, receive: u32, sender: (u32, u32), turn: &mut Turn<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.matched(receive, sender, turn.now);
        }
        // Without overhead the receive needs no time on its stream, and so no place in its queue.
        if turn.schedule.timing().overhead.is_zero() {
            turn.happens(Event::Done(receive));
        } else {
            let stored = turn.schedule.graph().stored(self.rank, receive);
            self.enqueue(stored.stream, Task::Take(receive), turn);
        }
    }

    /// Begins a stream's next task unless the stream is busy.
    fn go_on(&mut self, stream: u16, turn: &mut Turn<'_>) {
        let of = &mut self.streams[usize::from(stream)];
        if of.busy {
            return;
        }
        if let Some(task) = of.queue.pop_front() {
            self.begin(stream, task, turn);
        }
    }

    /// Begins a task on a stream.
    fn begin(&mut self, stream: u16, task: Task, turn: &mut Turn<'_>) {
        let (Task::Take(operation) | Task::Start(operation)) = task;
        let stored = turn.schedule.graph().stored(self.rank, operation);
        // A receive has started when it asked, not when it takes its message.
        if stored.starts_others() && task == Task::Start(operation) {
            turn.happens(Event::Started(operation));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(turn.schedule, operation, stream, turn.now);
        }
        let of = &mut self.streams[usize::from(stream)];
        if stored.kind == StoredKind::Collective {
            of.busy = true;
            let which = stored.which();
            let start_up = turn.schedule.collectives().schedule(which).0.start_up();
            if start_up.is_zero() {
                let over = self.collectives.take_part(operation, which, turn);
                self.end_collective(over, turn);
            } else {
                turn.act(Action::Wake(start_up, operation));
            }
            return;
        }
        let time = turn.schedule.time_on_stream(stored);
        if time.is_zero() {
            turn.happens(Event::Free(stream));
            self.complete(operation, turn);
        } else {
            of.busy = true;
            turn.act(Action::Wake(time, operation));
        }
    }

    /// Finishes an operation's time on its stream: a send posts its message, all others are done.
    fn complete(&mut self, operation: u32, turn: &mut Turn<'_>) {
        let graph = turn.schedule.graph();
        let stored = graph.stored(self.rank, operation);
        let Some(message) = stored.sent() else {
            if stored.kind == StoredKind::SendToSelf {
                // It is there at once.
                self.take_in(self.rank, operation, turn);
            }
            turn.happens(Event::Done(operation));
            return;
        };
        // The next sends of this rank use the messages behind this one.
        graph.prefetch_messages_behind(message);
        let handshake = turn.schedule.handshake_of(message);
        let first = handshake.map_or(message, |(request, _)| request);
        self.post(graph.message(message).dst, first, turn);
        if !turn.schedule.is_done_when_acknowledged(message) {
            turn.happens(Event::Done(operation));
        }
    }

    /// Posts a message, or a part of its handshake, to rank `to`. The position among all transfers
    /// to that rank is what its receiver reads.
    fn post(&mut self, to: u32, id: u32, turn: &mut Turn<'_>) {
        if let Some(way) = turn.schedule.ways().to(self.rank, to) {
            let nth = &mut self.posted[way];
            turn.schedule.write_down(self.rank, way, *nth, id, turn.now);
            *nth += 1;
            turn.act(Action::Post(id));
        }
    }

    /// Frees the stream when a collective is over, and marks its operation as done.
    fn end_collective(&mut self, over: Option<u32>, turn: &mut Turn<'_>) {
        if let Some(operation) = over {
            let stream = turn.schedule.graph().stored(self.rank, operation).stream;
            self.streams[usize::from(stream)].busy = false;
            turn.happens(Event::Free(stream));
            turn.happens(Event::Done(operation));
        }
    }
}
