//! Deadlines in a steady state.

use std::cmp::Reverse;

use tenter_net::Visitor;

use super::Timers;

impl Timers {
    /// Goes through them: none is reached within a jump.
    pub(crate) fn steady(&self, visitor: &mut impl Visitor) {
        let Timers {
            next_at: _,
            ascending,
            others,
        } = self;
        visitor.exact(ascending.len() as u64);
        let others = others.iter().map(|&Reverse(deadline)| deadline);
        for (at, slot) in ascending.iter().copied().chain(others) {
            visitor.deadline(at);
            visitor.exact(u64::from(slot.number()));
        }
    }
}
