//! Link credit: a NIC in a fabric whose links send by credit.
//!
//! A lane may send while it has credit for the longest frame that the NIC sends, because the next
//! packet's length is known only once it is made. An arrived frame occupies its lane's input buffer
//! until it is in host memory.

use tenter_fabric::net::{
    CLASSES, EventKind, FlowControl, LaneBuffer, LaneCredit, LostCredit, Medium, Packet, PacketKind,
};
use tenter_language::units::Instant;

use super::RoceNic;

impl RoceNic {
    /// Returns the credit for sending in `class`, in a fabric that sends by credit.
    pub(crate) fn credit(&self, class: u8) -> Option<&LaneCredit> {
        let lanes = self.lanes.as_ref();
        lanes.map(|lanes| &lanes.credits[usize::from(class)])
    }

    /// Returns the input buffer of `class`, in a fabric that sends by credit.
    pub(crate) fn input_buffer(&self, class: u8) -> Option<&LaneBuffer> {
        let lanes = self.lanes.as_ref();
        lanes.map(|lanes| &lanes.buffers[usize::from(class)])
    }

    /// Charges a frame that was put onto the wire at `now` to its lane's credit.
    #[inline(never)]
    pub(super) fn spend(&mut self, class: u8, frame_bytes: u16, now: Instant) {
        if let Some(lanes) = &mut self.lanes {
            lanes.credits[usize::from(class)].spend(frame_bytes);
            self.look(class, now);
        }
    }

    /// Pauses or resumes a lane at `now` according to its credit.
    #[inline(never)]
    fn look(&mut self, class: u8, now: Instant) {
        let Some(lanes) = &self.lanes else {
            return;
        };
        let credit = &lanes.credits[usize::from(class)];
        // A lane without credit is a class that is paused without end, so departures need no
        // further test.
        let stands = self.pauses.until(class).is_never();
        let waits = !credit.covers(lanes.longest_frame_bytes);
        if waits != stands {
            self.pauses
                .turn(class, now, if waits { Instant::NEVER } else { now });
        }
    }

    /// Applies a flow-control packet from the leaf, or a report that a frame was lost on the link.
    pub(super) fn on_credit<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        self.note(EventKind::Obeyed, packet, medium);
        let Some(lanes) = &mut self.lanes else {
            return;
        };
        let class = packet.class();
        // Blocks of a lost frame count as arrived and freed; without this the leaf's credit would
        // shrink for ever.
        if packet.kind == PacketKind::LostCredit {
            let buffer = &mut lanes.buffers[usize::from(class)];
            if let Some(limit) = buffer.adjust(LostCredit::of(packet).blocks) {
                self.tell_limit(class, limit, packet.at, medium);
            }
            return;
        }
        lanes.credits[usize::from(class)].hear(FlowControl::of(packet).limit);
        self.look(class, packet.at);
    }

    /// Stores an arriving frame in its lane's input buffer. Without a receive buffer it leaves
    /// again at once.
    #[inline(never)]
    pub(super) fn take_in(&mut self, packet: &Packet, medium: &mut impl Medium) {
        if let Some(lanes) = &mut self.lanes {
            lanes.buffers[usize::from(packet.class())].take(packet.frame_bytes);
        }
        if self.receive_buffer.is_none() {
            self.give_back(packet, packet.at, medium);
        }
    }

    /// Frees a frame's room in its lane's input buffer at `now`, and sends new credit if enough is
    /// free.
    pub(super) fn give_back(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        let Some(lanes) = &mut self.lanes else {
            return;
        };
        let buffer = &mut lanes.buffers[usize::from(packet.class())];
        if let Some(limit) = buffer.free(packet.frame_bytes) {
            self.tell_limit(packet.class(), limit, now, medium);
        }
    }

    /// Sends a flow-control packet: the leaf may send up to `limit` blocks in all.
    fn tell_limit(&mut self, class: u8, limit: u32, now: Instant, medium: &mut impl Medium) {
        self.note_departure(now);
        let sent = self.credit(class).map_or(0, |credit| credit.counted().0);
        let packet = FlowControl { limit, sent }.packet(class);
        self.transmitter.send_control(packet, now, medium);
    }

    /// Restarts credit when the link comes up at `now`: the NIC may not send until the leaf grants
    /// credit, and grants credit itself.
    pub(super) fn renew_credit(&mut self, now: Instant, medium: &mut impl Medium) {
        for class in 0..CLASSES as u8 {
            let lanes = self.lanes.as_mut();
            let Some(lanes) = lanes.filter(|lanes| lanes.classes & (1 << class) != 0) else {
                continue;
            };
            lanes.credits[usize::from(class)].renew();
            let limit = lanes.buffers[usize::from(class)].renew();
            self.look(class, now);
            self.tell_limit(class, limit, now, medium);
        }
    }
}
