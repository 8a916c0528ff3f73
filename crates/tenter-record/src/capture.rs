//! Frames captured at ports, with their header fields.

use tenter_units::Time;

/// Frames captured at some ports, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Bytes kept of each frame.
    pub snap_bytes: u32,
    /// Ports at which frames were captured, in ascending order.
    pub ports: Vec<CapturedPort>,
    /// Captured frames of all ports, in the order of time.
    pub frames: Vec<CapturedFrame>,
}

/// A port at which frames were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPort {
    /// Name of the port, such as `leaf0:8`.
    pub name: String,
    /// Line rate in bits per second.
    pub bits_per_second: u64,
    /// MAC address of the port.
    pub address: MacAddress,
    /// Port at the other end of the cable, or `an optical switch`.
    pub peer: String,
}

/// A MAC address in the order of transmission.
pub type MacAddress = [u8; 6];

/// A frame that a port sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Instant at which its first bit was at the port.
    pub at: Time,
    /// Index of the port in [`Capture::ports`].
    pub port: u32,
    /// True if the port sent the frame, false if it received it.
    pub is_outbound: bool,
    /// Frame length with FCS, without preamble and gap.
    pub frame_bytes: u16,
    /// MAC address of the sending port.
    pub sender: MacAddress,
    /// MAC address of the receiving port.
    pub receiver: MacAddress,
    /// Headers of the frame.
    pub content: FrameContent,
}

/// Headers of a captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameContent {
    /// Packet of `RoCEv2`.
    Roce(RocePacket),
    /// Pause frame for one class (priority); zero quanta resume the class.
    Pause {
        /// Paused class, 0 to 7.
        class: u8,
        /// Pause time in units of 512 bit times.
        quanta: u16,
    },
    /// Frame whose headers are not published, described in words.
    Other(String),
}

/// Header fields of a `RoCEv2` packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocePacket {
    /// Source IPv4 address.
    pub source: u32,
    /// Destination IPv4 address.
    pub destination: u32,
    /// DSCP of the IP header, 0 to 63.
    pub dscp: u8,
    /// The ECN field of the IP header: 0 is not ECN-capable, 2 is ECT(0), 3 is CE.
    pub ecn: u8,
    /// UDP source port, the entropy of the path.
    pub source_port: u16,
    /// Queue pair at the destination (24 bits).
    pub queue_pair: u32,
    /// Packet sequence number (24 bits).
    pub sequence: u32,
    /// True if the receiver must acknowledge the packet.
    pub asks_for_ack: bool,
    /// True if the packet carries a congestion notification (BECN).
    pub notifies: bool,
    /// Headers after the base transport header.
    pub body: RoceBody,
    /// Remark about the packet that no header can carry.
    pub remark: Option<String>,
}

/// Headers and payload after the base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoceBody {
    /// Payload of an RDMA write.
    Write {
        /// True in the first packet of a message.
        is_first: bool,
        /// True in the last packet of a message.
        is_last: bool,
        /// Message length in bytes in a first packet; in others the packet's own payload.
        message_bytes: u32,
    },
    /// Acknowledgement of all packets up to the sequence number.
    Ack,
    /// NAK for a packet out of sequence.
    Nak,
    /// Congestion notification packet (CNP).
    Cnp,
    /// Request or reply of the connection manager.
    Connect {
        /// True for a reply, false for a request.
        is_reply: bool,
        /// Queue pair at the source that the connection is for.
        own_queue_pair: u32,
    },
}
