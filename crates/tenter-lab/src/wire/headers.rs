//! The base transport header (BTH) and the headers that may follow it.

use super::icrc::{ICRC_BYTES, Icrcs, UdpFlow};

const WRITE_FIRST: u8 = 0x06;
const WRITE_MIDDLE: u8 = 0x07;
const WRITE_LAST: u8 = 0x08;
const WRITE_ONLY: u8 = 0x0a;
const ACKNOWLEDGE: u8 = 0x11;
const NOTIFICATION: u8 = 0x81;

const BTH_BYTES: usize = 12;
const RETH_BYTES: usize = 16;
const AETH_BYTES: usize = 4;
/// Reserved bytes, all zero, behind a congestion notification's BTH (Annex A17).
const RESERVED_BYTES: usize = 16;

/// Most bytes that a packet's headers take.
pub const HEADERS_MAX: usize = BTH_BYTES + RETH_BYTES;

/// `MigReq` bit, set: the queue pair is on its primary path.
const MIGRATED: u8 = 0x40;
// Masks of the BTH's second byte: pad count and header version.
const PADS: u8 = 0x30;
const VERSION: u8 = 0x0f;
const DEFAULT_PARTITION: u16 = 0xffff;
const BECN: u8 = 0x40;
const ASKS_FOR_ACK: u8 = 0x80;
/// Reserved bit by which Tenter's senders ask for a report about missing packets.
const ASKS_FOR_REPORT: u8 = 0x01;
/// Syndrome for an ACK without end-to-end credits.
const SYNDROME_ACK: u8 = 0x1f;
/// Syndrome for a NAK after a PSN sequence error.
const SYNDROME_SEQUENCE: u8 = 0x60;

/// Position of a packet within its RDMA write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// First of several packets in a message.
    First,
    /// Neither the first packet nor the last.
    Middle,
    /// Last of several packets in a message.
    Last,
    /// The only packet of its message.
    Only,
}

/// The RDMA extended transport header (RETH).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address to write to; 0 here, since receivers only compare payloads.
    pub address: u64,
    /// Remote key for that memory; 0 here.
    pub key: u32,
    /// Length of the whole message in bytes.
    pub bytes: u32,
}

/// The headers behind the BTH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// An RDMA write's packet; its payload follows the headers in the datagram.
    Write {
        /// Position of the packet within its message.
        position: Position,
        /// RETH; only a message's first packet has one.
        reth: Option<Reth>,
        /// Bytes, 0 to 3, that fill the payload up to a multiple of 4.
        pads: u8,
    },
    /// Acknowledges all packets up to and including the PSN.
    Ack,
    /// Asks for packets from the PSN on to be sent again.
    ///
    /// The standard's NAK asks for all of them. The packet count is Tenter's own, for selective
    /// repeat; it is in the field for the message sequence number.
    Nak {
        /// Missing packets; 0 asks for everything from the PSN on.
        packets: u32,
    },
    /// A congestion notification packet (CNP).
    Notification,
}

/// The headers of a `RoCEv2` packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Destination queue pair number, 24 bits.
    pub queue_pair: u32,
    /// Packet sequence number (PSN), 24 bits.
    pub sequence: u32,
    /// Set if the receiver shall acknowledge the packet.
    pub asks_for_ack: bool,
    /// Set if the receiver shall report missing packets.
    pub asks_for_report: bool,
    /// BECN bit: this packet's sender received marked packets.
    pub notifies: bool,
    /// Headers that follow the BTH.
    pub body: Body,
}

/// Reason why a datagram is not a packet that a lab sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The length does not fit the headers.
    Short,
    /// It has another operation or transport.
    Opcode,
    /// The header version, partition key or syndrome is one that a lab does not send.
    Field,
    /// The ICRC does not match the content.
    Icrc,
}

fn three(number: u32) -> [u8; 3] {
    let [_, high, middle, low] = number.to_be_bytes();
    [high, middle, low]
}

fn of_three(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

impl Headers {
    /// Writes the headers to the start of `out`, which needs room for [`HEADERS_MAX`] bytes, and
    /// returns their length.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let (opcode, pads) = match self.body {
            Body::Write { position, pads, .. } => {
                let opcode = match position {
                    Position::First => WRITE_FIRST,
                    Position::Middle => WRITE_MIDDLE,
                    Position::Last => WRITE_LAST,
                    Position::Only => WRITE_ONLY,
                };
                (opcode, pads << 4)
            }
            Body::Ack | Body::Nak { .. } => (ACKNOWLEDGE, 0),
            Body::Notification => (NOTIFICATION, 0),
        };
        // Annex A17 leaves this bit of a CNP 0, and sets its BECN.
        let migrated = if self.body == Body::Notification {
            0
        } else {
            MIGRATED
        };
        out[0] = opcode;
        out[1] = migrated | pads;
        out[2..4].copy_from_slice(&DEFAULT_PARTITION.to_be_bytes());
        let notifies = self.notifies || self.body == Body::Notification;
        out[4] = u8::from(notifies) * BECN;
        out[5..8].copy_from_slice(&three(self.queue_pair));
        let report = u8::from(self.asks_for_report) * ASKS_FOR_REPORT;
        out[8] = (u8::from(self.asks_for_ack) * ASKS_FOR_ACK) | report;
        out[9..12].copy_from_slice(&three(self.sequence));
        self.write_extended(&mut out[BTH_BYTES..])
    }

    fn write_extended(&self, out: &mut [u8]) -> usize {
        match self.body {
            Body::Write {
                reth: Some(reth), ..
            } => {
                out[..8].copy_from_slice(&reth.address.to_be_bytes());
                out[8..12].copy_from_slice(&reth.key.to_be_bytes());
                out[12..16].copy_from_slice(&reth.bytes.to_be_bytes());
                BTH_BYTES + RETH_BYTES
            }
            Body::Write { .. } => BTH_BYTES,
            Body::Ack => {
                out[..4].copy_from_slice(&[SYNDROME_ACK, 0, 0, 0]);
                BTH_BYTES + AETH_BYTES
            }
            Body::Nak { packets } => {
                out[0] = SYNDROME_SEQUENCE;
                out[1..4].copy_from_slice(&three(packets));
                BTH_BYTES + AETH_BYTES
            }
            Body::Notification => {
                out[..RESERVED_BYTES].fill(0);
                BTH_BYTES + RESERVED_BYTES
            }
        }
    }

    /// Parses a datagram whose ICRC is right into its headers and its payload, pads included.
    ///
    /// # Errors
    /// Returns the reason why the datagram is not a packet of a lab.
    pub fn read<'a>(
        datagram: &'a [u8],
        flow: &UdpFlow,
        icrcs: &mut Icrcs,
    ) -> Result<(Headers, &'a [u8]), Malformed> {
        let end = datagram
            .len()
            .checked_sub(ICRC_BYTES)
            .ok_or(Malformed::Short)?;
        if end < BTH_BYTES {
            return Err(Malformed::Short);
        }
        let (covered, tail) = datagram.split_at(end);
        let (headers, payload) = Headers::parse(covered)?;
        // Unlike all other fields, the ICRC has its lowest byte first.
        let found = tail
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        if !icrcs.fits(flow, covered, found) {
            return Err(Malformed::Icrc);
        }
        Ok((headers, payload))
    }

    fn parse(covered: &[u8]) -> Result<(Headers, &[u8]), Malformed> {
        let (bth, rest) = covered.split_at(BTH_BYTES);
        let pads = (bth[1] & PADS) >> 4;
        let partition = u16::from_be_bytes([bth[2], bth[3]]);
        if bth[1] & VERSION != 0 || partition != DEFAULT_PARTITION {
            return Err(Malformed::Field);
        }
        let (body, payload) = match bth[0] {
            WRITE_FIRST => write(Position::First, pads, rest)?,
            WRITE_MIDDLE => write(Position::Middle, pads, rest)?,
            WRITE_LAST => write(Position::Last, pads, rest)?,
            WRITE_ONLY => write(Position::Only, pads, rest)?,
            ACKNOWLEDGE => acknowledgement(rest)?,
            NOTIFICATION if rest.len() == RESERVED_BYTES => (Body::Notification, &rest[..0]),
            NOTIFICATION => return Err(Malformed::Short),
            _ => return Err(Malformed::Opcode),
        };
        let headers = Headers {
            queue_pair: of_three(&bth[5..8]),
            sequence: of_three(&bth[9..12]),
            asks_for_ack: bth[8] & ASKS_FOR_ACK != 0,
            asks_for_report: bth[8] & ASKS_FOR_REPORT != 0,
            notifies: bth[4] & BECN != 0,
            body,
        };
        Ok((headers, payload))
    }
}

fn write(position: Position, pads: u8, rest: &[u8]) -> Result<(Body, &[u8]), Malformed> {
    let begins = matches!(position, Position::First | Position::Only);
    let (reth, payload) = if begins {
        let (reth, payload) = rest.split_at_checked(RETH_BYTES).ok_or(Malformed::Short)?;
        (Some(read_reth(reth)), payload)
    } else {
        (None, rest)
    };
    // Payloads are padded to words; there are no more pads than payload.
    if payload.len() % 4 != 0 || usize::from(pads) > payload.len() {
        return Err(Malformed::Short);
    }
    let body = Body::Write {
        position,
        reth,
        pads,
    };
    Ok((body, payload))
}

fn read_reth(bytes: &[u8]) -> Reth {
    let word = |from: usize| of_three(&bytes[from..from + 4]);
    Reth {
        address: u64::from(word(0)) << 32 | u64::from(word(4)),
        key: word(8),
        bytes: word(12),
    }
}

fn acknowledgement(rest: &[u8]) -> Result<(Body, &[u8]), Malformed> {
    let [syndrome, count @ ..] = rest else {
        return Err(Malformed::Short);
    };
    if rest.len() != AETH_BYTES {
        return Err(Malformed::Short);
    }
    let body = match *syndrome {
        SYNDROME_ACK => Body::Ack,
        SYNDROME_SEQUENCE => Body::Nak {
            packets: of_three(count),
        },
        _ => return Err(Malformed::Field),
    };
    Ok((body, &rest[..0]))
}
