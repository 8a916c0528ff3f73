//! The interface to RDMA hardware: reliable connections (RC), writes with an immediate value, and
//! completions.

use tenter_fabric::net::{ReceiveSlot, SendSlot};
use tenter_sim::real_time::Slot;

/// Attributes for all queue pairs, as `ibv_modify_qp` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Attributes {
    /// Path MTU in bytes, 256 to 4,096.
    pub(in crate::agent) mtu_bytes: u32,
    /// Longest message in bytes, for which each host registers memory.
    pub(in crate::agent) message_bytes: u64,
    /// Type-of-service byte on sent packets.
    pub(in crate::agent) traffic_class: u8,
}

/// A message to send by an RDMA write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Write {
    /// Queue pair that sends the message.
    pub(in crate::agent) slot: SendSlot,
    /// Number that the write's completion returns.
    pub(in crate::agent) id: u32,
    /// Payload of the message in bytes.
    pub(in crate::agent) bytes: u32,
    /// Value that the receiver's completion shows.
    pub(in crate::agent) immediate: u32,
}

/// Answer to posting a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "rdma")),
    expect(dead_code, reason = "devices make them, of which this build has none")
)]
pub(in crate::agent) enum Posted {
    /// The device has taken the write.
    Taken,
    /// The queue pair has no room; completions will free some.
    Full,
}

/// Result of a posted request, in the terms of `ibv_wc_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "rdma")),
    expect(dead_code, reason = "devices make them, of which this build has none")
)]
pub(in crate::agent) enum Status {
    /// The request ended without error.
    Success,
    /// No acknowledgement came for all retries.
    RetryExceeded,
    /// The receiver had no receive posted for all retries.
    ReceiverNotReady,
    /// The queue pair had already failed.
    Flushed,
    /// Any other error, by its number in `ibv_wc_status`.
    #[cfg_attr(
        all(test, not(feature = "rdma")),
        expect(dead_code, reason = "hardware alone makes it")
    )]
    Other(u32),
}

/// The end of a posted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "rdma")),
    expect(dead_code, reason = "devices make them, of which this build has none")
)]
pub(in crate::agent) enum Completion {
    /// A write was acknowledged, or it failed.
    Sent {
        slot: SendSlot,
        id: u32,
        status: Status,
    },
    /// A peer's write has arrived and used up a receive, or the receive failed.
    Received {
        slot: ReceiveSlot,
        immediate: u32,
        bytes: u32,
        status: Status,
    },
}

/// RDMA hardware with one queue pair for each slot; all errors are sentences.
pub(in crate::agent) trait Verbs {
    /// Returns the data that the peer of `slot` needs to connect, in the device's own encoding.
    fn offer(&self, slot: Slot) -> Vec<u8>;

    /// Connects `slot` with the peer's queue pair that `offer` describes.
    fn connect(&mut self, slot: Slot, offer: &[u8]) -> Result<(), String>;

    /// Posts `count` receives; each write with an immediate value uses up one.
    fn post_receives(&mut self, slot: ReceiveSlot, count: u32) -> Result<(), String>;

    /// Posts a write with an immediate value.
    fn post(&mut self, write: &Write) -> Result<Posted, String>;

    /// Appends completions to `out`. Completions of one queue pair keep their order, others do not.
    fn poll(&mut self, out: &mut Vec<Completion>) -> Result<(), String>;
}
