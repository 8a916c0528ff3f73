//! The environment in which a NIC handles arrivals and timers.

use crate::receive::ReplyPath;
use crate::send::Acknowledged;
use crate::spec::NicSpec;
use tenter_fabric::net::ReceiveSlot;
use tenter_fabric::topology::HostId;

/// Look-ups about the senders behind a NIC's receive queue pairs.
pub trait Directory {
    /// Returns the way back from a receive queue pair to its sender. The NIC asks once per queue
    /// pair, as its first packet arrives.
    fn reply_path(&self, host: HostId, slot: ReceiveSlot) -> ReplyPath;

    /// Returns the payload bytes of the n-th transfer through a receive queue pair, counted as
    /// [`Delivery::nth`](crate::Delivery::nth) is, or `None` if there is no such transfer. The NIC
    /// asks only after it has given up a packet.
    fn transfer_bytes(&self, host: HostId, slot: ReceiveSlot, nth: u32) -> Option<u64>;
}

/// The environment in which a NIC handles an arrival or a timer.
#[derive(Debug)]
pub struct RxContext<'a, M, D> {
    /// Model parameters that all NICs share.
    pub spec: &'a NicSpec,
    /// Look-ups about the NIC's senders.
    pub directory: &'a D,
    /// Medium that carries the NIC's packets away.
    pub medium: &'a mut M,
    /// List to which acknowledged work requests are appended.
    pub done: &'a mut Vec<Acknowledged>,
}
