//! The invariant CRC (ICRC), which covers all fields that no switch changes.

use std::collections::BTreeMap;

use super::ROCE_PORT;

/// Length of an ICRC in bytes.
pub const ICRC_BYTES: usize = 4;

const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
/// Eight 0xff bytes in place of a local route header, then the IPv4 and UDP headers.
const PREFIX_BYTES: usize = 8 + IPV4_BYTES + UDP_BYTES;
/// Offset within the BTH at which FECN and BECN are, which switches may change.
const CONGESTION_BYTE: usize = 4;

/// Addresses and source port of a `RoCEv2` datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UdpFlow {
    /// IPv4 address of the sending host.
    pub source: u32,
    /// IPv4 address of the receiving host.
    pub destination: u32,
    /// UDP port at the sender, by which switches choose the path.
    pub source_port: u16,
}

/// Returns the ICRC of a datagram with payload `covered`, which does not include the ICRC itself.
///
/// The ICRC is a CRC-32 over the headers and the payload. Bits that switches may change count as
/// ones: type of service, time to live, checksums, and the byte with FECN and BECN. On the wire its
/// lowest byte comes first.
///
/// `identification` is that of the IPv4 header. It is 0 for a datagram that must not be fragmented
/// (RFC 6864 leaves the value to the sender). If the kernel cuts a long datagram, it numbers the
/// pieces from 0.
pub fn icrc(flow: &UdpFlow, identification: u16, covered: &[u8]) -> u32 {
    let udp_bytes = (UDP_BYTES + covered.len() + ICRC_BYTES) as u16;
    let ip_bytes = udp_bytes + IPV4_BYTES as u16;
    let mut prefix = [0xff_u8; PREFIX_BYTES + CONGESTION_BYTE + 1];
    let ip = &mut prefix[8..];
    ip[0] = 0x45;
    // Bytes that are not written below stay 0xff: they are the ones that switches may change.
    ip[2..4].copy_from_slice(&ip_bytes.to_be_bytes());
    ip[4..6].copy_from_slice(&identification.to_be_bytes());
    // Flags: do not fragment.
    ip[6..8].copy_from_slice(&0x4000_u16.to_be_bytes());
    ip[9] = 17;
    ip[12..16].copy_from_slice(&flow.source.to_be_bytes());
    // Protocol number: UDP.
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

/// Compares ICRCs when the identification of the IPv4 header is unknown.
///
/// A UDP socket does not report a datagram's identification. CRCs are linear: an identification
/// changes the ICRC by a value that depends on the datagram's length alone. So one value per
/// identification and length is kept, and each datagram needs its ICRC computed only once.
#[derive(Clone, Debug, Default)]
pub struct Icrcs {
    /// Largest identification that a sender uses; 0 if the kernel cuts nothing.
    greatest: u16,
    /// For each payload length, the changes that identifications from 0 to `greatest` cause.
    changes: BTreeMap<usize, Vec<u32>>,
}

impl Icrcs {
    /// Accepts identifications from 0 to `greatest`.
    pub fn up_to(greatest: u16) -> Icrcs {
        Icrcs {
            greatest,
            changes: BTreeMap::new(),
        }
    }

    /// Returns true if `found` is the ICRC for a datagram with payload `covered` (without the ICRC)
    /// under an accepted identification.
    pub fn fits(&mut self, flow: &UdpFlow, covered: &[u8], found: u32) -> bool {
        let change = icrc(flow, 0, covered) ^ found;
        if change == 0 {
            // The usual case: nothing has been cut, or this is the first piece.
            return true;
        }
        if self.greatest == 0 {
            return false;
        }
        let greatest = self.greatest;
        let known = self.changes.entry(covered.len());
        let known = known.or_insert_with(|| {
            let nothing = vec![0; covered.len()];
            // By linearity any payload of this length will do; zeros and an empty flow are the
            // simplest.
            let none = UdpFlow::default();
            let plain = icrc(&none, 0, &nothing);
            let of = |identification| icrc(&none, identification, &nothing) ^ plain;
            (0..=greatest).map(of).collect()
        });
        known.contains(&change)
    }
}
