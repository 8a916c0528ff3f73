//! Work requests as part of a steady state.

use tenter_fabric::net::{FlowEnd, SendSlot, Visitor};

use super::{Backlog, NO_BACKLOG, Only, Posted, Requests};
use crate::send::WorkRequest;

impl Requests {
    /// Passes the requests of a queue pair to `visitor`.
    pub(in crate::send) fn steady(
        &mut self,
        of: FlowEnd,
        slot: SendSlot,
        backlog: u32,
        acknowledged: u32,
        visitor: &mut impl Visitor,
    ) {
        if backlog == NO_BACKLOG {
            self.only[slot].steady(visitor);
        } else {
            self.backlog(backlog).steady(of, acknowledged, visitor);
        }
    }
}

impl Only {
    fn steady(&mut self, visitor: &mut impl Visitor) {
        let Only {
            tag,
            posted,
            first_sent,
            group,
            packets,
        } = self;
        visitor.tag_of_request(tag);
        visitor.instant_of_request(posted);
        visitor.instant_of_request(first_sent);
        visitor.exact(u64::from(*group) << 32 | u64::from(*packets));
    }
}

impl Backlog {
    /// Passes the requests to `visitor`. The oldest must not be fully acknowledged within a jump,
    /// unless similar requests follow it.
    fn steady(&mut self, of: FlowEnd, acknowledged: u32, visitor: &mut impl Visitor) {
        let Backlog {
            posted,
            sending,
            first_unsent,
        } = self;
        visitor.exact(u64::from(*sending));
        visitor.sequence_or_fixed(of, first_unsent);
        visitor.exact(posted.len() as u64);
        for place in 0..posted.len() {
            let posted = posted.get_mut(place);
            let end = posted.first_sequence.wrapping_add(posted.packets);
            let is_followed = posted.steady(of, visitor);
            if place == 0 && !is_followed {
                let left = end.wrapping_sub(acknowledged);
                visitor.left(of, left.saturating_sub(1));
            }
        }
    }
}

impl Posted {
    /// Passes the request to `visitor`. Returns true if it corresponds to a later request.
    fn steady(&mut self, of: FlowEnd, visitor: &mut impl Visitor) -> bool {
        let Posted {
            request,
            first_sent,
            first_sequence,
            packets,
            repeated_frames,
            repeated_bytes,
        } = self;
        let WorkRequest {
            tag,
            group,
            bytes,
            posted,
        } = request;
        visitor.tag_of_request(tag);
        visitor.exact(*bytes);
        visitor.instant_of_request(posted);
        visitor.instant_of_request(first_sent);
        visitor.exact(u64::from(*group) << 32 | u64::from(*packets));
        visitor.exact(*repeated_frames);
        visitor.exact(*repeated_bytes);
        visitor.of_request(of, first_sequence)
    }
}
