//! Carrying out what a graph has for one rank.

use std::collections::VecDeque;

use tenter_units::Time;

use super::inbox::{Envelope, Inbox};
use super::operation::Operation;
use super::schedule::GraphSchedule;

/// What follows from something that has happened at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The rank posts a transfer.
    Post(u32),
    /// It is to be woken for an operation after a time.
    Wake(Time, u32),
    /// All of its operations are done.
    Done,
}

/// What is to be done on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Start an operation.
    Start(u32),
    /// Take the message that a receive has.
    Take(u32),
}

/// What has happened at an instant, and of which the consequences are still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// All that an operation has waited for.
    Ready(u32),
    /// An operation has started.
    Started(u32),
    /// An operation is done.
    Done(u32),
    /// A stream may go on.
    Free(u16),
}

#[derive(Clone, Debug, Default)]
struct Stream {
    busy: bool,
    queue: VecDeque<Task>,
}

/// Where one rank stands in a graph.
///
/// Operations of a stream start in the order in which what they waited for was done, those of the
/// same instant in the order of the graph. A receive waits beside its stream and occupies it only
/// when its message is there. All that follows from one event without taking time follows at once.
#[derive(Clone, Debug)]
pub struct RankRun {
    rank: u32,
    /// What each operation still waits for.
    waits: Vec<u32>,
    streams: Vec<Stream>,
    inbox: Inbox,
    /// Messages posted on each way.
    posted: Vec<u32>,
    left: u32,
    events: VecDeque<Event>,
}

impl RankRun {
    /// A rank before its start.
    pub fn new(schedule: &GraphSchedule, rank: u32) -> RankRun {
        let graph = schedule.graph();
        let of = graph.rank(rank);
        let mut waits = vec![0; of.operations.len()];
        for edge in &of.edges.edges {
            waits[(edge >> 1) as usize] += 1;
        }
        RankRun {
            rank,
            waits,
            streams: vec![Stream::default(); of.streams.len()],
            inbox: Inbox::default(),
            posted: vec![0; graph.ways_of(rank).len()],
            left: of.operations.len() as u32,
            events: VecDeque::new(),
        }
    }

    /// The rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many operations are not done.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The receives that wait: their places, and whom they ask for (`None` for any) under which
    /// tag.
    pub fn waiting(&self) -> Vec<(u32, Option<u32>, Option<u32>)> {
        let unless_any = |of: u32| (of != Operation::ANY).then_some(of);
        let waiting = self.inbox.waiting();
        let mut found: Vec<_> = waiting
            .map(|(of, operation)| (operation, unless_any(of.peer), unless_any(of.tag)))
            .collect();
        found.sort_unstable();
        found
    }

    /// The rank starts.
    pub fn start(&mut self, schedule: &GraphSchedule, out: &mut Vec<Action>) {
        let ready = (0..).zip(&self.waits).filter(|(_, waits)| **waits == 0);
        let ready = ready.map(|(operation, _)| Event::Ready(operation));
        self.events.extend(ready);
        self.settle(schedule, out);
    }

    /// A message has arrived whole, perhaps before the start.
    pub fn arrived(&mut self, schedule: &GraphSchedule, transfer: u32, out: &mut Vec<Action>) {
        let (peer, place) = schedule.graph().send_of(transfer);
        self.take_in(schedule, (peer, place));
        self.settle(schedule, out);
    }

    /// A message of the rank has been acknowledged.
    pub fn acknowledged(&mut self, schedule: &GraphSchedule, transfer: u32, out: &mut Vec<Action>) {
        if schedule.is_done_when_acknowledged(transfer) {
            let (_, place) = schedule.graph().send_of(transfer);
            self.events.push_back(Event::Done(place));
            self.settle(schedule, out);
        }
    }

    /// The time of an operation on its stream is over.
    pub fn woken(&mut self, schedule: &GraphSchedule, operation: u32, out: &mut Vec<Action>) {
        let stored = schedule.graph().stored(self.rank, operation);
        self.streams[usize::from(stored.stream)].busy = false;
        self.events.push_back(Event::Free(stored.stream));
        self.complete(schedule, operation, out);
        self.settle(schedule, out);
    }

    /// Carries out all that follows at this instant.
    fn settle(&mut self, schedule: &GraphSchedule, out: &mut Vec<Action>) {
        let before = self.left;
        while let Some(event) = self.events.pop_front() {
            match event {
                Event::Ready(operation) => self.ready(schedule, operation),
                Event::Started(operation) => self.release(schedule, operation, true),
                Event::Done(operation) => {
                    self.left -= 1;
                    self.release(schedule, operation, false);
                }
                Event::Free(stream) => self.go_on(schedule, stream, out),
            }
        }
        if self.left == 0 && before > 0 {
            out.push(Action::Done);
        }
    }

    /// A receive asks for its message, other operations queue on their streams.
    fn ready(&mut self, schedule: &GraphSchedule, operation: u32) {
        let stored = schedule.graph().stored(self.rank, operation);
        let Operation::Receive { peer, tag, .. } = stored.operation() else {
            return self.enqueue(stored.stream, Task::Start(operation));
        };
        self.events.push_back(Event::Started(operation));
        let [peer, tag] = [peer, tag].map(|of| of.unwrap_or(Operation::ANY));
        if self.inbox.asked(Envelope { peer, tag }, operation) {
            self.has_message(schedule, operation);
        }
    }

    /// Tells those that wait for the start of an operation, or for its end.
    fn release(&mut self, schedule: &GraphSchedule, operation: u32, starts: bool) {
        let edges = &schedule.graph().rank(self.rank).edges;
        let waiting = edges.of(operation);
        for (next, _) in waiting.filter(|(_, on_start)| *on_start == starts) {
            let waits = &mut self.waits[next as usize];
            *waits -= 1;
            if *waits == 0 {
                self.events.push_back(Event::Ready(next));
            }
        }
    }

    fn enqueue(&mut self, stream: u16, task: Task) {
        self.streams[usize::from(stream)].queue.push_back(task);
        self.events.push_back(Event::Free(stream));
    }

    /// The message of a send, by its rank and its place there, is here.
    fn take_in(&mut self, schedule: &GraphSchedule, (peer, place): (u32, u32)) {
        let stored = schedule.graph().stored(peer, place);
        if let Operation::Send { tag, .. } = stored.operation()
            && let Some(receive) = self.inbox.arrived(Envelope { peer, tag })
        {
            self.has_message(schedule, receive);
        }
    }

    /// A receive has its message, and takes it when its stream is free.
    fn has_message(&mut self, schedule: &GraphSchedule, receive: u32) {
        if schedule.timing().overhead.is_zero() {
            self.events.push_back(Event::Done(receive));
        } else {
            let stored = schedule.graph().stored(self.rank, receive);
            self.enqueue(stored.stream, Task::Take(receive));
        }
    }

    /// Starts what comes next on a stream, unless it is busy.
    fn go_on(&mut self, schedule: &GraphSchedule, stream: u16, out: &mut Vec<Action>) {
        let of = &mut self.streams[usize::from(stream)];
        if of.busy {
            return;
        }
        let Some(task) = of.queue.pop_front() else {
            return;
        };
        let operation = match task {
            Task::Take(receive) => receive,
            Task::Start(operation) => {
                self.events.push_back(Event::Started(operation));
                operation
            }
        };
        let time = schedule.time_on_stream(self.rank, operation);
        if time.is_zero() {
            self.events.push_back(Event::Free(stream));
            self.complete(schedule, operation, out);
        } else {
            self.streams[usize::from(stream)].busy = true;
            out.push(Action::Wake(time, operation));
        }
    }

    /// An operation has had its time on its stream: a send is posted, all else is done.
    fn complete(&mut self, schedule: &GraphSchedule, operation: u32, out: &mut Vec<Action>) {
        let graph = schedule.graph();
        let Operation::Send { peer, .. } = graph.stored(self.rank, operation).operation() else {
            self.events.push_back(Event::Done(operation));
            return;
        };
        let way = graph.way(self.rank, peer);
        let Some((way, transfer)) = way.zip(graph.transfer_of(self.rank, operation)) else {
            // To itself: it is there at once.
            self.take_in(schedule, (self.rank, operation));
            self.events.push_back(Event::Done(operation));
            return;
        };
        let nth = &mut self.posted[way];
        schedule.write_down((self.rank, way), *nth, transfer);
        *nth += 1;
        out.push(Action::Post(transfer));
        if !schedule.is_done_when_acknowledged(transfer) {
            self.events.push_back(Event::Done(operation));
        }
    }
}
