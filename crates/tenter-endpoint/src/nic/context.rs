//! What a NIC is served with.

use crate::receive::ReplyPath;
use crate::send::Acknowledged;
use crate::spec::NicSpec;
use tenter_net::ReceiveSlot;
use tenter_topology::HostId;

/// Knows who is at the other end of a receive slot, and what it sends.
pub trait Directory {
    /// The way back from a receive slot of a host; asked once per slot, when its first packet
    /// arrives.
    fn reply_path(&self, host: HostId, slot: ReceiveSlot) -> ReplyPath;

    /// Payload bytes of the n-th transfer through a receive slot of a host, counted as
    /// [`Delivery::nth`](crate::Delivery::nth) is; `None` where there is none. Asked only where a
    /// packet is given up for lost.
    fn transfer_bytes(&self, host: HostId, slot: ReceiveSlot, nth: u32) -> Option<u64>;
}

/// What a NIC is served with when something arrives, or a timer of it fires.
#[derive(Debug)]
pub struct RxContext<'a, M, D> {
    /// The model of the NIC.
    pub spec: &'a NicSpec,
    /// Who is at the other end of its receive slots.
    pub directory: &'a D,
    /// What it sends to.
    pub medium: &'a mut M,
    /// Where it puts work requests that have been acknowledged.
    pub done: &'a mut Vec<Acknowledged>,
}
