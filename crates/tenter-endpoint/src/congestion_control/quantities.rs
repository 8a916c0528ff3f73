//! Bounds of keys that several congestion controls share, and their arithmetic.

use std::ops::RangeInclusive;

use tenter_language::units::{Rate, Time};

/// Upper bound for timers and round-trip thresholds.
pub(crate) const SECOND: Time = Time::from_us(1_000_000);
/// Lower bound of timers. Catching up takes one step per tick, so a finer timer would cost more
/// than ten million steps per simulated second.
pub(crate) const TICK_MIN: Time = Time::from_ns(100);
/// Range for keys that state an increase or a minimum rate.
pub(crate) const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000)..=Rate::from_gbps(100_000);

/// Returns `value` · `part` / `whole`, rounded down, without overflow of the product.
pub(crate) fn part_of(value: u64, part: u64, whole: u64) -> u64 {
    (u128::from(value) * u128::from(part) / u128::from(whole)) as u64
}
