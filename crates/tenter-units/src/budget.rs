//! What one request may take: memory, processor time, ranks and bytes of input.
//!
//! The door makes a [`Budget`] (the command, a request of the page, a call from Python) and hands
//! it down by reference to whatever reads, resolves or builds. Sizes follow from counts, so a part
//! asks for its memory *before* it allocates: a length that an input declares is never trusted.
//! Nothing below the door reads a clock; the door may give one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::{Bytes, Time};

/// The limits of a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory that is held at one time.
    pub memory: Bytes,
    /// Processor time from the beginning of the request.
    pub time: Time,
    /// Ranks of a job or a trace, and hosts of a fabric.
    pub ranks: u64,
    /// Bytes of all input files together.
    pub input: Bytes,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits {
        memory: Bytes::new(u64::MAX),
        time: Time::MAX,
        ranks: u64::MAX,
        input: Bytes::new(u64::MAX),
    };
}

/// Tells the processor time since the request began; `None` once nobody waits for its answer.
pub type Clock = dyn Fn() -> Option<Time> + Send + Sync;

/// What one request may take, and what it has taken so far; threads of a request share it.
pub struct Budget {
    limits: Limits,
    clock: Option<Arc<Clock>>,
    memory: AtomicU64,
    input: AtomicU64,
    work: AtomicU64,
    /// What was refused last, as the number of a [`Resource`] and one more; 0 for nothing.
    refused: Arc<AtomicU8>,
}

/// About how long a unit of work takes, an entry of a table or a line of a text: all of the time
/// where the door gives no clock, and what is about to be done where it does.
const UNIT: Time = Time::from_ns(10);
/// To give back what has been built takes at most this share of the time that it took to build: a
/// refusal comes within the time as well.
const ENDING_SHARE: u64 = 5;
/// The clock is read once in so many units, about every millisecond.
const UNITS_PER_LOOK: u64 = 1 << 17;

impl Budget {
    /// With these limits; processor time is estimated from units of work.
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

    /// Without limits, for tests and for what the program itself has written.
    pub fn unlimited() -> Budget {
        Budget::new(Limits::NONE)
    }

    /// Measures processor time by a clock in place of units of work.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<Clock>) -> Budget {
        self.clock = Some(clock);
        self
    }

    /// What this budget refuses, `other` tells as well: whoever made many budgets asks one.
    #[must_use]
    pub fn telling(mut self, other: &Budget) -> Budget {
        self.refused = Arc::clone(&other.refused);
        self
    }

    /// Tells no more of what was refused before.
    pub fn forget_refusals(&self) {
        self.refused.store(0, Ordering::Relaxed);
    }

    /// A budget with the same limits and the rest of the time: for a further part of a request,
    /// once what the parts before have built is gone. What one of them refuses, both tell.
    #[must_use]
    pub fn renewed(&self) -> Budget {
        Budget {
            limits: self.limits,
            clock: self.clock.clone(),
            memory: AtomicU64::new(0),
            input: AtomicU64::new(self.input.load(Ordering::Relaxed)),
            work: AtomicU64::new(self.work.load(Ordering::Relaxed)),
            refused: Arc::clone(&self.refused),
        }
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What more was asked for than there is, if anything: the last of it.
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

    /// Memory that has been taken and not given back.
    pub fn memory(&self) -> Bytes {
        Bytes::new(self.memory.load(Ordering::Relaxed))
    }

    /// Whether `bytes` more of memory may be taken.
    ///
    /// # Errors
    /// When they are more than is left.
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

    /// Takes `bytes` of memory, before they are allocated.
    ///
    /// # Errors
    /// When they are more than is left; then nothing is taken.
    pub fn take(&self, bytes: u64) -> Result<(), OverBudget> {
        self.may_take(bytes)?;
        self.memory.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives memory back that was taken.
    pub fn give_back(&self, bytes: u64) {
        let left = |taken: u64| Some(taken.saturating_sub(bytes));
        let (order, again) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.memory.fetch_update(order, again, left);
    }

    /// Counts `bytes` of input that have been read.
    ///
    /// # Errors
    /// When all input together is longer than allowed.
    pub fn read(&self, bytes: u64) -> Result<(), OverBudget> {
        let before = self.input.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= self.limits.input.count() {
            return Ok(());
        }
        let limit = self.limits.input.rounded();
        let what = format!("the input has more than {limit}");
        Err(self.over(Resource::Input, what))
    }

    /// How many more bytes of input may be read.
    pub fn input_left(&self) -> u64 {
        let before = self.input.load(Ordering::Relaxed);
        self.limits.input.count().saturating_sub(before)
    }

    /// Whether there may be so many ranks, or hosts.
    ///
    /// # Errors
    /// When they are more than allowed.
    pub fn ranks(&self, ranks: u64) -> Result<(), OverBudget> {
        let limit = self.limits.ranks;
        if ranks <= limit {
            return Ok(());
        }
        let what = format!("there would be {ranks} ranks, and {limit} are allowed");
        Err(self.over(Resource::Ranks, what))
    }

    /// Counts units of work, each an entry of a table, a line or an edge; call it in loops whose
    /// length an input decides, with many units at once. The clock is read about once in a
    /// millisecond of work.
    ///
    /// # Errors
    /// When the time is over, or nobody waits any more.
    pub fn work(&self, units: u64) -> Result<(), OverBudget> {
        let before = self.work.fetch_add(units, Ordering::Relaxed);
        let after = before.saturating_add(units);
        if before / UNITS_PER_LOOK == after / UNITS_PER_LOOK && after > UNITS_PER_LOOK {
            return Ok(());
        }
        // A piece that would end when the time is over is not begun.
        self.within_time(units)
    }

    /// Whether the request may go on, by its clock; asked between its steps.
    ///
    /// # Errors
    /// When the time is over, or nobody waits any more.
    pub fn check(&self) -> Result<(), OverBudget> {
        self.within_time(0)
    }

    /// Refuses if so many units of work more, and the end after them, would take too long.
    fn within_time(&self, ahead: u64) -> Result<(), OverBudget> {
        let limit = self.limits.time;
        let spent = match &self.clock {
            Some(clock) => {
                let spent = clock().ok_or_else(|| self.cancelled())?;
                let end = Time::from_ps(spent.ps() / ENDING_SHARE);
                spent
                    .saturating_add(end)
                    .saturating_add(UNIT.saturating_mul(ahead))
            }
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

/// A part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Memory.
    Memory,
    /// Processor time.
    Time,
    /// Ranks.
    Ranks,
    /// Bytes of input.
    Input,
    /// Nobody waits for the answer any more.
    Cancelled,
}

impl Resource {
    const ALL: [Resource; 5] = [
        Resource::Memory,
        Resource::Time,
        Resource::Ranks,
        Resource::Input,
        Resource::Cancelled,
    ];
}

/// A request would take more than it may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {}", self.remedy())]
pub struct OverBudget {
    /// What there is too little of.
    pub resource: Resource,
    /// What it would take, and what it may.
    pub what: String,
}

impl OverBudget {
    /// What to do.
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
