//! The window loop over several parts: a leader that runs windows alone or shares them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use tenter_units::Instant;

use crate::arrival::Arrival;
use crate::lane::{Lane, Nodes, Outgoing, Peers};
use crate::meeting::{Helpers, Meeting};
use crate::pace::Pace;
use crate::parts::{Control, Part, RunOutcome, Windows};

/// Runs all parts until an edge, or until nothing is left to happen.
pub(crate) fn run<N: Nodes>(
    parts: &mut [Part<N>],
    from: Instant,
    edge: Instant,
    windows: Windows,
    control: &impl Control,
    pace: &mut Pace,
) -> RunOutcome {
    let crew = Crew::new(parts, windows);
    std::thread::scope(|scope| {
        let mut leader = Leader {
            helpers: Helpers::new(&crew.meeting),
            crew: &crew,
            edge,
            control,
            pace,
        };
        leader.run(scope, from)
    })
}

type Mailbox<T> = Mutex<Vec<Outgoing<T>>>;

/// What the threads of one run share. While a window is shared, each part has one writer; between
/// windows all belong to the leader.
struct Crew<'p, N: Nodes> {
    meeting: Meeting,
    windows: Windows,
    parts: Vec<Mutex<&'p mut Part<N>>>,
    /// The window that is shared.
    start: AtomicU64,
    end: AtomicU64,
    /// When something next happens at a node of each part, items in its outboxes included.
    next: Vec<AtomicU64>,
    /// How much work the window was for each part.
    work: Vec<AtomicU64>,
    /// `mailboxes[parity][receiver][sender]`: the parity changes every window, so a thread that is
    /// already in the next one does not disturb those that still collect.
    mailboxes: [Vec<Vec<Mailbox<N::Item>>>; 2],
}

/// The thread that lays the windows.
struct Leader<'a, 'p, N: Nodes, C: Control> {
    crew: &'a Crew<'p, N>,
    helpers: Helpers<'a>,
    edge: Instant,
    control: &'a C,
    pace: &'a mut Pace,
}

impl<'a, N: Nodes, C: Control> Leader<'a, '_, N, C> {
    fn run<'scope>(&mut self, scope: &'scope Scope<'scope, 'a>, from: Instant) -> RunOutcome
    where
        'a: 'scope,
    {
        let mut held = self.crew.hold();
        let nexts = held
            .iter_mut()
            .map(|part| part.lane.next(from, self.crew.windows));
        let mut next = nexts.min().unwrap_or(Instant::NEVER);
        loop {
            next = self.run_alone(&mut held, next);
            if self.is_over(next) {
                break;
            }
            drop(held);
            self.call_helpers(scope);
            while !self.is_over(next) && self.pace.shares() {
                next = self.share_window(next);
            }
            held = self.crew.hold();
        }
        if next.is_never() {
            RunOutcome::Empty
        } else {
            RunOutcome::Edge(self.edge)
        }
    }

    fn is_over(&self, next: Instant) -> bool {
        next.is_never() || next >= self.edge
    }

    /// Runs windows alone, up to one that is to be shared; when that or the end of the run is.
    fn run_alone(
        &mut self,
        held: &mut [MutexGuard<'_, &mut Part<N>>],
        mut next: Instant,
    ) -> Instant {
        let windows = self.crew.windows;
        // Side by side, so that what one part sends is delivered to another at once.
        let mut lanes: Vec<Lane<N::Item>> = held.iter_mut().map(|part| part.lane.take()).collect();
        let mut done = Vec::with_capacity(lanes.len());
        while !self.is_over(next) && !self.pace.shares() {
            let end = lanes[0].window_end(next, windows).min(self.edge);
            for lane in &mut lanes {
                lane.begin(next);
            }
            done.clear();
            done.extend(lanes.iter().map(|lane| lane.work));
            for (index, part) in held.iter_mut().enumerate() {
                let (before, rest) = lanes.split_at_mut(index);
                if let Some((lane, after)) = rest.split_first_mut() {
                    let peers = Peers { before, after };
                    lane.run_window(&mut part.nodes, next, end, peers);
                }
            }
            let nexts = lanes.iter_mut().map(|lane| lane.next(end, windows));
            next = nexts.min().unwrap_or(Instant::NEVER);
            self.edge = self.edge.min(self.control.edge_after(end));
            let parts = lanes.iter().zip(&done);
            self.pace
                .count(parts.map(|(lane, before)| lane.work - before));
        }
        for (part, lane) in held.iter_mut().zip(lanes) {
            part.lane = lane;
        }
        next
    }

    /// Starts the threads, when they are first needed.
    fn call_helpers<'scope>(&mut self, scope: &'scope Scope<'scope, 'a>)
    where
        'a: 'scope,
    {
        let crew = self.crew;
        for me in self.helpers.count() + 1..crew.parts.len() {
            let help = move || {
                crew.meeting
                    .help(me, |part, window| crew.run_part(part, window));
            };
            // Where the system gives no more threads, those that are there do the work.
            let Ok(helper) = std::thread::Builder::new().spawn_scoped(scope, help) else {
                return;
            };
            self.helpers.add(helper.thread().clone());
        }
    }

    /// Shares one window; when the next one starts.
    fn share_window(&mut self, start: Instant) -> Instant {
        let crew = self.crew;
        let end = lock(&crew.parts[0]).lane.window_end(start, crew.windows);
        let end = end.min(self.edge);
        crew.start.store(start.ps(), Ordering::Relaxed);
        crew.end.store(end.ps(), Ordering::Relaxed);
        crew.meeting
            .share(&self.helpers, |part, window| crew.run_part(part, window));
        self.edge = self.edge.min(self.control.edge_after(end));
        let work = crew.work.iter().map(|work| work.load(Ordering::Relaxed));
        self.pace.count(work);
        let nexts = crew.next.iter().map(instant);
        nexts.min().unwrap_or(Instant::NEVER)
    }
}

impl<'p, N: Nodes> Crew<'p, N> {
    fn new(parts: &'p mut [Part<N>], windows: Windows) -> Crew<'p, N> {
        let count = parts.len();
        let boxes = || {
            (0..count)
                .map(|_| (0..count).map(|_| Mutex::default()).collect())
                .collect()
        };
        let numbers = || (0..count).map(|_| AtomicU64::new(0)).collect();
        Crew {
            meeting: Meeting::new(count),
            windows,
            parts: parts.iter_mut().map(Mutex::new).collect(),
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            next: numbers(),
            work: numbers(),
            mailboxes: [boxes(), boxes()],
        }
    }

    /// All parts for the calling thread alone, with nothing left in mailboxes.
    fn hold(&self) -> Vec<MutexGuard<'_, &'p mut Part<N>>> {
        let mut held: Vec<_> = self.parts.iter().map(lock).collect();
        for (index, part) in held.iter_mut().enumerate() {
            for parity in 0..2 {
                self.collect(index, &mut part.lane, parity);
            }
        }
        held
    }

    /// The shared window of one part.
    fn run_part(&self, index: usize, window: u64) {
        let parity = (window % 2) as usize;
        let mut held = lock(&self.parts[index]);
        let part = &mut **held;
        self.collect(index, &mut part.lane, 1 - parity);
        let end = instant(&self.end);
        let before = part.lane.work;
        let start = instant(&self.start);
        part.lane
            .run_window(&mut part.nodes, start, end, Peers::none());
        self.work[index].store(part.lane.work - before, Ordering::Relaxed);
        let outgoing = self.post(index, &mut part.lane, parity);
        let next = part.lane.next(end, self.windows).min(outgoing);
        self.next[index].store(next.ps(), Ordering::Relaxed);
    }

    /// Empties the outboxes into the mailboxes of the other parts; returns the earliest arrival
    /// among the items.
    fn post(&self, me: usize, lane: &mut Lane<N::Item>, parity: usize) -> Instant {
        for (receiver, outbox) in lane.outboxes.iter_mut().enumerate() {
            if !outbox.is_empty() {
                let mut mailbox = lock(&self.mailboxes[parity][receiver][me]);
                std::mem::swap(&mut *mailbox, outbox);
            }
        }
        std::mem::replace(&mut lane.earliest_outgoing, Instant::NEVER)
    }

    fn collect(&self, me: usize, lane: &mut Lane<N::Item>, parity: usize) {
        for mailbox in &self.mailboxes[parity][me] {
            for (node, input, item) in lock(mailbox).drain(..) {
                lane.deliver(node, input, item.at(), &item);
            }
        }
    }
}

/// An instant that threads share.
fn instant(shared: &AtomicU64) -> Instant {
    Instant::from_ps(shared.load(Ordering::Relaxed))
}

/// Poison means that a thread panicked; the meeting stops the others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
