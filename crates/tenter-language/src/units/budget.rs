//! Limits for one request: memory, processor time, ranks and input bytes.
//!
//! The code that accepts a request (the command, a request from the page, a call from Python) makes
//! a [`Budget`] and hands it down by reference to the code that reads, resolves or builds. Sizes
//! follow from counts, so a builder asks for its memory *before* it allocates: it never trusts a
//! length that an input declares. Code below reads no clock; the maker may provide one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::units::{Bytes, Time};

/// The limits in a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most memory that is held at one time.
    pub memory: Bytes,
    /// Most processor time since the request began.
    pub time: Time,
    /// Most ranks in a job or a trace, and most hosts in a fabric.
    pub ranks: u64,
    /// Most bytes in all input files together.
    pub input: Bytes,
}

impl Limits {
    /// No limits: each has its largest value.
    pub const NONE: Limits = Limits {
        memory: Bytes::new(u64::MAX),
        time: Time::MAX,
        ranks: u64::MAX,
        input: Bytes::new(u64::MAX),
    };
}

/// A function that returns the processor time since the request began, or `None` once its caller
/// has gone.
pub type Clock = dyn Fn() -> Option<Time> + Send + Sync;

/// Resources that one request may take, with those taken so far; the request's threads share it.
pub struct Budget {
    limits: Limits,
    /// The processor clock; without one, time is estimated from `work`.
    clock: Option<Arc<Clock>>,
    /// Bytes that are taken now.
    memory: AtomicU64,
    /// Input bytes read so far.
    input: AtomicU64,
    /// Work units counted so far, finished or about to begin.
    work: AtomicU64,
    /// The resource that was refused last, as the number of its [`Resource`] plus 1; 0 for none.
    refused: Arc<AtomicU8>,
}

/// Estimated time for a work unit, a table entry or a line of text. Without a clock it estimates
/// all the time; with one, the time for a piece of work that is about to begin.
const UNIT: Time = Time::from_ns(10);
/// Freeing what was built takes at most one part in `ENDING_SHARE` of the time it took to build,
/// and is kept in reserve, so that a refusal also comes within the time limit.
const ENDING_SHARE: u64 = 5;
/// Work units between two readings of the clock: about a millisecond.
const UNITS_PER_LOOK: u64 = 1 << 17;

impl Budget {
    /// Makes a budget with these limits, which estimates processor time from work units.
    pub fn new(limits: Limits) -> Budget {
        Budget {
            limits,
            clock: None,
            memory: AtomicU64::new(0),
            input: AtomicU64::new(0),
            work: AtomicU64::new(0),
            refused: Arc::default(),
        }
    }

    /// Makes a budget without limits, for tests and for input that the program itself has written.
    pub fn unlimited() -> Budget {
        Budget::new(Limits::NONE)
    }

    /// Measures processor time by `clock` instead of estimating it from work units.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<Clock>) -> Budget {
        self.clock = Some(clock);
        self
    }

    /// Makes `other` report this budget's refusals as well, so that one budget can be asked about
    /// many.
    #[must_use]
    pub fn telling(mut self, other: &Budget) -> Budget {
        self.refused = Arc::clone(&other.refused);
        self
    }

    /// Forgets earlier refusals: [`Budget::refused`] returns `None` until the next one.
    pub fn forget_refusals(&self) {
        self.refused.store(0, Ordering::Relaxed);
    }

    /// Makes a budget with the same limits and the remaining time, for a later step in a request,
    /// once the memory of earlier steps is free. Both budgets report refusals by either.
    #[must_use]
    pub fn renewed(&self) -> Budget {
        Budget {
            limits: self.limits,
            clock: self.clock.clone(),
            memory: AtomicU64::new(0),
            // Input and time are limited over the whole request; memory is free again.
            input: AtomicU64::new(self.input.load(Ordering::Relaxed)),
            work: AtomicU64::new(self.work.load(Ordering::Relaxed)),
            refused: Arc::clone(&self.refused),
        }
    }

    /// Returns the limits that the request has.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the resource that was refused last, if any.
    pub fn refused(&self) -> Option<Resource> {
        let number = self.refused.load(Ordering::Relaxed);
        let place = usize::from(number).checked_sub(1)?;
        Resource::ALL.get(place).copied()
    }

    fn over(&self, resource: Resource, what: String) -> OverBudget {
        self.refused.store(resource as u8 + 1, Ordering::Relaxed);
        OverBudget { resource, what }
    }

    fn cancelled(&self) -> OverBudget {
        let what = "nobody waits for the answer any more".to_owned();
        self.over(Resource::Cancelled, what)
    }

    /// Returns the memory that is taken now.
    pub fn memory(&self) -> Bytes {
        Bytes::new(self.memory.load(Ordering::Relaxed))
    }

    /// Checks that `bytes` more memory may be taken, without taking them.
    ///
    /// # Errors
    /// If less than `bytes` is left.
    pub fn may_take(&self, bytes: u64) -> Result<(), OverBudget> {
        let taken = self.memory.load(Ordering::Relaxed);
        let limit = self.limits.memory;
        if taken.saturating_add(bytes) <= limit.count() {
            return Ok(());
        }
        let (bytes, taken) = (Bytes::new(bytes).rounded(), Bytes::new(taken).rounded());
        let limit = limit.rounded();
        let so_far = if taken.count() == 0 {
            String::new()
        } else {
            format!(" beside the {taken} that it has")
        };
        let what = format!("it would take {bytes} of memory{so_far}, and {limit} are allowed");
        Err(self.over(Resource::Memory, what))
    }

    /// Takes `bytes` of memory; call it before allocating them.
    ///
    /// # Errors
    /// If less than `bytes` is left; then nothing is taken.
    pub fn take(&self, bytes: u64) -> Result<(), OverBudget> {
        self.may_take(bytes)?;
        self.memory.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Returns `bytes` of memory that were taken.
    pub fn give_back(&self, bytes: u64) {
        // Saturating, because a wrap would refuse everything that follows.
        let left = |taken: u64| Some(taken.saturating_sub(bytes));
        let (order, again) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.memory.fetch_update(order, again, left);
    }

    /// Counts `bytes` that have been read from an input.
    ///
    /// # Errors
    /// If all input together exceeds the limit.
    pub fn read(&self, bytes: u64) -> Result<(), OverBudget> {
        let before = self.input.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= self.limits.input.count() {
            return Ok(());
        }
        let limit = self.limits.input.rounded();
        let what = format!("the input has more than {limit}");
        Err(self.over(Resource::Input, what))
    }

    /// Returns the bytes that may still be read from inputs.
    pub fn input_left(&self) -> u64 {
        let before = self.input.load(Ordering::Relaxed);
        self.limits.input.count().saturating_sub(before)
    }

    /// Checks that there may be `ranks` ranks, or hosts.
    ///
    /// # Errors
    /// If `ranks` exceeds the limit.
    pub fn ranks(&self, ranks: u64) -> Result<(), OverBudget> {
        let limit = self.limits.ranks;
        if ranks <= limit {
            return Ok(());
        }
        let what = format!("there would be {ranks} ranks, and {limit} are allowed");
        Err(self.over(Resource::Ranks, what))
    }

    /// Counts `units` units of work, each a table entry, a line or an edge. Call it in loops whose
    /// length an input decides, with many units at once: the clock is read about once per
    /// millisecond of work.
    ///
    /// # Errors
    /// If the time is over, or the caller has gone.
    pub fn work(&self, units: u64) -> Result<(), OverBudget> {
        let before = self.work.fetch_add(units, Ordering::Relaxed);
        let after = before.saturating_add(units);
        // Early calls always read the clock, so that a short request notices its limit as well.
        if before / UNITS_PER_LOOK == after / UNITS_PER_LOOK && after > UNITS_PER_LOOK {
            return Ok(());
        }
        // The units ahead count: a piece that would end after the limit is not begun.
        self.within_time(units)
    }

    /// Checks the clock between a request's steps.
    ///
    /// # Errors
    /// If the time is over, or the caller has gone.
    pub fn check(&self) -> Result<(), OverBudget> {
        self.within_time(0)
    }

    /// Refuses if `ahead` more work units, and the time to free what was built, would exceed the
    /// limit.
    fn within_time(&self, ahead: u64) -> Result<(), OverBudget> {
        let limit = self.limits.time;
        let spent = match &self.clock {
            Some(clock) => {
                let spent = clock().ok_or_else(|| self.cancelled())?;
                // What was built has to be freed even if the request is refused now.
                let end = Time::from_ps(spent.ps() / ENDING_SHARE);
                spent
                    .saturating_add(end)
                    .saturating_add(UNIT.saturating_mul(ahead))
            }
            // Work is counted before it is done, so the units ahead are included.
            None => UNIT.saturating_mul(self.work.load(Ordering::Relaxed)),
        };
        if spent <= limit {
            return Ok(());
        }
        let what = format!("it takes more than {limit} of processor time");
        Err(self.over(Resource::Time, what))
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Budget");
        shown.field("limits", &self.limits);
        shown.field("memory", &self.memory());
        shown.finish_non_exhaustive()
    }
}

/// A kind of resource in a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Memory that is held at one time.
    Memory,
    /// Processor time since the request began.
    Time,
    /// Ranks in a job, or hosts in a fabric.
    Ranks,
    /// Bytes in all input files together.
    Input,
    /// The caller has gone; nothing is too large.
    Cancelled,
}

impl Resource {
    /// All resources, in the order of their numbers.
    const ALL: [Resource; 5] = [
        Resource::Memory,
        Resource::Time,
        Resource::Ranks,
        Resource::Input,
        Resource::Cancelled,
    ];
}

/// A request needs more than its budget allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {}", self.remedy())]
pub struct OverBudget {
    /// The resource whose limit is exceeded.
    pub resource: Resource,
    /// Says what the request needs and what is allowed, for a message.
    pub what: String,
}

impl OverBudget {
    /// Returns what the user can do about it.
    pub fn remedy(&self) -> &'static str {
        match self.resource {
            Resource::Memory => "give something smaller, or free memory",
            Resource::Time => "give something smaller",
            Resource::Ranks => "give fewer ranks or hosts",
            Resource::Input => "give a part of it",
            Resource::Cancelled => "ask again",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn limits() -> Limits {
        Limits {
            memory: Bytes::new(1_000),
            time: Time::from_us(10_000),
            ranks: 8,
            input: Bytes::new(100),
        }
    }

    #[test]
    fn memory_is_taken_before_it_is_there_and_given_back() {
        let budget = Budget::new(limits());
        assert_eq!(budget.take(900), Ok(()));
        let refused = budget.take(101).expect_err("it is too much");
        assert_eq!(
            refused.to_string(),
            "it would take 101B of memory beside the 900B that it has, and 1kB are allowed; \
             give something smaller, or free memory"
        );
        assert_eq!(budget.memory().count(), 900);
        assert_eq!(budget.refused(), Some(Resource::Memory));
        budget.give_back(500);
        assert_eq!(budget.take(600), Ok(()));
        budget.give_back(u64::MAX);
        assert_eq!(budget.memory().count(), 0);
        assert!(budget.may_take(u64::MAX).is_err());
        assert_eq!(Budget::unlimited().take(u64::MAX), Ok(()));
    }

    #[test]
    fn input_and_ranks_have_a_limit() {
        let budget = Budget::new(limits());
        assert_eq!((budget.read(60), budget.input_left()), (Ok(()), 40));
        let refused = budget.read(41).expect_err("it is too much");
        let expected = "the input has more than 100B; give a part of it";
        assert_eq!(refused.to_string(), expected);
        assert_eq!((budget.ranks(8), budget.input_left()), (Ok(()), 0));
        let refused = budget.ranks(9).expect_err("they are too many");
        assert_eq!(refused.resource, Resource::Ranks);
    }

    #[test]
    fn time_is_that_of_the_clock_or_of_the_work() {
        let counted = Budget::new(limits());
        assert_eq!(counted.work(900_000), Ok(()));
        let refused = counted.work(200_000).expect_err("the time is over");
        let expected = "it takes more than 10ms of processor time; give something smaller";
        assert_eq!(refused.to_string(), expected);
        // A clock that stands still, until the one who asked leaves.
        let is_left = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_left);
        let clock = move || (!seen.load(Ordering::Relaxed)).then_some(Time::ZERO);
        let clocked = Budget::new(limits()).with_clock(Arc::new(clock));
        assert_eq!(clocked.work(1 << 18), Ok(()));
        let refused = clocked.work(1 << 40).expect_err("it is too much at once");
        assert_eq!(refused.resource, Resource::Time);
        is_left.store(true, Ordering::Relaxed);
        assert_eq!(clocked.work(1), Ok(()));
        let refused = clocked.work(1 << 18).expect_err("nobody waits");
        assert_eq!(refused.resource, Resource::Cancelled);
    }

    #[test]
    fn what_would_end_late_is_not_begun_and_parts_share_the_time() {
        let at = Arc::new(AtomicU64::new(1_000));
        let seen = Arc::clone(&at);
        let clock = move || Some(Time::from_us(seen.load(Ordering::Relaxed)));
        let budget = Budget::new(limits()).with_clock(Arc::new(clock));
        let piece = 1 << 18;
        assert_eq!((budget.take(900), budget.work(piece)), (Ok(()), Ok(())));
        // The piece takes some 2.6 ms.
        at.store(8_000, Ordering::Relaxed);
        assert_eq!(budget.check(), Ok(()));
        let part = budget.renewed();
        assert_eq!((part.take(900), part.check()), (Ok(()), Ok(())));
        assert!(part.work(piece).is_err());
        assert_eq!(budget.refused(), Some(Resource::Time));
        at.store(10_001, Ordering::Relaxed);
        assert!(budget.check().is_err());
    }
}
