//! Conversion between the model's packets and datagrams.

use std::collections::BTreeMap;

use tenter_fabric::net::{Missing, Packet, PacketKind, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;
use tenter_sim::real_time::{Departure, RealHost, Slot, Way};

use super::numbers::{Numbers, nearest};
use crate::wire::{
    Body, FRAME_OVERHEAD, HEADERS_MAX, Headers, ICRC_BYTES, Icrcs, Malformed, Pattern, Position,
    Reth, UdpFlow, icrc,
};

/// ECN field values: the sender allows marks (ECT(0)), or a switch has marked the packet (CE).
const ECN_CAPABLE: u8 = 2;
const CONGESTION_EXPERIENCED: u8 = 3;

/// Latest packets per send queue pair whose send times are kept. A power of two, so that places
/// stay in order when sequence numbers wrap.
const REMEMBERED: usize = 8192;

/// Frame bytes around a data packet's payload, without RETH.
const DATA_OVERHEAD: u32 = tenter_fabric::net::DATA_OVERHEAD_BYTES;

/// Writes packets as datagrams, and reads datagrams as packets.
pub(super) struct Codec {
    host: HostId,
    numbers: Numbers,
    /// All hosts' IPv4 addresses, by host index.
    addresses: Vec<u32>,
    by_address: BTreeMap<u32, HostId>,
    /// Queue pairs by which this host sends data, by send QP index.
    sends: Vec<Way>,
    /// Queue pairs by which this host receives data and sends answers, by receive QP index.
    answers: Vec<Way>,
    /// For each send queue pair, times when its latest packets left, in units of [`SENT_UNIT_PS`];
    /// empty until it sends. A packet's place is its sequence number modulo [`REMEMBERED`].
    sent: Vec<Vec<u32>>,
    /// For each send queue pair, payload bytes in the message that is being sent.
    message_bytes: Vec<u32>,
    dscp: u8,
    /// Control packets' DSCP; `None` if they have that of data.
    control_dscp: Option<u8>,
    /// True if jobs choose traffic classes; a data packet's DSCP then follows from its class.
    by_class: bool,
    /// Frame bytes in the longest packet that the scenario allows.
    longest: usize,
    icrcs: Icrcs,
    /// Payload bytes that arrived as they were sent.
    pub(super) verified_bytes: u64,
    /// Packets with a wrong payload.
    pub(super) corrupt: u64,
}

/// Everything that [`Codec::new`] needs.
pub(super) struct CodecBuild<'a> {
    pub(super) host: HostId,
    pub(super) trial: u64,
    pub(super) addresses: Vec<u32>,
    pub(super) ways: &'a [Way],
    pub(super) dscp: u8,
    pub(super) control_dscp: Option<u8>,
    pub(super) by_class: bool,
    pub(super) longest_frame_bytes: u32,
    /// Most datagrams that the kernel cuts from one; 1 without segmentation.
    pub(super) cut_datagrams: u16,
}

/// A datagram as it was received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) source: u32,
    pub(super) source_port: u16,
    pub(super) type_of_service: u8,
}

/// A received data packet whose headers have been read.
struct Data<'a> {
    incoming: &'a Incoming<'a>,
    headers: Headers,
    position: Position,
    payload: &'a [u8],
    sender: HostId,
    now: Instant,
}

/// Reason why a datagram is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The sender's address is no host's in this trial.
    Stranger,
    /// The datagram is no packet that a lab sends.
    Malformed(Malformed),
    /// The queue pair does not exist here, or its other end is not the sender.
    QueuePair,
    /// The payload differs from what the sender must have written.
    Payload,
}

/// Length in bytes, flow and type-of-service byte for an outgoing datagram.
pub(super) struct Outgoing {
    pub(super) length: usize,
    pub(super) flow: UdpFlow,
    pub(super) type_of_service: u8,
}

impl Codec {
    pub(super) fn new(build: CodecBuild<'_>) -> Codec {
        let of = |is: fn(&Slot) -> bool| {
            let ways = build.ways.iter().filter(move |way| is(&way.own));
            ways.copied().collect::<Vec<Way>>()
        };
        let sends = of(|slot| matches!(slot, Slot::Send(_)));
        let answers = of(|slot| matches!(slot, Slot::Receive(_)));
        let hosts = (0..).zip(&build.addresses);
        Codec {
            by_address: hosts.map(|(host, &of)| (of, HostId::new(host))).collect(),
            host: build.host,
            numbers: Numbers(build.trial),
            addresses: build.addresses,
            sent: vec![Vec::new(); sends.len()],
            message_bytes: vec![0; sends.len()],
            sends,
            answers,
            dscp: build.dscp,
            control_dscp: build.control_dscp,
            by_class: build.by_class,
            longest: build.longest_frame_bytes as usize,
            icrcs: Icrcs::up_to(build.cut_datagrams.saturating_sub(1)),
            verified_bytes: 0,
            corrupt: 0,
        }
    }

    /// Returns the longest datagram's length in bytes.
    pub(super) fn longest_datagram(&self) -> usize {
        self.longest - FRAME_OVERHEAD
    }

    /// Returns this host's IPv4 address.
    pub(super) fn address(&self) -> u32 {
        self.addresses[self.host.index()]
    }

    /// Returns a packet's UDP source port.
    pub(super) fn source_port(&self, departure: &Departure) -> u16 {
        self.way(departure.from).source_port
    }

    /// Returns the type-of-service byte of a packet: its DSCP, and ECT(0) if it is data that may be
    /// marked.
    pub(super) fn type_of_service(&self, packet: &Packet) -> u8 {
        let dscp = match (packet.kind.is_data(), self.control_dscp) {
            (false, Some(control)) => control,
            // Classes are the upper three bits of a DSCP.
            (true, _) if self.by_class => packet.class() << 3,
            _ => self.dscp,
        };
        let ecn = if packet.has(Packet::ECN_CAPABLE) && packet.kind.is_data() {
            ECN_CAPABLE
        } else {
            0
        };
        dscp << 2 | ecn
    }

    fn way(&self, slot: Slot) -> &Way {
        match slot {
            Slot::Send(slot) => &self.sends[slot.index()],
            Slot::Receive(slot) => &self.answers[slot.index()],
        }
    }

    /// Writes the datagram of a packet that leaves at `now`, all but its ICRC. `out` must have room
    /// for [`Codec::longest_datagram`] bytes.
    pub(super) fn encode(
        &mut self,
        departure: &Departure,
        now: Instant,
        out: &mut [u8],
    ) -> Outgoing {
        let packet = &departure.packet;
        let way = *self.way(departure.from);
        let headers = self.headers(departure, &way);
        let mut length = headers.write(out);
        debug_assert!(length <= HEADERS_MAX);
        if let (Slot::Send(slot), true) = (departure.from, packet.kind.is_data()) {
            let payload = payload_bytes(packet) as usize;
            let pattern = self.pattern(way.peer, way.peer_slot, packet.sequence);
            pattern.fill(&mut out[length..length + payload], now.ps() / SENT_UNIT_PS);
            length += payload;
            let sent = &mut self.sent[slot.index()];
            // Allocated at first use, 32 KiB each: many queue pairs never send.
            if sent.is_empty() {
                sent.resize(REMEMBERED, 0);
            }
            sent[packet.sequence as usize % REMEMBERED] = packet.sent;
        }
        let flow = UdpFlow {
            source: self.address(),
            destination: self.addresses[packet.destination.index()],
            source_port: way.source_port,
        };
        Outgoing {
            length: length + ICRC_BYTES,
            flow,
            type_of_service: self.type_of_service(packet),
        }
    }

    /// Writes the ICRC into a datagram that is the `nth` piece if the kernel cuts it from a longer
    /// one.
    pub(super) fn seal(outgoing: &Outgoing, nth: u16, out: &mut [u8]) {
        let (covered, room) = out.split_at_mut(outgoing.length - ICRC_BYTES);
        let crc = icrc(&outgoing.flow, nth, covered);
        room[..ICRC_BYTES].copy_from_slice(&crc.to_le_bytes());
    }

    fn pattern(&self, receiver: HostId, slot: u32, sequence: u32) -> Pattern {
        // The pattern is named by the receiver's queue pair, which both ends can compute.
        let of = Slot::Receive(ReceiveSlot::new(slot));
        Pattern::new(
            self.numbers.0,
            self.numbers.queue_pair(receiver, of),
            sequence,
        )
    }

    fn headers(&mut self, departure: &Departure, way: &Way) -> Headers {
        let packet = &departure.packet;
        // First sequence numbers are derived from the receiving end; answers use the same one.
        let (peer_slot, first) = match departure.from {
            Slot::Send(_) => {
                let slot = Slot::Receive(ReceiveSlot::new(way.peer_slot));
                (slot, self.numbers.first_sequence(way.peer, way.peer_slot))
            }
            Slot::Receive(own) => {
                let slot = Slot::Send(SendSlot::new(way.peer_slot));
                (slot, self.numbers.first_sequence(self.host, own.number()))
            }
        };
        let sequence = match packet.kind {
            // An ACK on the wire names the last packet received, an ACK of the model the next one
            // expected.
            PacketKind::Ack => packet.sequence.wrapping_sub(1),
            _ => packet.sequence,
        };
        let body = match packet.kind {
            PacketKind::Ack => Body::Ack,
            PacketKind::Nak => Body::Nak { packets: 0 },
            PacketKind::SelectiveNak => {
                let missing = Missing::of(packet);
                Body::Nak {
                    packets: missing.end.wrapping_sub(missing.first),
                }
            }
            PacketKind::Cnp => Body::Notification,
            _ => self.write_body(departure),
        };
        let is_data = packet.kind.is_data();
        Headers {
            queue_pair: self.numbers.queue_pair(way.peer, peer_slot),
            sequence: first.wrapping_add(sequence) & super::numbers::SEQUENCE_MASK,
            asks_for_ack: is_data && packet.has(Packet::ACK_REQUEST),
            asks_for_report: is_data && packet.has(Packet::REPORT_REQUEST),
            notifies: !is_data && packet.has(Packet::CONGESTION_ECHO),
            body,
        }
    }

    fn write_body(&mut self, departure: &Departure) -> Body {
        let packet = &departure.packet;
        let position = match packet.kind {
            PacketKind::First => Position::First,
            PacketKind::Last => Position::Last,
            PacketKind::Only => Position::Only,
            _ => Position::Middle,
        };
        // Only the first packet's departure says how long the message is; the last needs it for its
        // pads.
        let mut message_bytes = 0;
        if let Slot::Send(slot) = departure.from {
            let known = &mut self.message_bytes[slot.index()];
            if matches!(position, Position::First | Position::Only) {
                *known = departure.message_bytes;
            }
            message_bytes = *known;
        }
        let begins = matches!(position, Position::First | Position::Only);
        let ends = matches!(position, Position::Last | Position::Only);
        // The model's payload is already rounded up; pads say how much of it is filling.
        let pads = if ends {
            message_bytes.wrapping_neg() & 3
        } else {
            0
        };
        Body::Write {
            position,
            // Receivers compare payloads instead of writing them, so no address is needed.
            reth: begins.then_some(Reth {
                address: 0,
                key: 0,
                bytes: message_bytes,
            }),
            pads: pads.min(payload_bytes(packet)) as u8,
        }
    }

    /// Reads a datagram that was received at `now`.
    ///
    /// # Errors
    /// Returns the reason why it is not a packet that its sender can have sent in this trial.
    pub(super) fn decode(
        &mut self,
        incoming: &Incoming<'_>,
        now: Instant,
        host: &RealHost,
    ) -> Result<Packet, Refused> {
        let stranger = self.by_address.get(&incoming.source).copied();
        let sender = stranger.ok_or(Refused::Stranger)?;
        let flow = UdpFlow {
            source: incoming.source,
            destination: self.address(),
            source_port: incoming.source_port,
        };
        let read = Headers::read(incoming.bytes, &flow, &mut self.icrcs);
        let (headers, payload) = read.map_err(Refused::Malformed)?;
        let slot = self.numbers.slot(self.host, headers.queue_pair);
        // The slot's kind must suit the packet: data for receivers, answers for senders.
        match (slot.ok_or(Refused::QueuePair)?, headers.body) {
            (Slot::Receive(slot), Body::Write { position, .. }) => {
                let data = Data {
                    incoming,
                    headers,
                    position,
                    payload,
                    sender,
                    now,
                };
                self.data(&data, slot, host)
            }
            (Slot::Send(slot), body) => {
                let packet = self.answer(&headers, body, sender, slot, host)?;
                let frame_bytes = (incoming.bytes.len() + FRAME_OVERHEAD) as u16;
                Ok(Packet {
                    at: now,
                    frame_bytes,
                    flags: packet.flags | class_flags(incoming.type_of_service),
                    ..packet
                })
            }
            _ => Err(Refused::QueuePair),
        }
    }

    fn data(
        &mut self,
        data: &Data<'_>,
        slot: ReceiveSlot,
        host: &RealHost,
    ) -> Result<Packet, Refused> {
        let Data {
            incoming, headers, ..
        } = data;
        let (sender, now) = (data.sender, data.now);
        let way = self
            .answers
            .get(slot.index())
            .filter(|way| way.peer == sender);
        if way.is_none() {
            return Err(Refused::QueuePair);
        }
        let frame_bytes = incoming.bytes.len() + FRAME_OVERHEAD;
        // The cast below is safe, since a longer packet cannot belong to the scenario.
        if frame_bytes > self.longest {
            return Err(Refused::Malformed(Malformed::Field));
        }
        let first = self.numbers.first_sequence(self.host, slot.number());
        // The wire has the lower 24 bits of a sequence number, the model 32.
        let sequence = nearest(
            headers.sequence.wrapping_sub(first),
            host.expected_sequence(slot),
        );
        let pattern = self.pattern(self.host, slot.number(), sequence);
        let Ok(stamp) = pattern.check(data.payload) else {
            self.corrupt += 1;
            return Err(Refused::Payload);
        };
        self.verified_bytes += data.payload.len() as u64;
        let units = now.ps() / SENT_UNIT_PS;
        // If the sender's clock is ahead, the packet would arrive before it was sent.
        let sent = stamp.map_or(units, |stamp| stamp.min(units));
        let mut flags = class_flags(incoming.type_of_service) | Packet::ECN_CAPABLE;
        let ecn = incoming.type_of_service & 3;
        flags |= u8::from(headers.asks_for_ack) * Packet::ACK_REQUEST;
        flags |= u8::from(headers.asks_for_report) * Packet::REPORT_REQUEST;
        flags |= u8::from(ecn == CONGESTION_EXPERIENCED) * Packet::CONGESTION_EXPERIENCED;
        Ok(Packet {
            at: now,
            queue_pair: slot.number(),
            sequence,
            destination: self.host,
            hash: 0,
            // The model counts in 32 bits, too: both wrap alike.
            sent: sent as u32,
            frame_bytes: frame_bytes as u16,
            kind: match data.position {
                Position::First => PacketKind::First,
                Position::Middle => PacketKind::Middle,
                Position::Last => PacketKind::Last,
                Position::Only => PacketKind::Only,
            },
            flags,
        })
    }

    fn answer(
        &self,
        headers: &Headers,
        body: Body,
        sender: HostId,
        slot: SendSlot,
        host: &RealHost,
    ) -> Result<Packet, Refused> {
        let way = self
            .sends
            .get(slot.index())
            .filter(|way| way.peer == sender);
        let way = way.ok_or(Refused::QueuePair)?;
        let first = self.numbers.first_sequence(way.peer, way.peer_slot);
        // An answer names a packet near the last one sent, which gives the bits above 24.
        let next = host.next_sequence(slot);
        let named = nearest(headers.sequence.wrapping_sub(first), next);
        let (kind, sequence, sent) = match body {
            Body::Ack => (
                PacketKind::Ack,
                named.wrapping_add(1),
                self.sent_at(slot, named),
            ),
            // The model measures round trips by the last packet that arrived in order, one before
            // the NAK's.
            Body::Nak { packets: 0 } => {
                let before = self.sent_at(slot, named.wrapping_sub(1));
                (PacketKind::Nak, named, before)
            }
            // A selective NAK of the model carries the end of its range in place of a send time.
            Body::Nak { packets } => (PacketKind::SelectiveNak, named, named.wrapping_add(packets)),
            Body::Notification => (PacketKind::Cnp, 0, 0),
            Body::Write { .. } => return Err(Refused::QueuePair),
        };
        // A CNP is itself the notification; only other answers can carry one in addition.
        let echo = headers.notifies && kind != PacketKind::Cnp;
        Ok(Packet {
            at: Instant::START,
            queue_pair: slot.number(),
            sequence,
            destination: self.host,
            hash: 0,
            sent,
            frame_bytes: 0,
            kind,
            flags: u8::from(echo) * Packet::CONGESTION_ECHO,
        })
    }

    fn sent_at(&self, slot: SendSlot, sequence: u32) -> u32 {
        let sent = self.sent[slot.index()].get(sequence as usize % REMEMBERED);
        sent.copied().unwrap_or(0)
    }
}

/// Returns a data packet's payload bytes, pads included.
fn payload_bytes(packet: &Packet) -> u32 {
    let begins = matches!(packet.kind, PacketKind::First | PacketKind::Only);
    let reth = u32::from(begins) * tenter_fabric::net::RETH_BYTES;
    u32::from(packet.frame_bytes).saturating_sub(DATA_OVERHEAD + reth)
}

fn class_flags(type_of_service: u8) -> u8 {
    Packet::class_flags(type_of_service >> 5)
}
