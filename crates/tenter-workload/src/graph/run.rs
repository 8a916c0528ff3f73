//! Carrying out what a graph has for one rank.

use std::collections::{BTreeMap, VecDeque};

use tenter_units::Instant;

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

/// What is to be done on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Start an operation.
    Start(u32),
    /// Take the message that a receive has.
    Take(u32),
}

#[derive(Clone, Debug, Default)]
struct Stream {
    busy: bool,
    queue: VecDeque<Task>,
}

/// Where one rank stands in a graph.
///
/// Operations of a stream start in the order in which what they waited for was done, those of the
/// same instant in the order in which the graph lists who waits. A receive waits beside its stream
/// and occupies it only when its message is there. All that follows from one event without taking
/// time follows at once.
#[derive(Clone, Debug)]
pub struct RankRun {
    rank: u32,
    progress: Progress,
    streams: Vec<Stream>,
    inbox: Inbox,
    /// Messages and handshakes posted on each way.
    posted: Vec<u32>,
    /// The receives of messages that were asked for and have not arrived.
    cleared: BTreeMap<u32, u32>,
    left: u32,
    collectives: CollectiveRuns,
    recorder: Option<Box<Recorder>>,
}

impl RankRun {
    /// A rank before its start.
    pub fn new(schedule: &GraphSchedule, rank: u32) -> RankRun {
        let recorder = Recorder::new(schedule, rank, false);
        RankRun::with_recorder(schedule, rank, recorder)
    }

    /// A rank before its start that keeps a log.
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

    /// Takes its log, an entry for each operation; `None` where none is kept.
    pub fn take_log(&mut self) -> Option<Vec<OperationLog>> {
        self.recorder.as_mut()?.take_log()
    }

    /// Its log so far.
    pub fn log(&self) -> Option<&[OperationLog]> {
        self.recorder.as_ref()?.log()
    }

    /// What its time went by with, where that is measured.
    pub fn metered(&self) -> Option<&Metered> {
        self.recorder.as_ref()?.metered()
    }

    /// How many operations are not done.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The receives that wait: their places, and whom they ask for (`None` for any) under which
    /// tag.
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

    /// Something has happened at the rank at an instant; what follows from it
    /// is appended to the actions.
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
                What::Message(_) | What::Request(_) | What::Clearance(_) => {}
                What::Part => {
                    let over = self.collectives.acknowledged(transfer, turn);
                    self.end_collective(over, turn);
                }
            },
            News::Woken(operation) => {
                let stored = schedule.graph().stored(self.rank, operation);
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

    /// A transfer is here.
    fn arrived(&mut self, transfer: u32, turn: &mut Turn<'_>) {
        match turn.schedule.what(transfer) {
            What::Message(message) => match self.cleared.remove(&message) {
                Some(receive) => {
                    let send = turn.schedule.graph().send_of(message);
                    self.has_message(receive, send, turn);
                }
                None => self.match_up(message, turn),
            },
            What::Request(message) => self.match_up(message, turn),
            What::Clearance(message) => {
                let to = turn.schedule.graph().message(message).dst;
                self.post(to, message, turn);
            }
            What::Part => {
                let over = self.collectives.arrived(transfer, turn);
                self.end_collective(over, turn);
            }
        }
    }

    /// Looks for the receive of a message that is here, or that its sender asks to send.
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

    /// Carries out all that follows at this instant.
    fn settle(&mut self, turn: &mut Turn<'_>) {
        let before = self.left;
        while let Some(event) = turn.events.pop_front() {
            match event {
                Event::Ready(operation) => self.ready(operation, turn),
                Event::Started(operation) => self.release(operation, true, turn),
                Event::Done(operation) => {
                    self.left -= 1;
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
        if self.left == 0 && before > 0 {
            turn.act(Action::Done);
        }
    }

    /// A receive asks for its message, other operations queue on their streams.
    fn ready(&mut self, operation: u32, turn: &mut Turn<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.ready(operation, turn.now);
        }
        let stored = turn.schedule.graph().stored(self.rank, operation);
        if !matches!(stored.kind, StoredKind::Receive | StoredKind::OpenReceive) {
            return self.enqueue(stored.stream, Task::Start(operation), turn);
        }
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

    /// Tells those that wait for the start of an operation, or for its end.
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

    /// Queues a task on a stream, or begins with it at once where the next event would do so:
    /// nothing else is queued, and nothing else has happened. So callers let nothing happen behind
    /// it that a task might overtake.
    fn enqueue(&mut self, stream: u16, task: Task, turn: &mut Turn<'_>) {
        let of = &mut self.streams[usize::from(stream)];
        if !of.busy && of.queue.is_empty() && turn.events.is_empty() {
            return self.begin(stream, task, turn);
        }
        of.queue.push_back(task);
        turn.happens(Event::Free(stream));
    }

    /// A message of no certain receive is here, or is asked to be sent: that of a send, by its rank
    /// and its place there.
    fn take_in(&mut self, peer: u32, place: u32, turn: &mut Turn<'_>) {
        let tag = turn.schedule.graph().stored(peer, place).tag();
        if let Some(receive) = self.inbox.arrived(Envelope { peer, tag }, place) {
            self.is_matched(receive, (peer, place), turn);
        }
    }

    /// A receive takes a message, which is here unless its sender waits for the clearance.
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

    /// A receive has its message, and takes it when its stream is free.
    fn has_message(&mut self, receive: u32, sender: (u32, u32), turn: &mut Turn<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.matched(receive, sender, turn.now);
        }
        if turn.schedule.timing().overhead.is_zero() {
            turn.happens(Event::Done(receive));
        } else {
            let stored = turn.schedule.graph().stored(self.rank, receive);
            self.enqueue(stored.stream, Task::Take(receive), turn);
        }
    }

    /// Begins with what comes next on a stream, unless it is busy.
    fn go_on(&mut self, stream: u16, turn: &mut Turn<'_>) {
        let of = &mut self.streams[usize::from(stream)];
        if of.busy {
            return;
        }
        if let Some(task) = of.queue.pop_front() {
            self.begin(stream, task, turn);
        }
    }

    /// A stream begins with a task.
    fn begin(&mut self, stream: u16, task: Task, turn: &mut Turn<'_>) {
        let (Task::Take(operation) | Task::Start(operation)) = task;
        let stored = turn.schedule.graph().stored(self.rank, operation);
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

    /// An operation has had its time on its stream: a send is posted, all else is done.
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
        graph.prefetch_messages_behind(message);
        let handshake = turn.schedule.handshake_of(message);
        let first = handshake.map_or(message, |(request, _)| request);
        self.post(graph.message(message).dst, first, turn);
        if !turn.schedule.is_done_when_acknowledged(message) {
            turn.happens(Event::Done(operation));
        }
    }

    /// Posts a message or a part of its handshake to a rank, behind what was posted there before.
    fn post(&mut self, to: u32, id: u32, turn: &mut Turn<'_>) {
        if let Some(way) = turn.schedule.ways().to(self.rank, to) {
            let nth = &mut self.posted[way];
            turn.schedule.write_down(self.rank, way, *nth, id, turn.now);
            *nth += 1;
            turn.act(Action::Post(id));
        }
    }

    /// Ends a collective by its operation, once it is over.
    fn end_collective(&mut self, over: Option<u32>, turn: &mut Turn<'_>) {
        if let Some(operation) = over {
            let stream = turn.schedule.graph().stored(self.rank, operation).stream;
            self.streams[usize::from(stream)].busy = false;
            turn.happens(Event::Free(stream));
            turn.happens(Event::Done(operation));
        }
    }
}
