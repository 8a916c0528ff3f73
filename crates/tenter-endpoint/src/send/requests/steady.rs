//! Requests in a steady state.

use tenter_net::{FlowEnd, SendSlot, Visitor};

use super::{Backlog, NO_BACKLOG, Only, Posted, Requests};
use crate::send::WorkRequest;

impl Requests {
    /// Goes through the requests of a queue pair that has begun to send.
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
    fn steady(&self, visitor: &mut impl Visitor) {
        let Only {
            tag,
            posted,
            first_sent,
            group,
            packets,
        } = self;
        for value in [*tag, posted.ps(), first_sent.ps()] {
            visitor.exact(value);
        }
        visitor.exact(u64::from(*group) << 32 | u64::from(*packets));
    }
}

impl Backlog {
    /// The oldest request is not acknowledged whole within a jump.
    fn steady(&mut self, of: FlowEnd, acknowledged: u32, visitor: &mut impl Visitor) {
        let Backlog {
            posted,
            sending,
            first_unsent,
        } = self;
        visitor.exact(u64::from(*sending));
        visitor.sequence_or_fixed(of, first_unsent);
        visitor.exact(posted.len() as u64);
        if let Some(oldest) = posted.front() {
            let end = oldest.first_sequence.wrapping_add(oldest.packets);
            let left = end.wrapping_sub(acknowledged);
            visitor.left(of, left.saturating_sub(1));
        }
        for posted in posted.iter() {
            posted.steady(visitor);
        }
    }
}

impl Posted {
    fn steady(&self, visitor: &mut impl Visitor) {
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
        for value in [
            *tag,
            u64::from(*group),
            *bytes,
            posted.ps(),
            first_sent.ps(),
        ] {
            visitor.exact(value);
        }
        visitor.exact(u64::from(*first_sequence) << 32 | u64::from(*packets));
        visitor.exact(*repeated_frames);
        visitor.exact(*repeated_bytes);
    }
}
