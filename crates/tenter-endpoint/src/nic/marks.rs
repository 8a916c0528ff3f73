//! Marked packets per receive queue pair.
//!
//! They lie apart from the queue pairs, because most trials mark nothing, and in others few queue
//! pairs see marks.

mod steady;

use std::ops::Range;

use tenter_fabric::net::{Packet, ReceiveSlot};
use tenter_language::units::{ById, Instant};

/// Marks that a receive queue pair saw while it received one transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Data frames with congestion experienced (CE), discarded ones included.
    pub frames: u32,
    /// Congestion notifications (CNPs) sent for these marks.
    pub notifications: u32,
}

/// One receive queue pair's marks and notifications.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marked {
    pub(crate) since_delivery: Marks,
    /// Earliest instant for the next notification.
    pub(crate) next_notification: Instant,
    /// Set if the next acknowledgement must carry a notification.
    pub(crate) echoes: bool,
}

/// Marks at all receive queue pairs; empty until the first mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkBook(ById<ReceiveSlot, Marked>);

impl MarkBook {
    /// Counts a marked packet. `slots` is the receive queue pair count, for which the list is
    /// allocated with the first mark.
    pub(crate) fn count(&mut self, slot: ReceiveSlot, slots: usize) -> &mut Marked {
        if self.0.len() < slots {
            self.0.resize(slots, Marked::default());
        }
        let marked = &mut self.0[slot];
        marked.since_delivery.frames += 1;
        marked
    }

    /// Takes out the flag for a queue pair's next acknowledgement: it is set if a mark is still to
    /// be reported to the sender.
    pub(crate) fn on_echo(&mut self, slot: ReceiveSlot) -> u8 {
        let marked = self.0.get_mut(slot.index());
        let echoes = marked.is_some_and(|marked| std::mem::take(&mut marked.echoes));
        u8::from(echoes) * Packet::CONGESTION_ECHO
    }

    /// Clears marks that belong to no delivered transfer, for a range of queue pairs.
    pub(crate) fn forget(&mut self, slots: Range<usize>) {
        let end = slots.end.min(self.0.len());
        for marked in self.0.get_mut(slots.start..end).into_iter().flatten() {
            marked.since_delivery = Marks::default();
        }
    }

    /// Takes out the marks that a queue pair saw since its last delivery.
    pub(crate) fn take(&mut self, slot: ReceiveSlot) -> Marks {
        let marked = self.0.get_mut(slot.index());
        marked.map_or(Marks::default(), |marked| {
            std::mem::take(&mut marked.since_delivery)
        })
    }
}
