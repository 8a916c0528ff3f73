//! Spans of simulated time, in picoseconds.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

use crate::units::dimensions::{RATE, SIZE, TIME};
use crate::units::parse::read_and_print;
use crate::units::text::four_digits;

read_and_print!(Time, ps, TIME, [&RATE, &SIZE]);

/// A time span: whole picoseconds in 64 bits (213 days).
///
/// A point in simulated time is an [`Instant`](crate::units::Instant); a scenario states one as the
/// time since the simulation's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Time(u64);

impl Time {
    /// The empty span of 0 ps.
    pub const ZERO: Time = Time(0);
    /// The shortest span that is not zero: a picosecond.
    pub const LEAST: Time = Time(1);
    /// Longer than every real span; stands for an unlimited time.
    pub const MAX: Time = Time(u64::MAX);

    /// Makes a span from whole picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// Makes a span from whole nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }
    /// Makes a span from whole microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000_000)
    }
    /// Returns the span in picoseconds.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Returns the span in nanoseconds, as a float for tables and plots only.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// Returns the span in milliseconds, as a float for tables and plots only.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Returns the span in seconds, as a float for rates in tables only.
    pub fn as_s(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// Returns true if the span is zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// Returns the difference, or zero if `earlier` is in fact larger.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// Rounds to four digits, for text only: `198.1us`, not `198064355ps`.
    #[must_use]
    pub fn rounded(self) -> Time {
        Time(four_digits(self.0))
    }
    /// Multiplies by `times`; returns [`Time::MAX`] if the product does not fit.
    #[inline]
    #[must_use]
    pub const fn saturating_mul(self, times: u64) -> Time {
        Time(self.0.saturating_mul(times))
    }
    /// Adds `other`; returns [`Time::MAX`] if the sum does not fit.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, times: u64) -> Time {
        Time(self.0 * times)
    }
}

impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}

impl Div<u64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, parts: u64) -> Time {
        Time(self.0 / parts)
    }
}

/// Counts how often the divisor fits, as a whole number.
impl Div for Time {
    type Output = u64;
    #[inline]
    fn div(self, other: Time) -> u64 {
        self.0 / other.0
    }
}

impl Rem for Time {
    type Output = Time;
    #[inline]
    fn rem(self, other: Time) -> Time {
        Time(self.0 % other.0)
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_time_has_four_digits() {
        let of = |ps: u64| Time::from_ps(ps).rounded().to_string();
        assert_eq!(of(198_064_355), "198.1us");
        assert_eq!(of(542_995_864_000), "543ms");
        assert_eq!(of(36_355_000_000), "36.36ms");
        assert_eq!(of(1_234), "1234ps");
        assert_eq!(of(12_345), "12.35ns");
        assert_eq!(of(0), "0s");
        assert_eq!(Time::MAX.rounded(), Time::MAX);
    }
}
