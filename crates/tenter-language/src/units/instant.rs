//! Points in simulated time, counted in picoseconds from its start.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::units::Time;

/// A point in simulated time: whole picoseconds since the simulation's start, in 64 bits.
///
/// The difference between two instants is a span, which is a [`Time`]; instants have no sum.
///
/// ```
/// use tenter_language::units::{Instant, Time};
///
/// let sent = Instant::START + Time::from_ns(5);
/// let arrived = sent + Time::from_ns(2);
/// assert_eq!(arrived - sent, Time::from_ns(2));
/// assert!(arrived < Instant::NEVER);
/// ```
///
/// ```compile_fail
/// let now = tenter_language::units::Instant::START;
/// let _ = now + now;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The simulation's start, at 0 ps.
    pub const START: Instant = Instant(0);
    /// Later than every event; stands for an event that is not scheduled.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// Makes the instant `ps` picoseconds after the start.
    #[inline]
    #[must_use]
    pub const fn from_ps(ps: u64) -> Instant {
        Instant(ps)
    }
    /// Makes the instant `since_start` after the start.
    #[inline]
    #[must_use]
    pub const fn at(since_start: Time) -> Instant {
        Instant(since_start.ps())
    }
    /// Returns picoseconds since the start, for rows, seeds and packed fields.
    #[inline]
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Returns the span since the simulation's start.
    #[inline]
    #[must_use]
    pub const fn since_start(self) -> Time {
        Time::from_ps(self.0)
    }
    /// Returns true for [`Instant::NEVER`].
    #[inline]
    #[must_use]
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
    /// Returns the span since `earlier`, or zero if `earlier` is in fact later.
    #[inline]
    #[must_use]
    pub const fn saturating_since(self, earlier: Instant) -> Time {
        Time::from_ps(self.0.saturating_sub(earlier.0))
    }
    /// Returns the first instant, from this one on, that is a whole number of intervals after the
    /// start.
    ///
    /// # Panics
    /// If `interval` is zero.
    #[inline]
    #[must_use]
    pub const fn next_multiple_of(self, interval: Time) -> Instant {
        Instant(self.0.next_multiple_of(interval.ps()))
    }
    /// Adds `span`; returns [`Instant::NEVER`] if the sum does not fit.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, span: Time) -> Instant {
        Instant(self.0.saturating_add(span.ps()))
    }
    /// Subtracts `span`, down to the start.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, span: Time) -> Instant {
        Instant(self.0.saturating_sub(span.ps()))
    }
}

impl Add<Time> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Time) -> Instant {
        Instant(self.0 + span.ps())
    }
}

impl AddAssign<Time> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Time) {
        self.0 += span.ps();
    }
}

impl Sub for Instant {
    type Output = Time;
    #[inline]
    fn sub(self, earlier: Instant) -> Time {
        Time::from_ps(self.0 - earlier.0)
    }
}

impl Sub<Time> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, span: Time) -> Instant {
        Instant(self.0 - span.ps())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.since_start(), formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::{Instant, Time};

    #[test]
    fn instants_and_spans_add_up() {
        let (start, span) = (Instant::from_ps(40), Time::from_ps(2));
        assert_eq!(start + span, Instant::from_ps(42));
        assert_eq!((start + span) - start, span);
        assert_eq!((start + span) - span, start);
        assert_eq!(start.saturating_since(start + span), Time::ZERO);
        assert_eq!(start.saturating_sub(Time::from_ps(41)), Instant::START);
        assert_eq!(Instant::NEVER.saturating_add(span), Instant::NEVER);
        assert!(Instant::NEVER.is_never() && !start.is_never());
        assert_eq!(Instant::from_ps(5_000).to_string(), "5ns");
        assert_eq!(Instant::at(span).since_start(), span);
        assert_eq!(start.next_multiple_of(Time::from_ps(40)), start);
        assert_eq!((start + span).next_multiple_of(Time::from_ps(7)).ps(), 42);
    }
}
