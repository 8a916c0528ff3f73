//! Bounds of keys that several congestion controls have, and their arithmetic.

use std::ops::RangeInclusive;

use tenter_units::{Rate, Time};

/// No timer and no threshold is longer.
pub(crate) const SECOND: Time = Time::from_us(1_000_000);
/// Timers are no finer: a million steps a second are caught up one by one.
pub(crate) const TICK_MIN: Time = Time::from_ns(100);
/// Rates of increase, and least rates.
pub(crate) const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000)..=Rate::from_gbps(100_000);

/// `value` times `part` over `whole`, rounded down.
pub(crate) fn part_of(value: u64, part: u64, whole: u64) -> u64 {
    (u128::from(value) * u128::from(part) / u128::from(whole)) as u64
}
