//! The base transport header and what follows it.

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
/// What a congestion notification has after its BTH, all zero (Annex A17).
const RESERVED_BYTES: usize = 16;

/// The most bytes that headers take.
pub const HEADERS_MAX: usize = BTH_BYTES + RETH_BYTES;

/// `MigReq`: the queue pair has its first path.
const MIGRATED: u8 = 0x40;
const PADS: u8 = 0x30;
const VERSION: u8 = 0x0f;
const DEFAULT_PARTITION: u16 = 0xffff;
const BECN: u8 = 0x40;
const ASKS_FOR_ACK: u8 = 0x80;
/// A reserved bit in which a sender of Tenter asks what is missing.
const ASKS_FOR_REPORT: u8 = 0x01;
/// An acknowledgement without end-to-end credits.
const SYNDROME_ACK: u8 = 0x1f;
/// NAK for a PSN sequence error.
const SYNDROME_SEQUENCE: u8 = 0x60;

/// Which part of its message a packet of an RDMA write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The first of several.
    First,
    /// Neither the first nor the last.
    Middle,
    /// The last of several.
    Last,
    /// All of it.
    Only,
}

/// The RDMA extended transport header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// The virtual address that is written to.
    pub address: u64,
    /// The key of its memory.
    pub key: u32,
    /// The bytes of the message.
    pub bytes: u32,
}

/// What follows the base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Payload of an RDMA write, which is in the datagram behind the headers.
    Write {
        /// Its place in the message.
        position: Position,
        /// In the first packet of a message, and in none else.
        reth: Option<Reth>,
        /// Bytes by which the payload is filled up to a multiple of 4.
        pads: u8,
    },
    /// An acknowledgement of everything up to its PSN.
    Ack,
    /// A NAK: everything from its PSN on is to be sent again or, if it counts packets, only so
    /// many.
    ///
    /// The standard knows the former; the count is in the field of the message sequence number.
    Nak {
        /// How many; 0 for all.
        packets: u32,
    },
    /// A congestion notification.
    Notification,
}

/// The headers of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The number of the queue pair it goes to; 24 bits.
    pub queue_pair: u32,
    /// The packet sequence number; 24 bits.
    pub sequence: u32,
    /// Whether it shall be acknowledged.
    pub asks_for_ack: bool,
    /// Whether it asks what is missing.
    pub asks_for_report: bool,
    /// Whether it carries a congestion notification (BECN).
    pub notifies: bool,
    /// The rest.
    pub body: Body,
}

/// Why a datagram is no packet that a lab sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than its headers say.
    Short,
    /// Another operation or transport.
    Opcode,
    /// A version, partition or reserved field that is wrong.
    Field,
    /// The ICRC does not fit.
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
    /// Writes the headers to the start of a buffer, which must have room for [`HEADERS_MAX`]; how
    /// many bytes they take.
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

    /// Reads a datagram: its headers and its payload, pads included, after a look at its ICRC.
    ///
    /// # Errors
    /// Why it is no packet of a lab.
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
