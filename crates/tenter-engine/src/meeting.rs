//! The meeting of a leader, which shares windows, and its helpers, which sleep when there is
//! nothing to share.
//!
//! No thread waits for one that has not begun: the first free thread takes each partition in a
//! window, and the leader takes those that no helper has taken. So a helper without a core costs
//! nothing, unless it loses its core while it works on a partition.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;

/// Polls, lasting some microseconds, before a thread goes to sleep: the next window usually comes
/// sooner than a thread can be woken.
const LOOKS: u32 = 512;

/// Pseudo-window whose number ends the meeting.
const OVER: u64 = u64::MAX;

/// The meeting of a leader, number 0, and its helpers, numbered from 1.
#[derive(Debug)]
pub(crate) struct Meeting {
    leader: Thread,
    /// Number that the shared window has; it grows by one.
    window: AtomicU64,
    /// For each partition the last window in which a thread has taken it.
    taken: Vec<AtomicU64>,
    /// Partitions that are not done in the current window.
    pending: AtomicUsize,
    /// Set while the leader sleeps and must be woken by the thread that finishes last.
    leader_sleeps: AtomicBool,
    /// For each thread, set while it sleeps; the leader's entry is unused.
    asleep: Vec<AtomicBool>,
    /// Set when a helper has panicked.
    failed: AtomicBool,
}

impl Meeting {
    /// Makes a meeting that the calling thread leads, for `parts` partitions.
    pub(crate) fn new(parts: usize) -> Meeting {
        Meeting {
            leader: std::thread::current(),
            window: AtomicU64::new(0),
            taken: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            pending: AtomicUsize::new(0),
            leader_sleeps: AtomicBool::new(false),
            asleep: (0..parts).map(|_| AtomicBool::new(false)).collect(),
            failed: AtomicBool::new(false),
        }
    }

    /// Shares the next window: `task(partition, window)` runs once for each partition. Returns when
    /// all are done.
    ///
    /// # Panics
    /// If a helper has panicked.
    pub(crate) fn share(&self, helpers: &Helpers<'_>, task: impl Fn(usize, u64)) {
        let window = self.window.load(Ordering::Relaxed) + 1;
        // Before `window`: a helper that sees the new window must see all its partitions pending.
        self.pending.store(self.taken.len(), Ordering::Relaxed);
        self.window.store(window, Ordering::SeqCst);
        for (asleep, helper) in self.asleep[1..].iter().zip(&helpers.threads) {
            if asleep.load(Ordering::SeqCst) {
                helper.unpark();
            }
        }
        self.take(0, window, &task);
        self.await_helpers();
    }

    /// Runs helper number `me`: calls `task` for the partitions that it takes in each window, until
    /// the meeting ends.
    pub(crate) fn help(&self, me: usize, task: impl Fn(usize, u64)) {
        let _watch = Watch(self);
        let mut window = 0;
        loop {
            window = self.await_window(me, window);
            if window == OVER {
                return;
            }
            self.take(me, window, &task);
        }
    }

    /// Runs `task` for the partitions that no thread has taken in `window`, its own first.
    fn take(&self, me: usize, window: u64, task: &impl Fn(usize, u64)) {
        let parts = self.taken.len();
        for step in 0..parts {
            let part = (me + step) % parts;
            // A late thread finds the number of this window or of a later one.
            let taken = self.taken[part].compare_exchange(
                window - 1,
                window,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if taken.is_err() {
                continue;
            }
            task(part, window);
            let was_last = self.pending.fetch_sub(1, Ordering::SeqCst) == 1;
            if was_last && self.leader_sleeps.load(Ordering::SeqCst) {
                self.leader.unpark();
            }
        }
    }

    /// Waits for a window other than `seen`, and returns its number.
    fn await_window(&self, me: usize, seen: u64) -> u64 {
        for _ in 0..LOOKS {
            let window = self.window.load(Ordering::Acquire);
            if window != seen {
                return window;
            }
            std::hint::spin_loop();
        }
        // The order of store and load matters: either this thread sees the next window, or the
        // leader sees that it sleeps.
        self.asleep[me].store(true, Ordering::SeqCst);
        let window = loop {
            let window = self.window.load(Ordering::SeqCst);
            if window != seen {
                break window;
            }
            std::thread::park();
        };
        self.asleep[me].store(false, Ordering::Relaxed);
        window
    }

    /// Waits until all partitions are done.
    fn await_helpers(&self) {
        for _ in 0..LOOKS {
            if self.pending.load(Ordering::Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        // As in `await_window`: either the last helper sees that the leader sleeps, or the leader
        // sees its result.
        self.leader_sleeps.store(true, Ordering::SeqCst);
        while self.pending.load(Ordering::SeqCst) > 0 {
            assert!(
                !self.failed.load(Ordering::SeqCst),
                "another engine thread panicked"
            );
            std::thread::park();
        }
        self.leader_sleeps.store(false, Ordering::Relaxed);
    }
}

/// Reports a panic in its thread to the leader, which would otherwise wait for ever.
struct Watch<'a>(&'a Meeting);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::SeqCst);
            self.0.leader.unpark();
        }
    }
}

/// The leader's handle to its helpers. Dropping it, in a panic too, ends their threads.
#[derive(Debug)]
pub(crate) struct Helpers<'a> {
    meeting: &'a Meeting,
    threads: Vec<Thread>,
}

impl<'a> Helpers<'a> {
    /// Makes the handle without helpers.
    pub(crate) fn new(meeting: &'a Meeting) -> Helpers<'a> {
        Helpers {
            meeting,
            threads: Vec::new(),
        }
    }

    /// Adds a helper that runs [`Meeting::help`] with the next number.
    pub(crate) fn add(&mut self, thread: Thread) {
        self.threads.push(thread);
    }

    /// Returns how many helper threads have been added.
    pub(crate) fn count(&self) -> usize {
        self.threads.len()
    }
}

impl Drop for Helpers<'_> {
    fn drop(&mut self) {
        self.meeting.window.store(OVER, Ordering::SeqCst);
        for thread in &self.threads {
            thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::{Helpers, Meeting};

    /// Shares `windows` windows of `parts` parts, with a nap before every eighth so that all fall
    /// asleep; how often each part was done.
    fn meet(parts: usize, windows: u64) -> Vec<u64> {
        let done: Vec<AtomicU64> = (0..parts).map(|_| AtomicU64::new(0)).collect();
        let task = |part: usize, window: u64| {
            // Each window does each part once, after all of the window before.
            assert_eq!(done[part].fetch_add(1, Ordering::SeqCst) + 1, window);
        };
        let meeting = Meeting::new(parts);
        std::thread::scope(|scope| {
            let mut helpers = Helpers::new(&meeting);
            for me in 1..parts {
                let (meeting, task) = (&meeting, &task);
                let helper = scope.spawn(move || meeting.help(me, task));
                helpers.add(helper.thread().clone());
            }
            for window in 1..=windows {
                if window % 8 == 0 {
                    std::thread::sleep(Duration::from_micros(300));
                }
                meeting.share(&helpers, task);
                let all = done
                    .iter()
                    .all(|done| done.load(Ordering::SeqCst) == window);
                assert!(all, "window {window} is not done");
            }
        });
        done.into_iter().map(AtomicU64::into_inner).collect()
    }

    #[test]
    fn every_part_of_every_window_is_done_once_asleep_or_awake() {
        for parts in 1..=4 {
            assert_eq!(meet(parts, 400), vec![400; parts]);
        }
    }

    #[test]
    fn helpers_that_never_came_are_not_waited_for() {
        let meeting = Meeting::new(3);
        let done = AtomicU64::new(0);
        let helpers = Helpers::new(&meeting);
        for _ in 0..10 {
            meeting.share(&helpers, |_, _| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(done.into_inner(), 30);
    }

    #[test]
    fn a_panic_of_a_helper_reaches_the_leader() {
        let meeting = Meeting::new(2);
        let leader = std::thread::current().id();
        // The leader is slow, so that the helper comes to its part.
        let task = |_: usize, _: u64| {
            assert_eq!(std::thread::current().id(), leader, "a defect of a model");
            std::thread::sleep(Duration::from_millis(5));
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let mut helpers = Helpers::new(&meeting);
                let helper = scope.spawn(|| meeting.help(1, task));
                helpers.add(helper.thread().clone());
                for _ in 0..1_000 {
                    meeting.share(&helpers, task);
                }
            });
        }));
        assert!(outcome.is_err());
    }
}
