//! Payload that waits for PCIe before it can be sent.

use tenter_net::Packet;
use tenter_units::Instant;

use crate::pcie::Dma;

/// DMA out of host memory that is slower than the wire: a data packet begins to leave no sooner
/// than the payload of the one before it has been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct DmaReads {
    dma: Dma,
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

    /// When the next data packet may begin to leave.
    pub(super) fn ready_at(&self) -> Instant {
        self.ready_at
    }

    /// A data packet begins to leave at `now`.
    pub(super) fn sent(&mut self, packet: &Packet, now: Instant) {
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
