//! Contents of control packets, by names of their own.
//!
//! All packets have the same fields, and control packets put other content into them. Each view
//! here belongs to one kind: it is read from a packet of that kind, or makes one. Views cost
//! nothing.

use crate::topology::HostId;
use tenter_language::units::Instant;

use super::{
    CONTROL_LINK_BYTES, FLOW_CONTROL_BYTES, PAUSE_FRAME_BYTES, Packet, PacketKind, ReceiveSlot,
    credit_blocks,
};

/// Content of a [pause frame](PacketKind::Pause).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Quanta of 512 bit times for which the class pauses; 0 resumes it.
    pub quanta: u32,
}

impl Pause {
    /// Reads the content of a pause frame.
    #[inline]
    pub fn of(packet: &Packet) -> Pause {
        debug_assert_eq!(packet.kind, PacketKind::Pause);
        Pause {
            quanta: packet.sequence,
        }
    }
}

/// Content of a [congestion notice](PacketKind::Notice) to the previous switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Quality level of the queue in which the packet waits.
    pub level: u32,
}

impl Notice {
    /// Reads the content of a congestion notice.
    #[inline]
    pub fn of(packet: &Packet) -> Notice {
        debug_assert_eq!(packet.kind, PacketKind::Notice);
        Notice {
            level: packet.sequence,
        }
    }

    /// Makes the notice about a packet that waits in a queue of this level.
    pub(crate) fn about(packet: &Packet, level: u8) -> Packet {
        Packet {
            sequence: u32::from(level),
            destination: packet.destination,
            hash: packet.hash,
            ..Packet::control(PacketKind::Notice, packet.class())
        }
    }
}

/// Content of a [congestion notice to a sender](PacketKind::Reroute).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reroute {
    /// Hash of the waiting packet's 5-tuple.
    pub hash: u32,
}

impl Reroute {
    /// Reads the content of a notice to a sender.
    #[inline]
    pub fn of(packet: &Packet) -> Reroute {
        debug_assert_eq!(packet.kind, PacketKind::Reroute);
        Reroute {
            hash: packet.sequence,
        }
    }
}

/// Number up to which a packet of Ultra Ethernet asks its receiver to grant credit, in quanta of
/// 256 bytes.
///
/// It shares a field with the connection. The packet has it in units of 16 quanta and modulo 2^13
/// units, which is more than any window has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullTarget {
    /// Number of quanta since the start; 0 if no credit is needed.
    pub quanta: u32,
}

impl PullTarget {
    /// Bits of a connection's index: with credit a NIC has at most 2 to their power.
    pub const SLOT_BITS: u32 = 18;
    const SLOTS: u32 = (1 << PullTarget::SLOT_BITS) - 1;
    const UNIT: u32 = 16;
    const MODULUS: u32 = 1 << 13;

    /// Reads the target of a packet on a connection whose target was `last` before.
    pub fn of(packet: &Packet, last: u32) -> PullTarget {
        let units = packet.queue_pair_field() >> PullTarget::SLOT_BITS;
        let more = units.wrapping_sub(last / PullTarget::UNIT) % PullTarget::MODULUS;
        // The upper half of the modulus is an older target, in a packet that was overtaken.
        let is_later = more < PullTarget::MODULUS / 2;
        let more = if is_later { more * PullTarget::UNIT } else { 0 };
        PullTarget {
            quanta: last.wrapping_add(more),
        }
    }

    /// Returns the field of a packet on a connection.
    pub fn with_slot(self, slot: ReceiveSlot) -> u32 {
        let units = self.quanta.div_ceil(PullTarget::UNIT) % PullTarget::MODULUS;
        slot.number() | units << PullTarget::SLOT_BITS
    }

    /// Reads the connection of a packet.
    #[inline]
    pub fn slot(packet: &Packet) -> ReceiveSlot {
        ReceiveSlot::new(packet.queue_pair_field() & PullTarget::SLOTS)
    }
}

/// Content of a [flow-control packet](PacketKind::FlowControl).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// FCCL: the number of blocks up to which the other end may send, in all.
    pub limit: u32,
    /// FCTBS: the number of blocks that this end has sent, in all.
    pub sent: u32,
}

impl FlowControl {
    /// Reads the content of a flow-control packet.
    #[inline]
    pub fn of(packet: &Packet) -> FlowControl {
        debug_assert_eq!(packet.kind, PacketKind::FlowControl);
        FlowControl {
            limit: packet.sequence,
            sent: packet.sent,
        }
    }

    /// Makes the flow-control packet for a class.
    pub fn packet(self, class: u8) -> Packet {
        Packet {
            sequence: self.limit,
            sent: self.sent,
            frame_bytes: FLOW_CONTROL_BYTES,
            ..Packet::control(PacketKind::FlowControl, class)
        }
    }
}

/// Content of the [report of a lost frame](PacketKind::LostCredit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCredit {
    /// Blocks that the lost frame took.
    pub blocks: u32,
}

impl LostCredit {
    /// Reads the content of such a report.
    #[inline]
    pub fn of(packet: &Packet) -> LostCredit {
        debug_assert_eq!(packet.kind, PacketKind::LostCredit);
        LostCredit {
            blocks: packet.sequence,
        }
    }

    /// Makes the report about `frame`, for the other end of its link.
    pub(crate) fn report_of(frame: &Packet) -> Packet {
        Packet {
            sequence: credit_blocks(u32::from(frame.frame_bytes)),
            frame_bytes: FLOW_CONTROL_BYTES,
            ..Packet::control(PacketKind::LostCredit, frame.class())
        }
    }
}

/// Content of a [request](PacketKind::CreditRequest) or a [credit](PacketKind::Credit) in a
/// scheduled fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CreditMessage {
    /// Destination host of the packets that it is for.
    pub(crate) host: HostId,
    /// Bytes that are requested or granted.
    pub(crate) bytes: u32,
}

impl CreditMessage {
    /// Reads the content of a request or a credit.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> CreditMessage {
        debug_assert!(packet.kind.is_of_scheduler());
        CreditMessage {
            host: packet.destination,
            bytes: packet.sequence,
        }
    }

    /// Makes the request or credit for packets of a class.
    pub(crate) fn packet(self, kind: PacketKind, class: u8, now: Instant) -> Packet {
        Packet {
            at: now,
            sequence: self.bytes,
            destination: self.host,
            frame_bytes: CONTROL_LINK_BYTES,
            ..Packet::control(kind, class)
        }
    }
}

/// Content of the packet at the end of a transfer within a [scale-up domain](PacketKind::ScaleUp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleUpEnd {
    /// Job that sends the transfer.
    pub job: u16,
    /// Number of the transfer in its collective.
    pub transfer: u32,
}

impl ScaleUpEnd {
    /// Reads the content of such a packet.
    pub fn of(packet: &Packet) -> ScaleUpEnd {
        debug_assert_eq!(packet.kind, PacketKind::ScaleUp);
        ScaleUpEnd {
            job: packet.queue_pair as u16,
            transfer: packet.sequence,
        }
    }

    /// Makes the packet that reaches `destination` at `at`.
    pub fn packet(self, destination: HostId, at: Instant) -> Packet {
        Packet {
            at,
            queue_pair: u32::from(self.job),
            sequence: self.transfer,
            destination,
            frame_bytes: 0,
            ..Packet::control(PacketKind::ScaleUp, 0)
        }
    }
}

/// Content that a cell has beside its packet's, on its way from leaf to leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Leaf that has sent the cell.
    pub(crate) leaf: u16,
    /// Number of its packet among those of the virtual output queue.
    pub(crate) number: u32,
}

impl Cell {
    /// Reads the content of a cell.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Cell {
        Cell {
            leaf: packet.queue_pair as u16,
            number: packet.sequence,
        }
    }

    /// Makes a cell of a packet, with the length of the whole packet.
    #[inline]
    pub(crate) fn part_of(self, packet: &Packet) -> Packet {
        Packet {
            // Kind, class, hash and times stay, so that watchers, impairments and counters
            // recognise it.
            queue_pair: u32::from(self.leaf),
            sequence: self.number,
            ..*packet
        }
    }
}

/// A run of a queue pair's packets to be sent again, by sequence numbers, as a [selective
/// NAK](PacketKind::SelectiveNak) requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// First sequence number of the run.
    pub first: u32,
    /// Sequence number after the last one.
    pub end: u32,
}

impl Missing {
    /// Makes a run of one packet.
    pub fn one(sequence: u32) -> Missing {
        Missing {
            first: sequence,
            end: sequence.wrapping_add(1),
        }
    }

    /// Reads the run that a selective NAK requests.
    #[inline]
    pub fn of(packet: &Packet) -> Missing {
        debug_assert_eq!(packet.kind, PacketKind::SelectiveNak);
        Missing {
            first: packet.sequence,
            end: packet.sent,
        }
    }

    /// Makes the selective NAK that requests the run from a `blank` one.
    #[must_use]
    pub fn packet(self, blank: &Packet) -> Packet {
        Packet {
            sequence: self.first,
            sent: self.end,
            ..*blank
        }
    }
}

impl Packet {
    /// Makes a control packet without content, as large as a MAC control frame, for no host.
    fn control(kind: PacketKind, class: u8) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: 0,
            sequence: 0,
            destination: Packet::NO_HOST,
            hash: 0,
            sent: 0,
            frame_bytes: PAUSE_FRAME_BYTES,
            kind,
            flags: Packet::class_flags(class),
        }
    }

    /// Makes a pause frame for a class; zero `quanta` resume it.
    pub(crate) fn pause(class: u8, quanta: u16) -> Packet {
        Packet {
            sequence: u32::from(quanta),
            ..Packet::control(PacketKind::Pause, class)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_says_what_the_packet_was_made_of() {
        let pause = Packet::pause(3, 65_535);
        assert_eq!((pause.class(), Pause::of(&pause).quanta), (3, 65_535));
        let granted = FlowControl { limit: 9, sent: 4 };
        assert_eq!(FlowControl::of(&granted.packet(1)), granted);
        let credit = CreditMessage {
            host: HostId::new(7),
            bytes: 512,
        };
        let message = credit.packet(PacketKind::Credit, 2, Instant::from_ps(100));
        assert_eq!(CreditMessage::of(&message), credit);
        // 65 bytes take two blocks.
        let frame = Packet {
            frame_bytes: 65,
            ..pause
        };
        assert_eq!(LostCredit::of(&LostCredit::report_of(&frame)).blocks, 2);
        let cell = Cell { leaf: 5, number: 6 };
        assert_eq!(Cell::of(&cell.part_of(&frame)), cell);
        assert_eq!(Notice::of(&Notice::about(&frame, 4)).level, 4);
        let end = ScaleUpEnd {
            job: 2,
            transfer: 9,
        };
        assert_eq!(
            ScaleUpEnd::of(&end.packet(HostId::new(1), Instant::from_ps(70))),
            end
        );
    }
}
