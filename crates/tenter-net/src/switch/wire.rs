//! What a switch shows of its links at an edge: what has gone over the wire, and what waits.
//!
//! Most ports send a frame when its turn comes. A leaf of a scheduled fabric hands cells to its
//! links into the fabric beforehand; those count as waiting until they begin to be sent.

use crate::scheduled::Leaf;
use crate::switch::Switch;

impl Switch {
    /// Frame bytes that a port has begun to send before `now`, without pause frames.
    pub fn sent_bytes(&self, port: u16, now: u64) -> u64 {
        let (_, handed) = self.ports[usize::from(port)].transmitter().sent();
        handed - self.ahead_bytes(port, now)
    }

    /// Frame bytes that wait at a port at `now`, an edge to which it has been brought.
    pub fn waiting_bytes(&self, port: u16, now: u64) -> u64 {
        self.ports[usize::from(port)].queue_bytes() + self.ahead_bytes(port, now)
    }

    #[inline]
    fn ahead_bytes(&self, port: u16, now: u64) -> u64 {
        self.model
            .leaf()
            .map_or(0, |leaf| bytes_ahead(leaf, port, now))
    }

    /// The most frame bytes that waited at a port since this was last asked, up to `now`.
    pub fn read_off_high_water(&mut self, port: u16, now: u64) -> u64 {
        let waiting = self.waiting_bytes(port, now);
        self.ports[usize::from(port)].read_off_high_water(waiting)
    }

    /// The trial ends at `now`: what has not begun to be sent by then was not sent.
    pub fn stop_sending(&mut self, now: u64) {
        let Some(leaf) = self.model.leaf_mut() else {
            return;
        };
        for (number, port) in (0..).zip(&mut self.ports) {
            let wire = port.transmitter_mut();
            let back = leaf.ahead_mut(number).take_back(now, wire.free_at());
            wire.take_back(&back);
        }
    }
}

/// Out of line: sampling asks every port of every switch, and few are leaves with cells ahead.
#[inline(never)]
fn bytes_ahead(leaf: &Leaf, port: u16, now: u64) -> u64 {
    leaf.ahead(port).bytes(now)
}
