//! Message and packet sizes: how a NIC cuts a work request.

use tenter_fabric::net::{DATA_OVERHEAD_BYTES, RETH_BYTES};

/// Sizes by which a NIC cuts work requests into messages and packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCut {
    message_bytes: u64,
    packets_per_message: u64,
    mtu_bytes: u32,
    /// Payload bytes in a full message's last packet.
    full_message_tail: u32,
    middle_frame_bytes: u16,
    /// Frame bytes that each packet has beyond its payload.
    overhead_bytes: u32,
    /// Further frame bytes in a message's first packet, for its RETH.
    first_bytes: u32,
    /// Payload alignment on the wire, in bytes.
    pad_bytes: u32,
}

/// RDMA payloads are padded to a multiple of 4 bytes (the BTH's pad count).
const PAD_BYTES: u32 = 4;
/// Message size that no request reaches, for transports with one message per request.
const UNCUT_BYTES: u64 = 1 << 62;

impl MessageCut {
    /// Creates the sizes for RDMA messages with `message_bytes` bytes, cut into packets with at
    /// most `mtu_bytes` payload bytes each.
    pub fn new(message_bytes: u64, mtu_bytes: u32) -> MessageCut {
        let packets_per_message = message_bytes.div_ceil(u64::from(mtu_bytes));
        MessageCut {
            message_bytes,
            packets_per_message,
            mtu_bytes,
            full_message_tail: tail(message_bytes, mtu_bytes),
            middle_frame_bytes: (mtu_bytes.next_multiple_of(PAD_BYTES) + DATA_OVERHEAD_BYTES)
                as u16,
            overhead_bytes: DATA_OVERHEAD_BYTES,
            first_bytes: RETH_BYTES,
            pad_bytes: PAD_BYTES,
        }
    }

    /// Creates the sizes for transports such as Ultra Ethernet that send each request as one
    /// message. A packet carries `payload_bytes` payload bytes and `header_bytes` header bytes,
    /// without padding.
    pub(crate) fn uncut(payload_bytes: u32, header_bytes: u32) -> MessageCut {
        MessageCut {
            middle_frame_bytes: (payload_bytes + header_bytes) as u16,
            overhead_bytes: header_bytes,
            first_bytes: 0,
            pad_bytes: 1,
            ..MessageCut::new(UNCUT_BYTES, payload_bytes)
        }
    }

    /// Returns the sizes with `bytes` more in each packet, for in-band telemetry.
    #[must_use]
    pub(crate) fn with_telemetry(self, bytes: u32) -> MessageCut {
        MessageCut {
            middle_frame_bytes: self.middle_frame_bytes + bytes as u16,
            overhead_bytes: self.overhead_bytes + bytes,
            ..self
        }
    }

    /// Returns the packet count for a full message.
    #[inline]
    pub fn packets_per_message(self) -> u64 {
        self.packets_per_message
    }

    /// Returns a full message's payload bytes.
    pub(crate) fn message_bytes(self) -> u64 {
        self.message_bytes
    }

    /// Returns the payload bytes in `packets` packets, at least one. The last packet carries `last`
    /// bytes, all others a full MTU.
    pub(crate) fn bytes_of(self, packets: u32, last: u32) -> u64 {
        u64::from(packets - 1) * u64::from(self.mtu_bytes) + u64::from(last)
    }

    /// Returns the packet count for a request with `bytes` bytes. An empty request takes one.
    pub fn packets(self, bytes: u64) -> u64 {
        // A request of one message is the usual case and needs no division by the message size.
        if bytes <= self.message_bytes {
            return bytes.div_ceil(u64::from(self.mtu_bytes)).max(1);
        }
        let full = bytes / self.message_bytes * self.packets_per_message;
        let rest = (bytes % self.message_bytes).div_ceil(u64::from(self.mtu_bytes));
        full + rest
    }

    /// Returns the payload bytes in a full message's last packet, which may be shorter than the
    /// MTU.
    #[inline]
    pub fn full_message_tail(self) -> u32 {
        self.full_message_tail
    }

    /// Returns the payload bytes in the last packet for a request with `bytes` bytes.
    pub fn request_tail(self, bytes: u64) -> u32 {
        if bytes <= self.message_bytes {
            return tail(bytes, self.mtu_bytes);
        }
        match bytes % self.message_bytes {
            0 => self.full_message_tail,
            rest => tail(rest, self.mtu_bytes),
        }
    }

    /// Returns the frame bytes for a whole request with `bytes` bytes in `packets` packets.
    #[inline]
    pub fn request_frame_bytes(self, bytes: u64, packets: u64) -> u64 {
        if bytes <= self.message_bytes {
            let headers = packets * u64::from(self.overhead_bytes) + u64::from(self.first_bytes);
            return bytes.next_multiple_of(u64::from(self.pad_bytes)) + headers;
        }
        self.frame_bytes(bytes, 0, packets)
    }

    /// Returns the frame bytes (FCS included, preamble and gap excluded) for the packets `from..to`
    /// in a request with `bytes` bytes.
    pub fn frame_bytes(self, bytes: u64, from: u64, to: u64) -> u64 {
        let payload = self.padded_offset(bytes, to) - self.padded_offset(bytes, from);
        // Each message whose first packet lies in the range adds a RETH.
        let firsts =
            to.div_ceil(self.packets_per_message) - from.div_ceil(self.packets_per_message);
        payload
            + (to - from) * u64::from(self.overhead_bytes)
            + firsts * u64::from(self.first_bytes)
    }

    /// Returns the padded payload bytes before packet number `packet`. Only a message's last packet
    /// may need padding, since the MTU is a multiple of the alignment.
    fn padded_offset(self, bytes: u64, packet: u64) -> u64 {
        let messages = packet / self.packets_per_message;
        let rest = packet % self.packets_per_message * u64::from(self.mtu_bytes);
        let pad = u64::from(self.pad_bytes);
        let message = self.message_bytes.next_multiple_of(pad);
        let last = (bytes % self.message_bytes).next_multiple_of(pad);
        let total = bytes / self.message_bytes * message + last;
        // Packet numbers past the end count as the end.
        (messages * message + rest).min(total)
    }

    /// Returns the frame bytes for a full packet that does not begin its message.
    #[inline]
    pub(crate) fn middle_frame_bytes(self) -> u16 {
        self.middle_frame_bytes
    }

    /// Returns the frame bytes that a packet with `payload` bytes lacks compared with a full one.
    #[inline]
    pub(crate) fn short_of_full(self, payload: u32) -> u16 {
        let padded = |bytes: u32| bytes.next_multiple_of(self.pad_bytes);
        (padded(self.mtu_bytes) - padded(payload)) as u16
    }
}

/// Returns the payload bytes in the last packet for a message with `bytes` bytes.
fn tail(bytes: u64, mtu_bytes: u32) -> u32 {
    match (bytes % u64::from(mtu_bytes)) as u32 {
        0 if bytes > 0 => mtu_bytes,
        rest => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::MessageCut;

    #[test]
    fn published_frame_counts_and_bytes() {
        // 128-KiB messages at a 4,096-byte MTU: 32 packets a message, 62 bytes of headers each, 16
        // more on the first.
        let cut = MessageCut::new(128 * 1024, 4096);
        let two_mib = 2 << 20;
        assert_eq!(cut.packets(two_mib), 512);
        assert_eq!(cut.frame_bytes(two_mib, 0, 512), 2_129_152);
        let twenty_five_mib = 25 << 20;
        assert_eq!(
            cut.frame_bytes(twenty_five_mib, 0, cut.packets(twenty_five_mib)),
            26_614_400
        );
    }

    #[test]
    fn ragged_requests_are_cut_at_message_ends() {
        // Messages of 10,000 bytes at MTU 4,096: 4,096 + 4,096 + 1,808; 23,000 bytes: two of them,
        // then 3,000.
        let cut = MessageCut::new(10_000, 4096);
        assert_eq!(cut.packets(23_000), 7);
        assert_eq!(cut.full_message_tail(), 1_808);
        assert_eq!(cut.request_tail(23_000), 3_000);
        assert_eq!(cut.request_tail(20_000), 1_808);
        assert_eq!(cut.request_tail(8_192), 4_096);
        assert_eq!(cut.frame_bytes(23_000, 0, 7), 23_000 + 7 * 62 + 3 * 16);
        assert_eq!(cut.frame_bytes(23_000, 2, 4), 1_808 + 4_096 + 2 * 62 + 16);
    }

    #[test]
    fn payload_is_padded_to_four_bytes_at_the_end_of_each_message() {
        // Messages of 1,001 bytes: 512 + 489, which is padded to 492; two of them and 1 byte more,
        // padded to 4.
        let cut = MessageCut::new(1_001, 512);
        assert_eq!(cut.packets(2_003), 5);
        assert_eq!(
            cut.frame_bytes(2_003, 0, 5),
            2 * (512 + 492) + 4 + 5 * 62 + 3 * 16
        );
        assert_eq!(cut.frame_bytes(2_003, 3, 5), 492 + 4 + 2 * 62 + 16);
    }

    #[test]
    fn telemetry_makes_every_packet_longer() {
        // 62 + 42 bytes of headers; the first has 16 more.
        let cut = MessageCut::new(8192, 4096).with_telemetry(42);
        assert_eq!(cut.middle_frame_bytes(), 4096 + 104);
        assert_eq!(cut.frame_bytes(8192, 0, 2), 8192 + 2 * 104 + 16);
        assert_eq!(cut.request_frame_bytes(100, 1), 100 + 104 + 16);
        assert_eq!(cut.short_of_full(4000), 96);
    }

    #[test]
    fn an_empty_request_is_one_packet() {
        let cut = MessageCut::new(4096, 1024);
        assert_eq!((cut.packets(0), cut.frame_bytes(0, 0, 1)), (1, 78));
        assert_eq!(cut.request_tail(0), 0);
    }

    #[test]
    fn a_whole_request_is_the_sum_of_its_packets() {
        let cut = MessageCut::new(1_001, 512);
        for bytes in [
            0, 1, 511, 512, 513, 1_000, 1_001, 1_002, 2_002, 2_003, 9_999,
        ] {
            let packets = cut.packets(bytes);
            let sum: u64 = (0..packets)
                .map(|packet| cut.frame_bytes(bytes, packet, packet + 1))
                .sum();
            assert_eq!(
                cut.request_frame_bytes(bytes, packets),
                sum,
                "{bytes} bytes"
            );
        }
    }
}
