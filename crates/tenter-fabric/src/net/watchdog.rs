//! The PFC watchdog: a queue that stays paused for too long counts as the victim of a pause storm.

use std::ops::RangeInclusive;

use tenter_language::config::{choice, component};
use tenter_language::units::{Instant, Time};

use crate::net::buffer::SharedBuffer;
use crate::net::medium::Medium;
use crate::net::port::{Port, PortEnv, WatchdogAction};

component! {
    /// The PFC watchdog of a switch, in the terms of `SONiC`.
    pub struct WatchdogSpec as "`fabric.switch.pfc_watchdog`" {
        /// Interval at which it looks at the queues.
        poll_interval: Time = "200ms", in Time::from_us(1)..=Time::from_us(10_000_000), from "`pfcwd start_default` of SONiC (sonic-utilities), for switches of up to 32 ports";
        /// A queue with waiting frames is stuck when it has been paused for this time without
        /// interruption.
        detection_time: Time = "200ms", in TIMES, from "`pfcwd start_default` of SONiC (sonic-utilities), for switches of up to 32 ports";
        /// The storm is over when no pause has been in force for this time.
        restoration_time: Time = "200ms", in TIMES, from "`pfcwd start_default` of SONiC (sonic-utilities), for switches of up to 32 ports";
        /// Treatment of the frames of a stuck queue until then: they are dropped, or sent in spite
        /// of the pause.
        action: WatchdogAction = "drop", from "`pfcwd start_default` of SONiC (sonic-utilities), for switches of up to 32 ports";
    }
}

const TIMES: RangeInclusive<Time> = Time::from_us(1)..=Time::from_us(100_000_000);

choice!(WatchdogAction { "drop" => Drop, "forward" => Forward });

impl WatchdogSpec {
    /// Checks one queue at `now`; returns true if the watchdog was activated on it or deactivated.
    pub(crate) fn look(
        &self,
        port: &mut Port,
        queue: usize,
        now: Instant,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut impl Medium,
    ) -> bool {
        if let Some(since) = port.stuck_since(queue, now) {
            let stuck = now - since >= self.detection_time;
            if stuck {
                port.mind(queue, self.action, now, around, medium);
            }
            stuck
        } else if let Some(until) = port.told_until(queue)
            && until + self.restoration_time <= now
        {
            port.restore(queue);
            true
        } else {
            false
        }
    }
}
