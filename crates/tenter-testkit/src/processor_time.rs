//! Processor time, which does not depend on how busy the machine is.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// An instant in the calling thread's processor time.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorTime(Duration);

impl ProcessorTime {
    /// Returns the calling thread's processor time.
    pub fn now() -> ProcessorTime {
        let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
        ProcessorTime(now.expect("every thread has this clock").into())
    }

    /// Returns the processor time that the thread has had since. Only the thread that made this
    /// value may call it.
    pub fn elapsed(self) -> Duration {
        ProcessorTime::now().0.saturating_sub(self.0)
    }
}
