//! Counters that every NIC has.

use tenter_fabric::net::Packet;

/// Counters at a NIC, named as NIC drivers name them where a driver has the same counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicCounters {
    /// Frames received, MAC control frames excluded.
    pub received_frames: u64,
    /// Bytes in the received frames, FCS included, preamble and gap excluded.
    pub received_bytes: u64,
    /// Data packets that receivers accepted.
    pub data_packets: u64,
    /// Frame bytes in accepted data packets.
    pub data_bytes: u64,
    /// Data packets dropped because an earlier one was missing.
    pub out_of_sequence: u64,
    /// Accepted data packets that arrived while an earlier one was missing.
    pub out_of_order: u64,
    /// Data packets that the receiver gave up as lost.
    pub given_up: u64,
    /// Data packets dropped because they had been accepted or given up before.
    pub duplicate_request: u64,
    /// Data packets that were sent again.
    pub retransmitted_packets: u64,
    /// Packets received with an ECN mark (congestion experienced).
    pub marked_packets: u64,
    /// Data packets received without payload, because a switch had trimmed them.
    pub trimmed_packets: u64,
    /// Acknowledgement packets that receivers sent.
    pub acknowledgements_sent: u64,
    /// Packets sent that grant credit to a sender.
    pub grants_sent: u64,
    /// Negative acknowledgements (NAKs) sent by receivers.
    pub nak_sent: u64,
    /// Negative acknowledgements (NAKs) that senders received.
    pub packet_seq_err: u64,
    /// Retransmission timeouts for an oldest unacknowledged packet.
    pub local_ack_timeout_err: u64,
    /// Congestion notifications sent, in own packets or within acknowledgements.
    pub np_cnp_sent: u64,
    /// Congestion notifications received by senders.
    pub rp_cnp_handled: u64,
}

impl NicCounters {
    /// Counts a frame on its arrival.
    #[inline]
    pub(crate) fn receive(&mut self, packet: &Packet) {
        self.received_frames += 1;
        self.received_bytes += u64::from(packet.frame_bytes);
    }

    /// Counts an accepted data packet.
    #[inline]
    pub(crate) fn accept(&mut self, packet: &Packet) {
        self.data_packets += 1;
        self.data_bytes += u64::from(packet.frame_bytes);
    }
}
