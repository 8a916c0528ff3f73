//! Go-back-N: a receiver keeps nothing out of order, and a sender goes back.
//!
//! Source: InfiniBand Architecture Specification, volume 1: a responder drops a request with a
//! sequence number beyond the expected one and sends one NAK for it.

use crate::receive::ReceiveQueuePair;

impl ReceiveQueuePair {
    /// A packet has arrived while one before it is missing; whether the sender must be asked to go
    /// back, which it is once for each gap.
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
