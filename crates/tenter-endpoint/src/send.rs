//! The sending side of a queue pair.

use tenter_engine::Ring;
use tenter_net::{DATA_OVERHEAD_BYTES, Packet, PacketKind, RETH_BYTES};

use crate::message::{MessageCut, Position};
use crate::spec::{AckPolicy, NicSpec};

/// The other end of a send queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPeer {
    /// The host data goes to.
    pub destination: u32,
    /// The receive slot there.
    pub slot: u32,
    /// Hash of the 5-tuple of the data packets.
    pub hash: u32,
}

/// What the workload asks a queue pair to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// The workload's name for it.
    pub tag: u64,
    /// The workload's name for the requests it belongs with.
    pub group: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// When it is posted, in ps.
    pub posted: u64,
}

/// A work request whose last packet has been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The send slot.
    pub slot: u32,
    /// The request.
    pub request: WorkRequest,
    /// When its first bit left, in ps.
    pub first_sent: u64,
    /// When the acknowledgement arrived, in ps.
    pub at: u64,
    /// Frames sent for it, retransmissions included.
    pub sent_frames: u64,
    /// Their frame bytes.
    pub sent_bytes: u64,
    /// How many of the frames had been sent before.
    pub retransmitted_frames: u64,
}

/// A posted work request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    request: WorkRequest,
    first_sent: u64,
    first_sequence: u32,
    packets: u32,
    /// Frames that were sent and had to be sent again, and their bytes.
    repeated_frames: u64,
    repeated_bytes: u64,
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

/// What the sending side of a queue pair needs for every packet: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct SendQueuePair {
    /// Bytes of the request being sent, from the next packet on.
    left: u64,
    /// Bytes of the message being sent, from the next packet on.
    message_left: u64,
    pub(crate) last_progress: u64,
    pub(crate) next_sequence: u32,
    /// What has this sequence number or a later one has never been sent.
    first_unsent: u32,
    pub(crate) acknowledged: u32,
    posted_sequence: u32,
    peer: Peer,
    /// Which of its [`Requests`] is being sent.
    sending: u32,
    pub(crate) in_round: bool,
    pub(crate) timer_armed: bool,
    starts_message: bool,
    pub(crate) retries: u8,
    pub(crate) connection: Connection,
}

const _: () = assert!(size_of::<SendQueuePair>() == 64);

/// The requests of a queue pair that are not acknowledged whole, oldest first; touched once a
/// message.
pub(crate) type Requests = Ring<Posted>;

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    destination: u32,
    slot: u32,
    hash: u32,
}

impl SendQueuePair {
    pub(crate) fn open(&mut self, peer: SendPeer) {
        let SendPeer {
            destination,
            slot,
            hash,
        } = peer;
        self.peer = Peer {
            destination,
            slot,
            hash,
        };
    }

    pub(crate) fn post(&mut self, requests: &mut Requests, request: WorkRequest, cut: MessageCut) {
        let packets = u32::try_from(cut.packets(request.bytes))
            .expect("a plan puts fewer than 2^30 packets of a collective on a queue pair");
        let idle = self.next_sequence == self.posted_sequence;
        requests.push(Posted {
            request,
            first_sent: u64::MAX,
            first_sequence: self.posted_sequence,
            packets,
            repeated_frames: 0,
            repeated_bytes: 0,
        });
        self.posted_sequence = self.posted_sequence.wrapping_add(packets);
        if idle {
            self.sending = requests.len() as u32 - 1;
            self.take_position(cut.position(request.bytes, 0));
        }
    }

    /// Whether it may send a packet now.
    #[inline]
    pub(crate) fn may_send(&self, window: Option<u32>) -> bool {
        self.connection == Connection::Ready
            && self.next_sequence != self.posted_sequence
            && window.is_none_or(|window| self.outstanding() < window)
    }

    /// Packets sent and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.next_sequence.wrapping_sub(self.acknowledged)
    }

    /// A packet of the connection set-up.
    pub(crate) fn control(&self, kind: PacketKind, frame_bytes: u16) -> Packet {
        self.packet(kind, frame_bytes, 0, 0)
    }

    fn packet(&self, kind: PacketKind, frame_bytes: u16, sequence: u32, flags: u8) -> Packet {
        Packet {
            at: 0,
            queue_pair: self.peer.slot,
            sequence,
            destination: self.peer.destination,
            hash: self.peer.hash,
            sent: 0,
            frame_bytes,
            kind,
            flags,
        }
    }

    /// Whether the next data packet has been sent before.
    #[inline]
    pub(crate) fn repeats(&self) -> bool {
        self.next_sequence != self.first_unsent
    }

    /// The next data packet, whose first bit leaves at `now`, and whether it ends a message.
    #[inline]
    pub(crate) fn next_packet(
        &mut self,
        requests: &mut Requests,
        (spec, cut): (&NicSpec, MessageCut),
        now: u64,
    ) -> (Packet, bool) {
        let payload = self.message_left.min(u64::from(spec.mtu_bytes));
        let first = self.starts_message;
        self.message_left -= payload;
        self.left -= payload;
        let last = self.message_left == 0;
        let (kind, header) = match (first, last) {
            (true, true) => (PacketKind::Only, DATA_OVERHEAD_BYTES + RETH_BYTES),
            (true, false) => (PacketKind::First, DATA_OVERHEAD_BYTES + RETH_BYTES),
            (false, false) => (PacketKind::Middle, DATA_OVERHEAD_BYTES),
            (false, true) => (PacketKind::Last, DATA_OVERHEAD_BYTES),
        };
        let sequence = self.next_sequence;
        let mut flags = 0;
        if last || acknowledges(spec.acknowledge, sequence) {
            flags |= Packet::ACK_REQUEST;
        }
        if last && self.left == 0 {
            flags |= Packet::END_OF_TRANSFER;
        }
        let packet = self.packet(
            kind,
            MessageCut::padded(payload) as u16 + header as u16,
            sequence,
            flags,
        );
        if !self.repeats() {
            self.first_unsent = sequence.wrapping_add(1);
        }
        self.next_sequence = sequence.wrapping_add(1);
        self.starts_message = last;
        if first {
            self.note_first_sent(requests, sequence, now);
        }
        if last {
            self.next_message(requests, cut);
        }
        (packet, last)
    }

    fn note_first_sent(&self, requests: &mut Requests, sequence: u32, now: u64) {
        let request = requests.get_mut(self.sending as usize);
        if request.first_sequence == sequence && request.first_sent == u64::MAX {
            request.first_sent = now;
        }
    }

    fn next_message(&mut self, requests: &mut Requests, cut: MessageCut) {
        if self.left > 0 {
            self.message_left = self.left.min(cut.message_bytes());
            return;
        }
        self.sending += 1;
        if (self.sending as usize) < requests.len() {
            let bytes = requests.get_mut(self.sending as usize).request.bytes;
            self.take_position(cut.position(bytes, 0));
        }
    }

    fn take_position(&mut self, position: Position) {
        self.left = position.left;
        self.message_left = position.message_left;
        self.starts_message = position.starts_message;
    }

    /// Takes a cumulative acknowledgement of everything before `sequence`; hands finished requests
    /// to `done`. Returns whether it was news.
    pub(crate) fn acknowledge(
        &mut self,
        requests: &mut Requests,
        (slot, sequence): (u32, u32),
        cut: MessageCut,
        now: u64,
        mut done: impl FnMut(Acknowledged),
    ) -> bool {
        let news = sequence.wrapping_sub(self.acknowledged);
        if news == 0 || news > self.posted_sequence.wrapping_sub(self.acknowledged) {
            return false;
        }
        self.last_progress = now;
        self.retries = 0;
        // After a rewind, packets that were on their way all the same may be acknowledged before
        // they are sent again.
        if self.outstanding() < news {
            self.count_repeats(requests, (self.next_sequence, sequence), cut, false);
            self.go_to(requests, sequence, cut);
        }
        self.acknowledged = sequence;
        while let Some(oldest) = requests.front() {
            let end = oldest.first_sequence.wrapping_add(oldest.packets);
            if end.wrapping_sub(oldest.first_sequence)
                > sequence.wrapping_sub(oldest.first_sequence)
            {
                break;
            }
            done(oldest.acknowledged(slot, now, cut));
            requests.pop();
            self.sending -= 1;
        }
        true
    }

    /// Goes back to `sequence`, which has been sent before: everything from there on is sent again.
    pub(crate) fn rewind(
        &mut self,
        requests: &mut Requests,
        sequence: u32,
        cut: MessageCut,
    ) -> u32 {
        let again = self.next_sequence.wrapping_sub(sequence);
        if again == 0 || again > self.outstanding() {
            return 0;
        }
        self.count_repeats(requests, (sequence, self.next_sequence), cut, true);
        self.go_to(requests, sequence, cut);
        again
    }

    /// Counts the packets `from..to` as sent for nothing, or takes that back.
    fn count_repeats(
        &self,
        requests: &mut Requests,
        range: (u32, u32),
        cut: MessageCut,
        more: bool,
    ) {
        for index in 0..requests.len() {
            requests
                .get_mut(index)
                .repeat(range, self.acknowledged, cut, more);
        }
    }

    fn go_to(&mut self, requests: &mut Requests, sequence: u32, cut: MessageCut) {
        self.next_sequence = sequence;
        for index in 0..requests.len() {
            let posted = *requests.get_mut(index);
            let packet = sequence.wrapping_sub(posted.first_sequence);
            if packet < posted.packets {
                self.sending = index as u32;
                self.take_position(cut.position(posted.request.bytes, u64::from(packet)));
                return;
            }
        }
        self.sending = requests.len() as u32;
    }

    pub(crate) fn destination(&self) -> u32 {
        self.peer.destination
    }
}

impl Posted {
    pub(crate) fn request(&self) -> WorkRequest {
        self.request
    }

    /// Counts the packets of this request among `from..to` as sent for nothing, or takes that back.
    fn repeat(&mut self, (from, to): (u32, u32), base: u32, cut: MessageCut, more: bool) {
        // Sequence numbers wrap, so all are compared by their distance from the oldest one
        // outstanding.
        let first = i64::from(self.first_sequence.wrapping_sub(base).cast_signed());
        let within = |sequence: u32| {
            (i64::from(sequence.wrapping_sub(base)) - first).clamp(0, i64::from(self.packets))
                as u64
        };
        let (from, to) = (within(from), within(to));
        let bytes = cut.frame_bytes(self.request.bytes, from, to);
        if more {
            self.repeated_frames += to - from;
            self.repeated_bytes += bytes;
        } else {
            self.repeated_frames -= to - from;
            self.repeated_bytes -= bytes;
        }
    }

    fn acknowledged(&self, slot: u32, now: u64, cut: MessageCut) -> Acknowledged {
        let packets = u64::from(self.packets);
        Acknowledged {
            slot,
            request: self.request,
            first_sent: self.first_sent,
            at: now,
            sent_frames: packets + self.repeated_frames,
            sent_bytes: cut.frame_bytes(self.request.bytes, 0, packets) + self.repeated_bytes,
            retransmitted_frames: self.repeated_frames,
        }
    }
}

fn acknowledges(policy: AckPolicy, sequence: u32) -> bool {
    match policy {
        AckPolicy::PerMessage => false,
        AckPolicy::EveryPackets(packets) => sequence.wrapping_add(1).is_multiple_of(packets),
    }
}

#[cfg(test)]
mod tests;
