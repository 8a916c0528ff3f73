//! Receive queue pairs as part of a steady state.

use tenter_fabric::net::{FlowEnd, Visitor};

use super::ReceiveQueuePair;

/// Latencies of accepted packets, in units of [`SENT_UNIT_PS`](tenter_fabric::net::SENT_UNIT_PS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// Shortest latency among the packets.
    pub min: u32,
    /// Longest latency among the packets.
    pub max: u32,
    /// Sum over the packets' latencies.
    pub sum: u64,
}

impl ReceiveQueuePair {
    /// Passes the state to `visitor`. Latencies are left out: they are rounded to a unit that need
    /// not divide the period, so a jump computes and [adds](ReceiveQueuePair::add) them separately.
    pub(crate) fn steady(&mut self, of: FlowEnd, visitor: &mut impl Visitor) {
        let ReceiveQueuePair {
            accepted_bytes,
            latency_sum: _,
            expected,
            first,
            accepted,
            latency_min: _,
            latency_max: _,
            delivered,
            reply: _,
            open,
            gap,
        } = self;
        visitor.exact(u64::from(*open) << 1 | u64::from(*gap));
        if !*open {
            return;
        }
        visitor.of_request(of, first);
        visitor.requests(delivered);
        visitor.total_of_request(accepted_bytes);
        visitor.total_of_request_u32(accepted);
        visitor.sequence(of, expected);
    }

    /// Returns the packets accepted of the current transfer.
    pub(crate) fn accepted(&self) -> u32 {
        self.accepted
    }

    /// Replaces the latencies of the current transfer.
    pub(crate) fn set(&mut self, latencies: Latencies) {
        let Latencies { min, max, sum } = latencies;
        (self.latency_min, self.latency_max, self.latency_sum) = (min, max, sum);
    }

    /// Adds the latencies of packets accepted within a jump.
    pub(crate) fn add(&mut self, latencies: Latencies) {
        self.latency_min = self.latency_min.min(latencies.min);
        self.latency_max = self.latency_max.max(latencies.max);
        self.latency_sum += latencies.sum;
    }
}
