//! Actions of the PFC watchdog on a port's queues.

use tenter_language::units::Instant;

use super::{Port, PortEnv, WatchdogAction};
use crate::net::buffer::Storage;
use crate::net::medium::Medium;

impl Port {
    /// Returns the start of a queue's pause, if frames wait in it and the watchdog is not active on
    /// it.
    pub(crate) fn stuck_since(&self, number: usize, now: Instant) -> Option<Instant> {
        let queue = &self.queues[number];
        let stuck = queue.paused_until > now
            && self.waiting & (1 << number) != 0
            && self.watchdog_active & (1 << number) == 0;
        stuck.then(|| queue.pause.since())
    }

    /// Returns the end of the other end's pause for a queue on which the watchdog is active.
    pub(crate) fn told_until(&self, number: usize) -> Option<Instant> {
        (self.watchdog_active & (1 << number) != 0).then(|| self.queues[number].told_until)
    }

    /// Activates the watchdog on a queue at `now`, up to which the port was advanced.
    pub(crate) fn mind(
        &mut self,
        number: usize,
        action: WatchdogAction,
        now: Instant,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        self.storms += 1;
        self.watchdog_active |= 1 << number;
        self.queues[number].told_until = self.queues[number].paused_until;
        match action {
            WatchdogAction::Drop => {
                self.closed |= 1 << number;
                // Paused for ever, or a frame that finds the wire free would pass.
                self.queues[number].paused_until = Instant::NEVER;
                self.paused |= 1 << number;
                self.flush(number, now, around, medium);
            }
            // Waiting frames start now, not when the wire became free.
            WatchdogAction::Forward => self.queues[number].paused_until = now,
        }
    }

    /// Deactivates the watchdog on a queue, if it is active; the other end's pause applies again.
    pub(crate) fn restore(&mut self, number: usize) {
        if self.watchdog_active & (1 << number) != 0 {
            self.watchdog_active &= !(1 << number);
            if !self.transmitter.is_dark() {
                self.closed &= !(1 << number);
            }
            let queue = &mut self.queues[number];
            queue.paused_until = queue.told_until;
            self.paused |= 1 << number;
        }
    }

    /// Returns the number of times that the watchdog has found a queue of the port stuck.
    pub fn storms(&self) -> u64 {
        self.storms
    }
}
