//! Packets of the model as datagrams, and back.

use std::collections::BTreeMap;

use tenter_net::{Missing, Packet, PacketKind, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_sim::real_time::{Departure, RealHost, Slot, Way};
use tenter_topology::HostId;
use tenter_units::Instant;

use super::numbers::{Numbers, nearest};
use crate::wire::{
    Body, FRAME_OVERHEAD, HEADERS_MAX, Headers, ICRC_BYTES, Icrcs, Malformed, Pattern, Position,
    Reth, UdpFlow, icrc,
};

/// The ECN field: a switch may mark the packet (ECT(0)), or has (CE).
const ECN_CAPABLE: u8 = 2;
const CONGESTION_EXPERIENCED: u8 = 3;

/// Of so many packets of a queue pair it is remembered when they were sent; a power of two.
const REMEMBERED: usize = 8192;

/// Frame bytes of a data packet without payload.
const DATA_OVERHEAD: u32 = tenter_net::DATA_OVERHEAD_BYTES;

/// Makes datagrams of packets, and packets of datagrams.
pub(super) struct Codec {
    host: HostId,
    numbers: Numbers,
    /// The addresses of all hosts.
    addresses: Vec<u32>,
    by_address: BTreeMap<u32, HostId>,
    /// The queue pairs by which it sends data, and those by which it answers.
    sends: Vec<Way>,
    answers: Vec<Way>,
    /// Of each send slot when its packets left, in units of [`SENT_UNIT_PS`].
    sent: Vec<Vec<u32>>,
    /// Of each send slot the bytes of the message that it is at.
    message_bytes: Vec<u32>,
    dscp: u8,
    /// The DSCP of answers, where it is not that of data.
    control_dscp: Option<u8>,
    /// Whether jobs choose classes, which then give the DSCP.
    by_class: bool,
    /// Frame bytes of the longest packet.
    longest: usize,
    icrcs: Icrcs,
    pub(super) verified_bytes: u64,
    pub(super) corrupt: u64,
}

/// What a codec is made of.
pub(super) struct CodecBuild<'a> {
    pub(super) host: HostId,
    pub(super) trial: u64,
    pub(super) addresses: Vec<u32>,
    pub(super) ways: &'a [Way],
    pub(super) dscp: u8,
    pub(super) control_dscp: Option<u8>,
    pub(super) by_class: bool,
    pub(super) longest_frame_bytes: u32,
    /// Datagrams that senders may let the kernel cut from one.
    pub(super) cut_datagrams: u16,
}

/// A datagram as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) source: u32,
    pub(super) source_port: u16,
    pub(super) type_of_service: u8,
}

/// A data packet as it was read.
struct Data<'a> {
    incoming: &'a Incoming<'a>,
    headers: Headers,
    position: Position,
    payload: &'a [u8],
    sender: HostId,
    now: Instant,
}

/// Why a datagram is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is from no host of the trial.
    Stranger,
    /// It is no packet.
    Malformed(Malformed),
    /// It is for no queue pair here that its sender has a part in.
    QueuePair,
    /// Its payload is not what it should be.
    Payload,
}

/// Where a datagram goes, with the byte of its type of service.
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

    /// The longest datagram, in bytes.
    pub(super) fn longest_datagram(&self) -> usize {
        self.longest - FRAME_OVERHEAD
    }

    /// Its own address.
    pub(super) fn address(&self) -> u32 {
        self.addresses[self.host.index()]
    }

    /// The port from which a packet is sent.
    pub(super) fn source_port(&self, departure: &Departure) -> u16 {
        self.way(departure.from).source_port
    }

    /// The byte of the type of service of a packet.
    pub(super) fn type_of_service(&self, packet: &Packet) -> u8 {
        let dscp = match (packet.kind.is_data(), self.control_dscp) {
            (false, Some(control)) => control,
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

    /// Writes the datagram of a packet that leaves at `now`, but for its ICRC.
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

    /// Writes the ICRC of a datagram that is the n-th of those that the kernel cuts from one.
    pub(super) fn seal(outgoing: &Outgoing, nth: u16, out: &mut [u8]) {
        let (covered, room) = out.split_at_mut(outgoing.length - ICRC_BYTES);
        let crc = icrc(&outgoing.flow, nth, covered);
        room[..ICRC_BYTES].copy_from_slice(&crc.to_le_bytes());
    }

    fn pattern(&self, receiver: HostId, slot: u32, sequence: u32) -> Pattern {
        let of = Slot::Receive(ReceiveSlot::new(slot));
        Pattern::new(
            self.numbers.0,
            self.numbers.queue_pair(receiver, of),
            sequence,
        )
    }

    fn headers(&mut self, departure: &Departure, way: &Way) -> Headers {
        let packet = &departure.packet;
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
            // Acknowledged is the packet before the one that is expected.
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
        let pads = if ends {
            message_bytes.wrapping_neg() & 3
        } else {
            0
        };
        Body::Write {
            position,
            // Nothing is written to: the receiver compares.
            reth: begins.then_some(Reth {
                address: 0,
                key: 0,
                bytes: message_bytes,
            }),
            pads: pads.min(payload_bytes(packet)) as u8,
        }
    }

    /// Reads a datagram that came at `now`.
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
        if frame_bytes > self.longest {
            return Err(Refused::Malformed(Malformed::Field));
        }
        let first = self.numbers.first_sequence(self.host, slot.number());
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
        // A clock that is ahead of ours would let packets arrive before they were sent.
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
        let next = host.next_sequence(slot);
        let named = nearest(headers.sequence.wrapping_sub(first), next);
        let (kind, sequence, sent) = match body {
            Body::Ack => (
                PacketKind::Ack,
                named.wrapping_add(1),
                self.sent_at(slot, named),
            ),
            Body::Nak { packets: 0 } => {
                let before = self.sent_at(slot, named.wrapping_sub(1));
                (PacketKind::Nak, named, before)
            }
            Body::Nak { packets } => (PacketKind::SelectiveNak, named, named.wrapping_add(packets)),
            Body::Notification => (PacketKind::Cnp, 0, 0),
            Body::Write { .. } => return Err(Refused::QueuePair),
        };
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

/// Payload bytes of a data packet, pads included.
fn payload_bytes(packet: &Packet) -> u32 {
    let begins = matches!(packet.kind, PacketKind::First | PacketKind::Only);
    let reth = u32::from(begins) * tenter_net::RETH_BYTES;
    u32::from(packet.frame_bytes).saturating_sub(DATA_OVERHEAD + reth)
}

fn class_flags(type_of_service: u8) -> u8 {
    Packet::class_flags(type_of_service >> 5)
}
