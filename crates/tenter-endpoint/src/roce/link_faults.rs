//! Faults of a NIC: its link goes down and comes up, or it pauses its leaf without end.

use tenter_fabric::net::{Medium, Transmitter, WireLosses};
use tenter_language::units::{Instant, Time};

use super::RoceNic;
use super::features::Feature;
use super::storm::Storm;
use crate::spec::NicSpec;

/// Longest pause that a pause frame can ask for, in quanta.
const LONGEST_PAUSE: u16 = u16::MAX;

impl RoceNic {
    /// Takes the link down at `now`; `under_way` are the losses on the wire. The NIC sends nothing
    /// until the link comes up, while timeouts for packets already sent keep running.
    pub(crate) fn link_down(&mut self, under_way: WireLosses, now: Instant) {
        // The frame on the wire is cut off now, so it must not end later in reports.
        let last_end = self.last_end().min(now);
        self.transmitter.link_down(now, under_way);
        self.message_end = (last_end, self.transmitter.last_end());
        self.pauses.forget(now);
    }

    /// Brings the link up at `now`. The leaf has forgotten all pauses by then, so the NIC repeats
    /// those that still hold.
    pub(crate) fn link_up(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
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

    /// Returns the transmitter for changes at a sync point.
    pub(crate) fn transmitter_mut(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// Starts a pause storm at `now`: the NIC pauses every lossless class of its leaf, again and
    /// again.
    pub(crate) fn begin_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        // Each pause is repeated after half its time, so that the leaf never resumes in between.
        let interval = (self.transmitter.pause_time(u32::from(LONGEST_PAUSE)) / 2).max(Time::LEAST);
        self.gain(Feature::Storm);
        self.storm = Some(Box::new(Storm {
            next: now,
            interval,
        }));
        self.repeat_storm(now, medium);
    }

    /// Ends the pause storm: the leaf may resume unless the receive buffer still pauses it.
    pub(crate) fn end_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        let buffer = self.receive_buffer.as_ref();
        let full = buffer.is_some_and(|buffer| buffer.is_pausing());
        if self.storm.take().is_some() && !full {
            self.notify_leaf(0, now, medium);
        }
    }

    /// Pauses the leaf once more and sets the time of the next repetition.
    pub(super) fn repeat_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Some(storm) = &mut self.storm {
            storm.next = now + storm.interval;
        }
        self.notify_leaf(LONGEST_PAUSE, now, medium);
    }
}
