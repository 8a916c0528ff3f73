//! How a work request is cut into messages and packets.

use tenter_net::{DATA_OVERHEAD_BYTES, RETH_BYTES};

/// The sizes a NIC cuts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCut {
    message_bytes: u64,
    mtu_bytes: u32,
    packets_per_message: u64,
}

/// Payload on the wire is filled up to a multiple of this (the pad count of the BTH).
const PAD_BYTES: u64 = 4;

/// Where in a work request a packet lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Payload bytes of the request from this packet on.
    pub left: u64,
    /// Payload bytes of the packet's message from this packet on.
    pub message_left: u64,
    /// Whether the packet is the first of its message.
    pub starts_message: bool,
}

impl MessageCut {
    /// Messages of `message_bytes`, packets of at most `mtu_bytes` of payload.
    pub fn new(message_bytes: u64, mtu_bytes: u32) -> MessageCut {
        let packets_per_message = message_bytes.div_ceil(u64::from(mtu_bytes));
        MessageCut {
            message_bytes,
            mtu_bytes,
            packets_per_message,
        }
    }

    /// Payload bytes of a full message.
    #[inline]
    pub fn message_bytes(self) -> u64 {
        self.message_bytes
    }

    /// How many packets a request of `bytes` takes; an empty one still takes one.
    pub fn packets(self, bytes: u64) -> u64 {
        let full = bytes / self.message_bytes * self.packets_per_message;
        let rest = (bytes % self.message_bytes).div_ceil(u64::from(self.mtu_bytes));
        (full + rest).max(1)
    }

    /// Frame bytes (FCS included, without preamble and gap) of the packets `from..to` of a request
    /// of `bytes`.
    pub fn frame_bytes(self, bytes: u64, from: u64, to: u64) -> u64 {
        let payload = self.padded_offset(bytes, to) - self.padded_offset(bytes, from);
        let firsts =
            to.div_ceil(self.packets_per_message) - from.div_ceil(self.packets_per_message);
        payload + (to - from) * u64::from(DATA_OVERHEAD_BYTES) + firsts * u64::from(RETH_BYTES)
    }

    /// The position of packet number `packet` of a request of `bytes`.
    pub fn position(self, bytes: u64, packet: u64) -> Position {
        let message_start = packet / self.packets_per_message * self.message_bytes;
        let offset = self.offset(bytes, packet);
        let message_end = (message_start + self.message_bytes).min(bytes);
        Position {
            left: bytes - offset,
            message_left: message_end - offset,
            starts_message: packet.is_multiple_of(self.packets_per_message),
        }
    }

    /// Payload bytes on the wire before packet number `packet`: the last packet of each message is
    /// padded.
    fn padded_offset(self, bytes: u64, packet: u64) -> u64 {
        let messages = packet / self.packets_per_message;
        let rest = packet % self.packets_per_message * u64::from(self.mtu_bytes);
        let message = self.message_bytes.next_multiple_of(PAD_BYTES);
        let last = (bytes % self.message_bytes).next_multiple_of(PAD_BYTES);
        let total = bytes / self.message_bytes * message + last;
        (messages * message + rest).min(total)
    }

    /// Bytes that `payload` takes in a packet.
    #[inline]
    pub(crate) fn padded(payload: u64) -> u64 {
        payload.next_multiple_of(PAD_BYTES)
    }

    /// Payload bytes before packet number `packet`.
    fn offset(self, bytes: u64, packet: u64) -> u64 {
        let messages = packet / self.packets_per_message;
        let packets = packet % self.packets_per_message;
        (messages * self.message_bytes + packets * u64::from(self.mtu_bytes)).min(bytes)
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
        let fifth = cut.position(23_000, 4);
        assert_eq!(
            (fifth.left, fifth.message_left),
            (23_000 - 14_096, 20_000 - 14_096)
        );
        assert!(!fifth.starts_message);
        let last = cut.position(23_000, 6);
        assert_eq!(
            (last.left, last.message_left, last.starts_message),
            (3_000, 3_000, true)
        );
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
    fn an_empty_request_is_one_packet() {
        let cut = MessageCut::new(4096, 1024);
        assert_eq!((cut.packets(0), cut.frame_bytes(0, 0, 1)), (1, 78));
    }
}
