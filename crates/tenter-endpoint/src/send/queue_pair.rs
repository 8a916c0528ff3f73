//! The sending side of a queue pair.

mod steady;

use tenter_fabric::net::{Packet, PacketKind, RETH_BYTES, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

use super::packet::{PacketRules, Sent, ack_request};
use super::requests::{NO_BACKLOG, Only, Requests};
use super::work::{Acknowledged, WorkRequest};
use crate::message::MessageCut;

/// The other end of a send queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendPeer {
    /// Host that receives the data.
    pub destination: HostId,
    /// Receive queue pair at that host.
    pub slot: ReceiveSlot,
    /// ECMP hash of the 5-tuple that data packets carry.
    pub hash: u32,
}

/// State in which a connection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The queue pair has not been opened.
    #[default]
    Unused,
    /// The request is out, and no packet may be sent before the reply.
    Requested,
    /// Open: packets may be sent.
    Ready,
    /// Given up after the last retry.
    Failed,
}

/// Place among the NIC's queue pairs that want to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has nothing to send, or its window forbids to.
    #[default]
    Out,
    /// It waits for its turn in the round.
    InRound,
    /// It joins the round once its rate, or a congestion signal, allows the next packet.
    Paced,
}

/// The sending side of a queue pair, with the state that each packet needs in one cache line. State
/// that only requests need is in [`Requests`].
///
/// Message and request boundaries are kept as sequence numbers, so that a packet in the middle of a
/// message changes one number and nothing else.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct SendQueuePair {
    /// Instant from which the retransmission timeout counts.
    pub(crate) last_progress: Instant,
    /// Payload bytes of the current request.
    pub(super) bytes: u64,
    /// PSN of the next packet.
    pub(crate) next_sequence: u32,
    /// PSN of the oldest unacknowledged packet.
    pub(crate) acknowledged: u32,
    /// PSN after the current message.
    pub(super) message_end: u32,
    /// PSN after the current request.
    pub(super) request_end: u32,
    /// PSN after all posted requests.
    pub(super) posted_sequence: u32,
    /// Payload bytes of the current message's last packet.
    last_payload: u32,
    peer: SendPeer,
    /// Index of the backlog that holds its requests, or `NO_BACKLOG` while it has at most one.
    pub(super) backlog: u32,
    pub(crate) turn: Turn,
    pub(crate) timer_armed: bool,
    /// Set if the next packet is the first of its message.
    pub(super) starts_message: bool,
    /// Timeouts in a row without progress.
    pub(crate) retries: u8,
    /// NAKs since the last acknowledgement that was not a NAK.
    pub(crate) naks: u8,
    pub(crate) connection: Connection,
    /// Set while packets must be resent that lie before `next_sequence`.
    pub(crate) repairs: bool,
    /// Class of its data packets.
    pub(crate) class: u8,
}

const _: () = assert!(size_of::<SendQueuePair>() == 64);

impl Default for SendQueuePair {
    fn default() -> Self {
        SendQueuePair {
            last_progress: Instant::START,
            bytes: 0,
            next_sequence: 0,
            acknowledged: 0,
            message_end: 0,
            request_end: 0,
            posted_sequence: 0,
            last_payload: 0,
            peer: SendPeer::default(),
            backlog: NO_BACKLOG,
            turn: Turn::Out,
            timer_armed: false,
            starts_message: false,
            retries: 0,
            naks: 0,
            connection: Connection::default(),
            repairs: false,
            class: 0,
        }
    }
}

impl SendQueuePair {
    /// Sets the other end and the class of data packets.
    pub(crate) fn open(&mut self, peer: SendPeer, class: u8) {
        self.peer = peer;
        self.class = class;
    }

    /// Posts a work request to the queue pair.
    pub(crate) fn post(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        request: WorkRequest,
        cut: MessageCut,
    ) {
        let packets = u32::try_from(cut.packets(request.bytes))
            .expect("a plan puts fewer than 2^30 packets of a collective on a queue pair");
        let idle = self.next_sequence == self.posted_sequence;
        // A single request lies in the array of all queue pairs; only a second one needs a backlog.
        if self.acknowledged == self.posted_sequence {
            requests.only[slot] = Only::new(request, packets);
        } else {
            self.append(requests, slot, request, packets);
        }
        self.posted_sequence = self.posted_sequence.wrapping_add(packets);
        if idle {
            self.begin_request(request.bytes, packets, cut);
        }
    }

    /// Returns true if it may send a packet now.
    #[inline]
    pub(crate) fn may_send(&self, window: Option<u32>) -> bool {
        self.connection == Connection::Ready && self.has_packet(window)
    }

    /// Returns true if there is a packet to send and the window allows it. A packet to resend is
    /// within the window already.
    #[inline]
    pub(crate) fn has_packet(&self, window: Option<u32>) -> bool {
        (self.next_sequence != self.posted_sequence
            && window.is_none_or(|window| self.outstanding() < window))
            || self.repairs
    }

    /// Returns true if the next packet is the first in its message, or the last in its request.
    #[inline]
    pub(crate) fn is_at_edge(&self) -> bool {
        self.starts_message || self.next_sequence.wrapping_add(1) == self.request_end
    }

    /// Returns the packets that are sent and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.next_sequence.wrapping_sub(self.acknowledged)
    }

    /// Returns how much of the retry budget is used: NAKs and timeouts share one, as in the
    /// specification. NAKs count only with `retry_on_nak`.
    pub(crate) fn used_retries(&self) -> u8 {
        self.naks.saturating_add(self.retries)
    }

    /// Returns the PSN after the message that `sent` belongs to. `sent` is its first packet and has
    /// just been counted as sent.
    pub(crate) fn end_of_message(&self, sent: &Sent) -> u32 {
        // A message of one packet is over, so `message_end` belongs to the next one already.
        if sent.packet.kind == PacketKind::Only {
            sent.packet.sequence.wrapping_add(1)
        } else {
            self.message_end
        }
    }

    /// Returns a control packet for the other end, such as a connection request.
    pub(crate) fn control(&self, kind: PacketKind, frame_bytes: u16) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: self.peer.slot.number(),
            sequence: 0,
            destination: self.peer.destination,
            hash: self.peer.hash,
            sent: 0,
            frame_bytes,
            kind,
            flags: 0,
        }
    }

    /// Returns the payload bytes in the message that begins with packet `sequence`, if it is the
    /// current one; for any other, those in a full message.
    pub(crate) fn message_bytes(&self, sequence: u32, cut: MessageCut) -> u64 {
        let packets = self.message_end.wrapping_sub(sequence);
        if packets == 0 || u64::from(packets) > cut.packets_per_message() {
            return cut.message_bytes();
        }
        cut.bytes_of(packets, self.last_payload)
    }

    /// Makes the next data packet, whose first bit leaves at `now`.
    #[inline]
    pub(crate) fn next_packet(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        rules: PacketRules<'_>,
        now: Instant,
    ) -> Sent {
        let sequence = self.next_sequence;
        let next = sequence.wrapping_add(1);
        self.next_sequence = next;
        let repeats = self.backlog != NO_BACKLOG && self.note_sent(requests, sequence);
        let ends_message = next == self.message_end;
        let (kind, frame_bytes, flags) = if self.starts_message || ends_message {
            self.first_or_last(requests, slot, sequence, rules, now)
        } else {
            let flags = ack_request(*rules.acknowledge, sequence);
            (PacketKind::Middle, rules.cut.middle_frame_bytes(), flags)
        };
        let packet = Packet {
            at: Instant::START,
            queue_pair: self.peer.slot.number(),
            sequence,
            destination: self.peer.destination,
            hash: match rules.entropy {
                None => self.peer.hash,
                Some(entropy) => entropy.hash(self.peer.hash, sequence, self.retries),
            },
            sent: (now.ps() / SENT_UNIT_PS) as u32,
            frame_bytes,
            kind,
            flags,
        };
        Sent {
            packet,
            ends_message,
            repeats,
        }
    }

    /// Returns kind, frame bytes and flags for packet `sequence`, which is the first or last in its
    /// message, or both. It has just been counted as sent.
    #[inline(never)]
    fn first_or_last(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        sequence: u32,
        rules: PacketRules<'_>,
        now: Instant,
    ) -> (PacketKind, u16, u8) {
        let cut = *rules.cut;
        let first = self.starts_message;
        let last = self.next_sequence == self.message_end;
        let kind = match (first, last) {
            (true, true) => PacketKind::Only,
            (true, false) => PacketKind::First,
            // Not reached: the caller asks only for a first or last packet.
            (false, false) => PacketKind::Middle,
            (false, true) => PacketKind::Last,
        };
        let mut frame_bytes = cut.middle_frame_bytes();
        let mut flags = ack_request(*rules.acknowledge, sequence);
        self.starts_message = last;
        if first {
            frame_bytes += RETH_BYTES as u16;
            self.note_first_sent(requests, slot, sequence, now);
        }
        if last {
            frame_bytes -= cut.short_of_full(self.last_payload);
            flags = Packet::ACK_REQUEST;
            if self.next_sequence == self.request_end {
                flags |= Packet::END_OF_TRANSFER;
            }
            self.next_message(requests, cut);
        }
        (kind, frame_bytes, flags)
    }

    /// Continues with the first message in a request with `bytes` bytes and `packets` packets.
    pub(super) fn begin_request(&mut self, bytes: u64, packets: u32, cut: MessageCut) {
        self.bytes = bytes;
        self.request_end = self.next_sequence.wrapping_add(packets);
        self.begin_message(cut);
    }

    /// Continues with the message that begins with the next packet.
    pub(super) fn begin_message(&mut self, cut: MessageCut) {
        let left = self.request_end.wrapping_sub(self.next_sequence);
        let packets = cut.packets_per_message().min(u64::from(left)) as u32;
        self.starts_message = true;
        self.message_end = self.next_sequence.wrapping_add(packets);
        self.last_payload = if packets == left {
            cut.request_tail(self.bytes)
        } else {
            cut.full_message_tail()
        };
    }

    /// Continues with the next message, in this request or the next one.
    fn next_message(&mut self, requests: &mut Requests, cut: MessageCut) {
        if self.next_sequence != self.request_end {
            self.begin_message(cut);
        } else if self.backlog != NO_BACKLOG {
            self.next_request(requests, cut);
        }
    }

    /// Handles a cumulative acknowledgement of everything before `sequence`, and passes finished
    /// requests to `done`. Returns true if it acknowledged anything new.
    pub(crate) fn acknowledge(
        &mut self,
        requests: &mut Requests,
        slot: SendSlot,
        sequence: u32,
        cut: MessageCut,
        now: Instant,
        mut done: impl FnMut(Acknowledged),
    ) -> bool {
        let (news, unfinished) = self.news(sequence);
        // PSNs wrap: an overtaken acknowledgement appears as a distance beyond what is posted.
        if news == 0 || news > unfinished {
            return false;
        }
        self.note_progress(now);
        if self.backlog == NO_BACKLOG {
            self.acknowledged = sequence;
            if news == unfinished {
                done(requests.only[slot].acknowledged(slot, self.bytes, now, cut));
            }
        } else {
            self.acknowledge_backlog(requests, slot, sequence, cut, now, done);
        }
        true
    }

    /// Handles an acknowledgement, not a NAK, on the fast path and returns true, if it is new,
    /// finishes no request and leaves the round as it is. For any other it does nothing and returns
    /// false.
    ///
    /// Without a backlog nothing was sent twice, so everything acknowledged has been sent. A queue
    /// pair in the round has packets to send, and fewer outstanding ones do not change that. One
    /// outside has none, unless its window was in the way.
    #[inline]
    pub(crate) fn acknowledge_part(
        &mut self,
        sequence: u32,
        now: Instant,
        window: Option<u32>,
    ) -> bool {
        let (news, unfinished) = self.news(sequence);
        let keeps_turn = self.turn == Turn::InRound || window.is_none();
        if self.backlog != NO_BACKLOG || news == 0 || news >= unfinished || !keeps_turn {
            return false;
        }
        debug_assert!(news <= self.outstanding());
        self.note_progress(now);
        self.naks = 0;
        self.acknowledged = sequence;
        debug_assert_eq!(self.turn == Turn::InRound, self.may_send(window));
        true
    }

    /// Returns the packets that an acknowledgement up to `sequence` would acknowledge anew, and all
    /// that are unacknowledged.
    #[inline]
    fn news(&self, sequence: u32) -> (u32, u32) {
        let since = |later: u32| later.wrapping_sub(self.acknowledged);
        (since(sequence), since(self.posted_sequence))
    }

    /// Restarts the timeout and the count of retries.
    #[inline]
    fn note_progress(&mut self, now: Instant) {
        self.last_progress = now;
        self.retries = 0;
    }

    pub(crate) fn destination(&self) -> HostId {
        self.peer.destination
    }

    /// Returns the ECMP hash of its data packets, before per-packet source ports are applied.
    pub(crate) fn hash(&self) -> u32 {
        self.peer.hash
    }

    /// Moves its data packets to another source port, which changes their hash by XOR with
    /// `difference`.
    pub(crate) fn change_hash(&mut self, difference: u32) {
        self.peer.hash ^= difference;
    }
}
