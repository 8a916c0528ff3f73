//! Send queue pairs: packets in flight, work requests, and their acknowledgement.

mod backlog;
mod packet;
mod queue_pair;
mod requests;
mod work;

pub(crate) use packet::{PacketRules, Sent};
pub use queue_pair::SendPeer;
pub(crate) use queue_pair::{Connection, SendQueuePair, Turn};
pub(crate) use requests::Requests;
pub use work::{Acknowledged, WorkRequest};

#[cfg(test)]
mod tests;
