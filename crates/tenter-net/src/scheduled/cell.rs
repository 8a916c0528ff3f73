//! What a packet is cut into on its way through the fabric.

use crate::packet::WIRE_OVERHEAD_BYTES;
use crate::scheduled::ScheduledSpec;

/// Cells of variable size: only the last one of a packet is shorter than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSpec {
    /// The most bytes of a packet in one cell.
    pub payload_bytes: u32,
    /// What a cell has beside them on the wire; in place of preamble and gap, not in addition.
    pub overhead_bytes: u32,
    /// So many cells of a packet travel together, as one item of the simulation.
    pub bundle: u32,
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
}

impl ScheduledSpec {
    /// In how many items a frame travels.
    pub fn cells(&self, frame_bytes: u16) -> u16 {
        let whole = |cell: &CellSpec| u32::from(frame_bytes).div_ceil(cell.bundle_bytes());
        self.cell.as_ref().map_or(1, |cell| whole(cell) as u16)
    }

    /// The frame bytes of one of them: what it takes on the wire, less what any frame takes there
    /// in addition.
    pub fn cell_frame_bytes(&self, frame_bytes: u16, number: u16) -> u16 {
        let Some(cell) = &self.cell else {
            return frame_bytes;
        };
        let before = u32::from(number) * cell.bundle_bytes();
        let bytes = (u32::from(frame_bytes) - before).min(cell.bundle_bytes());
        (cell.wire_bytes(bytes) - WIRE_OVERHEAD_BYTES) as u16
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

    /// The most wire bytes of one item on a link of the fabric.
    pub fn longest_wire_bytes(&self) -> u32 {
        self.cell
            .map_or(0, |cell| cell.wire_bytes(cell.bundle_bytes()))
    }
}
