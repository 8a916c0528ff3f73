//! A port that sends by link credit: a lane without credit for its first frame waits as one that is
//! paused without end.

use tenter_language::units::Instant;

use crate::net::credit::LaneCredit;
use crate::net::medium::Medium;
use crate::net::packet::{FlowControl, Packet};
use crate::net::port::Port;

impl Port {
    /// Returns the credit of a queue's lane; `None` in a fabric without link credit.
    pub fn credit(&self, queue: usize) -> Option<&LaneCredit> {
        self.lanes.as_ref().map(|lanes| &lanes[queue])
    }

    /// Returns true if a frame has the credit that it needs, or needs none.
    pub(crate) fn covers(&self, queue: usize, packet: &Packet) -> bool {
        let credit = self.credit(queue);
        credit.is_none_or(|credit| credit.covers(u32::from(packet.frame_bytes)))
    }

    /// Takes the credit of a frame that was sent at `now`; the next one may have to wait.
    #[inline(never)]
    pub(super) fn spend(&mut self, queue: usize, frame_bytes: u16, now: Instant) {
        if let Some(lanes) = &mut self.lanes {
            lanes[queue].spend(frame_bytes);
        }
        self.look(queue, now);
    }

    /// Sends a frame at once, past its queue, and takes its credit.
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

    /// Pauses or resumes a queue at `now`, by the credit for its first frame.
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
        // Set in either case: a resumed queue starts its frames now, not when the wire became free.
        self.paused |= 1 << number;
    }

    /// Applies a flow-control packet from `now` on, up to which the port was advanced: the lane may
    /// send up to block `limit`.
    pub(crate) fn on_credit(&mut self, queue: usize, limit: u32, now: Instant) {
        if let Some(lanes) = &mut self.lanes {
            lanes[queue].hear(limit);
        }
        self.look(queue, now);
    }

    /// Voids all credit, as the link comes up: nothing may be sent before the other end grants
    /// some.
    pub(super) fn renew_credit(&mut self) {
        for lane in self.lanes.iter_mut().flat_map(|lanes| lanes.iter_mut()) {
            lane.renew();
        }
    }

    /// Grants the other end credit up to block `limit` in the class of a queue, as soon as the wire
    /// is free.
    pub(crate) fn send_flow_control(
        &mut self,
        class: u8,
        queue: usize,
        limit: u32,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        // The packet carries the blocks sent here, too: from them the other end learns of lost
        // frames.
        let sent = self.credit(queue).map_or(0, |credit| credit.counted().0);
        let packet = FlowControl { limit, sent }.packet(class);
        self.transmitter.send_control(packet, now, medium);
    }
}
