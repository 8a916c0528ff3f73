//! The shared buffer's state, value by value, for the search for steady states.

use super::SharedBuffer;
use super::occupancy::Occupancy;
use crate::net::steady::Visitor;

impl SharedBuffer {
    /// Visits the state. The certificate is left out, as its bounds hold in any state with the same
    /// fills; the journal is closed between visits of the switch.
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
    /// Visits the fills. High-water marks are left out: they have seen a whole period already.
    fn steady(&mut self, visitor: &mut impl Visitor) {
        for used in self.fills() {
            visitor.exact(used);
        }
    }
}
