//! Queue pairs with several requests, or with packets to resend.

use tenter_fabric::net::{Packet, SendSlot};
use tenter_language::units::Instant;

use super::packet::{PacketRules, Sent};
use super::queue_pair::SendQueuePair;
use super::requests::{Backlog, NO_BACKLOG, Posted, Requests};
use super::work::{Acknowledged, WorkRequest};
use crate::message::MessageCut;

impl SendQueuePair {
    /// Returns the unacknowledged requests, oldest first.
    pub(crate) fn unfinished(&self, requests: &Requests, slot: SendSlot) -> Vec<WorkRequest> {
        if self.backlog != NO_BACKLOG {
            let backlog = &requests.backlogs[self.backlog as usize];
            return backlog.posted.iter().map(|posted| posted.request).collect();
        }
        if self.acknowledged == self.posted_sequence {
            return Vec::new();
        }
        vec![requests.only[slot].request(self.bytes)]
    }

    /// Returns the position, among unacknowledged requests, of the one that the next packet belongs
    /// to. For packets to resend it is the oldest.
    pub(crate) fn sending(&self, requests: &Requests) -> usize {
        if self.backlog == NO_BACKLOG || self.repairs {
            return 0;
        }
        requests.backlogs[self.backlog as usize].sending as usize
    }

    /// Returns the number of unacknowledged requests.
    pub(crate) fn unfinished_count(&self, requests: &Requests) -> usize {
        if self.backlog != NO_BACKLOG {
            return requests.backlogs[self.backlog as usize].posted.len();
        }
        usize::from(self.acknowledged != self.posted_sequence)
    }

    /// Appends a request to those that are not yet acknowledged.
    pub(super) fn append(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        request: WorkRequest,
        packets: u32,
    ) {
        let idle = self.next_sequence == self.posted_sequence;
        let posted = Posted::new(request, self.posted_sequence, packets);
        let backlog = self.move_to_backlog(requests, slot);
        backlog.posted.push(posted);
        // All earlier requests have been sent, so this one is next.
        if idle {
            backlog.sending = backlog.posted.len() as u32 - 1;
        }
    }

    /// Returns the queue pair's backlog. If it had none, its only request moves there.
    fn move_to_backlog<'r>(
        &mut self,
        requests: &'r mut Requests,
        slot: SendSlot,
    ) -> &'r mut Backlog {
        if self.backlog == NO_BACKLOG {
            self.backlog = requests.claim_backlog();
            let only = requests.only[slot];
            let first = self.posted_sequence.wrapping_sub(only.packets);
            let mut posted = Posted::new(only.request(self.bytes), first, only.packets);
            posted.first_sent = only.first_sent;
            let backlog = requests.backlog(self.backlog);
            backlog.posted.push(posted);
            backlog.sending = u32::from(self.next_sequence == self.posted_sequence);
            backlog.first_unsent = self.next_sequence;
        }
        requests.backlog(self.backlog)
    }

    /// Notes that packet `sequence` goes out, and returns true if it was sent before.
    #[inline(never)]
    pub(super) fn note_sent(&self, requests: &mut Requests, sequence: u32) -> bool {
        let backlog = requests.backlog(self.backlog);
        if backlog.first_unsent != sequence {
            return true;
        }
        backlog.first_unsent = sequence.wrapping_add(1);
        false
    }

    /// Notes that a message's first packet goes out; it may be the first of its request.
    pub(super) fn note_first_sent(
        &self,
        requests: &mut Requests,
        slot: SendSlot,
        sequence: u32,
        now: Instant,
    ) {
        if self.backlog == NO_BACKLOG {
            let only = &mut requests.only[slot];
            // This is called for each message of the request; the first one counts.
            only.first_sent = only.first_sent.min(now);
            return;
        }
        let backlog = requests.backlog(self.backlog);
        let posted = backlog.posted.get_mut(backlog.sending as usize);
        if posted.first_sequence == sequence {
            posted.first_sent = posted.first_sent.min(now);
        }
    }

    /// Continues with the request after the one whose last packet has just gone out, if there is
    /// one.
    pub(super) fn next_request(&mut self, requests: &mut Requests, cut: MessageCut) {
        let backlog = requests.backlog(self.backlog);
        backlog.sending += 1;
        if (backlog.sending as usize) < backlog.posted.len() {
            let posted = *backlog.posted.get_mut(backlog.sending as usize);
            self.begin_request(posted.request.bytes, posted.packets, cut);
        }
    }

    /// Handles an acknowledgement like [`SendQueuePair::acknowledge`], if there are several
    /// requests or packets were resent.
    pub(super) fn acknowledge_backlog(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        sequence: u32,
        cut: MessageCut,
        now: Instant,
        mut done: impl FnMut(Acknowledged),
    ) {
        let backlog = requests.backlog(self.backlog);
        // After a rewind, packets that were in flight may be acknowledged before they are resent.
        // They are then skipped, and no longer count as resent.
        if self.outstanding() < sequence.wrapping_sub(self.acknowledged) {
            let range = self.next_sequence..sequence;
            backlog.count_repeats(&range, self.acknowledged, cut, false);
            self.go_to(backlog, sequence, cut);
        }
        self.acknowledged = sequence;
        while let Some(oldest) = backlog.posted.front() {
            if oldest.packets > sequence.wrapping_sub(oldest.first_sequence) {
                return;
            }
            done(oldest.acknowledged(slot, now, cut));
            backlog.posted.pop();
            backlog.sending -= 1;
        }
        // Everything is acknowledged: the backlog is free for another queue pair.
        requests.free.push(self.backlog);
        self.backlog = NO_BACKLOG;
    }

    /// Goes back to `sequence`, which was sent before: everything from there on is sent again.
    /// Returns the number of packets to resend, or 0 if `sequence` is not in flight.
    pub(crate) fn rewind(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        sequence: u32,
        cut: MessageCut,
    ) -> u32 {
        let again = self.next_sequence.wrapping_sub(sequence);
        if again == 0 || again > self.outstanding() {
            return 0;
        }
        let range = sequence..self.next_sequence;
        let backlog = self.move_to_backlog(requests, slot);
        backlog.count_repeats(&range, self.acknowledged, cut, true);
        self.go_to(backlog, sequence, cut);
        again
    }

    /// Makes packet `sequence`, which was sent before, once more. It asks for an acknowledgement.
    pub(crate) fn packet_again(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        sequence: u32,
        rules: PacketRules<'_>,
        now: Instant,
    ) -> Sent {
        let cut = *rules.cut;
        let next = self.next_sequence;
        let backlog = self.move_to_backlog(requests, slot);
        let range = sequence..sequence.wrapping_add(1);
        backlog.count_repeats(&range, self.acknowledged, cut, true);
        // Step back for one packet and return: message and request of the present position are
        // found anew, which costs time only when something was lost.
        self.go_to(backlog, sequence, cut);
        let mut sent = self.next_packet(requests, slot, rules, now);
        sent.packet.flags |= Packet::ACK_REQUEST;
        let backlog = requests.backlog(self.backlog);
        self.go_to(backlog, next, cut);
        sent
    }

    /// Sets the position to packet `sequence`: finds its request and its message.
    fn go_to(&mut self, backlog: &mut Backlog, sequence: u32, cut: MessageCut) {
        self.next_sequence = sequence;
        for index in 0..backlog.posted.len() {
            let posted = *backlog.posted.get_mut(index);
            let packet = sequence.wrapping_sub(posted.first_sequence);
            if packet < posted.packets {
                backlog.sending = index as u32;
                self.bytes = posted.request.bytes;
                self.request_end = posted.first_sequence.wrapping_add(posted.packets);
                self.resume_message(packet, cut);
                return;
            }
        }
        // Past the last request: everything has been sent.
        backlog.sending = backlog.posted.len() as u32;
    }

    /// Sets the message to the one in which the next packet, number `packet` of the request, lies.
    fn resume_message(&mut self, packet: u32, cut: MessageCut) {
        let before = (u64::from(packet) % cut.packets_per_message()) as u32;
        let next = self.next_sequence;
        // A message begins at its first packet, so pretend for a moment to be there.
        self.next_sequence = next.wrapping_sub(before);
        self.begin_message(cut);
        self.next_sequence = next;
        self.starts_message = before == 0;
    }
}
