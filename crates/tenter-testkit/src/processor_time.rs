//! Time that a test has had, however busy the machine is.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// An instant of the processor time of the thread that calls.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorTime(Duration);

impl ProcessorTime {
    /// Now.
    pub fn now() -> ProcessorTime {
        let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
        ProcessorTime(now.expect("every thread has this clock").into())
    }

    /// The processor time that the thread has had since.
    pub fn elapsed(self) -> Duration {
        ProcessorTime::now().0.saturating_sub(self.0)
    }
}
