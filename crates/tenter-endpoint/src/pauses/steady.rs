//! The steady-state pass over pauses.

use tenter_fabric::net::Visitor;
use tenter_language::units::Instant;

use super::Pauses;

impl Pauses {
    /// Passes the state to `visitor`.
    pub(crate) fn steady(&mut self, visitor: &mut impl Visitor) {
        let Pauses {
            until,
            records,
            resume_delay: _,
            first,
            reactions,
        } = self;
        for (until, record) in until.iter_mut().zip(records) {
            visitor.instant(until);
            record.steady(visitor);
        }
        visitor.exact_option(first.map(Instant::ps));
        // Reaction times are kept as distributions, which a jump could not extend.
        if reactions.iter().next().is_some() {
            visitor.refuse();
        }
    }
}
