//! Data packets that go out.

use std::sync::Arc;

use tenter_net::Packet;

use crate::message::MessageCut;
use crate::source_ports::Entropy;
use crate::spec::AckPolicy;

/// What the packets of a NIC are made by: by reference, so that nothing is read for packets that do
/// not need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRules<'a> {
    pub(crate) acknowledge: &'a AckPolicy,
    pub(crate) cut: &'a MessageCut,
    /// How the source port changes from packet to packet, if it is drawn.
    pub(crate) entropy: &'a Option<Arc<Entropy>>,
}

/// A data packet that goes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) packet: Packet,
    pub(crate) ends_message: bool,
    /// Whether it has been sent before.
    pub(crate) repeats: bool,
}

/// The flag with which a packet that does not end its message asks for an acknowledgement, or none.
pub(super) fn ack_request(policy: AckPolicy, sequence: u32) -> u8 {
    match policy {
        AckPolicy::PerMessage => 0,
        AckPolicy::EveryPackets(packets) => {
            let asks = sequence.wrapping_add(1).is_multiple_of(packets);
            u8::from(asks) * Packet::ACK_REQUEST
        }
    }
}
