//! Marked packets, per receive queue pair.
//!
//! They are kept apart from the queue pairs: most trials mark nothing, and few queue pairs of those
//! that do have marks.

mod steady;

use std::ops::Range;

use tenter_net::{Packet, ReceiveSlot};
use tenter_units::{ById, Instant};

/// Marks that came on one receive queue pair while a transfer was being received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Data frames with congestion experienced (CE), those discarded included.
    pub frames: u32,
    /// Congestion notifications (CNPs) that told the sender.
    pub notifications: u32,
}

/// What one receive queue pair has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marked {
    pub(crate) since_delivery: Marks,
    /// The sender is told of no mark before, in ps.
    pub(crate) next_notification: Instant,
    /// The next acknowledgement carries a notification.
    pub(crate) echoes: bool,
}

/// The marks of all receive queue pairs of a NIC.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkBook(ById<ReceiveSlot, Marked>);

impl MarkBook {
    /// Counts a marked packet; `slots` is how many receive queue pairs there are.
    pub(crate) fn count(&mut self, slot: ReceiveSlot, slots: usize) -> &mut Marked {
        if self.0.len() < slots {
            self.0.resize(slots, Marked::default());
        }
        let marked = &mut self.0[slot];
        marked.since_delivery.frames += 1;
        marked
    }

    /// The flag of the next acknowledgement of a slot, which has told of the marks by then.
    pub(crate) fn on_echo(&mut self, slot: ReceiveSlot) -> u8 {
        let marked = self.0.get_mut(slot.index());
        let echoes = marked.is_some_and(|marked| std::mem::take(&mut marked.echoes));
        u8::from(echoes) * Packet::CONGESTION_ECHO
    }

    /// Forgets what was marked on some slots and told of no transfer.
    pub(crate) fn forget(&mut self, slots: Range<usize>) {
        let end = slots.end.min(self.0.len());
        for marked in self.0.get_mut(slots.start..end).into_iter().flatten() {
            marked.since_delivery = Marks::default();
        }
    }

    /// Takes out the marks since the last transfer of a slot was delivered.
    pub(crate) fn take(&mut self, slot: ReceiveSlot) -> Marks {
        let marked = self.0.get_mut(slot.index());
        marked.map_or(Marks::default(), |marked| {
            std::mem::take(&mut marked.since_delivery)
        })
    }
}
