//! Bytes of captured frames: Ethernet, IPv4, UDP and `RoCEv2` headers, and pause frames.
//!
//! The simulation keeps no payload; payload bytes are zero.
//!
//! Sources: IEEE 802.3 and 802.1Qbb; RFC 791 and 768; the `InfiniBand` Architecture Specification,
//! volume 1, with its Annex A17 for `RoCEv2`.

use tenter_results::{CapturedFrame, FrameContent, RoceBody, RocePacket};

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_MAC_CONTROL: u16 = 0x8808;
/// First ethertype that IEEE 802 reserves for local experiments; there are two.
const ETHERTYPE_EXPERIMENTAL: u16 = 0x88b5;
/// Multicast address for MAC control frames, which the link's other end consumes.
const MAC_CONTROL_ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 1];
/// MAC control opcode for priority-based flow control (IEEE 802.1Qbb).
const OPCODE_PFC: u16 = 0x0101;

const ETHERNET_BYTES: usize = 14;
const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const ICRC_BYTES: usize = 4;
const DO_NOT_FRAGMENT: u16 = 0x4000;
const TIME_TO_LIVE: u8 = 64;
const PROTOCOL_UDP: u8 = 17;
const ROCE_PORT: u16 = 4791;

const WRITE_FIRST: u8 = 0x06;
const WRITE_MIDDLE: u8 = 0x07;
const WRITE_LAST: u8 = 0x08;
const WRITE_ONLY: u8 = 0x0a;
const ACKNOWLEDGE: u8 = 0x11;
const DATAGRAM_SEND_ONLY: u8 = 0x64;
const CONGESTION_NOTIFICATION: u8 = 0x81;
/// BTH bit `MigReq`: the queue pair uses its primary path.
const MIGRATED: u8 = 0x40;
const DEFAULT_PARTITION: u16 = 0xffff;
const BECN: u8 = 0x40;
const ASKS_FOR_ACK: u8 = 0x80;
/// AETH syndrome for an ACK without end-to-end credits.
const SYNDROME_ACK: u8 = 0x1f;
const SYNDROME_SEQUENCE_ERROR: u8 = 0x60;
/// `Q_Key` for the general services interface, to which connection management belongs.
const QUEUE_KEY: u32 = 0x8001_0000;
const MANAGEMENT_BYTES: usize = 256;

/// Returns a frame's `length` bytes, without FCS.
pub(super) fn bytes(frame: &CapturedFrame, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length.max(64));
    match &frame.content {
        FrameContent::Roce(packet) => {
            ethernet(&mut bytes, frame.receiver, frame, ETHERTYPE_IPV4);
            roce(&mut bytes, packet, length);
        }
        FrameContent::Pause { class, quanta } => {
            ethernet(
                &mut bytes,
                MAC_CONTROL_ADDRESS,
                frame,
                ETHERTYPE_MAC_CONTROL,
            );
            pause(&mut bytes, *class, *quanta);
        }
        FrameContent::Other(_) => {
            ethernet(&mut bytes, frame.receiver, frame, ETHERTYPE_EXPERIMENTAL);
        }
    }
    // Before the CRC, which covers the payload.
    bytes.resize(length, 0);
    if matches!(frame.content, FrameContent::Roce(_)) {
        let crc = invariant_crc(&bytes);
        if let Some(field) = bytes.last_chunk_mut::<ICRC_BYTES>() {
            *field = crc.to_le_bytes();
        }
    }
    bytes
}

fn ethernet(bytes: &mut Vec<u8>, receiver: [u8; 6], frame: &CapturedFrame, kind: u16) {
    bytes.extend(receiver);
    bytes.extend(frame.sender);
    bytes.extend(kind.to_be_bytes());
}

/// Appends a PFC frame that pauses `class` for `quanta` × 512 bit times, or resumes it (0).
fn pause(bytes: &mut Vec<u8>, class: u8, quanta: u16) {
    bytes.extend(OPCODE_PFC.to_be_bytes());
    bytes.extend((1_u16 << (class & 7)).to_be_bytes());
    for other in 0..8 {
        let quanta = if other == class { quanta } else { 0 };
        bytes.extend(quanta.to_be_bytes());
    }
}

fn roce(bytes: &mut Vec<u8>, packet: &RocePacket, length: usize) {
    let ip_bytes = length.saturating_sub(ETHERNET_BYTES);
    let short = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX).to_be_bytes();
    let mut ip = Vec::with_capacity(IPV4_BYTES);
    // IP version 4, header of five words.
    ip.extend([0x45, packet.dscp << 2 | packet.ecn]);
    ip.extend(short(ip_bytes));
    // The identification is of no use in packets that must not be fragmented.
    ip.extend(0_u16.to_be_bytes());
    ip.extend(DO_NOT_FRAGMENT.to_be_bytes());
    ip.extend([TIME_TO_LIVE, PROTOCOL_UDP, 0, 0]);
    ip.extend(packet.source.to_be_bytes());
    ip.extend(packet.destination.to_be_bytes());
    let checksum = header_checksum(&ip).to_be_bytes();
    if let Some(field) = ip.get_mut(10..12) {
        field.copy_from_slice(&checksum);
    }
    bytes.extend(ip);
    bytes.extend(packet.source_port.to_be_bytes());
    bytes.extend(ROCE_PORT.to_be_bytes());
    bytes.extend(short(ip_bytes.saturating_sub(IPV4_BYTES)));
    // The UDP checksum of `RoCEv2` is zero: the ICRC protects the packet.
    bytes.extend(0_u16.to_be_bytes());
    base_transport(bytes, packet);
    extended_transport(bytes, packet);
}

/// Appends the base transport header (BTH).
fn base_transport(bytes: &mut Vec<u8>, packet: &RocePacket) {
    let opcode = match packet.body {
        RoceBody::Write {
            is_first, is_last, ..
        } => match (is_first, is_last) {
            (true, true) => WRITE_ONLY,
            (true, false) => WRITE_FIRST,
            (false, true) => WRITE_LAST,
            (false, false) => WRITE_MIDDLE,
        },
        RoceBody::Ack | RoceBody::Nak => ACKNOWLEDGE,
        RoceBody::Cnp => CONGESTION_NOTIFICATION,
        RoceBody::Connect { .. } => DATAGRAM_SEND_ONLY,
    };
    let is_notification = matches!(packet.body, RoceBody::Cnp);
    bytes.extend([opcode, if is_notification { 0 } else { MIGRATED }]);
    bytes.extend(DEFAULT_PARTITION.to_be_bytes());
    bytes.push(if packet.notifies { BECN } else { 0 });
    bytes.extend(three(packet.queue_pair));
    let asks = if packet.asks_for_ack { ASKS_FOR_ACK } else { 0 };
    bytes.push(asks);
    bytes.extend(three(packet.sequence));
}

/// Appends what follows the BTH: RETH, AETH, or DETH with a management datagram's head.
fn extended_transport(bytes: &mut Vec<u8>, packet: &RocePacket) {
    match packet.body {
        RoceBody::Write {
            is_first: true,
            message_bytes,
            ..
        } => {
            // The model has no host memory: virtual address and key are zero.
            bytes.extend(0_u64.to_be_bytes());
            bytes.extend(0_u32.to_be_bytes());
            bytes.extend(message_bytes.to_be_bytes());
        }
        RoceBody::Ack => bytes.extend([SYNDROME_ACK, 0, 0, 0]),
        RoceBody::Nak => bytes.extend([SYNDROME_SEQUENCE_ERROR, 0, 0, 0]),
        RoceBody::Connect {
            is_reply,
            own_queue_pair,
        } => connect(bytes, is_reply, own_queue_pair),
        RoceBody::Write { .. } | RoceBody::Cnp => {}
    }
}

/// Appends a connection manager's message that names its queue pair; all other fields are zero.
fn connect(bytes: &mut Vec<u8>, is_reply: bool, own_queue_pair: u32) {
    const BASE_VERSION: u8 = 1;
    const COMMUNICATION_MANAGEMENT: u8 = 7;
    const CLASS_VERSION: u8 = 2;
    const METHOD_SEND: u8 = 3;
    const REQUEST: u16 = 0x0010;
    const REPLY: u16 = 0x0013;
    // Bytes from the head of the datagram to the number of the queue pair.
    const TO_NUMBER_OF_REQUEST: usize = 56;
    const TO_NUMBER_OF_REPLY: usize = 36;
    bytes.extend(QUEUE_KEY.to_be_bytes());
    // The connection manager uses queue pair 1.
    bytes.extend(1_u32.to_be_bytes());
    let mut datagram = vec![
        BASE_VERSION,
        COMMUNICATION_MANAGEMENT,
        CLASS_VERSION,
        METHOD_SEND,
    ];
    datagram.extend(0_u32.to_be_bytes());
    // The transaction number, which need only be unique.
    datagram.extend(u64::from(own_queue_pair).to_be_bytes());
    datagram.extend(if is_reply { REPLY } else { REQUEST }.to_be_bytes());
    // The header that all management datagrams share has 24 bytes.
    datagram.resize(24, 0);
    datagram.extend(own_queue_pair.to_be_bytes());
    let place = if is_reply {
        TO_NUMBER_OF_REPLY
    } else {
        TO_NUMBER_OF_REQUEST
    };
    datagram.resize(place, 0);
    datagram.extend(three(own_queue_pair));
    datagram.resize(MANAGEMENT_BYTES, 0);
    bytes.extend(datagram);
}

/// Returns a number's lower 24 bits, in network order.
fn three(number: u32) -> [u8; 3] {
    let [_, high, middle, low] = number.to_be_bytes();
    [high, middle, low]
}

/// Computes an IPv4 header's checksum; its checksum field must be zero.
fn header_checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).map(|pair| match pair {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(u16::MAX)
}

/// Computes the invariant CRC (ICRC) for a frame that has room for it at its end.
///
/// The ICRC covers what no switch changes. Fields that switches may change count as ones: type of
/// service, time to live, checksums, and the BTH byte with FECN and BECN. So does the local route
/// header, which Ethernet does not have.
fn invariant_crc(frame: &[u8]) -> u32 {
    // Offsets from the start of the IPv4 header: type of service, time to live, IPv4 checksum (2),
    // UDP checksum (2), FECN and BECN.
    const MASKED: [usize; 7] = [1, 8, 10, 11, 26, 27, 32];
    let covered = frame.len().saturating_sub(ICRC_BYTES);
    let Some(covered) = frame.get(ETHERNET_BYTES..covered) else {
        return 0;
    };
    let split = (IPV4_BYTES + UDP_BYTES + 12).min(covered.len());
    let (headers, rest) = covered.split_at(split);
    let mut headers = headers.to_vec();
    for place in MASKED {
        if let Some(byte) = headers.get_mut(place) {
            *byte = 0xff;
        }
    }
    let mut crc = crc32fast::Hasher::new();
    // The local route header that Ethernet lacks.
    crc.update(&[0xff; 8]);
    crc.update(&headers);
    crc.update(rest);
    crc.finalize()
}
