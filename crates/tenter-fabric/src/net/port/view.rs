//! Readings of a port: queue lengths, pauses and counters.

use tenter_language::units::{Instant, Time};

use super::{Port, PortCounters};
use crate::net::packet::Packet;
use crate::net::queue::{ClassQueue, PauseRecord, QueueCounters};

impl Port {
    /// Returns the frame bytes that wait, at the instant up to which the port was last advanced.
    pub fn queue_bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(crate) fn bytes_in(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// Returns the waiting frames, queue after queue.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(ClassQueue::iter)
    }

    /// Returns the waiting frames of one queue, in the order in which they leave.
    pub fn waiting_in(&self, queue: usize) -> impl Iterator<Item = &Packet> {
        self.queues[queue].iter()
    }

    /// Returns the end of the other end's pause for a queue, even one that the watchdog overrides.
    pub fn paused_until(&self, queue: usize) -> Instant {
        self.told_until(queue)
            .unwrap_or(self.queues[queue].paused_until)
    }

    /// Returns the drops and marks at one queue.
    pub fn queue_counters(&self, queue: usize) -> QueueCounters {
        self.queues[queue].counters
    }

    /// Returns the most frame bytes that ever waited in a queue.
    pub fn queue_high_water_bytes(&self, queue: usize) -> u64 {
        self.queues[queue].high_water_bytes
    }

    /// Returns the pause frames received for a queue, and the time for which they paused it up to
    /// `now`.
    pub fn paused(&self, queue: usize, now: Instant) -> (PauseRecord, Time) {
        let until = self.paused_until(queue);
        let queue = &self.queues[queue];
        (queue.pause, queue.pause.paused(now, until))
    }

    /// Returns the instant of the first XOFF for any class; `None` if none has come.
    pub fn first_xoff(&self) -> Option<Instant> {
        (!self.first_xoff.is_never()).then_some(self.first_xoff)
    }

    /// Returns the most frame bytes that waited since the last call, and starts anew from the bytes
    /// `waiting` now.
    pub(crate) fn read_off_high_water(&mut self, waiting: u64) -> u64 {
        let most = std::mem::replace(&mut self.high_water_bytes, waiting);
        self.earlier_high_water_bytes = self.earlier_high_water_bytes.max(most);
        most
    }

    /// Returns the port's counters; drops and marks are sums over its queues.
    pub fn counters(&self) -> PortCounters {
        let (sent_frames, sent_bytes) = self.transmitter.sent();
        let (trimmed_frames, trimmed_bytes) = self.trimmed.as_deref().copied().unwrap_or_default();
        let start = PortCounters {
            sent_frames,
            sent_bytes,
            queue_high_water_bytes: self.high_water_bytes.max(self.earlier_high_water_bytes),
            unsent_frames: self.unsent.0,
            unsent_bytes: self.unsent.1,
            watchdog_frames: self.watchdog_dropped.0,
            watchdog_bytes: self.watchdog_dropped.1,
            trimmed_frames,
            trimmed_bytes,
            ..PortCounters::default()
        };
        self.queues.iter().fold(start, |mut sum, queue| {
            sum.dropped_frames += queue.counters.dropped_frames;
            sum.dropped_bytes += queue.counters.dropped_bytes;
            sum.marked_frames += queue.counters.marked_frames;
            sum
        })
    }
}
