//! What is seen of a NIC from outside.

use tenter_net::{PauseRecord, ReceiveSlot, SendSlot};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use super::RoceNic;
use crate::nic::counters::NicCounters;
use crate::nic::error::QueuePairError;
use crate::nic::marks::Marks;
use crate::nic::port::last_end;
use crate::receive::Delivery;
use crate::receive_buffer::ReceiveBufferCounters;
use crate::send::{Connection, WorkRequest};

impl RoceNic {
    /// When the last frame so far has left; [`Instant::START`] when there was none.
    pub fn last_end(&self) -> Instant {
        last_end(&self.transmitter, self.message_end)
    }

    /// What its receive buffer has been through, and the frames and bytes that wait in it.
    pub fn receive_buffer(&self) -> Option<(ReceiveBufferCounters, (u64, u64))> {
        let buffer = self.receive_buffer.as_ref();
        buffer.map(|buffer| (buffer.counters(), buffer.waiting()))
    }

    /// Whether pause frames can stop a class.
    pub fn is_lossless(&self, class: u8) -> bool {
        self.classes.lossless & (1 << class) != 0
    }

    /// How long it has told the leaf to pause a class up to `now`.
    pub fn pausing(&self, class: u8, now: Instant) -> Time {
        let buffer = self.receive_buffer.as_ref();
        let buffer = buffer.filter(|_| self.is_lossless(class));
        buffer.map_or(Time::ZERO, |buffer| buffer.paused(now))
    }

    /// Pause frames sent that stopped a class, and that let it go on.
    pub fn pauses_sent(&self, class: u8) -> (u64, u64) {
        if !self.is_lossless(class) {
            return (0, 0);
        }
        // Each time the leaf is told, it is told about all classes alike.
        let classes = u64::from(self.classes.lossless.count_ones());
        let mac = self.transmitter.mac();
        (mac.xoff_frames / classes, mac.xon_frames / classes)
    }

    /// Until when the leaf has paused a class.
    pub fn paused_until(&self, class: u8) -> Instant {
        self.pauses.until(class)
    }

    /// Pause frames received for a class, and how long they have stopped it up to `now`.
    pub fn paused(&self, class: u8, now: Instant) -> (PauseRecord, Time) {
        self.pauses.record(class, now)
    }

    /// When the first pause frame came that stopped a class.
    pub fn first_xoff(&self) -> Option<Instant> {
        self.pauses.first
    }

    /// Frame bytes accepted of transfers that a receive slot has not taken whole: of the one that
    /// it takes now, and what has arrived beyond a missing packet.
    pub fn received_in_part(&self, slot: ReceiveSlot) -> u64 {
        let limits = self.limits.as_ref();
        let stored = limits.map_or(0, |limits| limits.gaps.stored_bytes(slot));
        self.receive[slot].accepted_bytes() + stored
    }

    /// What it has counted.
    pub fn counters(&self) -> NicCounters {
        self.counters
    }

    /// Whether a send slot has been opened.
    pub fn is_open(&self, slot: SendSlot) -> bool {
        self.send[slot].connection != Connection::Unused
    }

    /// Takes out the marks that came on a receive slot since this was last asked.
    #[inline]
    pub fn take_marks(&mut self, slot: ReceiveSlot) -> Marks {
        self.marks.take(slot)
    }

    /// The next of the transfers that the packet just served has delivered beside the one that was
    /// returned.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        self.delivered.pop_front()
    }

    /// Queue pairs that have given up so far.
    pub fn errors(&self) -> &[QueuePairError] {
        &self.errors
    }

    /// For each send slot the host that its data goes to, and how many packets of it have been
    /// acknowledged, modulo 2³².
    pub fn acknowledged(&self) -> impl Iterator<Item = (HostId, u32)> + '_ {
        let slots = self.send.iter();
        slots.map(|queue_pair| (queue_pair.destination(), queue_pair.acknowledged))
    }

    /// Work requests of a send slot that are not acknowledged, oldest first.
    pub fn unfinished(&self, slot: SendSlot) -> impl Iterator<Item = WorkRequest> + '_ {
        self.send[slot].unfinished(&self.requests, slot).into_iter()
    }

    /// How many work requests of a send slot are not acknowledged.
    pub fn unfinished_count(&self, slot: SendSlot) -> usize {
        self.send[slot].unfinished_count(&self.requests)
    }

    /// Transfers delivered through a receive slot since the count was last reset.
    pub fn delivered(&self, slot: ReceiveSlot) -> u32 {
        self.receive[slot].delivered()
    }

    /// Starts the count of delivered transfers anew for so many receive slots in a row.
    pub fn reset_delivered(&mut self, first: ReceiveSlot, count: usize) {
        let slots = first.index()..first.index() + count;
        self.marks.forget(slots.clone());
        for queue_pair in &mut self.receive.as_mut_slice()[slots] {
            queue_pair.reset_delivered();
        }
    }

    /// Payload bytes of the message whose first packet, `sequence`, a send slot has just sent. Of
    /// one that is sent again it counts as full, unless the slot is still at it.
    pub fn message_bytes(&self, slot: SendSlot, sequence: u32) -> u64 {
        self.send[slot].message_bytes(sequence, self.cut)
    }

    /// The sequence number after the last packet that a send slot has sent.
    pub fn next_sequence(&self, slot: SendSlot) -> u32 {
        self.send[slot].next_sequence
    }

    /// The sequence number that a receive slot expects next.
    pub fn expected_sequence(&self, slot: ReceiveSlot) -> u32 {
        self.receive[slot].expected
    }

    /// Whether a send slot has given up.
    pub fn has_given_up(&self, slot: SendSlot) -> bool {
        self.send[slot].connection == Connection::Failed
    }

    /// Whether a send slot will do anything without being asked: send, or repeat what is overdue.
    /// What has been sent is repeated, and given up in the end, even while the link is down.
    pub fn goes_on(&self, slot: SendSlot, link_is_up: bool) -> bool {
        let queue_pair = &self.send[slot];
        match queue_pair.connection {
            Connection::Unused | Connection::Failed => false,
            Connection::Requested => true,
            Connection::Ready => {
                queue_pair.outstanding() > 0 || (link_is_up && queue_pair.has_packet(None))
            }
        }
    }
}
