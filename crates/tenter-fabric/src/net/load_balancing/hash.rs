//! The hash of a packet's 5-tuple, and the link that it picks.

use std::sync::LazyLock;

use tenter_language::config::{Reader, Shape, Value, Written, choice, component};

use super::linux_hash::{linux_hash, linux_place};

/// Hash function of the switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFunction {
    /// CRC-16/ARC over the selected fields.
    Crc16,
    /// CRC-32 (IEEE 802.3) over the selected fields.
    Crc32,
    /// Exclusive or of all 32-bit words in the selected fields.
    Xor,
    /// Toeplitz hash, as in receive-side scaling.
    Toeplitz,
    /// Hash of the Linux kernel with `fib_multipath_hash_policy` 1, whatever the seeding.
    Linux,
}

choice!(HashFunction {
    "crc16" => Crc16,
    "crc32" => Crc32,
    "xor" => Xor,
    "toeplitz" => Toeplitz,
    "linux" => Linux,
});

/// Header fields that enter the hash.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a switch has one such bit per field"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashFields {
    /// True if the IPv4 source address enters.
    pub source_address: bool,
    /// True if the IPv4 destination address enters.
    pub destination_address: bool,
    /// True if the IP protocol number enters (17 for `RoCEv2`).
    pub protocol: bool,
    /// True if the UDP source port enters: the one field that differs between the QPs of a pair.
    pub source_port: bool,
    /// True if the UDP destination port enters (4791 for `RoCEv2`).
    pub destination_port: bool,
}

impl Value for HashFields {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Words(&FIELDS)
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<HashFields> {
        let why = "list at least one field; without any, all packets would take one link";
        let chosen = reader.words(key, &FIELDS, why)?;
        let has = |place| chosen.contains(&place);
        Some(HashFields {
            source_address: has(0),
            destination_address: has(1),
            protocol: has(2),
            source_port: has(3),
            destination_port: has(4),
        })
    }

    fn written(&self) -> Written {
        let chosen = [
            self.source_address,
            self.destination_address,
            self.protocol,
            self.source_port,
            self.destination_port,
        ];
        let names = FIELDS.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        Written::List(names.map(|(name, _)| Written::word(*name)).collect())
    }
}

/// Names of the fields of [`HashFields`], in their order.
const FIELDS: [&str; 5] = [
    "source_address",
    "destination_address",
    "protocol",
    "source_port",
    "destination_port",
];

/// Seeding of the hash, by which switches choose differently or alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashSeeding {
    /// The hash goes through a non-linear mix with the switch's own seed, so that choices of leaf
    /// and spine are independent.
    Mixed,
    /// The bare hash is reduced modulo the number of links, as by hardware with one seed
    /// everywhere. Leaf and spine then choose alike (polarisation): it serves to show that.
    Raw,
}

choice!(HashSeeding {
    "mixed" => Mixed,
    "raw" => Raw,
});

component! {
    /// Parameters of ECMP.
    pub struct Ecmp {
        /// The hash function of the switches; `linux` is that of the Linux kernel with
        /// `fib_multipath_hash_policy` 1 and `fib_multipath_hash_seed` 1, without any `seeding`.
        hash: HashFunction = "crc32";
        /// The header fields that enter the hash; RoCEv2's UDP destination port is always 4791
        /// (IANA), its source port differs from QP to QP.
        fields: HashFields = "[source_address, destination_address, protocol, source_port, destination_port]";
        /// `mixed` goes through a non-linear mix with a seed of each switch; `raw` is the bare
        /// hash, with which leaf and spine choose alike (polarisation).
        seeding: HashSeeding = "mixed";
    }
}

impl Ecmp {
    /// Returns the defaults, without reading them again: hashes are made for every queue pair.
    pub fn usual() -> &'static Ecmp {
        static USUAL: LazyLock<Ecmp> = LazyLock::new(Ecmp::default);
        &USUAL
    }
}

/// Input of the hash: addresses and ports in a packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiveTuple {
    /// IPv4 source address, with its first byte in the highest bits.
    pub source_address: u32,
    /// IPv4 destination address, with its first byte in the highest bits.
    pub destination_address: u32,
    /// IP protocol number, 17 for UDP.
    pub protocol: u8,
    /// UDP source port, which stands for the queue pair.
    pub source_port: u16,
    /// UDP destination port, 4791 for `RoCEv2`.
    pub destination_port: u16,
}

/// Reduction of a hash to the place of a link, which a switch does once a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    Mixed,
    Raw,
    Linux,
}

impl Placing {
    /// Returns the place of a packet's link among `links` links.
    #[inline]
    pub(crate) fn place(self, hash: u32, switch_seed: u32, links: u32) -> u32 {
        match self {
            Placing::Mixed => {
                let mixed = mix32(hash ^ switch_seed);
                // The upper bits of mix × links: without a division, and even for any number of
                // links.
                ((u64::from(mixed) * u64::from(links)) >> 32) as u32
            }
            Placing::Raw => hash % links,
            Placing::Linux => linux_place(hash, links),
        }
    }
}

impl Ecmp {
    /// Returns the reduction that goes with the hash and its seeding.
    pub(crate) fn placing(self) -> Placing {
        match (self.hash, self.seeding) {
            (HashFunction::Linux, _) => Placing::Linux,
            (_, HashSeeding::Mixed) => Placing::Mixed,
            (_, HashSeeding::Raw) => Placing::Raw,
        }
    }

    /// Returns the hash of the selected fields, in network byte order: addresses, ports, protocol.
    pub(crate) fn hash(self, tuple: &FiveTuple) -> u32 {
        // Fields that are left out count as zero, so that the layout stays.
        let select = |on: bool, value: u32| if on { value } else { 0 };
        let source = select(self.fields.source_address, tuple.source_address);
        let destination = select(self.fields.destination_address, tuple.destination_address);
        let ports = select(self.fields.source_port, u32::from(tuple.source_port)) << 16
            | select(
                self.fields.destination_port,
                u32::from(tuple.destination_port),
            );
        let protocol = select(self.fields.protocol, u32::from(tuple.protocol));
        let mut bytes = [0_u8; 13];
        bytes[..4].copy_from_slice(&source.to_be_bytes());
        bytes[4..8].copy_from_slice(&destination.to_be_bytes());
        bytes[8..12].copy_from_slice(&ports.to_be_bytes());
        bytes[12] = protocol as u8;
        match self.hash {
            HashFunction::Crc16 => u32::from(crc16(&bytes)),
            HashFunction::Crc32 => crc32(&bytes),
            HashFunction::Xor => source ^ destination ^ ports ^ protocol,
            HashFunction::Toeplitz => toeplitz(&bytes),
            HashFunction::Linux => linux_hash(
                protocol as u8,
                [source, destination],
                [(ports >> 16) as u16, ports as u16],
            ),
        }
    }
}

/// Mixes by the 32-bit finaliser of `MurmurHash3`: non-linear, every input bit reaches every output
/// bit.
#[inline]
fn mix32(mut value: u32) -> u32 {
    value ^= value >> 16;
    value = value.wrapping_mul(0x85eb_ca6b);
    value ^= value >> 13;
    value = value.wrapping_mul(0xc2b2_ae35);
    value ^ (value >> 16)
}

/// Table for CRC-16/ARC: polynomial `0x8005`, lowest bit first.
const CRC16_TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u16;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                (value >> 1) ^ 0xa001
            } else {
                value >> 1
            };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

/// Table for CRC-32 (IEEE 802.3): polynomial `0x04c1_1db7`, lowest bit first.
const CRC32_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                (value >> 1) ^ 0xedb8_8320
            } else {
                value >> 1
            };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (crc >> 8) ^ CRC16_TABLE[usize::from(crc as u8 ^ byte)]
    })
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (crc >> 8) ^ CRC32_TABLE[usize::from(crc as u8 ^ byte)]
    })
}

/// Key in Microsoft's receive-side scaling specification, with which most NICs and switches ship.
const TOEPLITZ_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
    0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
    0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// Returns the XOR of the key's 32-bit windows at the positions of the input's set bits.
fn toeplitz(bytes: &[u8]) -> u32 {
    // The upper half is the window, the lower half has the key bits that come next.
    let mut window = u64::from_be_bytes([
        TOEPLITZ_KEY[0],
        TOEPLITZ_KEY[1],
        TOEPLITZ_KEY[2],
        TOEPLITZ_KEY[3],
        TOEPLITZ_KEY[4],
        TOEPLITZ_KEY[5],
        TOEPLITZ_KEY[6],
        TOEPLITZ_KEY[7],
    ]);
    let mut hash = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        for bit in (0..8).rev() {
            if byte >> bit & 1 == 1 {
                hash ^= (window >> 32) as u32;
            }
            window <<= 1;
        }
        window |= u64::from(TOEPLITZ_KEY[index + 8]);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{Ecmp, FiveTuple, HashFunction, HashSeeding, crc16, crc32, toeplitz};

    #[test]
    fn checksums_match_their_published_check_values() {
        // The check value of a CRC is its result for the ASCII digits 1 to 9.
        assert_eq!(crc16(b"123456789"), 0xbb3d);
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        // First IPv4-with-ports vector of the RSS specification:
        // 66.9.149.187:2794 -> 161.142.100.80:1766 hashes to 0x51ccc178.
        let input = [66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6];
        assert_eq!(toeplitz(&input), 0x51cc_c178);
    }

    fn tuple(source: u32, port: u16) -> FiveTuple {
        FiveTuple {
            source_address: 0x0a00_0000 + source,
            destination_address: 0x0a01_0001,
            protocol: 17,
            source_port: port,
            destination_port: 4791,
        }
    }

    #[test]
    fn only_selected_fields_matter() {
        for function in [
            HashFunction::Crc16,
            HashFunction::Crc32,
            HashFunction::Xor,
            HashFunction::Toeplitz,
        ] {
            let mut ecmp = Ecmp {
                hash: function,
                ..Ecmp::default()
            };
            assert_ne!(ecmp.hash(&tuple(1, 50_000)), ecmp.hash(&tuple(1, 50_001)));
            ecmp.fields.source_port = false;
            assert_eq!(ecmp.hash(&tuple(1, 50_000)), ecmp.hash(&tuple(1, 50_001)));
        }
    }

    /// Returns the number of links of a second switch that are used by the flows that chose link 0
    /// at a first one.
    fn links_behind_one(ecmp: Ecmp) -> usize {
        let placing = ecmp.placing();
        let mut used = [false; 4];
        for source in 0..64 {
            for port in 49_152..49_162 {
                let hash = ecmp.hash(&tuple(source, port));
                if placing.place(hash, 11, 4) == 0 {
                    used[placing.place(hash, 22, 4) as usize] = true;
                }
            }
        }
        used.iter().filter(|used| **used).count()
    }

    #[test]
    fn raw_hashes_polarise_and_mixed_ones_do_not() {
        let raw = Ecmp {
            seeding: HashSeeding::Raw,
            ..Ecmp::default()
        };
        assert_eq!(links_behind_one(raw), 1);
        assert_eq!(links_behind_one(Ecmp::default()), 4);
    }

    #[test]
    fn mixed_choices_are_even() {
        let ecmp = Ecmp::default();
        let mut counts = [0_u32; 5];
        for source in 0..1_000 {
            for port in 0..10 {
                let hash = ecmp.hash(&tuple(source, 50_000 + port));
                counts[ecmp.placing().place(hash, 99, 5) as usize] += 1;
            }
        }
        // 10,000 flows over 5 links: 2,000 each, standard deviation 40; 5 deviations allowed.
        assert!(
            counts.iter().all(|&c| (1_800..=2_200).contains(&c)),
            "{counts:?}"
        );
    }
}
