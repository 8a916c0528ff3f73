//! How many threads a run gets, and the clock by which it sees whether they pay.

use std::sync::OnceLock;
use std::time::Instant;

use tenter_sim::Options;

/// The threads that a run may use unless told: one for each core, up to 4. Beyond a few, their
/// meeting at every window may cost more than it saves, so more must be asked for.
pub fn usual_threads() -> u16 {
    const MOST: u16 = 4;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u16::try_from(cores).map_or(MOST, |cores| cores.min(MOST))
}

/// A run on at most so many threads: on one wherever more are no faster.
pub(crate) fn options(threads: u16) -> Options {
    Options {
        threads,
        clock: Some(nanoseconds),
        alone: false,
    }
}

/// Nanoseconds since it was first asked.
fn nanoseconds() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let elapsed = FIRST.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}
