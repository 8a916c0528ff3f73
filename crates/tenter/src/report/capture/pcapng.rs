//! The pcapng blocks in a capture.
//!
//! Source: *PCAP Next Generation (pcapng) Capture File Format*, an Internet-Draft by the IETF
//! working group OPSAWG.

use tenter_results::MacAddress;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// Tells readers the file's byte order.
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const VERSION: [u16; 2] = [1, 0];
/// Marks a section whose length is not stated.
const UNKNOWN_LENGTH: u64 = u64::MAX;
const LINKTYPE_ETHERNET: u16 = 1;

const OPTION_COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIBED: u16 = 3;
const INTERFACE_MAC_ADDRESS: u16 = 6;
const INTERFACE_SPEED: u16 = 8;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;

/// Timestamp resolution: the exponent 12 stands for picoseconds, 10⁻¹² s.
const PICOSECONDS: u8 = 12;

/// A block to which fields are still being added.
struct Block(Vec<u8>);

impl Block {
    fn new(kind: u32) -> Block {
        let mut block = Block(Vec::with_capacity(192));
        block.u32(kind);
        // Place of the length, which is known only at the end.
        block.u32(0);
        block
    }

    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    /// Appends bytes and zeros up to a length divisible by four.
    fn padded(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let length = self.0.len().next_multiple_of(4);
        self.0.resize(length, 0);
    }

    /// Appends an option. A value beyond 65,535 bytes is cut off.
    fn option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.u16(code);
        self.u16(length);
        self.padded(value.get(..usize::from(length)).unwrap_or(value));
    }

    /// Ends the options and returns the block, with its length at both ends.
    fn finish(mut self) -> Vec<u8> {
        self.u32(0);
        // The trailing copy of the length counts as well.
        let length = u32::try_from(self.0.len() + 4).unwrap_or(u32::MAX);
        self.u32(length);
        if let Some(field) = self.0.get_mut(4..8) {
            field.copy_from_slice(&length.to_le_bytes());
        }
        self.0
    }
}

/// Returns a section header that names the writing application.
pub(super) fn section(application: &str) -> Vec<u8> {
    let mut block = Block::new(SECTION_HEADER);
    block.u32(BYTE_ORDER_MAGIC);
    block.u16(VERSION[0]);
    block.u16(VERSION[1]);
    block.0.extend(UNKNOWN_LENGTH.to_le_bytes());
    block.option(SECTION_APPLICATION, application.as_bytes());
    block.finish()
}

/// An Ethernet port whose frames are captured.
pub(super) struct Interface<'a> {
    /// Port name, such as `leaf0:3`.
    pub(super) name: &'a str,
    /// Description that Wireshark shows beside the name.
    pub(super) description: &'a str,
    pub(super) address: MacAddress,
    pub(super) bits_per_second: u64,
    /// Maximum number of bytes that the capture keeps per frame.
    pub(super) snap_bytes: u32,
}

/// Returns an interface's description block.
pub(super) fn interface(of: &Interface<'_>) -> Vec<u8> {
    let mut block = Block::new(INTERFACE_DESCRIPTION);
    block.u16(LINKTYPE_ETHERNET);
    block.u16(0);
    block.u32(of.snap_bytes);
    block.option(INTERFACE_NAME, of.name.as_bytes());
    block.option(INTERFACE_DESCRIBED, of.description.as_bytes());
    block.option(INTERFACE_MAC_ADDRESS, &of.address);
    block.option(INTERFACE_SPEED, &of.bits_per_second.to_le_bytes());
    block.option(INTERFACE_RESOLUTION, &[PICOSECONDS]);
    block.finish()
}

/// A captured frame, cut to the kept bytes.
pub(super) struct Kept<'a> {
    /// Index under which the file describes the interface.
    pub(super) interface: u32,
    /// Capture time, in ps since the simulation began.
    pub(super) at: u64,
    /// Kept bytes: the first ones of the frame.
    pub(super) bytes: &'a [u8],
    /// Full frame length in bytes, without FCS.
    pub(super) original_bytes: u32,
    pub(super) is_outbound: bool,
    pub(super) comment: Option<&'a str>,
}

/// Returns a frame's packet block.
pub(super) fn packet(of: &Kept<'_>) -> Vec<u8> {
    let mut block = Block::new(ENHANCED_PACKET);
    block.u32(of.interface);
    // The format puts the upper half of a timestamp first, whatever the byte order.
    let [high, low] = [of.at >> 32, of.at & u64::from(u32::MAX)];
    block.u32(u32::try_from(high).unwrap_or(u32::MAX));
    block.u32(u32::try_from(low).unwrap_or(u32::MAX));
    block.u32(u32::try_from(of.bytes.len()).unwrap_or(u32::MAX));
    block.u32(of.original_bytes);
    block.padded(of.bytes);
    // The two lowest bits of the flags: 1 for inbound, 2 for outbound.
    let direction = if of.is_outbound { 2_u32 } else { 1 };
    block.option(PACKET_FLAGS, &direction.to_le_bytes());
    if let Some(comment) = of.comment {
        block.option(OPTION_COMMENT, comment.as_bytes());
    }
    block.finish()
}
