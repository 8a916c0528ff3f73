//! Memory that all trials in this process take together.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::report::available_memory_bytes;

/// Share of the available memory, in percent, that trials may take: measured when the first one
/// begins.
const PERCENT: u64 = 90;
/// Interval at which a waiting trial checks `is_over` and the available memory.
const TICK: Duration = Duration::from_millis(100);

/// Reservations by all trials in this process: those that sweeps, studies and a workspace's queue
/// run.
static TRIALS: Pool = Pool::new();

/// Waits until a trial that is expected to take `bytes` fits beside those that this process runs,
/// and reserves them. The first trial is admitted whatever its size: the run's own memory check
/// refuses it if it does not fit. Returns `None`, with nothing reserved, once `is_over` returns
/// true.
pub fn reserve_memory(bytes: u64, is_over: impl Fn() -> bool) -> Option<ReservedMemory> {
    TRIALS.reserve(bytes, available_memory_bytes, is_over)
}

/// Memory that a trial has reserved; dropping it gives the memory back.
#[derive(Debug)]
#[must_use]
pub struct ReservedMemory {
    pool: &'static Pool,
    bytes: u64,
}

impl Drop for ReservedMemory {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        state.bytes -= self.bytes;
        state.trials -= 1;
        drop(state);
        self.pool.changed.notify_all();
    }
}

#[derive(Debug)]
struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    trials: usize,
    /// Memory that these trials are expected to take together, in bytes.
    bytes: u64,
    /// Memory that these trials may take together, in bytes.
    limit: u64,
}

impl Pool {
    const fn new() -> Pool {
        Pool {
            state: Mutex::new(State {
                trials: 0,
                bytes: 0,
                limit: 0,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(
        &'static self,
        bytes: u64,
        available: impl Fn() -> Option<u64>,
        is_over: impl Fn() -> bool,
    ) -> Option<ReservedMemory> {
        let mut state = self.state();
        loop {
            if is_over() {
                return None;
            }
            let available = available().unwrap_or(u64::MAX);
            if state.trials == 0 {
                // No trial runs now; later, memory that trials have filled is missing from
                // `available`.
                state.limit = (u128::from(available) * u128::from(PERCENT) / 100) as u64;
                break;
            }
            // `limit` bounds the expectations; `available` is read again, because trials may take
            // more than expected, and so may other programs.
            if state.bytes.saturating_add(bytes) <= state.limit && bytes <= available {
                break;
            }
            // Neither `is_over` nor memory that other programs free wakes this thread.
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        // The first trial may ask for more than any machine has: later sums must not overflow.
        let bytes = bytes.min(u64::MAX - state.bytes);
        state.trials += 1;
        state.bytes += bytes;
        Some(ReservedMemory { pool: self, bytes })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn trials_wait_for_the_memory_of_others() {
        static POOL: Pool = Pool::new();
        let reserve = |bytes, available| POOL.reserve(bytes, || Some(available), || false);
        // The limit is 90 % of 1,000: 400 + 500 fit, and 1 more does not.
        let first = reserve(400, 1_000).expect("the first");
        let second = reserve(500, 600).expect("it fits");
        let asked = AtomicBool::new(false);
        // It is asked once before it waits.
        let is_over = || asked.swap(true, Ordering::Relaxed);
        assert!(POOL.reserve(1, || Some(100), is_over).is_none());
        std::thread::scope(|scope| {
            let third = scope.spawn(|| reserve(300, 500).is_some());
            drop(first);
            assert!(third.join().expect("it ends"));
        });
        drop(second);
        // One that no machine can run is let in alone, and refused by the run itself.
        drop(reserve(2_000, 1_000).expect("the first"));
        assert_eq!(POOL.state().bytes, 0);
    }
}
