//! Frames captured at ports, with the content of their headers.

use tenter_units::Time;

/// The frames captured at some ports, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The bytes that are kept of each frame.
    pub snap_bytes: u32,
    /// The ports.
    pub ports: Vec<CapturedPort>,
    /// The frames.
    pub frames: Vec<CapturedFrame>,
}

/// A port at which frames were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPort {
    /// Its name, `leaf0:8` for instance.
    pub name: String,
    /// Its rate in bits per second.
    pub bits_per_second: u64,
    /// Its MAC address.
    pub address: MacAddress,
    /// What is at the other end of its cable.
    pub peer: String,
}

/// A MAC address.
pub type MacAddress = [u8; 6];

/// A frame at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// When its first bit was at the port.
    pub at: Time,
    /// The index of the port.
    pub port: u32,
    /// Whether the port sent it.
    pub is_outbound: bool,
    /// Its bytes with FCS, without preamble and gap.
    pub frame_bytes: u16,
    /// The MAC address of the port that sent it.
    pub sender: MacAddress,
    /// The MAC address of the port it was sent to.
    pub receiver: MacAddress,
    /// Its content.
    pub content: FrameContent,
}

/// The content of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameContent {
    /// A packet of `RoCEv2`.
    Roce(RocePacket),
    /// A pause frame for a class, by priority; zero quanta resume it.
    Pause {
        /// The class.
        class: u8,
        /// For how long, in units of 512 bit times.
        quanta: u16,
    },
    /// A frame without published headers, in words.
    Other(String),
}

/// A packet of `RoCEv2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocePacket {
    /// IPv4 address of the source.
    pub source: u32,
    /// IPv4 address of the destination.
    pub destination: u32,
    /// DSCP.
    pub dscp: u8,
    /// The ECN field of the IP header: 0 is not ECN-capable, 2 is ECT(0), 3 is CE.
    pub ecn: u8,
    /// UDP source port.
    pub source_port: u16,
    /// The number of the queue pair at the destination (24 bits).
    pub queue_pair: u32,
    /// The packet sequence number (24 bits).
    pub sequence: u32,
    /// Whether the receiver shall acknowledge it.
    pub asks_for_ack: bool,
    /// Whether it carries a congestion notification (BECN).
    pub notifies: bool,
    /// What follows the base transport header.
    pub body: RoceBody,
    /// What its headers cannot say.
    pub remark: Option<String>,
}

/// What follows the base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoceBody {
    /// Payload of an RDMA write.
    Write {
        /// Whether it is the first packet of its message.
        is_first: bool,
        /// Whether it is the last packet of its message.
        is_last: bool,
        /// The bytes of the message; in first packets only.
        message_bytes: u32,
    },
    /// An acknowledgement of all packets up to its sequence number.
    Ack,
    /// A NAK for a packet out of sequence.
    Nak,
    /// A congestion notification packet.
    Cnp,
    /// A connection manager's request or reply about the queue pair with this number at its source.
    Connect {
        /// Whether it is the reply.
        is_reply: bool,
        /// The number of the queue pair at the source.
        own_queue_pair: u32,
    },
}
