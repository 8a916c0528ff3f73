//! Indices of a queue pair, one at the NIC of each end.

use tenter_language::units::id;

use super::Packet;

id! {
    /// The number of a queue pair among those by which a NIC sends.
    pub struct SendSlot(u32);
}

id! {
    /// The number of a queue pair among those by which a NIC receives.
    pub struct ReceiveSlot(u32);
}

/// A queue pair as a packet names it: by its index at the NIC that the packet goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// In answers, which go to a sender.
    Send(SendSlot),
    /// In data and all else that comes from a sender.
    Receive(ReceiveSlot),
}

impl Packet {
    /// Returns the queue pair at the NIC where data, or another packet from a sender, has arrived.
    #[inline]
    pub fn receive_slot(&self) -> ReceiveSlot {
        debug_assert!(self.kind.is_for_receiver() && !self.is_on_detour());
        ReceiveSlot::new(self.queue_pair)
    }

    /// As [`Packet::receive_slot`], for a packet anywhere on its way.
    #[inline]
    pub fn receive_slot_under_way(&self) -> ReceiveSlot {
        debug_assert!(self.kind.is_for_receiver());
        ReceiveSlot::new(self.queue_pair_field())
    }

    /// Returns the queue pair at the NIC where an answer has arrived.
    #[inline]
    pub fn send_slot(&self) -> SendSlot {
        debug_assert!(!self.kind.is_for_receiver() && !self.is_on_detour());
        SendSlot::new(self.queue_pair)
    }

    /// Returns the queue pair at the destination NIC, wherever the packet is; `None` for kinds
    /// without.
    #[inline]
    pub fn slot(&self) -> Option<Slot> {
        let number = self.queue_pair_field();
        match self.kind {
            kind if !kind.is_of_queue_pair() => None,
            kind if kind.is_for_receiver() => Some(Slot::Receive(ReceiveSlot::new(number))),
            _ => Some(Slot::Send(SendSlot::new(number))),
        }
    }
}
