//! Bounds that keys of jobs share.

use std::ops::RangeInclusive;

use tenter_units::{Bytes, Rate, Time};

/// The longest simulation, 100 days: less than half of what 64 bits of picoseconds hold, so that no
/// delay added to an instant of it wraps. A time beyond it is a slip of the unit.
pub const SIMULATED_MAX: Time = Time::from_us(100 * 86_400 * 1_000_000);

/// The shortest time from a cause that the whole network has to learn of to its effect: the end of
/// a collective and the next one, the end of a job and the next one. No window of the engine is
/// longer. A shorter time would cost speed and describes no machine.
pub const GAP_MIN: Time = Time::from_us(2);

/// More jobs than a scheduler has on one fabric.
pub const JOBS_MAX: u32 = 10_000;

/// No job runs more collectives in one iteration.
pub const SEQUENCE_MAX: u32 = 10_000;

/// More flows at a time, or queue pairs, than any tester has.
pub const SLOTS_MAX: u32 = 1 << 20;

/// Times of a job: a thousand seconds are far beyond what anyone simulates packet by packet.
pub(super) const TIMES: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000_000);

/// No collective moves more per rank, and no flow has more.
pub(super) const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);

/// Rates of streams.
pub(super) const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

/// What is wrong with a time after something that the whole network has to learn of.
pub(super) fn too_soon(cause: &str, delay: Time) -> Option<(String, String)> {
    (delay < GAP_MIN).then(|| {
        let what = format!(
            "is `{delay}`: {cause} takes effect no sooner than the longest window of the engine"
        );
        (what, format!("give at least `{GAP_MIN}`"))
    })
}
