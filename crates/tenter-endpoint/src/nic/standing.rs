//! How a send slot stands: what it has left to do, and whether it will.

use super::Nic;
use crate::send::Connection;

impl Nic {
    /// How many work requests of a send slot are not acknowledged.
    pub fn unfinished_count(&self, slot: u32) -> usize {
        self.send[slot as usize].unfinished_count(&self.requests)
    }

    /// Whether a send slot has given up.
    pub fn has_given_up(&self, slot: u32) -> bool {
        self.send[slot as usize].connection == Connection::Failed
    }

    /// Whether a send slot will do anything without being asked: send, or repeat what is overdue.
    /// What has been sent is repeated, and given up in the end, even while the link is down.
    pub fn goes_on(&self, slot: u32, link_is_up: bool) -> bool {
        let queue_pair = &self.send[slot as usize];
        match queue_pair.connection {
            Connection::Unused | Connection::Failed => false,
            Connection::Requested => true,
            Connection::Ready => {
                queue_pair.outstanding() > 0 || (link_is_up && queue_pair.has_packet(None))
            }
        }
    }
}
