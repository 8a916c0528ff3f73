//! Budgets of requests: the machine's free memory, and the processor time of the answering thread.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::report::available_memory_bytes;
use tenter_language::units::{Budget, Bytes, Limits, Resource, Time};

/// Processor time that checking a scenario may take by default.
pub const CHECK_TIME: Time = Time::from_us(5_000_000);

/// Returns this machine's limits: its free memory; everything else is unlimited.
pub fn machine_limits() -> Limits {
    let memory = available_memory_bytes().unwrap_or(u64::MAX);
    Limits {
        memory: Bytes::new(memory),
        ..Limits::NONE
    }
}

/// Returns the limits for a check: the machine's free memory, and [`CHECK_TIME`].
pub fn check_limits() -> Limits {
    Limits {
        time: CHECK_TIME,
        ..machine_limits()
    }
}

/// Makes the budget for work that ends in a run: the machine's free memory, and unlimited time.
pub fn run_budget() -> Budget {
    Budget::new(machine_limits())
}

/// Makes the unlimited budget for a forced run: a person has seen what it takes, and wants it all
/// the same.
pub fn forced_budget() -> Budget {
    Budget::new(Limits::NONE)
}

/// Returns the caller's hint on how to allow more: `time` or `memory`, by the resource that
/// `budget` has refused. `None` if it has refused nothing, or a resource that cannot be raised.
pub fn way_to_more<'w>(budget: &Budget, time: &'w str, memory: &'w str) -> Option<&'w str> {
    match budget.refused()? {
        Resource::Time => Some(time),
        Resource::Memory => Some(memory),
        Resource::Ranks | Resource::Input | Resource::Cancelled => None,
    }
}

/// Makes the budget for a check by the calling thread, whose processor time counts from now on. The
/// check ends once `cancelled` is set, because the client has left.
pub fn check_budget(limits: Limits, cancelled: Arc<AtomicBool>) -> Budget {
    let began = thread_time();
    let clock = move || {
        let is_cancelled = cancelled.load(Ordering::Relaxed);
        (!is_cancelled).then(|| began.elapsed())
    };
    Budget::new(limits).with_clock(Arc::new(clock))
}

/// Start of a measurement: a thread's processor time in ns, or the wall clock if the system does
/// not report it.
#[derive(Clone, Copy, Debug)]
enum ThreadTime {
    Processor(u64),
    Wall(Instant),
}

fn thread_time() -> ThreadTime {
    processor_ns().map_or_else(|| ThreadTime::Wall(Instant::now()), ThreadTime::Processor)
}

impl ThreadTime {
    fn elapsed(self) -> Time {
        let elapsed = match self {
            ThreadTime::Processor(began) => {
                // If the file cannot be read any more, no time counts: that must not end a check.
                let now = processor_ns().unwrap_or(began);
                Duration::from_nanos(now.saturating_sub(began))
            }
            ThreadTime::Wall(began) => began.elapsed(),
        };
        let ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        Time::from_ps(ns.saturating_mul(1_000))
    }
}

/// Returns this thread's processor time, in ns, from Linux's `schedstat`.
fn processor_ns() -> Option<u64> {
    // The first field is the time on a processor; waiting for one must not use up a client's
    // budget.
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    fn limits(time: Time) -> Limits {
        Limits {
            time,
            ..Limits::NONE
        }
    }

    /// Works until it is refused, and gives the reason.
    fn work(budget: &Budget) -> Resource {
        loop {
            if let Err(over) = budget.work(1_000) {
                return over.resource;
            }
            black_box((0..1_000_u64).fold(0_u64, |sum, next| black_box(sum ^ next)));
        }
    }

    #[test]
    fn a_check_ends_when_its_time_is_over_or_nobody_waits() {
        let none = Arc::new(AtomicBool::new(false));
        let budget = check_budget(limits(Time::from_us(20_000)), none);
        assert_eq!(work(&budget), Resource::Time);
        let left = Arc::new(AtomicBool::new(true));
        let budget = check_budget(limits(Time::MAX), left);
        assert_eq!(work(&budget), Resource::Cancelled);
    }
}
