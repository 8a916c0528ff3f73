//! A port whose PFC watchdog minds queues that are stuck.

use tenter_units::Instant;

use super::{Port, PortEnv, WatchdogAction};
use crate::buffer::Storage;
use crate::medium::Medium;

impl Port {
    /// Since when a queue with frames waiting has been paused without interruption, if it is.
    pub(crate) fn stuck_since(&self, number: usize, now: Instant) -> Option<Instant> {
        let queue = &self.queues[number];
        let stuck = queue.paused_until > now
            && self.waiting & (1 << number) != 0
            && self.watchdog_active & (1 << number) == 0;
        stuck.then(|| queue.pause.since())
    }

    /// Until when the other end has paused a queue whose watchdog is active.
    pub(crate) fn told_until(&self, number: usize) -> Option<Instant> {
        (self.watchdog_active & (1 << number) != 0).then(|| self.queues[number].told_until)
    }

    /// The watchdog begins to mind a queue at `now`, to which the port has been brought.
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
                self.queues[number].paused_until = Instant::NEVER;
                self.paused |= 1 << number;
                self.flush(number, now, around, medium);
            }
            // What waits starts now, not when the wire became free.
            WatchdogAction::Forward => self.queues[number].paused_until = now,
        }
    }

    /// The watchdog lets a queue be.
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

    /// How often the watchdog has found a queue of the port stuck.
    pub fn storms(&self) -> u64 {
        self.storms
    }
}
