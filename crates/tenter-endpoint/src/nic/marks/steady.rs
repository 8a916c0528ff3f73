//! The steady-state pass over marks.

use tenter_fabric::net::Visitor;

use super::{MarkBook, Marked, Marks};

impl MarkBook {
    /// Passes the state to `visitor`.
    pub(crate) fn steady(&mut self, visitor: &mut impl Visitor) {
        // The list is allocated with the first mark: if that falls within a period, states differ.
        visitor.exact(self.0.len() as u64);
        for marked in &mut *self.0 {
            let Marked {
                since_delivery:
                    Marks {
                        frames,
                        notifications,
                    },
                next_notification,
                echoes,
            } = marked;
            visitor.total_of_request_u32(frames);
            visitor.exact(u64::from(*notifications) << 1 | u64::from(*echoes));
            // A notification time that moves with the period is not followed: marks that still
            // cause notifications make states differ.
            visitor.exact(next_notification.ps());
        }
    }
}
