//! Notes when congestion control holds queue pairs back, and when the wire could have been theirs.

use tenter_fabric::net::SendSlot;
use tenter_language::units::Instant;

use super::RoceNic;
use super::limits::Limits;
use crate::send::{SendQueuePair, Turn};

/// Returns whether congestion control holds a queue pair back from `now` on, or `None` to leave the
/// answer as it was.
fn holds(limits: &Limits, slot: SendSlot, own: &SendQueuePair, now: Instant) -> Option<bool> {
    let congestion = limits.congestion.as_ref()?;
    if !own.may_send(None) {
        return Some(false);
    }
    match own.turn {
        // In the round it waits for its turn alone. An earlier wait may run on meanwhile: as long
        // as frames are sent, the clock stands still.
        Turn::InRound => None,
        Turn::Paced if congestion.ready_at(slot) > now => Some(true),
        // With congestion signals a queue pair is also paced while a signal holds it. Without them
        // its time has come, and it waits for the port.
        Turn::Paced => limits.held.is_some().then_some(false),
        Turn::Out => Some(own.outstanding() >= congestion.window(slot)),
    }
}

impl RoceNic {
    /// Stops the idle clock for a frame that is about to be put onto the wire at `now`.
    #[inline]
    pub(super) fn note_departure(&mut self, now: Instant) {
        if let Some(limits) = &mut self.limits
            && let Some((waits, wire)) = limits.waits_and_wire(&self.transmitter, &self.pauses)
            && wire.free_at < now
        {
            waits.clock.departs(wire.free_at, now);
        }
    }

    /// Starts to account for a request that is about to be posted at `now`.
    pub(super) fn note_posted(&mut self, slot: SendSlot, now: Instant) {
        if let Some(limits) = &mut self.limits
            && let Some((waits, wire)) = limits.waits_and_wire(&self.transmitter, &self.pauses)
        {
            waits.post(slot, self.send[slot].class, wire, now);
        }
    }

    /// Starts or ends a wait after an event at `now` that may have changed whether congestion
    /// control holds the queue pair back.
    pub(super) fn note_wait(&mut self, slot: SendSlot, now: Instant) {
        let Some(limits) = &mut self.limits else {
            return;
        };
        let own = &self.send[slot];
        let Some(is_held) = holds(limits, slot, own, now) else {
            return;
        };
        if let Some((waits, wire)) = limits.waits_and_wire(&self.transmitter, &self.pauses)
            && let Some((waits, clock)) = waits.of(slot)
            && waits.is_held() != is_held
        {
            let reading = clock.read(wire, own.class, now);
            waits.turn(is_held, own.sending(&self.requests), reading);
        }
    }

    /// Tracks the next packet of a queue pair, which is about to be sent at `now`.
    /// Retransmissions by selective repeat are not noted.
    #[inline]
    pub(super) fn note_sends(&mut self, slot: SendSlot, now: Instant) {
        // Only the first and last frames of a request change the accounts; most packets skip the
        // call.
        if self.send[slot].is_at_edge() {
            self.note_edge(slot, now);
        }
    }

    fn note_edge(&mut self, slot: SendSlot, now: Instant) {
        let own = &self.send[slot];
        if let Some(limits) = &mut self.limits
            && let Some((waits, wire)) = limits.waits_and_wire(&self.transmitter, &self.pauses)
            && let Some((waits, clock)) = waits.of(slot)
        {
            let reading = clock.read(wire, own.class, now);
            waits.sends(own.sending(&self.requests), reading);
        }
    }
}
