//! Carrying out what a graph has for one rank.

use std::collections::{BTreeMap, VecDeque};

use tenter_units::Time;

use super::collectives::Share;
use super::handshake::What;
use super::inbox::{Envelope, Inbox};
use super::log::{Log, OperationLog};
use super::meter::{Meter, Metered};
use super::operation::{Form, Operation};
use super::progress::Progress;
use super::schedule::GraphSchedule;
use crate::{Countdown, Schedule};

/// What has happened at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The rank starts.
    Start,
    /// A transfer has arrived whole, perhaps before the start.
    Arrived(u32),
    /// A transfer of the rank has been acknowledged.
    Acknowledged(u32),
    /// The time of an operation on its stream is over.
    Woken(u32),
}

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

/// The actions that follow from news, and scratch space to find them. All ranks of a partition
/// share one, so that it stays in the cache.
#[derive(Clone, Debug, Default)]
pub struct Consequences {
    /// What is to be done; whoever does it empties the list.
    pub actions: Vec<Action>,
    events: VecDeque<Event>,
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
    /// Collectives that the rank is in, or of which something has arrived before it is.
    collectives: BTreeMap<u32, CollectiveRun>,
    /// Those of [`Consequences`] while it hears something, else none.
    events: VecDeque<Event>,
    /// The instant of what happens, in ps.
    now: u64,
    log: Log,
    meter: Option<Box<Meter>>,
}

/// When the message of a receive was posted, where that is known.
fn posted_at(schedule: &GraphSchedule, rank: u32, receive: u32) -> Option<u64> {
    let stored = schedule.graph().stored(rank, receive);
    let is_receive = stored.form == Form::Receive;
    let transfer = stored.known_message().filter(|_| is_receive)?;
    schedule.posted_at(transfer)
}

/// Where a rank stands in a collective.
#[derive(Clone, Debug)]
struct CollectiveRun {
    /// Its operation, once the rank takes part.
    operation: Option<u32>,
    /// Transfers that have not arrived, or not been acknowledged.
    left: Share,
    /// Arrivals that transfers still wait for.
    waits: Countdown<u32>,
    /// Transfers that the rank may send once it takes part.
    held: Vec<u32>,
}

impl RankRun {
    /// A rank before its start.
    pub fn new(schedule: &GraphSchedule, rank: u32) -> RankRun {
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
            collectives: BTreeMap::new(),
            events: VecDeque::new(),
            now: 0,
            log: Log::default(),
            meter: schedule
                .marks_of(rank)
                .map(|marked| Box::new(Meter::new(of, operations.len(), marked))),
        }
    }

    /// A rank before its start that keeps a log.
    pub fn with_log(schedule: &GraphSchedule, rank: u32) -> RankRun {
        let run = RankRun::new(schedule, rank);
        RankRun {
            log: Log::new(run.progress.len(), run.streams.len()),
            ..run
        }
    }

    /// Takes its log, an entry for each operation; `None` where none is kept.
    pub fn take_log(&mut self) -> Option<Vec<OperationLog>> {
        self.log.take()
    }

    /// Its log so far.
    pub fn log(&self) -> Option<&[OperationLog]> {
        self.log.entries()
    }

    /// What its time went by with, where that is measured.
    pub fn metered(&self) -> Option<&Metered> {
        self.meter.as_deref().map(Meter::metered)
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

    /// Something has happened at the rank at an instant, in ps; what follows from it
    /// is appended to the actions.
    pub fn hear(
        &mut self,
        schedule: &GraphSchedule,
        news: News,
        now: u64,
        consequences: &mut Consequences,
    ) {
        self.now = now;
        let Consequences {
            actions: out,
            events,
        } = consequences;
        std::mem::swap(&mut self.events, events);
        match news {
            News::Start => {
                if let Some(meter) = &mut self.meter {
                    meter.start(now);
                }
                self.events.extend(self.progress.ready().map(Event::Ready));
            }
            News::Arrived(transfer) => self.arrived(schedule, transfer, out),
            News::Acknowledged(transfer) => match schedule.what(transfer) {
                What::Message(_) if schedule.is_done_when_acknowledged(transfer) => {
                    let (_, place) = schedule.graph().send_of(transfer);
                    self.events.push_back(Event::Done(place));
                }
                What::Message(_) | What::Request(_) | What::Clearance(_) => {}
                What::Part => {
                    let (number, _) = schedule.collectives().locate(transfer);
                    self.collective(schedule, number).left.sends -= 1;
                    self.end_collective(schedule, number);
                }
            },
            News::Woken(operation) => {
                let stored = schedule.graph().stored(self.rank, operation);
                if stored.form == Form::Collective {
                    self.take_part(schedule, operation, stored.which(), out);
                } else {
                    self.streams[usize::from(stored.stream)].busy = false;
                    self.events.push_back(Event::Free(stored.stream));
                    self.complete(schedule, operation, out);
                }
            }
        }
        self.settle(schedule, out);
        std::mem::swap(&mut self.events, events);
    }

    /// A transfer is here.
    fn arrived(&mut self, schedule: &GraphSchedule, transfer: u32, out: &mut Vec<Action>) {
        let graph = schedule.graph();
        match schedule.what(transfer) {
            What::Message(message) => {
                let send = graph.send_of(message);
                match self.cleared.remove(&message) {
                    Some(receive) => self.has_message(schedule, receive, send),
                    None => self.match_up(schedule, message, out),
                }
            }
            What::Request(message) => self.match_up(schedule, message, out),
            What::Clearance(message) => {
                let transfer = schedule.transfer(message);
                self.post(schedule, transfer.dst, message, out);
            }
            What::Part => self.part_arrived(schedule, transfer, out),
        }
    }

    /// Looks for the receive of a message that is here, or that its sender asks to send.
    fn match_up(&mut self, schedule: &GraphSchedule, message: u32, out: &mut Vec<Action>) {
        let of = schedule.graph().message(message);
        let send = (of.src, of.place);
        match of.known_receive() {
            Some(receive) => {
                if self.progress.arrived(receive) {
                    self.is_matched(schedule, receive, send, out);
                }
            }
            None => self.take_in(schedule, send, out),
        }
    }

    /// Carries out all that follows at this instant.
    fn settle(&mut self, schedule: &GraphSchedule, out: &mut Vec<Action>) {
        let before = self.left;
        while let Some(event) = self.events.pop_front() {
            match event {
                Event::Ready(operation) => self.ready(schedule, operation, out),
                Event::Started(operation) => self.release(schedule, operation, true),
                Event::Done(operation) => {
                    self.left -= 1;
                    self.log.done(operation, self.now);
                    self.measure_end(schedule, operation);
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
    fn ready(&mut self, schedule: &GraphSchedule, operation: u32, out: &mut Vec<Action>) {
        self.log.ready(operation, self.now);
        if let Some(meter) = &mut self.meter {
            meter.ready(operation, self.now);
        }
        let stored = schedule.graph().stored(self.rank, operation);
        if !matches!(stored.form, Form::Receive | Form::OpenReceive) {
            return self.enqueue(stored.stream, Task::Start(operation));
        }
        if stored.starts_others() {
            self.events.push_back(Event::Started(operation));
        }
        if let Some(transfer) = stored.known_message() {
            self.log.asked(operation, self.now);
            if self.progress.ask(operation) {
                let send = schedule.graph().send_of(transfer);
                self.is_matched(schedule, operation, send, out);
            }
            return;
        }
        let (peer, tag) = (stored.asked_peer(), stored.tag());
        self.log.asked(operation, self.now);
        if let Some(sender) = self.inbox.asked(Envelope { peer, tag }, operation) {
            self.is_matched(schedule, operation, sender, out);
        }
    }

    /// Tells those that wait for the start of an operation, or for its end.
    fn release(&mut self, schedule: &GraphSchedule, operation: u32, starts: bool) {
        let edges = schedule.graph().edges_of(self.rank, operation);
        for edge in edges.filter(|edge| edge.on_start() == starts) {
            let next = edge.operation();
            if self.progress.is_last(next) {
                self.log.released_by(next, operation);
                if let Some(meter) = &mut self.meter {
                    meter.released_by(next, operation);
                }
                self.events.push_back(Event::Ready(next));
            }
        }
    }

    fn enqueue(&mut self, stream: u16, task: Task) {
        self.streams[usize::from(stream)].queue.push_back(task);
        self.events.push_back(Event::Free(stream));
    }

    /// A message of no certain receive is here, or is asked to be sent: that of a send, by its rank
    /// and its place there.
    fn take_in(
        &mut self,
        schedule: &GraphSchedule,
        (peer, place): (u32, u32),
        out: &mut Vec<Action>,
    ) {
        let tag = schedule.graph().stored(peer, place).tag();
        if let Some(receive) = self.inbox.arrived(Envelope { peer, tag }, place) {
            self.is_matched(schedule, receive, (peer, place), out);
        }
    }

    /// A receive takes a message, which is here unless its sender waits for the clearance.
    fn is_matched(
        &mut self,
        schedule: &GraphSchedule,
        receive: u32,
        sender: (u32, u32),
        out: &mut Vec<Action>,
    ) {
        let message = schedule.graph().transfer_of(sender.0, sender.1);
        let handshake =
            message.and_then(|message| Some((message, schedule.handshake_of(message)?)));
        let Some((message, (_, clearance))) = handshake else {
            return self.has_message(schedule, receive, sender);
        };
        self.log.requested(receive, self.now);
        self.cleared.insert(message, receive);
        self.post(schedule, sender.0, clearance, out);
    }

    /// A receive has its message, and takes it when its stream is free.
    fn has_message(&mut self, schedule: &GraphSchedule, receive: u32, sender: (u32, u32)) {
        self.log.matched(receive, sender, self.now);
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
        let (Task::Take(operation) | Task::Start(operation)) = task;
        let stored = schedule.graph().stored(self.rank, operation);
        if stored.starts_others() && task == Task::Start(operation) {
            self.events.push_back(Event::Started(operation));
        }
        self.log.on_stream(operation, stream, self.now);
        self.measure_begin(schedule, operation, stream);
        if stored.form == Form::Collective {
            let which = stored.which();
            self.streams[usize::from(stream)].busy = true;
            let start_up = schedule.collectives().schedule(which).0.start_up();
            if start_up.is_zero() {
                self.take_part(schedule, operation, which, out);
            } else {
                out.push(Action::Wake(start_up, operation));
            }
            return;
        }
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
        let stored = graph.stored(self.rank, operation);
        let Some(message) = stored.known_message().filter(|_| stored.form == Form::Send) else {
            if stored.form == Form::SendToSelf {
                // It is there at once.
                self.take_in(schedule, (self.rank, operation), out);
            }
            self.events.push_back(Event::Done(operation));
            return;
        };
        let handshake = schedule.handshake_of(message);
        let first = handshake.map_or(message, |(request, _)| request);
        self.post(schedule, graph.message(message).dst, first, out);
        if !schedule.is_done_when_acknowledged(message) {
            self.events.push_back(Event::Done(operation));
        }
    }

    /// Posts a message or a part of its handshake to a rank, behind what was posted there before.
    fn post(&mut self, schedule: &GraphSchedule, to: u32, id: u32, out: &mut Vec<Action>) {
        if let Some(way) = schedule.ways().to(self.rank, to) {
            let nth = &mut self.posted[way];
            schedule.write_down(self.rank, way, *nth, id, self.now);
            *nth += 1;
            out.push(Action::Post(id));
        }
    }

    fn measure_begin(&mut self, schedule: &GraphSchedule, operation: u32, stream: u16) {
        if let Some(meter) = &mut self.meter {
            let operations = schedule.graph().stored_of(self.rank);
            let sent = |receive| posted_at(schedule, self.rank, receive);
            meter.begin(operation, stream, self.now, sent, operations);
        }
    }

    fn measure_end(&mut self, schedule: &GraphSchedule, operation: u32) {
        if let Some(meter) = &mut self.meter {
            let operations = schedule.graph().stored_of(self.rank);
            let stream = operations[operation as usize].stream;
            let when = (self.now, self.left == 0);
            let sent = |receive| posted_at(schedule, self.rank, receive);
            meter.done((operation, stream), when, sent, operations);
        }
    }

    /// Where the rank stands in a collective, perhaps before it takes part.
    fn collective(&mut self, schedule: &GraphSchedule, number: u32) -> &mut CollectiveRun {
        let rank = self.rank;
        let runs = self.collectives.entry(number);
        runs.or_insert_with(|| CollectiveRun {
            operation: None,
            left: schedule.collectives().share(number, rank),
            waits: Countdown::default(),
            held: Vec::new(),
        })
    }

    /// The rank takes part in a collective from now on.
    fn take_part(
        &mut self,
        schedule: &GraphSchedule,
        operation: u32,
        number: u32,
        out: &mut Vec<Action>,
    ) {
        let rank = schedule.collectives().number_in_group(number, self.rank);
        let (of, base) = schedule.collectives().schedule(number);
        let mut ids = Vec::new();
        of.initial(rank, &mut ids);
        let run = self.collective(schedule, number);
        run.operation = Some(operation);
        ids.append(&mut run.held);
        out.extend(ids.into_iter().map(|id| Action::Post(base + id)));
        self.end_collective(schedule, number);
    }

    /// A transfer of a collective has arrived, and may release others.
    fn part_arrived(&mut self, schedule: &GraphSchedule, transfer: u32, out: &mut Vec<Action>) {
        let (number, local) = schedule.collectives().locate(transfer);
        let (of, base) = schedule.collectives().schedule(number);
        let run = self.collective(schedule, number);
        run.left.receives -= 1;
        let mut released = Vec::new();
        of.released_by(local, &mut released);
        for next in released {
            if !run.waits.is_last(next, of.dependencies(next)) {
                continue;
            }
            if run.operation.is_some() {
                out.push(Action::Post(base + next));
            } else {
                run.held.push(next);
            }
        }
        self.end_collective(schedule, number);
    }

    /// Ends a collective of which everything has arrived and been acknowledged.
    fn end_collective(&mut self, schedule: &GraphSchedule, number: u32) {
        let run = self.collective(schedule, number);
        let is_over = run.left == Share::default();
        if let Some(operation) = run.operation.filter(|_| is_over) {
            self.collectives.remove(&number);
            let stream = schedule.graph().stored(self.rank, operation).stream;
            self.streams[usize::from(stream)].busy = false;
            self.events.push_back(Event::Free(stream));
            self.events.push_back(Event::Done(operation));
        }
    }
}
