//! The steady-state pass over timers.

use std::cmp::Reverse;

use tenter_fabric::net::{SendSlot, Visitor};
use tenter_language::units::Instant;

use super::Timers;

impl Timers {
    /// Passes all deadlines to `visitor`. None may be reached within a jump, except over whole
    /// steps.
    pub(crate) fn steady(&self, visitor: &mut impl Visitor) {
        let Timers {
            next_at: _,
            ascending,
            others,
        } = self;
        visitor.exact(ascending.len() as u64);
        let others = others.iter().map(|&Reverse(deadline)| deadline);
        for (at, slot) in ascending.iter().copied().chain(others) {
            visitor.timeout(at, slot);
        }
    }

    /// Sets all deadlines anew, each as `deadline` returns it for its queue pair.
    pub(crate) fn set_anew(&mut self, deadline: impl Fn(SendSlot) -> Instant) {
        let ascending = self.ascending.drain(..).map(|(_, slot)| slot);
        let others = self.others.drain().map(|Reverse((_, slot))| slot);
        let slots = ascending.chain(others);
        let mut all: Vec<_> = slots.map(|slot| (deadline(slot), slot)).collect();
        all.sort_unstable();
        self.next_at = Instant::NEVER;
        for (at, slot) in all {
            self.push(at, slot);
        }
    }
}
