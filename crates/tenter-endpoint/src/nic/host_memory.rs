//! What PCIe to host memory holds back: payload that has arrived, and payload that is to be sent.

use tenter_net::Packet;
use tenter_units::Rate;

use super::Nic;
use super::limited::Limits;
use crate::pcie::{Dma, DmaRates};
use crate::receive_buffer::{Drain, ReceiveBuffer};
use crate::spec::NicSpec;

/// DMA out of host memory that is slower than the wire: a data packet begins to leave no sooner
/// than the payload of the one before it has been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct DmaReads {
    dma: Dma,
    carried: u32,
    ready_at: u64,
}

impl DmaReads {
    /// When the next data packet may begin to leave.
    pub(super) fn ready_at(&self) -> u64 {
        self.ready_at
    }

    /// A data packet begins to leave at `now`.
    pub(super) fn sent(&mut self, packet: &Packet, now: u64) {
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

impl Nic {
    /// Lets payload pass between this NIC, on a line of that rate, and host memory no faster than
    /// so. Nothing changes where the line is never faster, or without [`NicSpec::pcie`].
    pub fn limit_dma(&mut self, spec: &NicSpec, rates: &DmaRates, line: Rate) {
        let Some(pcie) = &spec.pcie else {
            return;
        };
        let packets = (spec.mtu_bytes, spec.telemetry_bytes());
        let write = Dma::new(pcie, (rates.write, line), packets);
        if let (Some(write), Some(buffer)) = (write, &spec.receive_buffer)
            && buffer.drain_rate.is_none()
        {
            let quantum_ps = self.transmitter.pause_time(1);
            let buffer = ReceiveBuffer::new(buffer, Drain::Dma(write), quantum_ps);
            self.receive_buffer = Some(Box::new(buffer));
            self.is_plain = false;
        }
        if let Some(dma) = Dma::new(pcie, (rates.read, line), packets) {
            let slots = self.send.len();
            let limits = self.limits.take();
            let mut limits = limits.unwrap_or_else(|| Limits::of(spec, line, slots));
            limits.reads = Some(DmaReads {
                dma,
                carried: 0,
                ready_at: 0,
            });
            self.limits = Some(limits);
        }
    }
}
