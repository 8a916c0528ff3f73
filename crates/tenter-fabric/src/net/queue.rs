//! Frames in one class that wait at one output port.

mod steady;

use tenter_engine::Ring;
use tenter_language::units::{Instant, Time};

use crate::net::packet::Packet;

/// Frames prefetched for a visit: about as many as leave a port in one window.
const PREFETCHED_FRAMES: usize = 8;

/// One output queue; the fields that every frame needs are in its first cache line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct ClassQueue {
    frames: Ring<Packet>,
    /// Frame bytes that wait in the queue.
    pub(crate) bytes: u64,
    /// Most frame bytes that ever waited.
    pub(crate) high_water_bytes: u64,
    /// Instant at which the other end's pause ends; in a credit-based fabric `NEVER` without
    /// credit.
    pub(crate) paused_until: Instant,
    /// Instant at which the other end's pause ends, while the watchdog is active and has replaced
    /// `paused_until`.
    pub(crate) told_until: Instant,
    /// Bytes that the queue may still send at its turn, if it is weighted.
    pub(crate) deficit: u32,
    pub(crate) counters: QueueCounters,
    pub(crate) pause: PauseRecord,
}

/// A queue is two cache lines and is found by a shift; a third line takes every hop 2 % more
/// instructions.
const _: () = assert!(size_of::<ClassQueue>() == 128);

/// Drops and marks at one output queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Frames dropped for lack of room.
    pub dropped_frames: u64,
    /// Frame bytes dropped for lack of room.
    pub dropped_bytes: u64,
    /// Frames marked with congestion experienced (CE).
    pub marked_frames: u64,
}

/// Pauses that a link's other end has put on a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseRecord {
    /// XOFF frames received, repetitions included.
    pub xoff_frames: u64,
    /// XON frames received, which resumed the class.
    pub xon_frames: u64,
    /// Instant at which the last pause began or, if an XON has ended that one, its end.
    since: Instant,
    /// Total paused time before `since`.
    ended: Time,
}

impl PauseRecord {
    /// Applies a pause frame at `now`: a pause until `until`. The last pause ended or ends at
    /// `before`.
    pub fn take(&mut self, now: Instant, before: Instant, until: Instant) {
        self.count(until > now);
        self.turn(now, before, until);
    }

    /// Counts a pause frame: an XOFF if it `stops` the class, else an XON.
    pub fn count(&mut self, stops: bool) {
        let frames = if stops {
            &mut self.xoff_frames
        } else {
            &mut self.xon_frames
        };
        *frames += 1;
    }

    /// Applies a pause as [`PauseRecord::take`] does, without counting a frame: a lane lost or got
    /// credit.
    pub fn turn(&mut self, now: Instant, before: Instant, until: Instant) {
        if before > now {
            // Still paused: the pause goes on, or ends here.
            if until <= now {
                self.ended += now - self.since;
            }
        } else {
            // A pause that passed without an XON is counted here; after an XON this adds nothing.
            self.ended += before - self.since;
            self.since = now;
        }
        if until <= now {
            // Nothing is in force: an empty pause keeps the total right at any later reading.
            self.since = until;
        }
    }

    /// Ends the pause at `now` without a pause frame; it ended or ends at `before`.
    pub fn forget(&mut self, now: Instant, before: Instant) {
        // Nothing is added for a pause that an XON has ended: `since` is its end.
        self.ended += before.min(now) - self.since.min(before);
        self.since = now;
    }

    /// Returns when the pause in force began.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Returns the time paused up to `now`, if the last pause ended or ends at `until`.
    pub fn paused(&self, now: Instant, until: Instant) -> Time {
        self.ended + until.min(now).saturating_since(self.since)
    }
}

impl ClassQueue {
    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet) -> &mut Packet {
        self.bytes += u64::from(packet.frame_bytes);
        self.high_water_bytes = self.high_water_bytes.max(self.bytes);
        self.frames.push_copy(packet)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.frames.front()
    }

    pub(crate) fn front_mut(&mut self) -> Option<&mut Packet> {
        self.frames.front_mut()
    }

    /// Removes the first frame, which has `bytes` frame bytes.
    #[inline]
    pub(crate) fn remove_front(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.frames.remove_front();
    }

    /// Takes out the frame that would leave last.
    pub(crate) fn take_last(&mut self) -> Option<Packet> {
        let packet = self.frames.pop_last()?;
        self.bytes -= u64::from(packet.frame_bytes);
        Some(packet)
    }

    /// Returns the frame that would leave last.
    pub(crate) fn last(&self) -> Option<&Packet> {
        self.frames.last()
    }

    /// Takes out the first frame that came through `input`; the frames before it keep their order.
    pub(crate) fn take_first_from(&mut self, input: u16) -> Option<Packet> {
        let place = self
            .frames
            .iter()
            .position(|of| of.stored_from() == input)?;
        let packet = *self.frames.get_mut(place);
        // The ring can only drop its front: the frames before this one move one place back.
        for behind in (0..place).rev() {
            let moved = *self.frames.get_mut(behind);
            *self.frames.get_mut(behind + 1) = moved;
        }
        self.remove_front(u64::from(packet.frame_bytes));
        Some(packet)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    #[inline]
    pub(crate) fn first_bytes(&self) -> u32 {
        self.frames
            .front()
            .map_or(0, |packet| u32::from(packet.frame_bytes))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.frames.iter()
    }

    /// Prefetches the room for the next frames.
    #[inline]
    pub(crate) fn prefetch_room(&self) {
        self.frames.prefetch_room(PREFETCHED_FRAMES);
    }

    /// Prefetches the frames that will leave next.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.frames.prefetch(PREFETCHED_FRAMES);
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::PauseRecord;

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    #[test]
    fn pause_time_counts_from_the_first_xoff_to_expiry_or_xon() {
        let mut record = PauseRecord::default();
        // Paused at 100 until 200, refreshed at 150 until 250, which passes.
        record.take(at(100), Instant::START, at(200));
        record.take(at(150), at(200), at(250));
        assert_eq!(record.paused(at(180), at(250)), Time::from_ps(80));
        assert_eq!(record.paused(at(300), at(250)), Time::from_ps(150));
        // Paused again at 400 until 500, resumed at 430.
        record.take(at(400), at(250), at(500));
        record.take(at(430), at(500), at(430));
        assert_eq!(record.paused(at(1_000), at(430)), Time::from_ps(180));
        // A pause from 500 is forgotten at 520.
        let mut cut = record;
        cut.take(at(500), at(430), at(600));
        cut.forget(at(520), at(600));
        assert_eq!(cut.paused(at(1_000), at(520)), Time::from_ps(200));
        // A second XON changes nothing.
        record.take(at(600), at(430), at(600));
        assert_eq!(record.paused(at(1_000), at(600)), Time::from_ps(180));
        assert_eq!((record.xoff_frames, record.xon_frames), (3, 2));
    }
}
