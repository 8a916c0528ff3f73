//! Full queues in a steady state.

use super::{FullQueue, FullQueues};
use crate::steady::Visitor;

impl FullQueues {
    /// Goes through its state.
    pub(in crate::buffer) fn steady(&mut self, visitor: &mut impl Visitor) {
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
            let words = senders.iter().enumerate().filter(|(_, word)| **word != 0);
            for (place, word) in words {
                visitor.exact(place as u64);
                visitor.exact(*word);
            }
        }
    }
}
