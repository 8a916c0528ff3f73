//! Work posted to queue pairs, and the prefetching for it.

use tenter_engine::{prefetch, prefetch_at};
use tenter_fabric::net::{CONNECT_FRAME_BYTES, Packet, PacketKind, SendSlot};
use tenter_language::units::Instant;

use super::RoceNic;
use crate::send::{Connection, SendPeer, WorkRequest};
use crate::spec::NicSpec;

/// Number of queue pairs up to which prefetching gains nothing: their state stays in the cache.
const FEW_SLOTS: usize = 16;

impl RoceNic {
    /// Opens a send queue pair to `peer`. `class` is the class for its data, taken from
    /// [`NicClasses::all_data`](super::NicClasses::all_data). With connection set-up, the request
    /// goes out now.
    pub(crate) fn open(
        &mut self,
        spec: &NicSpec,
        slot: SendSlot,
        peer: SendPeer,
        class: u8,
        now: Instant,
    ) {
        let queue_pair = &mut self.send[slot];
        queue_pair.open(peer, class);
        if spec.connection_set_up {
            self.expect_answer(now);
            let queue_pair = &mut self.send[slot];
            queue_pair.connection = Connection::Requested;
            queue_pair.last_progress = now;
            self.control
                .push(queue_pair.control(PacketKind::ConnectRequest, CONNECT_FRAME_BYTES));
            self.arm(spec, slot, now);
        } else {
            queue_pair.connection = Connection::Ready;
        }
    }

    /// Posts a work request to an open send queue pair.
    pub(crate) fn post(&mut self, spec: &NicSpec, slot: SendSlot, request: WorkRequest) {
        let cut = self.cut;
        self.expect_answer(request.posted);
        // The accounts need the request before `join_round` may begin its wait.
        self.note_posted(slot, request.posted);
        self.send[slot].post(&mut self.requests, slot, request, cut);
        self.join_round(spec, slot, request.posted);
    }

    /// Counts one more request that waits for its acknowledgement. Stale timers are dropped first:
    /// while no request waited none could fire.
    pub(super) fn expect_answer(&mut self, now: Instant) {
        while self.pending == 0 && self.timeouts.next_at() <= now {
            let Some(slot) = self.timeouts.pop() else {
                break;
            };
            self.send[slot].timer_armed = false;
        }
        self.pending += 1;
    }

    /// Prefetches the memory that each visit touches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.transmitter);
        prefetch(&self.message_end);
        prefetch(&self.send);
        prefetch(&self.round);
        prefetch(&self.timeouts);
        prefetch(&self.counters);
        prefetch(&self.marks);
    }

    /// Prefetches the queue pairs that the next visit will touch: those of arrived packets, and as
    /// many from the round as sent data in the last visit.
    #[inline]
    pub(crate) fn prefetch_for<'p>(&self, arrivals: impl Iterator<Item = &'p Packet>) {
        if self.send.len() + self.receive.len() <= FEW_SLOTS {
            return;
        }
        for packet in arrivals.filter(|packet| packet.kind.is_of_queue_pair()) {
            let slot = packet.queue_pair as usize;
            if packet.kind.is_for_receiver() {
                prefetch_at(&self.receive, slot);
            } else {
                prefetch_at(&self.send, slot);
                self.requests.prefetch(packet.send_slot());
            }
        }
        let sent = self.transmitter.sent_data().0;
        let departures = (sent - self.sent_before).max(1) as usize;
        for &slot in self.round.iter().take(departures) {
            prefetch_at(&self.send, slot.index());
            self.requests.prefetch(slot);
        }
    }

    /// Notes that a visit begins.
    #[inline]
    pub(crate) fn note_visit(&mut self) {
        self.sent_before = self.transmitter.sent_data().0;
    }
}
