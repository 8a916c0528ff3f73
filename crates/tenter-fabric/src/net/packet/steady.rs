//! A packet's fields, value by value, for the search for steady states.

use super::{Packet, PacketKind};
use crate::net::steady::{FlowEnd, UnderWay, Visitor};

impl Packet {
    /// Visits a packet that waits: its arrival has passed, and `at` has its input port.
    pub fn steady_waiting(&mut self, visitor: &mut impl Visitor) {
        visitor.exact(self.at.ps());
        self.steady_content(visitor);
    }

    /// Visits a packet that is on a link.
    pub fn steady_under_way(&mut self, visitor: &mut impl Visitor) {
        visitor.instant(&mut self.at);
        self.steady_content(visitor);
    }

    /// Visits all fields but `at`. An ACK's `sent` is left out, since no NIC reads it unless there
    /// is congestion control.
    fn steady_content(&mut self, visitor: &mut impl Visitor) {
        let Packet {
            at: _,
            queue_pair,
            sequence,
            destination,
            hash,
            sent,
            frame_bytes,
            kind,
            flags,
        } = self;
        let (host, kind) = (*destination, *kind);
        // One number holds three fields: the size has 16 bits, kind and flags what is above them.
        let sizes = u64::from(*frame_bytes) | (kind as u64) << 16 | u64::from(*flags) << 24;
        visitor.exact(sizes);
        visitor.exact(u64::from(*queue_pair) << 32 | u64::from(*hash));
        visitor.exact(u64::from(host.number()));
        match kind {
            PacketKind::First | PacketKind::Middle | PacketKind::Last | PacketKind::Only => {
                let slot = super::ReceiveSlot::new(*queue_pair);
                let of = UnderWay {
                    host,
                    slot,
                    sequence: *sequence,
                };
                visitor.sent(of, sent);
                visitor.sequence(FlowEnd::Receive(host, slot), sequence);
            }
            PacketKind::Ack => {
                let slot = super::SendSlot::new(*queue_pair);
                visitor.sequence(FlowEnd::Send(host, slot), sequence);
            }
            PacketKind::Pause => visitor.exact(u64::from(*sequence)),
            _ => visitor.refuse(),
        }
    }
}
