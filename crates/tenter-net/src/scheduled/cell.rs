//! What a packet is cut into on its way through the fabric.

use crate::packet::WIRE_OVERHEAD_BYTES;

/// Cells of variable size: only the last one of a packet is shorter than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSpec {
    /// The most bytes of a packet in one cell.
    pub payload_bytes: u32,
    /// What a cell has beside them on the wire; in place of preamble and gap, not in addition.
    pub overhead_bytes: u32,
    /// At most so many cells of a packet travel together, as one item of the simulation; all items
    /// of a packet have as many cells, or one more.
    pub bundle: u32,
}

/// The shortest item of the simulation: a frame has at least one byte beside preamble and gap.
const SHORTEST_WIRE_BYTES: u32 = WIRE_OVERHEAD_BYTES + 1;

impl CellSpec {
    pub(super) fn bundle_bytes(&self) -> u32 {
        self.payload_bytes * self.bundle
    }

    /// The wire bytes of so many bytes of a packet.
    pub(super) fn wire_bytes(&self, bytes: u32) -> u32 {
        let cells = bytes.div_ceil(self.payload_bytes);
        (bytes + cells * self.overhead_bytes).max(SHORTEST_WIRE_BYTES)
    }

    /// The bytes of a packet in its items before this one.
    ///
    /// Items that differ in size would meet the links in the same order packet after packet, and
    /// some links would have the long ones only.
    pub(super) fn bytes_before(&self, frame_bytes: u32, number: u32, items: u32) -> u32 {
        let cells = frame_bytes.div_ceil(self.payload_bytes);
        (number * cells / items * self.payload_bytes).min(frame_bytes)
    }
}
