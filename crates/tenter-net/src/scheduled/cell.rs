//! What a packet is cut into on its way through the fabric.

use tenter_config::{Reader, component};
use tenter_units::Bytes;

use crate::packet::WIRE_OVERHEAD_BYTES;
use crate::scheduled::ScheduledSpec;

component! {
    /// Cells of variable size: only the last one of a packet is shorter than the others.
    pub struct CellSpec as "`fabric.switching.cell`" {
        /// The most bytes of a packet in one cell; the last cell is as long as it must be.
        payload_bytes as "payload": u32 as Bytes = "256B", in Bytes::new(64)..=Bytes::new(9_000), from "the largest cell of the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and 16 of header";
        /// What a cell takes on the wire beside them, in place of preamble and gap.
        overhead_bytes as "overhead": u32 as Bytes = "16B", in Bytes::new(0)..=Bytes::new(256), from "the largest cell of the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and 16 of header";
        /// Cells of a packet that travel together: the same bytes, fewer events, a coarser spray.
        /// All bundles of a packet have as many cells, or one more.
        bundle: u32 = "1", in 1..=64;
        check bundles_are_frames;
    }
}

/// The most bytes of a bundle: what a frame of the simulation holds.
const BUNDLE_MAX: u32 = 15_000;

fn bundles_are_frames(spec: &CellSpec, reader: &mut dyn Reader) -> bool {
    let bytes = (spec.payload_bytes + spec.overhead_bytes) * spec.bundle;
    if bytes > BUNDLE_MAX {
        let what = format!("makes bundles of {bytes} bytes, which is more than a frame may have");
        let help = format!("let a bundle have at most {BUNDLE_MAX} bytes");
        reader.refuse_all(&what, &help);
    }
    bytes <= BUNDLE_MAX
}

/// The shortest item of the simulation: a frame has at least one byte beside preamble and gap.
const SHORTEST_WIRE_BYTES: u32 = WIRE_OVERHEAD_BYTES + 1;

impl CellSpec {
    fn bundle_bytes(&self) -> u32 {
        self.payload_bytes * self.bundle
    }

    /// The wire bytes of so many bytes of a packet.
    fn wire_bytes(&self, bytes: u32) -> u32 {
        let cells = bytes.div_ceil(self.payload_bytes);
        (bytes + cells * self.overhead_bytes).max(SHORTEST_WIRE_BYTES)
    }

    /// The bytes of a packet in its items before this one.
    ///
    /// Items that differ in size would meet the links in the same order packet after packet, and
    /// some links would have the long ones only.
    fn bytes_before(&self, frame_bytes: u32, number: u32, items: u32) -> u32 {
        let cells = frame_bytes.div_ceil(self.payload_bytes);
        (number * cells / items * self.payload_bytes).min(frame_bytes)
    }
}

impl ScheduledSpec {
    /// In how many items a frame travels.
    pub fn cells(&self, frame_bytes: u16) -> u16 {
        let whole = |cell: &CellSpec| u32::from(frame_bytes).div_ceil(cell.bundle_bytes());
        self.cell.as_ref().map_or(1, |cell| whole(cell) as u16)
    }

    /// The frame bytes of one of them: what it takes on the wire, less what any frame takes there
    /// in addition. The last one carries what the packet's request and credit take.
    pub fn cell_frame_bytes(&self, frame_bytes: u16, number: u16) -> u16 {
        let items = self.cells(frame_bytes);
        let (number, last) = (u32::from(number), number + 1 == items);
        let frame = u32::from(frame_bytes);
        let own = self.cell.as_ref().map_or(frame, |cell| {
            let before = |number| cell.bytes_before(frame, number, u32::from(items));
            cell.wire_bytes(before(number + 1) - before(number)) - WIRE_OVERHEAD_BYTES
        });
        let control = if last { self.control_share(frame) } else { 0 };
        (own + control) as u16
    }

    /// What requests and credits take for a frame, in wire bytes: its share of a credit.
    fn control_share(&self, frame_bytes: u32) -> u32 {
        if self.control_bytes == 0 {
            return 0;
        }
        let wire = frame_bytes + WIRE_OVERHEAD_BYTES;
        (wire * self.control_bytes).div_ceil(self.credit_bytes)
    }

    /// The wire bytes that a frame takes on each link of the fabric.
    pub fn fabric_wire_bytes(&self, frame_bytes: u16) -> u32 {
        let numbers = 0..self.cells(frame_bytes);
        let bytes = numbers.map(|number| u32::from(self.cell_frame_bytes(frame_bytes, number)));
        bytes.map(|bytes| bytes + WIRE_OVERHEAD_BYTES).sum()
    }

    /// The fewest wire bytes of anything on a link of the fabric.
    pub fn shortest_wire_bytes(&self) -> u32 {
        self.cell.map_or(u32::MAX, |cell| cell.wire_bytes(1))
    }

    /// The most wire bytes of one item on a link of the fabric, where no frame is longer.
    pub fn longest_wire_bytes(&self, frame_bytes: u32) -> u32 {
        let whole = frame_bytes + WIRE_OVERHEAD_BYTES;
        let cut = |cell: CellSpec| cell.wire_bytes(cell.bundle_bytes());
        self.cell.map_or(whole, cut) + self.control_share(frame_bytes)
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::Time;

    use super::CellSpec;
    use crate::scheduled::{ScheduledSpec, SprayKind};

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
