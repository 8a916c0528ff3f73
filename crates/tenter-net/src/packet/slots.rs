//! The two numbers that a queue pair has, one at the NIC of each end.

use tenter_units::id;

use super::Packet;

id! {
    /// The number of a queue pair among those by which a NIC sends.
    pub struct SendSlot(u32);
}

id! {
    /// The number of a queue pair among those by which a NIC receives.
    pub struct ReceiveSlot(u32);
}

/// A queue pair as a packet names it: by its number at the NIC that the packet goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// Of an answer, which goes to a sender.
    Send(SendSlot),
    /// Of data, and of what else a sender sends.
    Receive(ReceiveSlot),
}

impl Packet {
    /// The queue pair at the NIC that data, or something else from a sender, arrives at.
    #[inline]
    pub fn receive_slot(&self) -> ReceiveSlot {
        debug_assert!(self.kind.is_for_receiver() && !self.is_on_detour());
        ReceiveSlot::new(self.queue_pair)
    }

    /// As [`Packet::receive_slot`], of data anywhere on their way.
    #[inline]
    pub fn receive_slot_under_way(&self) -> ReceiveSlot {
        debug_assert!(self.kind.is_for_receiver());
        ReceiveSlot::new(self.queue_pair_field())
    }

    /// The queue pair at the NIC that an answer arrives at.
    #[inline]
    pub fn send_slot(&self) -> SendSlot {
        debug_assert!(!self.kind.is_for_receiver() && !self.is_on_detour());
        SendSlot::new(self.queue_pair)
    }

    /// The queue pair at the destination NIC, wherever the packet is; none where its kind has none.
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
