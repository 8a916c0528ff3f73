//! A barrier for threads that meet every few microseconds.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Spins this often before it gives the processor away: on a shared machine the thread one waits
/// for may not be running.
const SPINS: u32 = 256;

/// A reusable barrier whose last arriver runs a step while the others still wait.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    failed: AtomicBool,
}

impl Barrier {
    pub(crate) fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// Waits for all threads; the last one runs `lead` before any leaves.
    ///
    /// # Panics
    /// When another thread has panicked, so that no thread waits for ever.
    pub(crate) fn wait(&self, lead: impl FnOnce()) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            lead();
            self.arrived.store(0, Ordering::Relaxed);
            self.generation
                .store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            assert!(
                !self.failed.load(Ordering::Relaxed),
                "another engine thread panicked"
            );
            if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// A guard that tells the other threads when this one panics.
    pub(crate) fn watch(&self) -> impl Drop + '_ {
        struct Watch<'a>(&'a AtomicBool);
        impl Drop for Watch<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.store(true, Ordering::Relaxed);
                }
            }
        }
        Watch(&self.failed)
    }
}
