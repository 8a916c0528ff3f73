//! What the data path needs of RDMA hardware: reliable connections (RC), writes with an immediate
//! value, and completions.

use tenter_net::{ReceiveSlot, SendSlot};
use tenter_sim::real_time::Slot;

/// Attributes of queue pairs, as `ibv_modify_qp` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Attributes {
    /// Path MTU in bytes: 256 to 4,096.
    pub(in crate::agent) mtu_bytes: u32,
    /// Bytes of the longest message, and so of the memory that is written to.
    pub(in crate::agent) message_bytes: u64,
    /// The byte of the type of service of what is sent.
    pub(in crate::agent) traffic_class: u8,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Write {
    /// The queue pair that sends it.
    pub(in crate::agent) slot: SendSlot,
    /// Comes back in its completion.
    pub(in crate::agent) id: u32,
    /// Its payload.
    pub(in crate::agent) bytes: u32,
    /// The value that its receiver is told.
    pub(in crate::agent) immediate: u32,
}

/// Whether a write was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "rdma")),
    expect(dead_code, reason = "devices make them, of which this build has none")
)]
pub(in crate::agent) enum Posted {
    /// It was.
    Taken,
    /// The queue pair has no room: completions make some.
    Full,
}

/// How something that was posted has ended; the words of `ibv_wc_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "rdma")),
    expect(dead_code, reason = "devices make them, of which this build has none")
)]
pub(in crate::agent) enum Status {
    /// Well.
    Success,
    /// Nothing was acknowledged for all retries.
    RetryExceeded,
    /// The receiver had no receive posted for all retries.
    ReceiverNotReady,
    /// The queue pair had failed before.
    Flushed,
    /// Anything else, by its number.
    #[cfg_attr(
        all(test, not(feature = "rdma")),
        expect(dead_code, reason = "hardware alone makes it")
    )]
    Other(u32),
}

/// Something that was posted has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "rdma")),
    expect(dead_code, reason = "devices make them, of which this build has none")
)]
pub(in crate::agent) enum Completion {
    /// A write has been acknowledged, or failed.
    Sent {
        slot: SendSlot,
        id: u32,
        status: Status,
    },
    /// A write of a peer has arrived, and used up a receive.
    Received {
        slot: ReceiveSlot,
        immediate: u32,
        bytes: u32,
        status: Status,
    },
}

/// RDMA hardware, with a queue pair for each slot of a host. Errors are sentences.
pub(in crate::agent) trait Verbs {
    /// What the peer of a slot must know of it: its number, address and key, in the device's own
    /// form.
    fn offer(&self, slot: Slot) -> Vec<u8>;

    /// Connects a slot with that of a peer.
    fn connect(&mut self, slot: Slot, offer: &[u8]) -> Result<(), String>;

    /// Posts receives, each of which one write with an immediate value uses up.
    fn post_receives(&mut self, slot: ReceiveSlot, count: u32) -> Result<(), String>;

    /// Posts a write with an immediate value.
    fn post(&mut self, write: &Write) -> Result<Posted, String>;

    /// Takes out completions: those of a queue pair in their order, those of others in any.
    fn poll(&mut self, out: &mut Vec<Completion>) -> Result<(), String>;
}
