//! Where a leader shares windows among helpers, which sleep when there is nothing to share.
//!
//! Nobody waits for a thread that has not begun: a part of a window is taken by whoever comes
//! first, and the leader takes what no helper has taken. So a helper without a core costs nothing,
//! but for the rest of a part in which it loses its core.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;

/// Looks this often, for some microseconds, before a thread goes to sleep: the next window mostly
/// comes sooner than a thread can be woken.
const LOOKS: u32 = 512;

/// The number of the window that ends the meeting.
const OVER: u64 = u64::MAX;

/// The meeting of one leader and its helpers, numbered from 0; the leader is number 0.
#[derive(Debug)]
pub(crate) struct Meeting {
    leader: Thread,
    /// The number of the window that is shared; it grows by one.
    window: AtomicU64,
    /// The last window of which each part has been taken.
    taken: Vec<AtomicU64>,
    /// Parts of the window that are not done.
    pending: AtomicUsize,
    leader_sleeps: AtomicBool,
    asleep: Vec<AtomicBool>,
    failed: AtomicBool,
}

impl Meeting {
    /// A meeting that the calling thread leads, for windows of so many parts.
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

    /// Shares the next window: runs `task` once for each part, and comes back when all are done.
    ///
    /// # Panics
    /// When a helper has panicked.
    pub(crate) fn share(&self, helpers: &Helpers<'_>, task: impl Fn(usize, u64)) {
        let window = self.window.load(Ordering::Relaxed) + 1;
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

    /// The life of a helper: `task` for what it can take of each window.
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

    /// Takes and does the parts of a window that nobody has taken, one's own first.
    fn take(&self, me: usize, window: u64, task: &impl Fn(usize, u64)) {
        let parts = self.taken.len();
        for step in 0..parts {
            let part = (me + step) % parts;
            // Who comes late finds the number of this window or of a later one.
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

    /// Waits for a window other than `seen`.
    fn await_window(&self, me: usize, seen: u64) -> u64 {
        for _ in 0..LOOKS {
            let window = self.window.load(Ordering::Acquire);
            if window != seen {
                return window;
            }
            std::hint::spin_loop();
        }
        // Either this thread sees the next window, or the leader sees that it sleeps.
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

    /// Waits until all parts are done.
    fn await_helpers(&self) {
        for _ in 0..LOOKS {
            if self.pending.load(Ordering::Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
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

/// Tells the leader when its thread panics, so that it does not wait for ever.
struct Watch<'a>(&'a Meeting);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::SeqCst);
            self.0.leader.unpark();
        }
    }
}

/// The leader's hold on its helpers; they go home when it is dropped, in a panic too.
#[derive(Debug)]
pub(crate) struct Helpers<'a> {
    meeting: &'a Meeting,
    threads: Vec<Thread>,
}

impl<'a> Helpers<'a> {
    /// No helpers yet.
    pub(crate) fn new(meeting: &'a Meeting) -> Helpers<'a> {
        Helpers {
            meeting,
            threads: Vec::new(),
        }
    }

    /// Adds the helper that runs [`Meeting::help`] with the next number.
    pub(crate) fn add(&mut self, thread: Thread) {
        self.threads.push(thread);
    }

    /// How many there are.
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
