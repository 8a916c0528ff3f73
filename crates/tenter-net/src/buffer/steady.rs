//! A shared buffer in a steady state.

use super::SharedBuffer;
use super::occupancy::Occupancy;
use crate::steady::Visitor;

impl SharedBuffer {
    /// Goes through its state. What its certificate knows are bounds, which hold for any state that
    /// is the same; its journal is closed between visits.
    pub(crate) fn steady(&mut self, visitor: &mut impl Visitor) {
        let SharedBuffer {
            private: _,
            shared: _,
            booked: _,
            certificate: _,
            memory,
            pauses,
            journal,
        } = self;
        if journal.is_open() {
            visitor.refuse();
        }
        memory.steady(visitor);
        pauses.steady(visitor);
    }
}

impl Occupancy {
    /// Goes through its state; high-water marks have seen a whole period already.
    fn steady(&mut self, visitor: &mut impl Visitor) {
        for used in self.fills() {
            visitor.exact(used);
        }
    }
}
