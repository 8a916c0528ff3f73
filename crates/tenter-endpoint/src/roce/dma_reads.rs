//! Payload that must be read over PCIe before it can be sent.

use tenter_fabric::net::Packet;
use tenter_language::units::Instant;

use crate::pcie::Dma;

/// DMA from host memory that is slower than the wire. A data packet begins to leave no sooner than
/// the previous one's payload has been read: DMA reads one packet ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct DmaReads {
    dma: Dma,
    /// Fraction of a picosecond left over from the last read.
    carried: u32,
    ready_at: Instant,
}

impl DmaReads {
    pub(super) fn new(dma: Dma) -> DmaReads {
        DmaReads {
            dma,
            carried: 0,
            ready_at: Instant::START,
        }
    }

    /// Returns the earliest instant for the next data packet.
    pub(super) fn ready_at(&self) -> Instant {
        self.ready_at
    }

    /// Starts to read for the next packet as one begins to leave at `now`.
    pub(super) fn sent(&mut self, packet: &Packet, now: Instant) {
        // A fraction is carried only between reads without a gap.
        let carried = if self.ready_at >= now {
            self.carried
        } else {
            0
        };
        let (time, carried) = self.dma.of(packet, carried);
        self.carried = carried;
        self.ready_at = self.ready_at.max(now) + time;
    }
}
