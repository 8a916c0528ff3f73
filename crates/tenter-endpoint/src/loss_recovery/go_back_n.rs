//! Go-back-N: a receiver keeps nothing out of order, and a sender goes back to the missing packet.
//!
//! Source: InfiniBand Architecture Specification, volume 1: a responder drops a request whose
//! sequence number lies beyond the expected one, and sends one NAK for it.

use crate::receive::ReceiveQueuePair;

impl ReceiveQueuePair {
    /// Notes that a packet arrived while an earlier one is missing. Returns true the first time
    /// within a gap, when a NAK is due.
    pub(crate) fn opens_gap(&mut self) -> bool {
        !std::mem::replace(&mut self.gap, true)
    }
}

#[cfg(test)]
mod tests {
    use crate::receive::ReceiveQueuePair;

    #[test]
    fn a_gap_is_reported_once() {
        let mut queue_pair = ReceiveQueuePair::default();
        assert!(queue_pair.opens_gap());
        assert!(!queue_pair.opens_gap());
        queue_pair.gap = false;
        assert!(queue_pair.opens_gap());
    }
}
