//! Cells of a packet on its way through the fabric.

use tenter_language::config::{Reader, component};
use tenter_language::units::Bytes;

use crate::net::packet::WIRE_OVERHEAD_BYTES;

component! {
    /// Cells of variable size: only the last one of a packet is shorter than the others.
    pub struct CellSpec as "`fabric.switching.cell`" {
        /// The most bytes of a packet in one cell; the last cell is as long as it must be.
        payload_bytes as "payload": u32 as Bytes = "256B", in Bytes::new(64)..=Bytes::new(9_000), from "the largest cell of the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and 16 of header";
        /// Overhead of a cell on the wire, in place of preamble and gap.
        overhead_bytes as "overhead": u32 as Bytes = "16B", in Bytes::new(0)..=Bytes::new(256), from "the largest cell of the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and 16 of header";
        /// Cells of a packet that travel together: the same bytes, fewer events, a coarser spray.
        /// The bundles of a packet differ by one cell at most.
        bundle: u32 = "1", in 1..=64;
        check bundles_are_frames;
    }
}

/// Most bytes of a bundle, which is a frame of the simulation.
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

/// Shortest item of the simulation: a frame has at least one byte beside preamble and gap.
const SHORTEST_WIRE_BYTES: u32 = WIRE_OVERHEAD_BYTES + 1;

impl CellSpec {
    pub(super) fn bundle_bytes(&self) -> u32 {
        self.payload_bytes * self.bundle
    }

    /// Returns the wire bytes of `bytes` bytes of a packet, with the overhead of their cells.
    pub(super) fn wire_bytes(&self, bytes: u32) -> u32 {
        let cells = bytes.div_ceil(self.payload_bytes);
        (bytes + cells * self.overhead_bytes).max(SHORTEST_WIRE_BYTES)
    }

    /// Returns the bytes of a packet in the items before `number`, so that items differ by one cell
    /// at most.
    ///
    /// Items that differ more would meet the links in the same order packet after packet, and some
    /// links would get only the long ones.
    pub(super) fn bytes_before(&self, frame_bytes: u32, number: u32, items: u32) -> u32 {
        let cells = frame_bytes.div_ceil(self.payload_bytes);
        // Whole cells, spread evenly over the items; the last cell may be shorter.
        (number * cells / items * self.payload_bytes).min(frame_bytes)
    }
}
