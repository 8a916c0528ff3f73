//! Read access to the state of a `RoCEv2` NIC.

use tenter_fabric::net::{PauseRecord, ReceiveSlot, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::RoceNic;
use crate::nic::counters::NicCounters;
use crate::nic::error::QueuePairError;
use crate::nic::marks::Marks;
use crate::nic::port::last_end;
use crate::receive::Delivery;
use crate::receive_buffer::ReceiveBufferCounters;
use crate::send::{Connection, WorkRequest};

impl RoceNic {
    /// Returns the end of the last frame sent, or [`Instant::START`] if there was none.
    pub(crate) fn last_end(&self) -> Instant {
        last_end(&self.transmitter, self.message_end)
    }

    /// Returns the receive buffer's counters, and its present fill as frames and bytes.
    pub(crate) fn receive_buffer(&self) -> Option<(ReceiveBufferCounters, (u64, u64))> {
        let buffer = self.receive_buffer.as_ref();
        buffer.map(|buffer| (buffer.counters(), buffer.waiting()))
    }

    /// Returns true if pause frames can stop `class`.
    pub(crate) fn is_lossless(&self, class: u8) -> bool {
        self.classes.lossless & (1 << class) != 0
    }

    /// Returns the total time up to `now` for which the receive buffer has paused `class` at the
    /// leaf. Pause storms are not counted.
    pub(crate) fn pausing(&self, class: u8, now: Instant) -> Time {
        let buffer = self.receive_buffer.as_ref();
        let buffer = buffer.filter(|_| self.is_lossless(class));
        buffer.map_or(Time::ZERO, |buffer| buffer.paused(now))
    }

    /// Returns the XOFF and XON frames sent for `class`.
    pub(crate) fn pauses_sent(&self, class: u8) -> (u64, u64) {
        if !self.is_lossless(class) {
            return (0, 0);
        }
        // Each pause goes out once per lossless class, so all classes have equal counts.
        let classes = u64::from(self.classes.lossless.count_ones());
        let mac = self.transmitter.mac();
        (mac.xoff_frames / classes, mac.xon_frames / classes)
    }

    /// Returns the instant until which the leaf pauses `class`; in the past if it does not.
    pub(crate) fn paused_until(&self, class: u8) -> Instant {
        self.pauses.until(class)
    }

    /// Returns the pause frames received for `class`, and the total time up to `now` for which they
    /// paused it.
    pub(crate) fn paused(&self, class: u8, now: Instant) -> (PauseRecord, Time) {
        self.pauses.record(class, now)
    }

    /// Returns the arrival of the first XOFF frame.
    pub(crate) fn first_xoff(&self) -> Option<Instant> {
        self.pauses.first
    }

    /// Returns the frame bytes that a receive queue pair has accepted of incomplete transfers: the
    /// current one, and arrivals beyond a missing packet.
    pub(crate) fn received_in_part(&self, slot: ReceiveSlot) -> u64 {
        let limits = self.limits.as_ref();
        let stored = limits.map_or(0, |limits| limits.gaps.stored_bytes(slot));
        self.receive[slot].accepted_bytes() + stored
    }

    /// Returns a copy of the counters.
    pub(crate) fn counters(&self) -> NicCounters {
        self.counters
    }

    /// Returns true if the send queue pair has been opened.
    pub(crate) fn is_open(&self, slot: SendSlot) -> bool {
        self.send[slot].connection != Connection::Unused
    }

    /// Takes out the marks that a receive queue pair has counted since the last call.
    #[inline]
    pub(crate) fn take_marks(&mut self, slot: ReceiveSlot) -> Marks {
        self.marks.take(slot)
    }

    /// Takes out a transfer that the packet served last has completed beside the returned one, or
    /// `None` after the last.
    pub(crate) fn next_delivery(&mut self) -> Option<Delivery> {
        self.delivered.pop_front()
    }

    /// Returns the queue pairs that have given up.
    pub(crate) fn errors(&self) -> &[QueuePairError] {
        &self.errors
    }

    /// Returns, per send queue pair, the destination host and the number of acknowledged packets,
    /// modulo 2³².
    pub(crate) fn acknowledged(&self) -> impl Iterator<Item = (HostId, u32)> + '_ {
        let slots = self.send.iter();
        slots.map(|queue_pair| (queue_pair.destination(), queue_pair.acknowledged))
    }

    /// Returns the unacknowledged work requests of a send queue pair, oldest first.
    pub(crate) fn unfinished(&self, slot: SendSlot) -> impl Iterator<Item = WorkRequest> + '_ {
        self.send[slot].unfinished(&self.requests, slot).into_iter()
    }

    /// Returns the number of unacknowledged work requests on a send queue pair.
    pub(crate) fn unfinished_count(&self, slot: SendSlot) -> usize {
        self.send[slot].unfinished_count(&self.requests)
    }

    /// Returns the transfers delivered through a receive queue pair since the last reset.
    pub(crate) fn delivered(&self, slot: ReceiveSlot) -> u32 {
        self.receive[slot].delivered()
    }

    /// Resets the count of delivered transfers for `count` receive queue pairs from `first` on.
    pub(crate) fn reset_delivered(&mut self, first: ReceiveSlot, count: usize) {
        let slots = first.index()..first.index() + count;
        self.marks.forget(slots.clone());
        for queue_pair in &mut self.receive.as_mut_slice()[slots] {
            queue_pair.reset_delivered();
        }
    }

    /// Returns the payload bytes of the message that a send queue pair has just begun with packet
    /// `sequence`. A retransmitted message counts as full unless it is the one being sent.
    pub(crate) fn message_bytes(&self, slot: SendSlot, sequence: u32) -> u64 {
        self.send[slot].message_bytes(sequence, self.cut)
    }

    /// Returns the PSN after the last packet that a send queue pair has sent.
    pub(crate) fn next_sequence(&self, slot: SendSlot) -> u32 {
        self.send[slot].next_sequence
    }

    /// Returns the PSN that a receive queue pair expects next.
    pub(crate) fn expected_sequence(&self, slot: ReceiveSlot) -> u32 {
        self.receive[slot].expected
    }

    /// Returns true if the send queue pair has given up.
    pub(crate) fn has_given_up(&self, slot: SendSlot) -> bool {
        self.send[slot].connection == Connection::Failed
    }

    /// Returns true if a send queue pair will act without further input: send, or retransmit after
    /// a timeout. Packets sent before are retransmitted, and in the end given up, even while the
    /// link is down.
    pub(crate) fn goes_on(&self, slot: SendSlot, link_is_up: bool) -> bool {
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
