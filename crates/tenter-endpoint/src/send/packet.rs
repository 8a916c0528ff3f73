//! Data packets that leave, and the rules by which they are made.

use std::sync::Arc;

use tenter_fabric::net::Packet;

use crate::message::MessageCut;
use crate::source_ports::Entropy;
use crate::spec::AckPolicy;

/// Rules by which a NIC makes its packets. They are references, so that nothing is loaded for
/// packets that do not need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRules<'a> {
    pub(crate) acknowledge: &'a AckPolicy,
    pub(crate) cut: &'a MessageCut,
    /// Source ports per packet, if they are drawn at random.
    pub(crate) entropy: &'a Option<Arc<Entropy>>,
}

/// A data packet that leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) packet: Packet,
    pub(crate) ends_message: bool,
    /// Set if the packet was sent before.
    pub(crate) repeats: bool,
}

/// Returns the flag by which a packet in the middle of its message asks for an acknowledgement, or
/// 0.
pub(super) fn ack_request(policy: AckPolicy, sequence: u32) -> u8 {
    match policy {
        AckPolicy::PerMessage => 0,
        AckPolicy::EveryPackets(packets) => {
            let asks = sequence.wrapping_add(1).is_multiple_of(packets);
            u8::from(asks) * Packet::ACK_REQUEST
        }
    }
}
