//! PCIe between a NIC and its host's memory, as the rate at which DMA moves payload each way.
//!
//! Source: PCI Express Base Specification (transaction layer packets, link encodings). The rate
//! limit on DMA writes is that of the simulation report on scheduled Ethernet fabrics (Scala
//! Computing and DriveNets, 2023).

use std::ops::RangeInclusive;

use tenter_fabric::net::{
    DATA_OVERHEAD_BYTES, Packet, PacketKind, RETH_BYTES, WIRE_OVERHEAD_BYTES,
};
use tenter_language::config::{Reader, Value as _, component};
use tenter_language::units::{Bytes, Rate, SerialisationTime, Time};

component! {
    /// PCIe between the NIC and host memory.
    pub struct Pcie as "`endpoint.nic.pcie`" {
        either "generation", "peak";
        /// Generation of PCIe: 2.5, 5, 8, 16, 32 or 64 GT/s a lane, less 8b/10b (1 and 2),
        /// 128b/130b (3 to 5) or the 20 bytes of a flit of 256 that carry no packets (6).
        generation: Option<u8> = absent "this, or `peak`", in 1..=6;
        /// Lanes of the link: 1, 2, 4, 8 or 16.
        lanes: Option<u8> = absent "`16` with `generation`", in 1..=16, from "the slot of a NIC for 400 Gb/s";
        /// Rate of the link each way, headers of its packets included.
        peak: Option<Rate> = absent "this, or `generation`", in PEAKS;
        /// Payload of a transaction layer packet at most: 128, 256, 512, 1024, 2048 or 4096 bytes.
        max_payload_bytes as "max_payload": u32 as Bytes = "256B", in PAYLOADS, unless no_power_of_two, from "usual in servers; what RDMA NICs are delivered with";
        /// Overhead of such a packet: header of 12 or 16 bytes, framing, sequence number and CRC.
        tlp_overhead_bytes as "tlp_overhead": u32 as Bytes = "24B", in Bytes::new(0)..=Bytes::new(64), from "PCI Express Base Specification: 20 to 28 bytes";
        check one_peak;
    }
}

fn no_power_of_two(bytes: u32) -> Option<(String, String)> {
    let help = "choose 128, 256, 512, 1024, 2048 or 4096 bytes";
    let wrong = !bytes.is_power_of_two();
    wrong.then(|| ("is no power of two".to_owned(), help.to_owned()))
}

fn one_peak(pcie: &Pcie, reader: &mut dyn Reader) -> bool {
    match (pcie.generation, pcie.peak, pcie.lanes) {
        (None, None, _) => {
            let help = "add `generation: 5`, or `peak: 500Gbps`, for example";
            reader.refuse_all("lacks `generation` or `peak`", help);
            false
        }
        (_, Some(_), Some(_)) => {
            let help = "leave it out, or give `generation` instead of `peak`";
            reader.refuse("lanes", "means nothing where the peak is given", help);
            false
        }
        (_, _, Some(lanes)) if !lanes.is_power_of_two() => {
            let help = "choose 1, 2, 4, 8 or 16";
            reader.refuse("lanes", "is no width that links have", help);
            false
        }
        // `lanes` has its default only here, since it would mean nothing beside `peak`.
        (Some(_), _, None) => {
            reader.write("lanes", LANES.written());
            true
        }
        _ => true,
    }
}

/// Range for the payload in transaction layer packets.
const PAYLOADS: RangeInclusive<Bytes> = Bytes::new(128)..=Bytes::new(4_096);
/// Link width without a key: 16 lanes.
const LANES: u8 = 16;
/// Range for the key `peak`.
const PEAKS: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

/// Returns the bit rate that a link carries after line coding: `of` bits in `out_of` are data.
fn peak(generation: u64, lanes: u64) -> Rate {
    let (transfers, of, out_of) = match generation {
        1 => (2_500_000_000, 8, 10),
        2 => (5_000_000_000, 8, 10),
        3 => (8_000_000_000, 128, 130),
        4 => (16_000_000_000, 128, 130),
        5 => (32_000_000_000, 128, 130),
        _ => (64_000_000_000_u64, 236, 256),
    };
    Rate::from_bits_per_second(transfers * lanes * of / out_of)
}

/// One NIC's DMA rates, in bits per second on its PCIe link, packet headers included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaRates {
    /// Rate into host memory, for received data.
    pub write: Rate,
    /// Rate from host memory, for data to send.
    pub read: Rate,
}

impl Pcie {
    /// Returns the same link with its default width filled in. A link given by `peak` has none.
    #[must_use]
    pub fn complete(self) -> Pcie {
        let of_generation = self.generation.map(|_| self.lanes.unwrap_or(LANES));
        Pcie {
            lanes: of_generation,
            ..self
        }
    }

    /// Returns the link's rate each way, packet headers included.
    pub fn peak(&self) -> Rate {
        let of_lanes = || {
            let generation = self.generation.unwrap_or_default();
            peak(generation.into(), self.lanes.unwrap_or(LANES).into())
        };
        self.peak.unwrap_or_else(of_lanes)
    }

    /// Returns the link bytes that `payload` payload bytes take.
    pub(crate) fn link_bytes(&self, payload: u32) -> u32 {
        let packets = payload.div_ceil(self.max_payload_bytes.max(1));
        payload + packets * self.tlp_overhead_bytes
    }

    /// Converts a rate in link bytes into one in payload, for packets with `payload` bytes each.
    pub fn payload_rate(&self, rate: Rate, payload: u32) -> Rate {
        let bits = u128::from(rate.bits_per_second()) * u128::from(payload);
        let bits = bits / u128::from(self.link_bytes(payload).max(1));
        Rate::from_bits_per_second(bits as u64)
    }

    /// Returns true if DMA at `rate` keeps up with a wire at `line`, for any payload up to the path
    /// MTU. `headers` are a packet's frame bytes besides its payload.
    pub(crate) fn keeps_up(&self, rate: Rate, line: Rate, mtu: u32, headers: u32) -> bool {
        let falls_behind = |payload: u32| {
            let on_wire = payload + headers + WIRE_OVERHEAD_BYTES;
            let wire = u128::from(rate.bits_per_second()) * u128::from(on_wire);
            wire < u128::from(line.bits_per_second()) * u128::from(self.link_bytes(payload))
        };
        // The overhead steps up with each link packet, so no single payload is the worst case: try
        // all.
        !(1..=mtu).any(falls_behind)
    }
}

/// One DMA direction that may fall behind the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dma {
    spec: Pcie,
    time: SerialisationTime,
    /// A data packet's frame bytes besides payload and RETH.
    headers: u32,
}

impl Dma {
    /// Creates a direction with link rate `rate` behind a wire at `line`, or `None` if it keeps up
    /// with the wire and needs no model.
    pub(crate) fn new(
        spec: &Pcie,
        rate: Rate,
        line: Rate,
        mtu: u32,
        telemetry: u32,
    ) -> Option<Dma> {
        let headers = DATA_OVERHEAD_BYTES + telemetry;
        let slower = !spec.keeps_up(rate, line, mtu, headers);
        slower.then(|| Dma {
            spec: *spec,
            time: rate.serialisation(0),
            headers,
        })
    }

    /// Returns the time for a packet's payload, and the fraction of a picosecond to carry into a
    /// packet that follows without a gap. A packet without payload takes no time.
    pub(crate) fn of(&self, packet: &Packet, carried: u32) -> (Time, u32) {
        let link_bytes = self.spec.link_bytes(self.payload(packet));
        let (time, carried) = self.time.of(link_bytes, carried);
        (time, carried)
    }

    fn payload(&self, packet: &Packet) -> u32 {
        if !packet.kind.is_data() {
            return 0;
        }
        let first = matches!(packet.kind, PacketKind::First | PacketKind::Only);
        let reth = if first { RETH_BYTES } else { 0 };
        u32::from(packet.frame_bytes).saturating_sub(self.headers + reth)
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::topology::HostId;
    use tenter_language::units::Instant;

    use super::*;

    const GEN5: Pcie = Pcie {
        generation: None,
        lanes: None,
        peak: Some(Rate::from_gbps(500)),
        max_payload_bytes: 256,
        tlp_overhead_bytes: 24,
    };

    fn packet(kind: PacketKind, frame_bytes: u16) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: 0,
            sequence: 0,
            destination: HostId::new(0),
            hash: 0,
            sent: 0,
            frame_bytes,
            kind,
            flags: 0,
        }
    }

    #[test]
    fn half_of_500_gbps_carries_229_of_payload() {
        let half = Rate::from_gbps(250);
        // 16 TLPs of 256 and 24 bytes: 250 · 256/280 = 228.57; with 22 bytes 250 · 256/278.
        assert_eq!(GEN5.link_bytes(4_096), 4_096 + 16 * 24);
        assert_eq!(
            GEN5.payload_rate(half, 4_096),
            Rate::from_bits_per_second(228_571_428_571)
        );
        let lean = Pcie {
            tlp_overhead_bytes: 22,
            ..GEN5
        };
        assert_eq!(
            lean.payload_rate(half, 4_096),
            Rate::from_bits_per_second(230_215_827_338)
        );
        // A byte more needs a further TLP.
        assert_eq!(GEN5.link_bytes(257), 257 + 2 * 24);
        assert_eq!(GEN5.link_bytes(0), 0);
    }

    #[test]
    fn only_payload_takes_time() {
        let dma = Dma::new(&GEN5, Rate::from_gbps(250), Rate::from_gbps(400), 4_096, 0);
        let dma = dma.expect("half of the peak is slower than the wire");
        // 4,480 bytes at 32 ps.
        for (kind, frame) in [(PacketKind::Middle, 4_158), (PacketKind::First, 4_174)] {
            assert_eq!(
                dma.of(&packet(kind, frame), 0),
                (Time::from_ps(4_480 * 32), 0)
            );
        }
        assert_eq!(
            dma.of(&packet(PacketKind::Only, 79), 0),
            (Time::from_ps(25 * 32), 0)
        );
        assert_eq!(dma.of(&packet(PacketKind::Ack, 66), 0), (Time::ZERO, 0));
    }

    #[test]
    fn a_peak_above_the_wire_is_no_limit() {
        let line = Rate::from_gbps(400);
        let limit = |gbps: u64| Dma::new(&GEN5, Rate::from_gbps(gbps), line, 4_096, 0);
        assert!(limit(500).is_none());
        // Packets of 3,841 bytes, 4,225 on PCIe and 3,923 on the wire, are the worst there are: 400
        // · 4,225/3,923 = 430.8.
        assert!(limit(431).is_none());
        assert!(limit(430).is_some());
    }

    #[test]
    fn peaks_of_generations_by_hand() {
        // 32 GT/s · 16 · 128/130, 64 GT/s · 16 · 236/256.
        let bits = |generation, lanes| peak(generation, lanes).bits_per_second();
        assert_eq!(bits(5, 16), 504_123_076_923);
        assert_eq!(bits(4, 8), 126_030_769_230);
        assert_eq!(bits(6, 16), 944_000_000_000);
        assert_eq!(bits(1, 1), 2_000_000_000);
    }
}
