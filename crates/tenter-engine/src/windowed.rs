//! The window loop, on one thread or several.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::barrier::Barrier;
use crate::lane::{Arrival, Lane, Nodes, Outgoing, Visit};

/// One thread's share of the simulation: the engine's side and the model's.
#[derive(Debug)]
pub struct Part<N: Nodes> {
    /// Inboxes, calendar and outboxes.
    pub lane: Lane<N::Item>,
    /// The nodes.
    pub nodes: N,
}

/// How windows are laid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// Windows as long as a calendar bucket, which is no longer than the lookahead.
    Buckets,
    /// Each window starts at the very next thing that happens and lasts no longer than the
    /// lookahead in ps: for lookaheads so short that fixed windows would mostly be empty.
    Central(u64),
}

/// What decides between windows whether to stop.
///
/// It is asked by one thread while all others wait, so everything the nodes have published up to
/// the end of the window is there, and nothing later.
pub trait Control: Sync {
    /// The earliest instant, no earlier than `window_end`, at which an edge has become necessary;
    /// `u64::MAX` for none.
    fn edge_after(&self, window_end: u64) -> u64;
}

/// Why a run came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Every node stands at exactly this instant: all that happens before it has happened.
    Edge(u64),
    /// Nothing is left to happen.
    Empty,
}

/// Runs all parts from `from` until an edge, or until nothing is left to happen. One thread per
/// part.
///
/// # Panics
/// When there is no part, or when a node breaks its contract (see [`Nodes::visit`]).
pub fn run_windowed<N: Nodes>(
    parts: &mut [Part<N>],
    from: u64,
    edge: u64,
    windows: Windows,
    control: &impl Control,
) -> RunOutcome {
    if let [part] = parts {
        return run_single(part, from, edge, windows, control);
    }
    let shared = Shared::new(parts.len(), edge);
    shared.plan(
        parts
            .iter_mut()
            .map(|part| part.lane.next(from, windows))
            .min(),
        &parts[0].lane,
        windows,
    );
    // Nothing may happen before the edge, and then it is not worth a thread.
    if !shared.finished.load(Ordering::Relaxed) {
        std::thread::scope(|scope| {
            for (index, part) in parts.iter_mut().enumerate() {
                let shared = &shared;
                scope.spawn(move || shared.work(index, part, windows, control));
            }
        });
    }
    shared.outcome()
}

/// Lets the model of one part act at an edge at `at`, and delivers what it sends. All else that
/// [`Visit`] offers is for visits.
///
/// # Panics
/// When there is no such part.
pub fn act_at_edge<N: Nodes, R>(
    parts: &mut [Part<N>],
    part: usize,
    at: u64,
    act: impl FnOnce(&mut N, &mut Visit<'_, N::Item>) -> R,
) -> R {
    let Part { lane, nodes } = &mut parts[part];
    let result = lane.act(at, |visit| act(nodes, visit));
    lane.earliest_outgoing = u64::MAX;
    for receiver in 0..parts.len() {
        let outbox = std::mem::take(&mut parts[part].lane.outboxes[receiver]);
        for (node, input, item) in outbox {
            let lane = &mut parts[receiver].lane;
            lane.deliver(node, input, item.at(), &item);
        }
    }
    result
}

fn run_single<N: Nodes>(
    part: &mut Part<N>,
    from: u64,
    mut edge: u64,
    windows: Windows,
    control: &impl Control,
) -> RunOutcome {
    let mut now = from;
    loop {
        let next = part.lane.next(now, windows);
        if next == u64::MAX {
            return RunOutcome::Empty;
        }
        if next >= edge {
            return RunOutcome::Edge(edge);
        }
        now = part.lane.window_end(next, windows).min(edge);
        part.lane.run_window(&mut part.nodes, next, now);
        edge = edge.min(control.edge_after(now));
    }
}

impl<T: Arrival> Lane<T> {
    /// When something next happens at a node of this part, no earlier than `now`; `u64::MAX` for
    /// never.
    fn next(&mut self, now: u64, windows: Windows) -> u64 {
        let next = match windows {
            Windows::Buckets => self.calendar.next(now),
            Windows::Central(_) => self.calendar.next_exactly(now),
        };
        // What arrives far ahead is known to the calendar only once its bucket has a slot.
        next.unwrap_or(u64::MAX).min(self.next_later(now))
    }

    fn window_end(&self, start: u64, windows: Windows) -> u64 {
        let end = self.calendar.bucket_end(start);
        match windows {
            Windows::Buckets => end,
            Windows::Central(lookahead) => end.min(start.saturating_add(lookahead)),
        }
    }
}

type Mailbox<T> = Mutex<Vec<Outgoing<T>>>;

/// What the threads of one run share. Between two barriers each field has one writer.
struct Shared<T> {
    barrier: Barrier,
    /// The window all threads are in.
    start: AtomicU64,
    end: AtomicU64,
    edge: AtomicU64,
    finished: AtomicBool,
    /// When something next happens at a node of each part, items in its outboxes included.
    next: Vec<AtomicU64>,
    /// `mailboxes[parity][receiver][sender]`: the parity changes every window, so a thread that is
    /// already in the next one does not disturb those that still collect.
    mailboxes: [Vec<Vec<Mailbox<T>>>; 2],
}

impl<T: Arrival> Shared<T> {
    fn new(parts: usize, edge: u64) -> Shared<T> {
        let boxes = || {
            (0..parts)
                .map(|_| (0..parts).map(|_| Mutex::default()).collect())
                .collect()
        };
        Shared {
            barrier: Barrier::new(parts),
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            edge: AtomicU64::new(edge),
            finished: AtomicBool::new(false),
            next: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            mailboxes: [boxes(), boxes()],
        }
    }

    /// Lays the window that starts at `next`, or finishes the run.
    fn plan(&self, next: Option<u64>, lane: &Lane<T>, windows: Windows) {
        let next = next.unwrap_or(u64::MAX);
        let edge = self.edge.load(Ordering::Relaxed);
        self.start.store(next, Ordering::Relaxed);
        if next >= edge || next == u64::MAX {
            self.finished.store(true, Ordering::Relaxed);
        } else {
            self.end
                .store(lane.window_end(next, windows).min(edge), Ordering::Relaxed);
        }
    }

    fn outcome(&self) -> RunOutcome {
        if self.start.load(Ordering::Relaxed) == u64::MAX {
            RunOutcome::Empty
        } else {
            RunOutcome::Edge(self.edge.load(Ordering::Relaxed))
        }
    }

    /// The loop of one thread.
    fn work<N: Nodes<Item = T>>(
        &self,
        me: usize,
        part: &mut Part<N>,
        windows: Windows,
        control: &impl Control,
    ) {
        let _watch = self.barrier.watch();
        let mut parity = 0;
        while !self.finished.load(Ordering::Relaxed) {
            let start = self.start.load(Ordering::Relaxed);
            let end = self.end.load(Ordering::Relaxed);
            part.lane.run_window(&mut part.nodes, start, end);
            let outgoing = self.post(me, &mut part.lane, parity);
            let next = part.lane.next(end, windows).min(outgoing);
            self.next[me].store(next, Ordering::Relaxed);
            self.barrier.wait(|| {
                self.edge
                    .fetch_min(control.edge_after(end), Ordering::Relaxed);
                let next = self
                    .next
                    .iter()
                    .map(|next| next.load(Ordering::Relaxed))
                    .min();
                self.plan(next, &part.lane, windows);
            });
            self.collect(me, &mut part.lane, parity);
            parity ^= 1;
        }
    }

    /// Empties the outboxes into the mailboxes of the other parts; returns the earliest arrival
    /// among the items.
    fn post(&self, me: usize, lane: &mut Lane<T>, parity: usize) -> u64 {
        for (receiver, outbox) in lane.outboxes.iter_mut().enumerate() {
            if !outbox.is_empty() {
                let mut mailbox = lock(&self.mailboxes[parity][receiver][me]);
                std::mem::swap(&mut *mailbox, outbox);
            }
        }
        std::mem::replace(&mut lane.earliest_outgoing, u64::MAX)
    }

    fn collect(&self, me: usize, lane: &mut Lane<T>, parity: usize) {
        for mailbox in &self.mailboxes[parity][me] {
            for (node, input, item) in lock(mailbox).drain(..) {
                lane.deliver(node, input, item.at(), &item);
            }
        }
    }
}

/// A poisoned mailbox means that a thread panicked; the barrier stops the others.
fn lock<T>(mailbox: &Mailbox<T>) -> std::sync::MutexGuard<'_, Vec<Outgoing<T>>> {
    mailbox
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
