//! The sending side of a queue pair.

mod steady;

use tenter_net::{Packet, PacketKind, RETH_BYTES, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_topology::HostId;
use tenter_units::Instant;

use super::packet::{PacketRules, Sent, ack_request};
use super::requests::{NO_BACKLOG, Only, Requests};
use super::work::{Acknowledged, WorkRequest};
use crate::message::MessageCut;

/// The other end of a send queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendPeer {
    /// The host data goes to.
    pub destination: HostId,
    /// The receive slot there.
    pub slot: ReceiveSlot,
    /// Hash of the 5-tuple of the data packets.
    pub hash: u32,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Connection {
    #[default]
    Unused,
    Requested,
    Ready,
    Failed,
}

/// Where a queue pair stands among those of its NIC that want to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has nothing to send, or may not send it.
    #[default]
    Out,
    InRound,
    /// It joins the round when its rate allows the next packet.
    Paced,
}

/// What the sending side of a queue pair needs for every packet: one cache line. What it needs once
/// a request is in [`Requests`].
///
/// Where packets lie in messages is kept in sequence numbers, so that a packet in the middle of a
/// message changes one of them and nothing else.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct SendQueuePair {
    pub(crate) last_progress: Instant,
    /// Payload bytes of the request being sent.
    pub(super) bytes: u64,
    pub(crate) next_sequence: u32,
    pub(crate) acknowledged: u32,
    /// The sequence numbers after the message and the request being sent, and after all requests.
    pub(super) message_end: u32,
    pub(super) request_end: u32,
    pub(super) posted_sequence: u32,
    /// Payload bytes of the last packet of the message being sent.
    last_payload: u32,
    peer: SendPeer,
    /// Which backlog holds its requests; `NO_BACKLOG` while it has one request at most.
    pub(super) backlog: u32,
    pub(crate) turn: Turn,
    pub(crate) timer_armed: bool,
    pub(super) starts_message: bool,
    pub(crate) retries: u8,
    /// NAKs since the last acknowledgement proper.
    pub(crate) naks: u8,
    pub(crate) connection: Connection,
    /// Whether it has something to send again that is not the rest of a request.
    pub(crate) repairs: bool,
    /// The class of its data packets.
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
    pub(crate) fn open(&mut self, peer: SendPeer, class: u8) {
        self.peer = peer;
        self.class = class;
    }

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

    /// Whether it may send a packet now.
    #[inline]
    pub(crate) fn may_send(&self, window: Option<u32>) -> bool {
        self.connection == Connection::Ready && self.has_packet(window)
    }

    /// Whether there is a packet to send and the window lets it out. What is sent again is within
    /// the window.
    #[inline]
    pub(crate) fn has_packet(&self, window: Option<u32>) -> bool {
        (self.next_sequence != self.posted_sequence
            && window.is_none_or(|window| self.outstanding() < window))
            || self.repairs
    }

    /// Whether its next packet is the first of a message, or the last one of its request.
    #[inline]
    pub(crate) fn is_at_edge(&self) -> bool {
        self.starts_message || self.next_sequence.wrapping_add(1) == self.request_end
    }

    /// Packets sent and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.next_sequence.wrapping_sub(self.acknowledged)
    }

    /// The sequence number after the message that a packet goes out of, which has just been counted
    /// as sent and is the first of it.
    pub(crate) fn end_of_message(&self, sent: &Sent) -> u32 {
        if sent.packet.kind == PacketKind::Only {
            sent.packet.sequence.wrapping_add(1)
        } else {
            self.message_end
        }
    }

    /// A packet of the connection set-up.
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

    /// Payload bytes of the message whose first packet is `sequence`, where it is the one that is
    /// being sent; of a full message elsewhere.
    pub(crate) fn message_bytes(&self, sequence: u32, cut: MessageCut) -> u64 {
        let packets = self.message_end.wrapping_sub(sequence);
        if packets == 0 || u64::from(packets) > cut.packets_per_message() {
            return cut.message_bytes();
        }
        cut.bytes_of(packets, self.last_payload)
    }

    /// The next data packet, whose first bit leaves at `now`.
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

    /// Kind, frame bytes and flags of the packet `sequence`, which has just been counted as sent
    /// and is the first or the last one of its message, or both.
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

    /// Goes to the first message of a request, of which nothing has been sent.
    pub(super) fn begin_request(&mut self, bytes: u64, packets: u32, cut: MessageCut) {
        self.bytes = bytes;
        self.request_end = self.next_sequence.wrapping_add(packets);
        self.begin_message(cut);
    }

    /// Goes to the message that begins with the next packet.
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

    fn next_message(&mut self, requests: &mut Requests, cut: MessageCut) {
        if self.next_sequence != self.request_end {
            self.begin_message(cut);
        } else if self.backlog != NO_BACKLOG {
            self.next_request(requests, cut);
        }
    }

    /// Takes a cumulative acknowledgement of everything before `sequence`; hands finished requests
    /// to `done`. Returns whether it was news.
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

    /// As [`SendQueuePair::acknowledge`] of an acknowledgement proper that is news, finishes no
    /// request and changes nothing about whose turn it is; says whether it was one. Nothing happens
    /// otherwise.
    ///
    /// Without a backlog nothing has been sent twice, so that what is acknowledged has been sent.
    /// In the round there is something to send, also when less is outstanding; out of it there is
    /// nothing, unless the window was in the way.
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

    /// How many packets an acknowledgement of everything before `sequence` is news of, and how many
    /// were not acknowledged.
    #[inline]
    fn news(&self, sequence: u32) -> (u32, u32) {
        let since = |later: u32| later.wrapping_sub(self.acknowledged);
        (since(sequence), since(self.posted_sequence))
    }

    #[inline]
    fn note_progress(&mut self, now: Instant) {
        self.last_progress = now;
        self.retries = 0;
    }

    pub(crate) fn destination(&self) -> HostId {
        self.peer.destination
    }

    /// The hash of its data packets, unless it sprays them.
    pub(crate) fn hash(&self) -> u32 {
        self.peer.hash
    }

    /// Gives its data packets from now on another source port, which changes their hash by an
    /// exclusive or.
    pub(crate) fn change_hash(&mut self, difference: u32) {
        self.peer.hash ^= difference;
    }
}
