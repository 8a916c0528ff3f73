//! Explicit congestion notification (ECN): which frames are marked.

use crate::net::class::EcnSpec;
use crate::net::packet::{Draw, Packet};
use crate::net::response_time::QUANTUM_BIT_PS;
use crate::net::transmitter::Transmitter;

const PER_MILLION: u64 = 1_000_000;

impl EcnSpec {
    /// Returns a queue's bytes for comparison with the thresholds: as many as take equally long to
    /// drain at the rate which the thresholds are meant for. A quantum lasts `quantum_ps` on the
    /// queue's line.
    #[inline]
    pub(crate) fn counted(&self, queue_bytes: u64, quantum_ps: impl FnOnce() -> u64) -> u64 {
        let Some(rate) = self.scale_from else {
            return queue_bytes;
        };
        // bytes × rate / line rate, where the line rate is 512 bits over a quantum.
        let bits = u128::from(queue_bytes) * u128::from(rate.bits_per_second());
        (bits * u128::from(quantum_ps()) / QUANTUM_BIT_PS) as u64
    }

    /// Returns true if a frame is marked with which its queue holds `queue_bytes`, or that leaves
    /// as many behind.
    ///
    /// The draw depends on the switch, the frame and its arrival alone, not on any draw before it.
    pub(crate) fn marks(
        &self,
        packet: &Packet,
        queue_bytes: u64,
        seed: u32,
        wire: &Transmitter,
    ) -> bool {
        if !packet.has(Packet::ECN_CAPABLE) {
            return false;
        }
        let queue_bytes = self.counted(queue_bytes, || wire.pause_time(1).ps());
        // At the thresholds themselves: none at Kmin, and the probability Pmax at Kmax.
        if queue_bytes <= self.min_bytes {
            return false;
        }
        if queue_bytes > self.max_bytes {
            return true;
        }
        let draw = packet.draw(seed, Draw::Mark) >> 32;
        // draw / 2^32 < Pmax * (queue - Kmin) / (Kmax - Kmin), in whole numbers.
        let above = u128::from(queue_bytes - self.min_bytes);
        let span = u128::from(self.max_bytes - self.min_bytes);
        let probability = u128::from(self.max_probability_ppm) * above;
        u128::from(draw) * u128::from(PER_MILLION) * span < probability << 32
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Rate;

    use crate::net::class::{EcnSpec, MarkAt};

    #[test]
    fn thresholds_scale_with_the_line_on_request() {
        let mut spec = EcnSpec {
            min_bytes: 400_000,
            max_bytes: 1_600_000,
            max_probability_ppm: 200_000,
            scale_from: Some(Rate::from_gbps(100)),
            mark_at: MarkAt::Enqueue,
            at_hosts: true,
        };
        // 512 bits last 1,280 ps at 400G: 1.6 MB there are 400 kB at 100G.
        assert_eq!(spec.counted(1_600_000, || 1_280), 400_000);
        // 51,200 ps at 10G: 40 kB.
        assert_eq!(spec.counted(40_000, || 51_200), 400_000);
        assert_eq!(spec.counted(400_000, || 5_120), 400_000);
        // The same the other way round.
        let rate = Rate::from_gbps;
        assert_eq!(spec.thresholds_at(rate(10)), (40_000, 160_000));
        assert_eq!(spec.thresholds_at(rate(400)), (1_600_000, 6_400_000));
        spec.scale_from = None;
        assert_eq!(spec.thresholds_at(rate(10)), (400_000, 1_600_000));
        assert_eq!(spec.counted(1_600_000, || 1_280), 1_600_000);
    }
}
