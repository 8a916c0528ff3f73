//! A transmitter in a steady state.

use super::{LinkFaults, MacControl, Transmitter};
use crate::steady::Visitor;

impl Transmitter {
    /// Goes through its state.
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
        // What is left of a picosecond counts only for a frame that follows at once.
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
    /// Nothing of it changes while no link fails; MAC control frames that a dark link loses do.
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
