//! What befalls a NIC: its link goes down and comes up, or it pauses its leaf for ever.

use tenter_net::{Medium, Transmitter, WireLosses};
use tenter_units::{Instant, Time};

use super::RoceNic;
use super::features::Feature;
use super::storm::Storm;
use crate::spec::NicSpec;

/// The longest pause there is, in quanta.
const LONGEST_PAUSE: u16 = u16::MAX;

impl RoceNic {
    /// The link goes down at `now`; what was under way from here is lost. Nothing is sent until it
    /// comes up, and timeouts of what had been sent go on.
    pub fn link_down(&mut self, under_way: WireLosses, now: Instant) {
        let last_end = self.last_end().min(now);
        self.transmitter.link_down(now, under_way);
        self.message_end = (last_end, self.transmitter.last_end());
        self.pauses.forget(now);
    }

    /// The link comes up at `now`: the leaf, which knows of no pause, is told again.
    pub fn link_up(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        self.transmitter.link_up(now);
        self.renew_credit(now, medium);
        if let (Some(buffer), Some(rules)) = (&mut self.receive_buffer, &spec.receive_buffer)
            && buffer.is_pausing()
        {
            buffer.repeat(now);
            self.notify_leaf(rules.quanta, now, medium);
        }
        if self.storm.is_some() {
            self.repeat_storm(now, medium);
        }
    }

    /// Its transmitter, to change at an edge.
    pub fn transmitter_mut(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// Begins to pause the leaf at `now` in every lossless class, again and again.
    pub fn begin_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        let interval = (self.transmitter.pause_time(u32::from(LONGEST_PAUSE)) / 2).max(Time::LEAST);
        self.gain(Feature::Storm);
        self.storm = Some(Box::new(Storm {
            next: now,
            interval,
        }));
        self.repeat_storm(now, medium);
    }

    /// Ends the storm: the leaf may go on, unless the receive buffer keeps it waiting.
    pub fn end_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        let buffer = self.receive_buffer.as_ref();
        let full = buffer.is_some_and(|buffer| buffer.is_pausing());
        if self.storm.take().is_some() && !full {
            self.notify_leaf(0, now, medium);
        }
    }

    /// Pauses the leaf once more.
    pub(super) fn repeat_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Some(storm) = &mut self.storm {
            storm.next = now + storm.interval;
        }
        self.notify_leaf(LONGEST_PAUSE, now, medium);
    }
}
