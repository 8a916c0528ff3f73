//! Frames captured at ports, with their header fields.

use tenter_language::units::Time;

/// Frames captured at some ports, in time order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Bytes kept for each frame.
    pub snap_bytes: u32,
    /// Ports at which frames were captured, in ascending order.
    pub ports: Vec<CapturedPort>,
    /// Captured frames from all ports, in time order.
    pub frames: Vec<CapturedFrame>,
}

/// A port at which frames were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPort {
    /// Port name, such as `leaf0:8`.
    pub name: String,
    /// Line rate in bits per second.
    pub bits_per_second: u64,
    /// MAC address that the port has.
    pub address: MacAddress,
    /// Port at the cable's other end, or `an optical switch`.
    pub peer: String,
}

/// A MAC address in transmission order.
pub type MacAddress = [u8; 6];

/// A frame that a port sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Instant at which its first bit was at the port.
    pub at: Time,
    /// The port's index in [`Capture::ports`].
    pub port: u32,
    /// True if the port sent the frame, false if it received it.
    pub is_outbound: bool,
    /// Frame length with FCS, without preamble and gap.
    pub frame_bytes: u16,
    /// MAC address that sent the frame.
    pub sender: MacAddress,
    /// MAC address that the frame was sent to.
    pub receiver: MacAddress,
    /// Headers and payload of the frame.
    pub content: FrameContent,
}

/// Headers that a captured frame has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameContent {
    /// A `RoCEv2` packet with its header fields.
    Roce(RocePacket),
    /// Pause frame for one class (priority); zero quanta resume the class.
    Pause {
        /// Paused class by priority, 0 to 7.
        class: u8,
        /// Pause time in units of 512 bit times.
        quanta: u16,
    },
    /// Frame whose headers are not published, described in words.
    Other(String),
}

/// A `RoCEv2` packet's header fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocePacket {
    /// IPv4 address that the packet comes from.
    pub source: u32,
    /// IPv4 address that the packet goes to.
    pub destination: u32,
    /// DSCP in the IP header, 0 to 63.
    pub dscp: u8,
    /// ECN field in the IP header: 0 is not ECN-capable, 2 is ECT(0), 3 is CE.
    pub ecn: u8,
    /// UDP source port, the path's entropy.
    pub source_port: u16,
    /// Queue pair at the destination (24 bits).
    pub queue_pair: u32,
    /// Packet sequence number (PSN, 24 bits).
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
    /// RDMA write with its payload.
    Write {
        /// True in a message's first packet.
        is_first: bool,
        /// True in a message's last packet.
        is_last: bool,
        /// Message length in bytes in a first packet; in others the packet's own payload.
        message_bytes: u32,
    },
    /// Acknowledgement for all packets up to the sequence number.
    Ack,
    /// NAK for a packet out of sequence.
    Nak,
    /// Congestion notification packet, a CNP.
    Cnp,
    /// The connection manager's request or reply.
    Connect {
        /// True for a reply, false for a request.
        is_reply: bool,
        /// Queue pair at the source that the connection is for.
        own_queue_pair: u32,
    },
}
