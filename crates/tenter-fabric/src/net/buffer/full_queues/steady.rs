//! Full queues, value by value, for the search for steady states.

use super::{FullQueue, FullQueues};
use crate::net::steady::Visitor;

impl FullQueues {
    /// Visits each queue with its senders.
    pub(in crate::net::buffer) fn steady(&mut self, visitor: &mut impl Visitor) {
        visitor.exact(self.0.len() as u64);
        for full in &self.0 {
            let FullQueue {
                output,
                queue,
                bytes,
                senders,
            } = full;
            visitor.exact(u64::from(*output) << 8 | *queue as u64);
            visitor.exact(*bytes);
            // Empty words are left out, as their number depends on senders that are paused no more.
            let words = senders.iter().enumerate().filter(|(_, word)| **word != 0);
            for (place, word) in words {
                visitor.exact(place as u64);
                visitor.exact(*word);
            }
        }
    }
}
