//! Limits for queues that have memory to themselves.

use tenter_language::units::Rate;

use super::QueuedFrame;
use crate::net::class::{CLASSES, ClassSpec, Limit};
use crate::net::memory::UNLIMITED_POOL;
use crate::net::response_time::QUANTUM_BIT_PS;

/// Limit that stands for a queue which shares its memory.
const SHARES: u64 = u64::MAX;

/// Limits for all queues of a switch, in bytes.
#[derive(Clone, Debug)]
pub(super) struct PrivateLimits {
    /// Each queue's lowest limit at any port; [`SHARES`] if the queue shares its memory.
    least: [u64; CLASSES],
    /// Limits in proportion to the line rate, which differ from port to port.
    by_rate: Vec<ByRate>,
}

/// A queue's limit in proportion to the line rate.
#[derive(Clone, Debug)]
struct ByRate {
    queue: usize,
    /// Limit at ports of `rate`, in bytes.
    bytes: u64,
    /// Line rate that `bytes` is meant for.
    rate: Rate,
    /// Lowest limit at any port, in bytes.
    floor: u64,
    /// Resulting limit at each port, in bytes.
    at_ports: Vec<u64>,
}

impl PrivateLimits {
    /// Computes the limits of all classes. At each port 512 bits last `quantum_ps`.
    pub(super) fn new(
        specs: &[ClassSpec],
        pool_bytes: &[u64],
        quantum_ps: &[u64],
    ) -> PrivateLimits {
        let mut limits = PrivateLimits {
            least: [SHARES; CLASSES],
            by_rate: Vec::new(),
        };
        for (queue, spec) in specs.iter().enumerate() {
            // Lossy classes of a pool without limit have memory to themselves; all others share.
            if pool_bytes[usize::from(spec.pool)] != UNLIMITED_POOL || spec.lossless.is_some() {
                continue;
            }
            match spec.limit {
                Limit::Static(bytes) => limits.least[queue] = bytes + spec.reserved_bytes,
                Limit::AtRate { bytes, rate, least } => limits.by_rate.push(ByRate {
                    queue,
                    bytes: bytes + spec.reserved_bytes,
                    rate,
                    floor: least + spec.reserved_bytes,
                    at_ports: vec![0; quantum_ps.len()],
                }),
                // Such a limit goes by a pool's fill, so the queue shares its memory.
                Limit::Dynamic { .. } | Limit::Levels(_) => {}
            }
        }
        for (port, &quantum) in quantum_ps.iter().enumerate() {
            limits.set_quantum(port, quantum);
        }
        limits
    }

    /// Returns true if a queue shares its memory with others.
    #[inline]
    pub(super) fn shares(&self, queue: usize) -> bool {
        self.least[queue] == SHARES
    }

    /// Returns true if a frame is too much for its queue; `None` if the queue shares its memory.
    #[inline]
    pub(super) fn is_over(&self, frame: &QueuedFrame) -> Option<bool> {
        let least = self.least[frame.queue];
        let (bytes, queue, port) = (frame.queue_bytes(), frame.queue, frame.output);
        // Nearly always the lowest limit decides, and no port has to be looked up.
        let over = || bytes > least && self.is_over_at_port(bytes, queue, port);
        (least != SHARES).then(over)
    }

    /// As [`PrivateLimits::is_over`], for a queue with `bytes` beyond the lowest limit. It takes no
    /// reference to the frame, which would then be kept in memory on the hot path.
    #[cold]
    #[inline(never)]
    fn is_over_at_port(&self, bytes: u64, queue: usize, port: u16) -> bool {
        let mut by_rate = self.by_rate.iter();
        let own = by_rate.find(|limit| limit.queue == queue);
        // A queue without an entry has its lowest limit at every port, and is beyond it.
        own.is_none_or(|limit| bytes > limit.at_ports[usize::from(port)])
    }

    /// Recomputes the limits at a port on whose line a quantum lasts `quantum_ps`.
    pub(super) fn set_quantum(&mut self, port: usize, quantum_ps: u64) {
        for limit in &mut self.by_rate {
            let per_second = u128::from(limit.rate.bits_per_second()) * u128::from(quantum_ps);
            let bytes = u128::from(limit.bytes) * QUANTUM_BIT_PS / per_second.max(1);
            // `SHARES` itself means that the queue shares its memory.
            let bytes = u64::try_from(bytes).map_or(SHARES - 1, |of| of.min(SHARES - 1));
            limit.at_ports[port] = bytes.max(limit.floor);
            let least = limit.at_ports.iter().min();
            self.least[limit.queue] = least.copied().unwrap_or(limit.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_goes_by_the_rate_of_the_line_and_has_a_floor() {
        let spec = ClassSpec {
            limit: Limit::AtRate {
                bytes: 416_000,
                rate: Rate::from_gbps(400),
                least: 150_000,
            },
            reserved_bytes: 1_000,
            ..ClassSpec::without_end(0)
        };
        // A quantum of 512 bits at 400G, 200G, 100G and 40G.
        let quanta = [1_280, 2_560, 5_120, 12_800];
        let limits = PrivateLimits::new(&[spec], &[UNLIMITED_POOL], &quanta);
        let at_ports = &limits.by_rate[0].at_ports;
        assert_eq!(at_ports, &[417_000, 208_500, 151_000, 151_000]);
        assert_eq!(limits.least[0], 151_000);
    }
}
