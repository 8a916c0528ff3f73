//! Limits that several keys share.

use std::ops::RangeInclusive;

use tenter_language::units::{Bytes, Rate, Time};

/// Longest simulation: 100 days. This is less than half of what 64 bits of picoseconds hold, so
/// adding a delay to an instant never wraps. A longer time is a slip in the unit.
pub const SIMULATED_MAX: Time = Time::from_us(100 * 86_400 * 1_000_000);

/// Shortest delay between a network-wide cause and its effect, for example between the end of a
/// collective and the start of the next one. It is no shorter than the engine's longest window: the
/// effect must lie beyond the window in which the cause happened. A shorter delay would cost speed
/// and describes no machine.
pub const GAP_MIN: Time = Time::from_us(2);

/// Most jobs on one fabric, more than any scheduler runs.
pub const JOBS_MAX: u32 = 10_000;

/// Most collectives that one iteration runs.
pub(crate) const SEQUENCE_MAX: u32 = 10_000;

/// Most concurrent flows or queue pairs, more than any tester has.
pub const SLOTS_MAX: u32 = 1 << 20;

/// Times within a job. 1,000 seconds are far beyond what anyone simulates packet by packet.
pub(super) const TIMES: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000_000);

/// Sizes per rank for collectives, and per flow: up to 1 TiB.
pub(super) const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);

/// Rates for streams: 1 Mbit/s to 100 Tbit/s.
pub(super) const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

/// Refuses a delay below [`GAP_MIN`] after `cause`: returns the problem and a remedy.
pub(super) fn too_soon(cause: &str, delay: Time) -> Option<(String, String)> {
    (delay < GAP_MIN).then(|| {
        let what = format!(
            "is `{delay}`: {cause} takes effect no sooner than the longest window of the engine"
        );
        (what, format!("give at least `{GAP_MIN}`"))
    })
}
