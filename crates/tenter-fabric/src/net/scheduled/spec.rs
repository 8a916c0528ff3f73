//! Parameters of a scheduled fabric, and the sizes of its cells.

use std::ops::RangeInclusive;

use tenter_language::config::{Percent, Reader, component};
use tenter_language::units::{Bytes, Time};

use crate::net::packet::WIRE_OVERHEAD_BYTES;
use crate::net::scheduled::cell::CellSpec;
use crate::net::scheduled::spray::SprayKind;

component! {
    /// The parameters of a scheduled fabric; all leaves share them.
    pub struct ScheduledSpec as "`fabric.switching` with `kind: scheduled`", derive(Clone, Debug, PartialEq, Eq) {
        /// Worth of one credit, in bytes on the wire of the destination port.
        credit_bytes as "credit": u32 as Bytes = "4096B", in Bytes::new(256)..=Bytes::new(16_000), from "the size of a DRAM buffer of Jericho 3 (FBOSS, Jericho3Asic.h) and the resolution of its credit balance (OpenBCM SDK); the SDK takes 256 to 8,192 bytes";
        /// By how much credits are granted faster than the port sends.
        over_speed_ppm as "over_speed": u32 as Percent = "2", in 0..=100, from "assumed: enough to cover what is lost to rounding";
        /// A port grants no credit while this many frame bytes wait at it.
        egress_buffer_bytes as "egress_buffer": u64 as Bytes = "512KiB", in SIZES, from "assumed: what a port of 400G sends in two round trips of 5 us, rounded up";
        /// Cells into which a packet is cut between leaves; with `none` it travels whole.
        cell: Option<CellSpec> = "none";
        /// How cells, or packets, are spread over the links that lead to their leaf.
        spray: SprayKind = "round-robin";
        /// A packet is given up when it is not whole after this time; only where links fail or lose
        /// frames.
        reassembly_timeout: Time = "100us", in Time::from_us(1)..=SECOND, from "assumed: longer than anything waits in the fabric";
        /// Wire bytes of a request and a credit together on the links between switches, for each
        /// credit; packets carry them in proportion, and they are a quarter of `credit` at most.
        /// Messages on control links take none.
        control_bytes as "control": u32 as Bytes = "0B", in Bytes::new(0)..=Bytes::new(4_000), from "not published: 0 leaves it out";
        /// Congestion indication: cells that meet a long queue in the fabric slow the credits of
        /// their port down.
        indication: Option<IndicationSpec> = "none";
        check control_is_a_quarter_of_credit;
    }
}

const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);
const SECOND: Time = Time::from_us(1_000_000);

fn control_is_a_quarter_of_credit(spec: &ScheduledSpec, reader: &mut dyn Reader) -> bool {
    let (control, most) = (Bytes::new(spec.control_bytes.into()), spec.credit_bytes / 4);
    let holds = spec.control_bytes <= most;
    if !holds {
        let what = format!("is `{control}`, outside its range");
        let help = format!("choose from `0B` to `{}`", Bytes::new(most.into()));
        reader.refuse("control", &what, &help);
    }
    holds
}

component! {
    /// Congestion indication: cells that meet a long queue in the fabric tell the scheduler of
    /// their port, which then grants credit more slowly.
    pub struct IndicationSpec as "`fabric.switching.indication`" {
        /// A cell that makes a queue of the fabric longer than this is marked.
        threshold_bytes as "threshold": u64 as Bytes = "32KiB", in SIZES, from "assumed; Broadcom's SDK has three thresholds, without values";
        /// A port takes at most one step in this time, of eight of its credit rate, and gives one
        /// back after this time without a mark.
        hold: Time = "10us", in Time::from_ns(100)..=SECOND, from "assumed: several times the way through the fabric; eight levels are those of Broadcom's SDK";
    }
}

/// Leaf and port of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// Number of the host's leaf among the leaves.
    pub leaf: u16,
    /// Port of the leaf at which the host is.
    pub port: u16,
}

impl ScheduledSpec {
    /// Returns the number of items (cells or bundles of cells) in which a frame travels.
    pub fn cells(&self, frame_bytes: u16) -> u16 {
        let whole = |cell: &CellSpec| u32::from(frame_bytes).div_ceil(cell.bundle_bytes());
        self.cell.as_ref().map_or(1, |cell| whole(cell) as u16)
    }

    /// Returns the frame bytes of one item: its wire bytes, less those that any frame takes beside.
    /// The last item carries the packet's share of request and credit.
    pub fn cell_frame_bytes(&self, frame_bytes: u16, number: u16) -> u16 {
        let items = self.cells(frame_bytes);
        let (number, last) = (u32::from(number), number + 1 == items);
        let frame = u32::from(frame_bytes);
        let own = self.cell.as_ref().map_or(frame, |cell| {
            let before = |number| cell.bytes_before(frame, number, u32::from(items));
            // Transmitters add preamble and gap to every frame, in place of which cells have their
            // own overhead.
            cell.wire_bytes(before(number + 1) - before(number)) - WIRE_OVERHEAD_BYTES
        });
        let control = if last { self.control_share(frame) } else { 0 };
        (own + control) as u16
    }

    /// Returns a frame's share of a request and a credit, in wire bytes.
    fn control_share(&self, frame_bytes: u32) -> u32 {
        if self.control_bytes == 0 {
            return 0;
        }
        let wire = frame_bytes + WIRE_OVERHEAD_BYTES;
        (wire * self.control_bytes).div_ceil(self.credit_bytes)
    }

    /// Returns the wire bytes that a frame takes on each link of the fabric, all items together.
    pub fn fabric_wire_bytes(&self, frame_bytes: u16) -> u32 {
        let numbers = 0..self.cells(frame_bytes);
        let bytes = numbers.map(|number| u32::from(self.cell_frame_bytes(frame_bytes, number)));
        bytes.map(|bytes| bytes + WIRE_OVERHEAD_BYTES).sum()
    }

    /// Returns the fewest wire bytes that an item may take on a link of the fabric.
    pub fn shortest_wire_bytes(&self) -> u32 {
        self.cell.map_or(u32::MAX, |cell| cell.wire_bytes(1))
    }

    /// Returns the most wire bytes that an item may take on a link of the fabric, if no frame has
    /// more than `frame_bytes`.
    pub fn longest_wire_bytes(&self, frame_bytes: u32) -> u32 {
        let whole = frame_bytes + WIRE_OVERHEAD_BYTES;
        let cut = |cell: CellSpec| cell.wire_bytes(cell.bundle_bytes());
        self.cell.map_or(whole, cut) + self.control_share(frame_bytes)
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Time;

    use super::{CellSpec, ScheduledSpec, SprayKind};

    fn spec(bundle: u32, control_bytes: u32) -> ScheduledSpec {
        ScheduledSpec {
            credit_bytes: 4_096,
            over_speed_ppm: 0,
            egress_buffer_bytes: 1 << 20,
            cell: Some(CellSpec {
                payload_bytes: 256,
                overhead_bytes: 16,
                bundle,
            }),
            spray: SprayKind::RoundRobin,
            reassembly_timeout: Time::from_us(100),
            control_bytes,
            indication: None,
        }
    }

    /// The wire bytes of all items of a frame of 4,174 bytes.
    fn items(spec: &ScheduledSpec) -> Vec<u32> {
        let numbers = 0..spec.cells(4_174);
        let bytes = numbers.map(|number| spec.cell_frame_bytes(4_174, number));
        bytes.map(|bytes| u32::from(bytes) + 20).collect()
    }

    #[test]
    fn bundles_of_a_packet_have_as_many_cells_or_one_more() {
        // 16 cells of 272 bytes and one of 78 + 16.
        assert_eq!(items(&spec(17, 0)), [4_446]);
        assert_eq!(items(&spec(8, 0)), [5 * 272, 6 * 272, 5 * 272 + 94]);
        assert_eq!(items(&spec(4, 0)), [816, 816, 1_088, 816, 816 + 94]);
        assert_eq!(items(&spec(1, 0)).len(), 17);
        let all: u32 = items(&spec(1, 0)).iter().sum();
        assert_eq!(all, 4_446);
        // A frame that fits one cell.
        assert_eq!(spec(8, 0).fabric_wire_bytes(64), 80);
    }

    #[test]
    fn the_last_item_carries_the_share_of_request_and_credit() {
        // 128 bytes for each 4,096: 4,194 · 128 / 4,096 = 131.06.
        assert_eq!(items(&spec(17, 128)), [4_446 + 132]);
        let with = items(&spec(8, 128));
        assert_eq!(with, [1_360, 1_632, 1_454 + 132]);
        let whole = ScheduledSpec {
            cell: None,
            ..spec(1, 128)
        };
        assert_eq!(whole.fabric_wire_bytes(4_174), 4_194 + 132);
        assert_eq!(whole.longest_wire_bytes(4_174), 4_194 + 132);
    }
}
