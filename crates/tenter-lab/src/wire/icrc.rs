//! The invariant CRC: over what no switch changes.

use std::collections::BTreeMap;

use super::ROCE_PORT;

/// The bytes of an ICRC.
pub const ICRC_BYTES: usize = 4;

const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
/// Eight ones in place of a local route header, then the headers of IPv4 and UDP.
const PREFIX_BYTES: usize = 8 + IPV4_BYTES + UDP_BYTES;
/// The byte of the BTH with FECN and BECN, which switches may change.
const CONGESTION_BYTE: usize = 4;

/// The addresses and the source port of a datagram to the port of `RoCEv2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UdpFlow {
    /// The IPv4 address that it comes from.
    pub source: u32,
    /// The IPv4 address that it goes to.
    pub destination: u32,
    /// The port that it comes from.
    pub source_port: u16,
}

/// The ICRC of the payload of a datagram, without the room for it: CRC-32 over headers in which all
/// counts as ones that switches may change (type of service, time to live, checksums, the byte with
/// FECN and BECN). It is sent with its lowest byte first.
///
/// `identification` is that of its IPv4 header. A datagram that must not be fragmented has 0 (RFC
/// 6864 leaves it to the sender), and those into which the kernel cuts a longer one count from it.
pub fn icrc(flow: &UdpFlow, identification: u16, covered: &[u8]) -> u32 {
    let udp_bytes = (UDP_BYTES + covered.len() + ICRC_BYTES) as u16;
    let ip_bytes = udp_bytes + IPV4_BYTES as u16;
    let mut prefix = [0xff_u8; PREFIX_BYTES + CONGESTION_BYTE + 1];
    let ip = &mut prefix[8..];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&ip_bytes.to_be_bytes());
    ip[4..6].copy_from_slice(&identification.to_be_bytes());
    // Do not fragment.
    ip[6..8].copy_from_slice(&0x4000_u16.to_be_bytes());
    ip[9] = 17;
    ip[12..16].copy_from_slice(&flow.source.to_be_bytes());
    ip[16..20].copy_from_slice(&flow.destination.to_be_bytes());
    let udp = &mut prefix[8 + IPV4_BYTES..];
    udp[..2].copy_from_slice(&flow.source_port.to_be_bytes());
    udp[2..4].copy_from_slice(&ROCE_PORT.to_be_bytes());
    udp[4..6].copy_from_slice(&udp_bytes.to_be_bytes());
    let mut crc = crc32fast::Hasher::new();
    if covered.len() <= CONGESTION_BYTE {
        crc.update(&prefix[..PREFIX_BYTES]);
        crc.update(covered);
        return crc.finalize();
    }
    let (head, rest) = covered.split_at(CONGESTION_BYTE + 1);
    prefix[PREFIX_BYTES..PREFIX_BYTES + CONGESTION_BYTE].copy_from_slice(&head[..CONGESTION_BYTE]);
    crc.update(&prefix);
    crc.update(rest);
    crc.finalize()
}

/// What ICRCs are compared with.
///
/// A receiver of datagrams is not told the identification of their headers. CRCs are linear, so
/// each identification changes that of a datagram by a number that depends on its length alone.
#[derive(Clone, Debug, Default)]
pub struct Icrcs {
    /// The greatest identification that a sender uses.
    greatest: u16,
    /// By length, what identifications from 0 on change.
    changes: BTreeMap<usize, Vec<u32>>,
}

impl Icrcs {
    /// Those of senders whose identifications are at most so great.
    pub fn up_to(greatest: u16) -> Icrcs {
        Icrcs {
            greatest,
            changes: BTreeMap::new(),
        }
    }

    /// Whether an ICRC is that of a datagram, without the room for it.
    pub fn fits(&mut self, flow: &UdpFlow, covered: &[u8], found: u32) -> bool {
        let change = icrc(flow, 0, covered) ^ found;
        if change == 0 {
            return true;
        }
        if self.greatest == 0 {
            return false;
        }
        let greatest = self.greatest;
        let known = self.changes.entry(covered.len());
        let known = known.or_insert_with(|| {
            let nothing = vec![0; covered.len()];
            let none = UdpFlow::default();
            let plain = icrc(&none, 0, &nothing);
            let of = |identification| icrc(&none, identification, &nothing) ^ plain;
            (0..=greatest).map(of).collect()
        });
        known.contains(&change)
    }
}
