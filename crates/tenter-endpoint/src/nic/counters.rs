//! What a NIC counts.

use tenter_net::Packet;

/// What a NIC counts, under the names NIC drivers use for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicCounters {
    /// Frames that arrived.
    pub received_frames: u64,
    /// Their frame bytes.
    pub received_bytes: u64,
    /// Data packets accepted.
    pub data_packets: u64,
    /// Their frame bytes.
    pub data_bytes: u64,
    /// Data packets dropped because one before them was missing.
    pub out_of_sequence: u64,
    /// Of the data packets accepted, those before which one was missing.
    pub out_of_order: u64,
    /// Data packets given up for lost.
    pub given_up: u64,
    /// Data packets dropped because they had been accepted before, or given up.
    pub duplicate_request: u64,
    /// Data packets sent that had been sent before.
    pub retransmitted_packets: u64,
    /// Packets that arrived marked with congestion experienced.
    pub marked_packets: u64,
    /// Data packets that arrived without their payload, which a switch had trimmed.
    pub trimmed_packets: u64,
    /// Acknowledgements sent.
    pub acknowledgements_sent: u64,
    /// Grants of credit sent.
    pub grants_sent: u64,
    /// NAKs sent.
    pub nak_sent: u64,
    /// NAKs received.
    pub packet_seq_err: u64,
    /// Timeouts of the oldest unacknowledged packet.
    pub local_ack_timeout_err: u64,
    /// Congestion notifications sent.
    pub np_cnp_sent: u64,
    /// Congestion notifications received.
    pub rp_cnp_handled: u64,
}

impl NicCounters {
    /// Counts a frame that has arrived.
    #[inline]
    pub(crate) fn receive(&mut self, packet: &Packet) {
        self.received_frames += 1;
        self.received_bytes += u64::from(packet.frame_bytes);
    }

    /// Counts a data packet that has been accepted.
    #[inline]
    pub(crate) fn accept(&mut self, packet: &Packet) {
        self.data_packets += 1;
        self.data_bytes += u64::from(packet.frame_bytes);
    }
}
