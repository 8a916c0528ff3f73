//! A NIC in a fabric that sends by credit.
//!
//! A lane may send as long as it has credit for the longest frame that the NIC sends: which packet
//! comes next is seen only when it is made. What arrives is in the input buffer of its lane until
//! it is in host memory.

use tenter_net::{
    CLASSES, EventKind, FlowControl, LaneBuffer, LaneCredit, LostCredit, Medium, Packet, PacketKind,
};
use tenter_units::Instant;

use super::RoceNic;

impl RoceNic {
    /// The credit of a class's lane, if frames need any.
    pub fn credit(&self, class: u8) -> Option<&LaneCredit> {
        let lanes = self.lanes.as_ref();
        lanes.map(|lanes| &lanes.credits[usize::from(class)])
    }

    /// The input buffer of a class's lane, where the leaf goes by credit.
    pub fn input_buffer(&self, class: u8) -> Option<&LaneBuffer> {
        let lanes = self.lanes.as_ref();
        lanes.map(|lanes| &lanes.buffers[usize::from(class)])
    }

    /// A frame of a class has been put onto the wire at `now`, which may take credit.
    #[inline(never)]
    pub(super) fn spend(&mut self, class: u8, frame_bytes: u16, now: Instant) {
        if let Some(lanes) = &mut self.lanes {
            lanes.credits[usize::from(class)].spend(frame_bytes);
            self.look(class, now);
        }
    }

    /// Lets a lane stand still or go on, by its credit at `now`.
    #[inline(never)]
    fn look(&mut self, class: u8, now: Instant) {
        let Some(lanes) = &self.lanes else {
            return;
        };
        let credit = &lanes.credits[usize::from(class)];
        let stands = self.pauses.until(class).is_never();
        let waits = !credit.covers(lanes.longest_frame_bytes);
        if waits != stands {
            self.pauses
                .turn(class, now, if waits { Instant::NEVER } else { now });
        }
    }

    /// Goes by a flow-control packet of the leaf, or by word of a lost frame.
    pub(super) fn on_credit<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        self.note(EventKind::Obeyed, packet, medium);
        let Some(lanes) = &mut self.lanes else {
            return;
        };
        let class = packet.class();
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

    /// Takes a frame that arrives into the input buffer of its lane; what need not wait there
    /// leaves at once.
    #[inline(never)]
    pub(super) fn take_in(&mut self, packet: &Packet, medium: &mut impl Medium) {
        if let Some(lanes) = &mut self.lanes {
            lanes.buffers[usize::from(packet.class())].take(packet.frame_bytes);
        }
        if self.receive_buffer.is_none() {
            self.give_back(packet, packet.at, medium);
        }
    }

    /// A frame leaves the input buffer of its lane at `now`.
    pub(super) fn give_back(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        let Some(lanes) = &mut self.lanes else {
            return;
        };
        let buffer = &mut lanes.buffers[usize::from(packet.class())];
        if let Some(limit) = buffer.free(packet.frame_bytes) {
            self.tell_limit(packet.class(), limit, now, medium);
        }
    }

    fn tell_limit(&mut self, class: u8, limit: u32, now: Instant, medium: &mut impl Medium) {
        self.note_departure(now);
        let sent = self.credit(class).map_or(0, |credit| credit.counted().0);
        let packet = FlowControl { limit, sent }.packet(class);
        self.transmitter.send_control(packet, now, medium);
    }

    /// The link comes up at `now`: nothing may be sent until the leaf has said how much, and it is
    /// told.
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
