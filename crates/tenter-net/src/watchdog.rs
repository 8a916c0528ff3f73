//! The PFC watchdog: a queue that stays paused for too long is taken for the victim of a storm.

use tenter_units::Time;

use crate::medium::Medium;
use crate::port::{Port, PortEnv, WatchdogAction};

/// The PFC watchdog of a switch, in the terms of `SONiC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogSpec {
    /// How often it looks at the queues.
    pub poll_interval: Time,
    /// A queue in which frames wait and which has been paused for so long is stuck.
    pub detection_time: Time,
    /// When no pause has been in force for so long, the storm is over.
    pub restoration_time: Time,
    /// What it does in between.
    pub action: WatchdogAction,
}

impl WatchdogSpec {
    /// Looks at one queue at `now`; whether it did anything.
    pub(crate) fn look(
        &self,
        port: &mut Port,
        queue: usize,
        now: u64,
        around: &mut PortEnv<'_>,
        medium: &mut impl Medium,
    ) -> bool {
        if let Some(since) = port.stuck_since(queue, now) {
            let stuck = now - since >= self.detection_time.ps();
            if stuck {
                port.mind(queue, self.action, now, around, medium);
            }
            stuck
        } else if let Some(until) = port.told_until(queue)
            && until + self.restoration_time.ps() <= now
        {
            port.restore(queue);
            true
        } else {
            false
        }
    }
}
