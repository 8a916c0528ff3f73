//! PFC state, value by value, for the search for steady states.

use super::{Pause, Pauses};
use crate::net::steady::Visitor;

impl Pauses {
    /// Visits the state, and refuses one in mid-change: with frames pending, or senders held back.
    pub(in crate::net::buffer) fn steady(&mut self, visitor: &mut impl Visitor) {
        let Pauses {
            groups,
            wraps,
            paused,
            full,
            to_host: _,
            next_refresh,
            quantum_ps: _,
            holds_back,
            pending,
        } = self;
        if !pending.is_empty() || *holds_back {
            visitor.refuse();
        }
        for group in groups {
            let Pause {
                since,
                refresh_at,
                paused,
                xoff_frames,
                xon_frames,
            } = group;
            visitor.instant(since);
            visitor.instant(refresh_at);
            visitor.total_time(paused);
            visitor.total_u32(xoff_frames);
            visitor.total_u32(xon_frames);
        }
        for (group, counts) in wraps {
            visitor.exact(u64::from(*group));
            visitor.exact(counts[0]);
            visitor.exact(counts[1]);
        }
        visitor.exact(paused.len() as u64);
        for group in paused {
            visitor.exact(u64::from(*group));
        }
        full.steady(visitor);
        visitor.instant(next_refresh);
    }
}
