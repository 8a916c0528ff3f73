//! How long the queue pairs of a NIC are held back by its congestion control.

use tenter_net::SendSlot;
use tenter_units::{ById, Instant};

use crate::nic::held_by_rate::{HeldByRate, IdleClock, Waits};
use crate::nic::port::Wire;

/// The waits of all queue pairs of a NIC.
#[derive(Clone, Debug)]
pub(super) struct RateWaits {
    pub(super) clock: IdleClock,
    /// Made with the first request of each.
    of_slots: ById<SendSlot, Option<Box<Waits>>>,
}

impl RateWaits {
    /// Of a NIC with this number of send slots, each of which it sprays over some planes.
    pub(super) fn new(slots: usize, planes: u16) -> RateWaits {
        RateWaits {
            clock: IdleClock::new(planes),
            of_slots: vec![None; slots].into(),
        }
    }

    /// Whether a wait of a queue pair goes on.
    #[inline]
    pub(super) fn is_held(&self, slot: SendSlot) -> bool {
        let waits = self.of_slots[slot].as_ref();
        waits.is_some_and(|waits| waits.is_held())
    }

    /// Those of a queue pair, if it has had a request, and the clock.
    pub(super) fn of(&mut self, slot: SendSlot) -> Option<(&mut Waits, &IdleClock)> {
        let waits = self.of_slots[slot].as_mut()?;
        Some((waits, &self.clock))
    }

    /// A request is posted to a queue pair.
    pub(super) fn post(&mut self, slot: SendSlot, class: u8, wire: Wire<'_>, now: Instant) {
        let waits = self.of_slots[slot].get_or_insert_default();
        waits.post(self.clock.read(wire, class, now));
    }

    /// The oldest request of a queue pair is acknowledged; how long it was held.
    pub(super) fn acknowledged(&mut self, slot: SendSlot) -> HeldByRate {
        let waits = self.of_slots[slot].as_mut();
        waits.map_or_else(HeldByRate::default, |waits| waits.acknowledged())
    }
}
