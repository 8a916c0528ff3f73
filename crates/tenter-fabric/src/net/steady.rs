//! Comparing a state with an earlier one, and advancing it by whole periods.
//!
//! Every component that has a state visits it once, value by value, and says what each value is.
//! One pass serves to note the values, to compare them with those noted before, and to change them
//! to their values some periods later; so none can be forgotten in one of the three. Components
//! take their fields apart without `..`: a new field does not compile until somebody has decided
//! what it is.
//!
//! A period lies within the requests that are being sent, or it consists of a collective's whole
//! steps, in which requests follow each other. Values that belong to a request stay the same in the
//! first case, and become those of a later request in the second.

use crate::topology::HostId;
use tenter_language::units::{Instant, Time};

use crate::net::packet::{ReceiveSlot, SendSlot};

/// One end of a queue pair: a value moves with its sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// The end at the NIC that sends.
    Send(HostId, SendSlot),
    /// The end at the NIC that receives.
    Receive(HostId, ReceiveSlot),
}

/// A data packet under way, which knows its sending instant to 128 ps only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Host that the packet goes to.
    pub host: HostId,
    /// Queue pair at that host.
    pub slot: ReceiveSlot,
    /// Sequence number that the packet carries.
    pub sequence: u32,
}

/// Receives each value in a state, by its kind.
pub trait Visitor {
    /// Visits a value that decides what happens and is the same in each period.
    fn exact(&mut self, value: u64);

    /// Visits an instant: it moves with the periods, or always stays the same.
    fn instant(&mut self, at: &mut Instant);

    /// Visits the instant at which an event is due that belongs to no period, so that no jump may
    /// pass it.
    fn deadline(&mut self, at: Instant);

    /// Returns true if the period consists of whole steps.
    fn is_over_steps(&self) -> bool;

    /// Visits the instant at which a queue pair is checked for a missing acknowledgement. In
    /// periods of whole steps none is missing, and these timers are set anew after the jump.
    fn timeout(&mut self, at: Instant, of: SendSlot) {
        self.deadline(at);
        self.exact(u64::from(of.number()));
    }

    /// Visits a counter, which decides nothing.
    fn total(&mut self, count: &mut u64);

    /// As [`Visitor::total`], for 32 bits.
    fn total_u32(&mut self, count: &mut u32);

    /// As [`Visitor::total`], for a time that adds up.
    fn total_time(&mut self, time: &mut Time) {
        let mut ps = time.ps();
        self.total(&mut ps);
        *time = Time::from_ps(ps);
    }

    /// Visits a sequence number that goes on with those of its queue pair.
    fn sequence(&mut self, of: FlowEnd, number: &mut u32);

    /// Visits a sequence number that goes on with those of its queue pair, or stays the same;
    /// returns true if it goes on.
    fn sequence_or_fixed(&mut self, of: FlowEnd, number: &mut u32) -> bool;

    /// Limits the jump: the queue pair's sequence numbers may go on by `numbers` and no further.
    fn left(&mut self, of: FlowEnd, numbers: u32);

    /// Visits a sequence number that belongs to a request; returns true if it becomes a later
    /// request's.
    fn of_request(&mut self, of: FlowEnd, number: &mut u32) -> bool {
        if self.is_over_steps() {
            return self.sequence_or_fixed(of, number);
        }
        self.exact(u64::from(*number));
        false
    }

    /// Visits an instant that belongs to a request.
    fn instant_of_request(&mut self, at: &mut Instant) {
        if self.is_over_steps() {
            self.instant(at);
        } else {
            self.exact(at.ps());
        }
    }

    /// Visits the tag by which a request's owner knows it.
    fn tag_of_request(&mut self, tag: &mut u64);

    /// Visits a counter in the request that is being received.
    fn total_of_request(&mut self, count: &mut u64) {
        if self.is_over_steps() {
            self.exact(*count);
        } else {
            self.total(count);
        }
    }

    /// Visits a counter for requests that have ended.
    fn requests(&mut self, count: &mut u32) {
        if self.is_over_steps() {
            self.total_u32(count);
        } else {
            self.exact(u64::from(*count));
        }
    }

    /// Refuses whole steps: the component has state that follows when requests end and is not
    /// visited.
    fn refuse_steps(&mut self) {
        if self.is_over_steps() {
            self.refuse();
        }
    }

    /// Visits a data packet's sending instant ([`Packet::sent`](crate::net::Packet::sent)).
    fn sent(&mut self, of: UnderWay, sent: &mut u32);

    /// Refuses the search: the component has state that is not visited.
    fn refuse(&mut self);

    /// As [`Visitor::total_of_request`], for 32 bits.
    fn total_of_request_u32(&mut self, count: &mut u32) {
        let mut wide = u64::from(*count);
        self.total_of_request(&mut wide);
        // The comparison has made sure that it does not wrap.
        *count = wide as u32;
    }

    /// As [`Visitor::exact`], for an optional value.
    fn exact_option(&mut self, value: Option<u64>) {
        self.exact(u64::from(value.is_some()));
        self.exact(value.unwrap_or(0));
    }
}
