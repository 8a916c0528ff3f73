//! The window loop over several partitions: a leader that runs windows alone or shares them with
//! helpers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use tenter_language::units::Instant;

use crate::arrival::Arrival;
use crate::lane::{Lane, Nodes, Outgoing, Peers};
use crate::meeting::{Helpers, Meeting};
use crate::pace::Pace;
use crate::parts::{Control, Part, RunOutcome, Windows};

/// Runs all partitions until a sync point, or until no event is left.
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

/// Items from one partition to another.
type Mailbox<T> = Mutex<Vec<Outgoing<T>>>;

/// State that a run's threads share. In a shared window each partition has one writer; between
/// windows the leader owns everything.
struct Crew<'p, N: Nodes> {
    meeting: Meeting,
    windows: Windows,
    parts: Vec<Mutex<&'p mut Part<N>>>,
    /// Start and end of the shared window, in ps.
    start: AtomicU64,
    end: AtomicU64,
    /// For each partition the next time at which a node has work, be it one of its own or one that
    /// receives an item from its outboxes.
    next: Vec<AtomicU64>,
    /// Each partition's work in the last shared window, in visits plus arrivals.
    work: Vec<AtomicU64>,
    /// `mailboxes[parity][receiver][sender]`. The parity alternates with windows, so a thread that
    /// is already in the next window does not disturb those that still collect from the last one.
    mailboxes: [Vec<Vec<Mailbox<N::Item>>>; 2],
}

/// The thread that decides the windows.
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
            // Helpers take the partitions themselves, so this thread must not hold them meanwhile.
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

    /// Runs windows alone until one should be shared or the run is over; returns that window's
    /// start.
    fn run_alone(
        &mut self,
        held: &mut [MutexGuard<'_, &mut Part<N>>],
        mut next: Instant,
    ) -> Instant {
        let windows = self.crew.windows;
        // The lanes lie side by side, so that an item from one partition is delivered to another at
        // once.
        let mut lanes: Vec<Lane<N::Item>> = held.iter_mut().map(|part| part.lane.take()).collect();
        let mut done = Vec::with_capacity(lanes.len());
        while !self.is_over(next) && !self.pace.shares() {
            let end = lanes[0].window_end(next, windows).min(self.edge);
            // All lanes enter the window before any sends: an item is filed relative to its
            // receiver's current bucket.
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

    /// Starts the helper threads when they are first needed.
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
            // If the system refuses more threads, the existing ones do the work.
            let Ok(helper) = std::thread::Builder::new().spawn_scoped(scope, help) else {
                return;
            };
            self.helpers.add(helper.thread().clone());
        }
    }

    /// Shares the window that starts at `start`; returns the next window's start.
    fn share_window(&mut self, start: Instant) -> Instant {
        let crew = self.crew;
        let end = lock(&crew.parts[0]).lane.window_end(start, crew.windows);
        let end = end.min(self.edge);
        // Relaxed stores suffice: `share` publishes them with the window's number.
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

    /// Locks all partitions for the calling thread, with all mailboxes emptied.
    fn hold(&self) -> Vec<MutexGuard<'_, &'p mut Part<N>>> {
        let mut held: Vec<_> = self.parts.iter().map(lock).collect();
        for (index, part) in held.iter_mut().enumerate() {
            for parity in 0..2 {
                self.collect(index, &mut part.lane, parity);
            }
        }
        held
    }

    /// Runs partition `index` through shared window number `window`.
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
        // Receivers learn of these items only in the next window, so the sender reports their
        // times.
        let outgoing = self.post(index, &mut part.lane, parity);
        let next = part.lane.next(end, self.windows).min(outgoing);
        self.next[index].store(next.ps(), Ordering::Relaxed);
    }

    /// Moves the outboxes into the receiving partitions' mailboxes; returns the earliest arrival
    /// time among the items.
    fn post(&self, me: usize, lane: &mut Lane<N::Item>, parity: usize) -> Instant {
        for (receiver, outbox) in lane.outboxes.iter_mut().enumerate() {
            if !outbox.is_empty() {
                let mut mailbox = lock(&self.mailboxes[parity][receiver][me]);
                // The mailbox was emptied a window ago; swapping keeps both allocations in use.
                std::mem::swap(&mut *mailbox, outbox);
            }
        }
        std::mem::replace(&mut lane.earliest_outgoing, Instant::NEVER)
    }

    /// Delivers the items that other partitions have posted for partition `me`.
    fn collect(&self, me: usize, lane: &mut Lane<N::Item>, parity: usize) {
        // By sender: items through one input have one sender, so their order is that of sending.
        for mailbox in &self.mailboxes[parity][me] {
            for (node, input, item) in lock(mailbox).drain(..) {
                lane.deliver(node, input, item.at(), &item);
            }
        }
    }
}

/// Reads an instant that threads share.
fn instant(shared: &AtomicU64) -> Instant {
    Instant::from_ps(shared.load(Ordering::Relaxed))
}

/// Locks `mutex` even if poisoned: poison means that a thread panicked, and the meeting stops the
/// others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
