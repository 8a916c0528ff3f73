//! Default thread count for runs, and the clock by which the engine sees whether more threads pay
//! off.

use std::sync::OnceLock;
use std::time::Instant;

use tenter_sim::Options;

/// Returns the threads that a run uses by default: one for each core, up to 4. With more, the
/// meetings at every window may cost more than they save, so a caller must ask for more explicitly.
pub fn usual_threads() -> u16 {
    const MOST: u16 = 4;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u16::try_from(cores).map_or(MOST, |cores| cores.min(MOST))
}

/// Makes options for at most `threads` threads: the engine stays on one wherever more are no
/// faster.
pub(crate) fn options(threads: u16) -> Options {
    Options {
        threads,
        clock: Some(nanoseconds),
        alone: false,
    }
}

/// Nanoseconds since the first call.
fn nanoseconds() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    // The engine compares differences only, so any origin serves.
    let elapsed = FIRST.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}
