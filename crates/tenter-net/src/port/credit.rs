//! A port that sends by credit: a lane whose first frame is not covered stands still, as one that
//! is paused without end does.

use tenter_units::Instant;

use crate::credit::LaneCredit;
use crate::medium::Medium;
use crate::packet::{FlowControl, Packet};
use crate::port::Port;

impl Port {
    /// The credit of a queue's lane, if frames need any.
    pub fn credit(&self, queue: usize) -> Option<&LaneCredit> {
        self.lanes.as_ref().map(|lanes| &lanes[queue])
    }

    /// Whether a frame of a queue has the credit that it needs.
    pub(crate) fn covers(&self, queue: usize, packet: &Packet) -> bool {
        let credit = self.credit(queue);
        credit.is_none_or(|credit| credit.covers(u32::from(packet.frame_bytes)))
    }

    /// A frame of a queue has been sent at `now`: what it took is gone, and the next one may have
    /// to wait.
    #[inline(never)]
    pub(super) fn spend(&mut self, queue: usize, frame_bytes: u16, now: Instant) {
        if let Some(lanes) = &mut self.lanes {
            lanes[queue].spend(frame_bytes);
        }
        self.look(queue, now);
    }

    /// Sends a frame that need not wait and has credit.
    pub(crate) fn pass_by_credit(
        &mut self,
        packet: &Packet,
        queue: usize,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        self.pass(packet, now, medium);
        self.spend(queue, packet.frame_bytes, now);
    }

    /// Lets a queue stand still or go on, by the credit for its first frame at `now`.
    pub(crate) fn look(&mut self, number: usize, now: Instant) {
        let Some(lanes) = &self.lanes else {
            return;
        };
        let queue = &mut self.queues[number];
        let first = queue.first_bytes();
        let waits = !queue.is_empty() && !lanes[number].covers(first);
        let stands = queue.paused_until.is_never();
        if waits == stands {
            return;
        }
        let until = if waits { Instant::NEVER } else { now };
        queue.pause.turn(now, queue.paused_until, until);
        queue.paused_until = until;
        // Also when it may go on: what waits in it starts now, not when the wire became free.
        self.paused |= 1 << number;
    }

    /// A flow-control packet for a queue's lane takes effect from `now` on, to which the port has
    /// been brought.
    pub(crate) fn on_credit(&mut self, queue: usize, limit: u32, now: Instant) {
        if let Some(lanes) = &mut self.lanes {
            lanes[queue].hear(limit);
        }
        self.look(queue, now);
    }

    /// The link comes up: nothing may be sent until the other end has said how much.
    pub(super) fn renew_credit(&mut self) {
        for lane in self.lanes.iter_mut().flat_map(|lanes| lanes.iter_mut()) {
            lane.renew();
        }
    }

    /// Tells the other end, as soon as the wire is free, up to how many blocks it may send in the
    /// class of a queue.
    pub(crate) fn send_flow_control(
        &mut self,
        class: u8,
        queue: usize,
        limit: u32,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        let sent = self.credit(queue).map_or(0, |credit| credit.counted().0);
        let packet = FlowControl { limit, sent }.packet(class);
        self.transmitter.send_control(packet, now, medium);
    }
}
