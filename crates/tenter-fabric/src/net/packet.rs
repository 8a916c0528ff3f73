//! The packet: 32 bytes, passed by value from inbox to queue to inbox.

mod slots;
mod steady;
mod views;

pub use slots::{ReceiveSlot, SendSlot, Slot};
pub(crate) use views::{Cell, CreditMessage};
pub use views::{FlowControl, LostCredit, Missing, Notice, Pause, PullTarget, Reroute, ScaleUpEnd};

use crate::topology::HostId;
use tenter_engine::{Arrival, mix64};
use tenter_language::units::Instant;

/// Preamble, start delimiter and inter-frame gap: wire bytes beyond the frame (IEEE 802.3).
pub const WIRE_OVERHEAD_BYTES: u32 = 20;
/// Frame bytes of a `RoCEv2` data packet beyond its payload: Ethernet 14, IPv4 20, UDP 8, BTH 12,
/// ICRC 4, FCS 4.
pub const DATA_OVERHEAD_BYTES: u32 = 62;
/// Bytes of the RDMA extended header, on a write message's first packet.
pub const RETH_BYTES: u32 = 16;
/// Frame bytes in an ACK or NAK: a data packet without payload, with the 4-byte AETH.
pub const ACK_FRAME_BYTES: u16 = 66;
/// Frame bytes in a connection manager's request or reply: a datagram (DETH 8) with a 256-byte
/// management payload.
pub const CONNECT_FRAME_BYTES: u16 = 326;
/// Frame bytes in a congestion notification packet: a data packet without payload, with 16 reserved
/// bytes (InfiniBand Architecture Specification, Annex A17).
pub const CNP_FRAME_BYTES: u16 = 78;
/// Frame bytes in a MAC control frame, such as a pause frame (IEEE 802.1Qbb): the smallest frame
/// there is.
pub const PAUSE_FRAME_BYTES: u16 = 64;
/// Frame bytes in a congestion signal to a sender: Ethernet 14, IPv4 20, UDP 8, FCS 4, and 14 bytes
/// for the class (1), the pause time (2), the receiver (4), the queue (4) and the signal's number
/// (3); padded to the smallest frame there is.
pub const SIGNAL_FRAME_BYTES: u16 = 64;
/// Frame bytes in a congestion notice to a sender: Ethernet 14, IPv4 20, UDP 8, FCS 4, and 10 bytes
/// for the queue pair (3), its source port (2), the destination (4) and the queue's level (1);
/// padded to the smallest frame there is.
pub(crate) const REROUTE_FRAME_BYTES: u16 = 64;
/// Wire bytes that a flow-control packet takes: 6 bytes and a delimiter on either side (InfiniBand
/// Architecture Specification, volume 1). It is no frame, so there is no preamble and no gap.
pub const FLOW_CONTROL_BYTES: u16 = 8;
/// Bytes in a block, the unit in which link credit counts.
pub const CREDIT_BLOCK_BYTES: u32 = 64;
/// Bytes in a request or a credit on a scheduled fabric's control link: the smallest possible
/// frame. It occupies no wire in the model.
pub const CONTROL_LINK_BYTES: u16 = 64;
/// Resolution of [`Packet::sent`], in ps: its 32 bits wrap after 0.55 s. A packet may wait longer
/// at 10G in queues with hundreds of megabytes, so no latency is reported from it for a flow that
/// took at least that time.
pub const SENT_UNIT_PS: u64 = 128;

/// Returns the blocks that a frame takes in an input buffer.
#[inline]
pub fn credit_blocks(frame_bytes: u32) -> u32 {
    frame_bytes.div_ceil(CREDIT_BLOCK_BYTES)
}

/// Packet kinds. The order of the kinds counts: predicates such as [`PacketKind::is_data`] rely on
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PacketKind {
    /// First packet of an RDMA write message of several.
    First,
    /// A message's packet that is neither the first nor the last.
    Middle,
    /// Last packet of a message of several.
    Last,
    /// A message that is a single packet.
    Only,
    /// Acknowledges all data before `sequence`.
    Ack,
    /// Requests all data from `sequence` on again.
    Nak,
    /// Asks the peer's NIC to set up a queue pair.
    ConnectRequest,
    /// Reports that the queue pair is set up.
    ConnectReply,
    /// Notifies a sender that packets of its queue pair were marked.
    Cnp,
    /// Requests the packets from `sequence` to the one before `sent` again, and no others.
    SelectiveNak,
    /// Reports that everything before `sequence` has been sent and nothing will be retransmitted.
    EndOfData,
    /// A switch notifies a sender that a packet of its queue pair with the hash `sequence` waits in
    /// a long queue, so that it takes another path. The notice is routed like any packet.
    Reroute,
    /// A leaf of a scheduled fabric requests credit: `sequence` bytes for its packets of a class to
    /// `destination`. It goes over a control link, from leaf to leaf.
    CreditRequest,
    /// Grants that credit: `sequence` bytes. It goes over a control link too.
    Credit,
    /// A data packet of Ultra Ethernet whose payload a switch has cut off. It goes on to its
    /// receiver.
    Trimmed,
    /// Requests credit from a receiver, up to the number that it states as data do
    /// ([`PullTarget`](crate::net::PullTarget)).
    RequestToSend,
    /// Asks a receiver which packets have arrived.
    Probe,
    /// Acknowledges all data before `sequence`, and further packets as the record in `sent` says.
    SelectiveAck,
    /// Reports that the packet `sequence` has arrived trimmed.
    TrimNak,
    /// Grants a sender credit up to the number `sequence`.
    Pull,
    /// A switch signals to a sender that its packets to the host `queue_pair` wait in a long queue:
    /// it shall pause a class for some quanta, both in `sequence` ([`Signal`](crate::net::Signal)).
    /// The signal is routed like any packet.
    Signal,
    /// The end of a transfer within a scale-up domain: it passes no link and no NIC.
    ScaleUp,
    /// Pauses a class of the link's other end for `sequence` quanta, or resumes it (0). It is a MAC
    /// control frame: it never leaves its link.
    Pause,
    /// A switch notifies the previous one that a packet with this hash and destination waits in a
    /// long queue; `sequence` is the queue's level. It is a MAC control frame.
    Notice,
    /// One end of a link grants the other, in a credit-based fabric, `sequence` blocks in all for a
    /// class, and states in `sent` the blocks that it has sent itself. Like a MAC control frame it
    /// never leaves its link.
    FlowControl,
    /// Reports a lost frame to its link's other end, in a credit-based fabric: `sequence` blocks in
    /// its class were sent beside those that came. The flow-control packet after the frame would
    /// report them, so this one takes no wire time.
    LostCredit,
}

impl PacketKind {
    /// Returns true for data, which carry payload.
    #[inline]
    pub fn is_data(self) -> bool {
        // Data are the first kinds.
        self as u8 <= PacketKind::Only as u8
    }

    /// Returns true for requests and credits in a scheduled fabric.
    pub fn is_of_scheduler(self) -> bool {
        matches!(self, PacketKind::CreditRequest | PacketKind::Credit)
    }

    /// Returns true for MAC control frames and flow-control packets, which never leave their link.
    #[inline]
    pub fn is_mac_control(self) -> bool {
        // They are the last ones.
        self as u8 >= PacketKind::Pause as u8
    }

    /// Returns true if [`Packet::queue_pair`] belongs to the NIC at which the packet arrives.
    #[inline]
    pub fn is_of_queue_pair(self) -> bool {
        // Kinds without such a queue pair come behind.
        (self as u8) < PacketKind::Signal as u8
    }

    /// Returns true if the packet goes to a receive slot; all others go to a send slot.
    #[inline]
    pub fn is_for_receiver(self) -> bool {
        self.is_data()
            || matches!(
                self,
                PacketKind::ConnectRequest
                    | PacketKind::EndOfData
                    | PacketKind::Trimmed
                    | PacketKind::RequestToSend
                    | PacketKind::Probe
            )
    }
}

/// A packet on a link or in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Packet {
    /// Instant at which it reaches the next node, behind that node's ingress pipeline. While it
    /// waits in a switch, the field has its [input port](Packet::stored_from).
    pub at: Instant,
    /// Queue pair at the destination NIC: [`Packet::receive_slot`] in packets from a sender,
    /// [`Packet::send_slot`] in packets from a receiver. Between switches the highest bit is set
    /// while the packet is [on a detour](Packet::is_on_detour).
    pub queue_pair: u32,
    /// Packet sequence number (data), or the next one expected (ACK, NAK); control packets have
    /// other content here, such as a [`Pause`].
    pub sequence: u32,
    /// Host to which the packet goes.
    pub destination: HostId,
    /// Hash of the 5-tuple, without any switch's seed.
    pub hash: u32,
    /// Instant at which the first bit left the NIC, in units of [`SENT_UNIT_PS`], modulo 2³². An
    /// ACK or NAK copies it from the packet that it answers; a selective NAK has other content.
    /// With in-band telemetry it names the packet's [record](Packet::record).
    pub sent: u32,
    /// Frame size including FCS, without preamble and gap.
    pub frame_bytes: u16,
    /// Kind, by which the other fields are read.
    pub kind: PacketKind,
    /// [`Packet::ACK_REQUEST`] and the other flags; the class in the upper three bits.
    pub flags: u8,
}

// Two packets fill a cache line: inboxes and queues hold them by value.
const _: () = assert!(size_of::<Packet>() == 32);

/// A switch's random choices, whose draws are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    /// Mark a packet, or not.
    Mark,
    /// Choose one among several links.
    Link,
    /// Move the packet's flow to another link, or not.
    Move,
    /// Trim the packet, or the last one before it.
    Trim,
}

impl Draw {
    /// Bits that no instant of arrival reaches, but for the lowest, tell the choices apart.
    const fn salt(self) -> u64 {
        match self {
            Draw::Mark => 0,
            Draw::Link => 1 << 63,
            Draw::Move => 1 << 62,
            Draw::Trim => 1,
        }
    }
}

impl Packet {
    /// The receiver shall acknowledge this packet.
    pub const ACK_REQUEST: u8 = 1;
    /// The packet is the last that the workload asked to send.
    pub const END_OF_TRANSFER: u8 = 2;
    /// A switch may mark the packet rather than drop it.
    pub const ECN_CAPABLE: u8 = 4;
    /// A switch has marked it: congestion experienced.
    pub const CONGESTION_EXPERIENCED: u8 = 8;
    /// The receiver shall request everything that is missing again.
    pub const REPORT_REQUEST: u8 = 16;
    /// An acknowledgement or a NAK carries a congestion notification; data have another use for the
    /// bit.
    pub const CONGESTION_ECHO: u8 = Packet::REPORT_REQUEST;

    /// An acknowledgement or a NAK answers a packet that was marked; data have another use for the
    /// bit.
    pub const ANSWERS_MARKED: u8 = Packet::ACK_REQUEST;
    /// A data packet of Ultra Ethernet has been sent before.
    pub const REPEATED: u8 = Packet::REPORT_REQUEST;
    /// A data packet was trimmed at its receiver's port; it had another use for the bit.
    pub const TRIMMED_AT_LAST_HOP: u8 = Packet::REPORT_REQUEST;
    /// An acknowledgement answers a packet that had been sent before.
    pub const ANSWERS_REPEATED: u8 = Packet::ACK_REQUEST;
    /// An acknowledgement answers a probe.
    pub const ANSWERS_PROBE: u8 = Packet::END_OF_TRANSFER;
    /// A report's packet was trimmed at its receiver's port.
    pub const AT_LAST_HOP: u8 = Packet::END_OF_TRANSFER;

    /// Destination for packets that go to no host.
    pub(crate) const NO_HOST: HostId = HostId::new(u32::MAX);

    /// Bit in [`Packet::queue_pair`] that is set on a detour; no NIC has as many queue pairs.
    const ON_DETOUR: u32 = 1 << 31;

    /// Returns true while the packet is on its way to a region other than its destination's.
    #[inline]
    pub fn is_on_detour(&self) -> bool {
        self.queue_pair & Packet::ON_DETOUR != 0
    }

    /// Returns the packet on a detour, or off it, as `is` says.
    #[must_use]
    pub(crate) fn on_detour(&self, is: bool) -> Packet {
        let queue_pair = self.queue_pair_field();
        Packet {
            queue_pair: queue_pair | if is { Packet::ON_DETOUR } else { 0 },
            ..*self
        }
    }

    /// Returns [`Packet::queue_pair`] without the bit for detours.
    #[inline]
    pub(crate) fn queue_pair_field(&self) -> u32 {
        self.queue_pair & !Packet::ON_DETOUR
    }

    /// Returns a draw that depends on the switch's seed, the packet and its arrival alone, so that
    /// other traffic does not change it.
    #[inline]
    pub(crate) fn draw(&self, seed: u32, purpose: Draw) -> u64 {
        // Hash and sequence number tell packets apart; a packet sent again differs by its arrival.
        let identity = u64::from(self.hash) << 32 | u64::from(self.sequence);
        mix64(mix64(identity ^ u64::from(seed)) ^ self.at.ps() ^ purpose.salt())
    }

    /// Returns the wire bytes that a control frame takes.
    #[inline]
    pub(crate) fn wire_bytes_of_control(&self) -> u32 {
        if self.kind == PacketKind::FlowControl {
            u32::from(FLOW_CONTROL_BYTES)
        } else {
            u32::from(self.frame_bytes) + WIRE_OVERHEAD_BYTES
        }
    }

    /// Returns the flags that put a packet into a class, 0 to 7.
    #[inline]
    pub fn class_flags(class: u8) -> u8 {
        class << 5
    }

    /// Returns the traffic class, 0 to 7.
    #[inline]
    pub fn class(&self) -> u8 {
        self.flags >> 5
    }

    /// Returns the packet in another class, all else being equal.
    #[must_use]
    pub(crate) fn in_class(&self, class: u8) -> Packet {
        let others = self.flags & !Packet::class_flags(7);
        Packet {
            flags: others | Packet::class_flags(class),
            ..*self
        }
    }

    /// Returns the packet without its payload: `frame_bytes` are left, which go on in `class`.
    /// `at_last_hop` is true at its receiver's port.
    #[must_use]
    pub(crate) fn trimmed(&self, frame_bytes: u16, class: u8, at_last_hop: bool) -> Packet {
        // Without the flag `ECN_CAPABLE` the rest is never marked.
        let kept = self.flags & (Packet::END_OF_TRANSFER | Packet::CONGESTION_EXPERIENCED);
        let last = u8::from(at_last_hop) * Packet::TRIMMED_AT_LAST_HOP;
        Packet {
            frame_bytes,
            kind: PacketKind::Trimmed,
            flags: kept | last | Packet::class_flags(class),
            ..*self
        }
    }

    /// Notes the input port while the packet waits in a switch, where its arrival was, which has
    /// passed.
    #[inline]
    pub(crate) fn store_from(&mut self, port: u16) {
        self.at = Instant::from_ps(u64::from(port));
    }

    /// Returns the port through which a packet came that waits in a switch.
    #[inline]
    pub fn stored_from(&self) -> u16 {
        self.at.ps() as u16
    }

    /// Returns true if a flag is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

impl Arrival for Packet {
    #[inline]
    fn at(&self) -> Instant {
        self.at
    }

    #[inline]
    fn set_at(&mut self, at: Instant) {
        self.at = at;
    }
}
