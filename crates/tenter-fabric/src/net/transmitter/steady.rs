//! A transmitter's state, value by value, for the search for steady states.

use super::{LinkFaults, MacControl, Transmitter};
use crate::net::steady::Visitor;

impl Transmitter {
    /// Visits the state, and refuses a link with an impairment or telemetry.
    pub fn steady(&mut self, visitor: &mut impl Visitor) {
        let Transmitter {
            free_at,
            output: _,
            latency: _,
            serialisation: _,
            sent,
            carried,
            port: _,
            arrives_whole: _,
            is_special,
            node: _,
            mac,
            link_faults,
            telemetry: _,
        } = self;
        if *is_special {
            visitor.refuse();
        }
        visitor.instant(free_at);
        // The fraction matters to a frame that follows back to back.
        visitor.exact(u64::from(*carried));
        for (frames, bytes) in sent {
            visitor.total(frames);
            visitor.total(bytes);
        }
        let MacControl {
            output: _,
            latency: _,
            xoff_frames,
            xon_frames,
        } = mac;
        visitor.total(xoff_frames);
        visitor.total(xon_frames);
        visitor.exact(u64::from(link_faults.is_some()));
        if let Some(link_faults) = link_faults {
            link_faults.steady(visitor);
        }
    }
}

impl LinkFaults {
    /// Visits the state, which changes only when a link fails, or when a dark link loses control
    /// frames: neither is part of a steady state.
    fn steady(&mut self, visitor: &mut impl Visitor) {
        let LinkFaults {
            ended,
            cut,
            losses,
            impairment,
            returns_lost_credit,
            lost_credit_returned,
        } = self;
        if impairment.is_some() || *returns_lost_credit {
            visitor.refuse();
        }
        visitor.exact(ended.ps());
        visitor.exact(cut.ps());
        visitor.exact(losses.frames);
        visitor.exact(losses.bytes);
        visitor.exact(losses.pauses);
        visitor.exact(*lost_credit_returned);
    }
}
