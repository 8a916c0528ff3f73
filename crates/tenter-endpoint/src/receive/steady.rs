//! The receiving side of a queue pair in a steady state.

use tenter_net::{FlowEnd, Visitor};

use super::ReceiveQueuePair;

/// Latencies of packets that have been accepted, in units of
/// [`SENT_UNIT_PS`](tenter_net::SENT_UNIT_PS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// The shortest.
    pub min: u32,
    /// The longest.
    pub max: u32,
    /// All together.
    pub sum: u64,
}

impl ReceiveQueuePair {
    /// Goes through its state. Its latencies go by units of time into which a period need not fit;
    /// those of a jump are [added](ReceiveQueuePair::add) by themselves.
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

    /// Packets accepted of the transfer that is being received.
    pub(crate) fn accepted(&self) -> u32 {
        self.accepted
    }

    /// Sets the latencies of all packets accepted of the transfer that is being received.
    pub(crate) fn set(&mut self, latencies: Latencies) {
        let Latencies { min, max, sum } = latencies;
        (self.latency_min, self.latency_max, self.latency_sum) = (min, max, sum);
    }

    /// Adds the latencies of packets that a jump has accepted.
    pub(crate) fn add(&mut self, latencies: Latencies) {
        self.latency_min = self.latency_min.min(latencies.min);
        self.latency_max = self.latency_max.max(latencies.max);
        self.latency_sum += latencies.sum;
    }
}
