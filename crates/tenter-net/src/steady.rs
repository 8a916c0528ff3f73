//! How a state is compared with an earlier one, and carried on by whole periods.
//!
//! Every component that has a state goes through it once, value by value, and says of each value
//! what it is. The same pass serves to note the values, to compare them with those noted before,
//! and to change them to what they will be some periods later; so none can be forgotten in one of
//! the three. Components take their fields apart without `..`: a new field does not compile until
//! somebody has decided what it is.

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

    /// When a data packet was sent ([`Packet::sent`](crate::Packet::sent)).
    fn sent(&mut self, of: UnderWay, sent: &mut u32);

    /// There is something whose state is not gone through.
    fn refuse(&mut self);

    /// As [`Visitor::exact`], of something that may be there.
    fn exact_option(&mut self, value: Option<u64>) {
        self.exact(u64::from(value.is_some()));
        self.exact(value.unwrap_or(0));
    }
}
