//! Marks in a steady state.

use tenter_net::Visitor;

use super::{MarkBook, Marked, Marks};

impl MarkBook {
    /// Goes through its state.
    pub(crate) fn steady(&mut self, visitor: &mut impl Visitor) {
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
            visitor.exact(next_notification.ps());
        }
    }
}
