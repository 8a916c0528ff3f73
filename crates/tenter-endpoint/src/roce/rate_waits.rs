//! Time for which congestion control holds a NIC's queue pairs back.

use tenter_fabric::net::SendSlot;
use tenter_language::units::{ById, Instant};

use crate::nic::held_by_rate::{HeldByRate, IdleClock, Waits};
use crate::nic::port::Wire;

/// Waits of all queue pairs at a NIC.
#[derive(Clone, Debug)]
pub(super) struct RateWaits {
    pub(super) clock: IdleClock,
    /// Waits of each queue pair, created with its first request.
    of_slots: ById<SendSlot, Option<Box<Waits>>>,
}

impl RateWaits {
    /// Creates the accounts of a NIC with `slots` send queue pairs that sprays each over `planes`
    /// planes.
    pub(super) fn new(slots: usize, planes: u16) -> RateWaits {
        RateWaits {
            clock: IdleClock::new(planes),
            of_slots: vec![None; slots].into(),
        }
    }

    /// Returns true while congestion control holds a queue pair back.
    #[inline]
    pub(super) fn is_held(&self, slot: SendSlot) -> bool {
        let waits = self.of_slots[slot].as_ref();
        waits.is_some_and(|waits| waits.is_held())
    }

    /// Returns the waits of a queue pair and the clock, or `None` before the first request.
    pub(super) fn of(&mut self, slot: SendSlot) -> Option<(&mut Waits, &IdleClock)> {
        let waits = self.of_slots[slot].as_mut()?;
        Some((waits, &self.clock))
    }

    /// Starts to account for a request that is posted at `now`.
    pub(super) fn post(&mut self, slot: SendSlot, class: u8, wire: Wire<'_>, now: Instant) {
        let waits = self.of_slots[slot].get_or_insert_default();
        waits.post(self.clock.read(wire, class, now));
    }

    /// Removes the oldest request, which is acknowledged, and returns the time that it was held.
    pub(super) fn acknowledged(&mut self, slot: SendSlot) -> HeldByRate {
        let waits = self.of_slots[slot].as_mut();
        waits.map_or_else(HeldByRate::default, |waits| waits.acknowledged())
    }
}
