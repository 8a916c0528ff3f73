//! A queue's state, value by value, for the search for steady states.

use super::{ClassQueue, PauseRecord, QueueCounters};
use crate::net::steady::Visitor;

impl ClassQueue {
    /// Visits the state. The high-water mark is left out: it has seen a whole period already.
    pub(crate) fn steady(&mut self, visitor: &mut impl Visitor) {
        let ClassQueue {
            frames,
            bytes,
            high_water_bytes: _,
            paused_until,
            told_until,
            deficit,
            counters,
            pause,
        } = self;
        visitor.exact(frames.len() as u64);
        for place in 0..frames.len() {
            frames.get_mut(place).steady_waiting(visitor);
        }
        visitor.exact(*bytes);
        visitor.instant(paused_until);
        visitor.instant(told_until);
        visitor.exact(u64::from(*deficit));
        let QueueCounters {
            dropped_frames,
            dropped_bytes,
            marked_frames,
        } = counters;
        visitor.total(dropped_frames);
        visitor.total(dropped_bytes);
        visitor.total(marked_frames);
        pause.steady(visitor);
    }
}

impl PauseRecord {
    /// Visits the record: counts, and the start of the last pause.
    pub fn steady(&mut self, visitor: &mut impl Visitor) {
        let PauseRecord {
            xoff_frames,
            xon_frames,
            since,
            ended,
        } = self;
        visitor.total(xoff_frames);
        visitor.total(xon_frames);
        visitor.instant(since);
        visitor.total_time(ended);
    }
}
