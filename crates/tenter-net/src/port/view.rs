//! What a port tells of itself.

use tenter_units::{Instant, Time};

use super::{Port, PortCounters};
use crate::packet::Packet;
use crate::queue::{ClassQueue, PauseRecord, QueueCounters};

impl Port {
    /// Frame bytes that wait, at the instant the port was last brought to.
    pub fn queue_bytes(&self) -> u64 {
        self.bytes
    }

    /// Frame bytes that wait in one queue.
    #[inline]
    pub(crate) fn bytes_in(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// The frames that wait, queue after queue.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(ClassQueue::iter)
    }

    /// The frames that wait in a queue, in order.
    pub fn waiting_in(&self, queue: usize) -> impl Iterator<Item = &Packet> {
        self.queues[queue].iter()
    }

    /// Until when the other end has paused a queue.
    pub fn paused_until(&self, queue: usize) -> Instant {
        self.told_until(queue)
            .unwrap_or(self.queues[queue].paused_until)
    }

    /// What went wrong, or nearly so, at one queue.
    pub fn queue_counters(&self, queue: usize) -> QueueCounters {
        self.queues[queue].counters
    }

    /// The most frame bytes that ever waited in a queue.
    pub fn queue_high_water_bytes(&self, queue: usize) -> u64 {
        self.queues[queue].high_water_bytes
    }

    /// Pause frames received for a queue, and how long they have stopped it up to `now`.
    pub fn paused(&self, queue: usize, now: Instant) -> (PauseRecord, Time) {
        let until = self.paused_until(queue);
        let queue = &self.queues[queue];
        (queue.pause, queue.pause.paused(now, until))
    }

    /// When the first pause frame came that stopped a class; never, if none has.
    pub fn first_xoff(&self) -> Option<Instant> {
        (!self.first_xoff.is_never()).then_some(self.first_xoff)
    }

    /// The most frame bytes that waited since this was last asked, from now on those that wait now.
    pub(crate) fn read_off_high_water(&mut self, waiting: u64) -> u64 {
        let most = std::mem::replace(&mut self.high_water_bytes, waiting);
        self.earlier_high_water_bytes = self.earlier_high_water_bytes.max(most);
        most
    }

    /// What went through so far.
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
