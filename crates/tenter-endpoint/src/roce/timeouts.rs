//! Timers of a `RoCEv2` NIC: drained frames, pauses to repeat, flows to move, retransmissions.

use tenter_fabric::net::{CONNECT_FRAME_BYTES, Medium, Missing, PacketKind, SendSlot};
use tenter_language::units::Instant;

use super::RoceNic;
use crate::loss_recovery::LossRecovery;
use crate::nic::context::{Directory, RxContext};
use crate::nic::error::QueuePairError;
use crate::receive::Delivery;
use crate::send::{Connection, Turn};
use crate::spec::NicSpec;

impl RoceNic {
    /// Starts the retransmission timer of a queue pair that has none running.
    #[inline(never)]
    pub(super) fn arm(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) {
        self.send[slot].timer_armed = true;
        let deadline = now + spec.retransmission_timeout;
        self.timeouts.push(deadline, slot);
    }

    /// Returns the instant of the next timer: a frame has drained, a pause must be repeated, a flow
    /// moves, or an acknowledgement is overdue.
    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        // Timers of finished queue pairs are stale but still set; without pending requests all are.
        let timeout = if self.pending > 0 {
            self.timeouts.next_at()
        } else {
            Instant::NEVER
        };
        if self.features.are_none() {
            debug_assert!(self.lanes.is_none() && self.storm.is_none() && self.reroutes.is_none());
            debug_assert!(self.receive_buffer.is_none());
            return (!timeout.is_never()).then_some(timeout);
        }
        let buffer = self
            .receive_buffer
            .as_ref()
            .map_or(Instant::NEVER, |buffer| {
                buffer.next_drained().min(buffer.refresh_at())
            });
        let storm = self
            .storm
            .as_ref()
            .map_or(Instant::NEVER, |storm| storm.next);
        let reroutes = self.reroutes.as_ref();
        let reroute = reroutes.map_or(Instant::NEVER, |reroutes| reroutes.next());
        let next = buffer.min(timeout).min(storm).min(reroute);
        (!next.is_never()).then_some(next)
    }

    /// Fires the one timer that is first in order among those due at `now`: drained frames, then
    /// repeated pauses, then a storm's pauses, then moves of flows, then retransmissions. Returns
    /// the transfer that a frame completes, if any, and appends acknowledged work requests to the
    /// context's `done`.
    pub(crate) fn fire<M: Medium, D: Directory>(
        &mut self,
        now: Instant,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        if let (Some(buffer), Some(rules)) = (&mut self.receive_buffer, &cx.spec.receive_buffer) {
            if buffer.next_drained() <= now {
                let (packet, resumes) = buffer.drain(rules, now)?;
                // A pause of zero quanta lets the leaf go on at once.
                if resumes {
                    self.notify_leaf(0, now, cx.medium);
                }
                self.give_back(&packet, now, cx.medium);
                // The frame reaches the transport only now that it has left the receive buffer.
                return self.process(&packet, cx);
            }
            if buffer.refresh_at() <= now {
                buffer.repeat(now);
                self.notify_leaf(rules.quanta, now, cx.medium);
                return None;
            }
        }
        if self.storm.as_ref().is_some_and(|storm| storm.next <= now) {
            self.repeat_storm(now, cx.medium);
        } else if self.reroutes.as_ref().is_some_and(|of| of.next() <= now) {
            self.change_port(now);
        } else {
            self.timeout(cx.spec, now);
        }
        None
    }

    /// Fires the first retransmission timer.
    pub(super) fn timeout(&mut self, spec: &NicSpec, now: Instant) {
        let Some(slot) = self.timeouts.pop() else {
            return;
        };
        let queue_pair = &mut self.send[slot];
        // The queue pair may have finished since the timer was set.
        let waits = queue_pair.outstanding() > 0 || queue_pair.connection == Connection::Requested;
        if !waits || queue_pair.connection == Connection::Failed {
            queue_pair.timer_armed = false;
            return;
        }
        let deadline = queue_pair.last_progress + spec.retransmission_timeout;
        // Progress was made since: move the timer. It is set once per timeout, not once per
        // acknowledgement.
        if deadline > now {
            self.timeouts.push(deadline, slot);
            return;
        }
        self.counters.local_ack_timeout_err += 1;
        if queue_pair.used_retries() >= spec.retry_count {
            self.fail(slot, now);
            return;
        }
        queue_pair.retries += 1;
        queue_pair.last_progress = now;
        if queue_pair.connection == Connection::Requested {
            self.control
                .push(queue_pair.control(PacketKind::ConnectRequest, CONNECT_FRAME_BYTES));
        } else {
            if let Some(limits) = &mut self.limits {
                let outstanding = queue_pair.outstanding();
                limits.timed_out(slot, queue_pair.acknowledged, outstanding, now);
            }
            self.repeat_oldest(spec, slot, now);
        }
        let deadline = now + spec.retransmission_timeout;
        self.timeouts.push(deadline, slot);
    }

    /// Resends what loss recovery resends after a timeout.
    pub(super) fn repeat_oldest(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) {
        let queue_pair = &mut self.send[slot];
        let oldest = queue_pair.acknowledged;
        match (&spec.loss_recovery, &mut self.limits) {
            (LossRecovery::SelectiveRepeat(_), Some(limits)) => {
                limits.repair(slot, queue_pair, Missing::one(oldest));
                // The receiver cannot know about losses at the end. The last packet of all shows it
                // how much was sent.
                let last = queue_pair.next_sequence.wrapping_sub(1);
                if queue_pair.outstanding() > 1 {
                    limits.repair(slot, queue_pair, Missing::one(last));
                }
            }
            // The sender cannot know what has arrived, so it tells the receiver where its data
            // ends.
            (LossRecovery::None, _) => queue_pair.repairs = true,
            _ => {
                queue_pair.rewind(&mut self.requests, slot, oldest, self.cut);
            }
        }
        self.join_round(spec, slot, now);
    }

    /// Uses up one of a queue pair's retries. Returns true if none was left.
    pub(super) fn use_up_retry(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) -> bool {
        let queue_pair = &mut self.send[slot];
        if queue_pair.connection == Connection::Failed {
            return true;
        }
        let used = queue_pair.used_retries();
        queue_pair.naks = queue_pair.naks.saturating_add(1);
        if used < spec.retry_count {
            return false;
        }
        self.fail(slot, now);
        true
    }

    /// Gives up a queue pair: it sends no more, and the trial reports it.
    pub(super) fn fail(&mut self, slot: SendSlot, now: Instant) {
        let queue_pair = &mut self.send[slot];
        queue_pair.connection = Connection::Failed;
        queue_pair.timer_armed = false;
        let destination = queue_pair.destination();
        self.errors.push(QueuePairError {
            slot,
            at: now,
            destination,
        });
        if queue_pair.turn != Turn::Out {
            self.leave_round(slot);
        }
    }
}
