//! How a state is compared with an earlier one, and carried on by whole periods.
//!
//! Every component that has a state goes through it once, value by value, and says of each value
//! what it is. The same pass serves to note the values, to compare them with those noted before,
//! and to change them to what they will be some periods later; so none can be forgotten in one of
//! the three. Components take their fields apart without `..`: a new field does not compile until
//! somebody has decided what it is.
//!
//! A period is either a part of the requests that are being sent, or consists of whole steps of a
//! collective, in which requests follow each other. What belongs to a request stays the same in the
//! one, and is that of a later request in the other.

use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use crate::packet::{ReceiveSlot, SendSlot};

/// A queue pair at one of its ends, whose sequence numbers a value goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// At the NIC that sends.
    Send(HostId, SendSlot),
    /// At the NIC that receives.
    Receive(HostId, ReceiveSlot),
}

/// A data packet under way, which has been sent at an instant that it knows to 128 ps only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// The host it goes to.
    pub host: HostId,
    /// The queue pair there.
    pub slot: ReceiveSlot,
    /// Its sequence number.
    pub sequence: u32,
}

/// Is told of each value of a state what it is.
pub trait Visitor {
    /// It decides what happens, and is the same in each period.
    fn exact(&mut self, value: u64);

    /// An instant: so long before or after the end of each period, or always the same one.
    fn instant(&mut self, at: &mut Instant);

    /// Something happens at this instant that does not belong to a period.
    fn deadline(&mut self, at: Instant);

    /// Whether the period is known to consist of whole steps.
    fn is_over_steps(&self) -> bool;

    /// At this instant it is looked whether a queue pair waits too long for an acknowledgement. In
    /// periods of whole steps none does, and these timers are set anew afterwards.
    fn timeout(&mut self, at: Instant, of: SendSlot) {
        self.deadline(at);
        self.exact(u64::from(of.number()));
    }

    /// Counts what has happened, and decides nothing.
    fn total(&mut self, count: &mut u64);

    /// The same.
    fn total_u32(&mut self, count: &mut u32);

    /// The same of a time that adds up.
    fn total_time(&mut self, time: &mut Time) {
        let mut ps = time.ps();
        self.total(&mut ps);
        *time = Time::from_ps(ps);
    }

    /// A sequence number that goes on with those of its queue pair.
    fn sequence(&mut self, of: FlowEnd, number: &mut u32);

    /// The same, or a number that does not change; whether it goes on.
    fn sequence_or_fixed(&mut self, of: FlowEnd, number: &mut u32) -> bool;

    /// The numbers of a queue pair may go on by so many, and no further.
    fn left(&mut self, of: FlowEnd, numbers: u32);

    /// A sequence number that belongs to a request; whether it is that of a later request.
    fn of_request(&mut self, of: FlowEnd, number: &mut u32) -> bool {
        if self.is_over_steps() {
            return self.sequence_or_fixed(of, number);
        }
        self.exact(u64::from(*number));
        false
    }

    /// An instant of a request.
    fn instant_of_request(&mut self, at: &mut Instant) {
        if self.is_over_steps() {
            self.instant(at);
        } else {
            self.exact(at.ps());
        }
    }

    /// What the owner of a request knows it by.
    fn tag_of_request(&mut self, tag: &mut u64);

    /// Counts what has happened in the request that is being received.
    fn total_of_request(&mut self, count: &mut u64) {
        if self.is_over_steps() {
            self.exact(*count);
        } else {
            self.total(count);
        }
    }

    /// Counts requests that have ended.
    fn requests(&mut self, count: &mut u32) {
        if self.is_over_steps() {
            self.total_u32(count);
        } else {
            self.exact(u64::from(*count));
        }
    }

    /// There is something that follows from ends of requests and is not gone through.
    fn refuse_steps(&mut self) {
        if self.is_over_steps() {
            self.refuse();
        }
    }

    /// When a data packet was sent ([`Packet::sent`](crate::Packet::sent)).
    fn sent(&mut self, of: UnderWay, sent: &mut u32);

    /// There is something whose state is not gone through.
    fn refuse(&mut self);

    /// As [`Visitor::total_of_request`].
    fn total_of_request_u32(&mut self, count: &mut u32) {
        let mut wide = u64::from(*count);
        self.total_of_request(&mut wide);
        // Comparisons have seen to it that it does not wrap.
        *count = wide as u32;
    }

    /// As [`Visitor::exact`], of something that may be there.
    fn exact_option(&mut self, value: Option<u64>) {
        self.exact(u64::from(value.is_some()));
        self.exact(value.unwrap_or(0));
    }
}
