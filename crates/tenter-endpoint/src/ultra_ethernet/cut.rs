//! Packet sizes: a request becomes full packets and a last one with the rest.

use tenter_fabric::net::WIRE_OVERHEAD_BYTES;

use super::spec::UltraEthernet;

/// Sizes by which a NIC cuts requests into packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    payload: u64,
    header: u64,
}

/// Returns a frame's wire bytes: preamble and gap added.
#[inline]
pub(super) fn on_wire(frame_bytes: u16) -> u64 {
    u64::from(frame_bytes) + u64::from(WIRE_OVERHEAD_BYTES)
}

impl Cut {
    pub(super) fn new(spec: &UltraEthernet) -> Cut {
        Cut {
            payload: u64::from(spec.payload_bytes),
            header: u64::from(spec.header_bytes),
        }
    }

    /// Returns the packet count for a request with `bytes` bytes. An empty request takes one.
    pub(super) fn packets(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.payload).max(1)
    }

    /// Returns the frame bytes for the n-th packet, counted from 0, in a request with `bytes`
    /// bytes.
    pub(super) fn frame_bytes(self, bytes: u64, nth: u64) -> u16 {
        let left = bytes - (nth * self.payload).min(bytes);
        (left.min(self.payload) + self.header) as u16
    }

    /// Returns a full packet's wire bytes.
    #[inline]
    pub(super) fn most_wire_bytes(self) -> i64 {
        (self.payload + self.header).cast_signed() + i64::from(WIRE_OVERHEAD_BYTES)
    }

    /// Returns the frame bytes over all packets in a request with `bytes` bytes.
    pub(super) fn all_frame_bytes(self, bytes: u64) -> u64 {
        bytes + self.packets(bytes) * self.header
    }

    /// Returns the wire bytes over all packets in a request with `bytes` bytes.
    pub(super) fn all_wire_bytes(self, bytes: u64) -> u64 {
        let overhead = u64::from(WIRE_OVERHEAD_BYTES);
        self.all_frame_bytes(bytes) + self.packets(bytes) * overhead
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, on_wire};
    use crate::ultra_ethernet::UltraEthernet;

    #[test]
    fn published_packets_and_bytes() {
        // 2,000,000 bytes in packets of 4,086: 490 packets, the last with 1,946 (uet-htsim, whose
        // packets have 4,150 bytes on the wire).
        let spec = UltraEthernet {
            payload_bytes: 4086,
            header_bytes: 44,
            ..UltraEthernet::default()
        };
        let cut = Cut::new(&spec);
        assert_eq!(cut.packets(2_000_000), 490);
        assert_eq!(on_wire(cut.frame_bytes(2_000_000, 0)), 4150);
        assert_eq!(cut.frame_bytes(2_000_000, 489), 1946 + 44);
        assert_eq!(cut.all_wire_bytes(2_000_000), 2_000_000 + 490 * 64);
        assert_eq!((cut.packets(0), cut.all_frame_bytes(0)), (1, 44));
    }
}
