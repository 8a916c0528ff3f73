//! What control packets say, in words of their own.
//!
//! A packet has the same fields whatever it is, and control packets put other things into them.
//! Each view here is for one kind: it is read from a packet of that kind, and a packet that is made
//! from its content is made here. Views cost nothing.

use tenter_topology::HostId;
use tenter_units::Instant;

use super::{
    CONTROL_LINK_BYTES, FLOW_CONTROL_BYTES, PAUSE_FRAME_BYTES, Packet, PacketKind, ReceiveSlot,
    credit_blocks,
};

/// The content of a [pause frame](PacketKind::Pause).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// For how many quanta its class pauses; 0 resumes it.
    pub quanta: u32,
}

impl Pause {
    /// That of a pause frame.
    #[inline]
    pub fn of(packet: &Packet) -> Pause {
        debug_assert_eq!(packet.kind, PacketKind::Pause);
        Pause {
            quanta: packet.sequence,
        }
    }
}

/// The content of a [congestion notice](PacketKind::Notice) to the previous switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The level of the queue in which the packet waits.
    pub level: u32,
}

impl Notice {
    /// That of a congestion notice.
    #[inline]
    pub fn of(packet: &Packet) -> Notice {
        debug_assert_eq!(packet.kind, PacketKind::Notice);
        Notice {
            level: packet.sequence,
        }
    }

    /// The notice about a packet that waits in a queue of this level.
    pub(crate) fn about(packet: &Packet, level: u8) -> Packet {
        Packet {
            sequence: u32::from(level),
            destination: packet.destination,
            hash: packet.hash,
            ..Packet::control(PacketKind::Notice, packet.class())
        }
    }
}

/// The content of a [congestion notice to a sender](PacketKind::Reroute).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reroute {
    /// The hash of the 5-tuple of the packet that waits.
    pub hash: u32,
}

impl Reroute {
    /// That of a notice to a sender.
    #[inline]
    pub fn of(packet: &Packet) -> Reroute {
        debug_assert_eq!(packet.kind, PacketKind::Reroute);
        Reroute {
            hash: packet.sequence,
        }
    }
}

/// Up to which number a receiver shall grant credit, in quanta of 256 bytes, as a packet of Ultra
/// Ethernet says.
///
/// It shares a field with the connection. The packet says it in units of 16 quanta and modulo 2^13
/// of them, which is more than any window has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullTarget {
    /// The number; 0 where no credit is needed.
    pub quanta: u32,
}

impl PullTarget {
    /// With credit a NIC has at most 2 to the power of this many connections.
    pub const SLOT_BITS: u32 = 18;
    const SLOTS: u32 = (1 << PullTarget::SLOT_BITS) - 1;
    const UNIT: u32 = 16;
    const MODULUS: u32 = 1 << 13;

    /// That of a packet, where the last one before it was `last`.
    pub fn of(packet: &Packet, last: u32) -> PullTarget {
        let units = packet.queue_pair_field() >> PullTarget::SLOT_BITS;
        let more = units.wrapping_sub(last / PullTarget::UNIT) % PullTarget::MODULUS;
        let is_later = more < PullTarget::MODULUS / 2;
        let more = if is_later { more * PullTarget::UNIT } else { 0 };
        PullTarget {
            quanta: last.wrapping_add(more),
        }
    }

    /// The field of a packet on a connection.
    pub fn with_slot(self, slot: ReceiveSlot) -> u32 {
        let units = self.quanta.div_ceil(PullTarget::UNIT) % PullTarget::MODULUS;
        slot.number() | units << PullTarget::SLOT_BITS
    }

    /// The connection of a packet.
    #[inline]
    pub fn slot(packet: &Packet) -> ReceiveSlot {
        ReceiveSlot::new(packet.queue_pair_field() & PullTarget::SLOTS)
    }
}

/// The content of a [flow-control packet](PacketKind::FlowControl).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// FCCL: the number of blocks up to which the other end may send, in all.
    pub limit: u32,
    /// FCTBS: the number of blocks that this end has sent, in all.
    pub sent: u32,
}

impl FlowControl {
    /// That of a flow-control packet.
    #[inline]
    pub fn of(packet: &Packet) -> FlowControl {
        debug_assert_eq!(packet.kind, PacketKind::FlowControl);
        FlowControl {
            limit: packet.sequence,
            sent: packet.sent,
        }
    }

    /// The packet that says so of a class.
    pub fn packet(self, class: u8) -> Packet {
        Packet {
            sequence: self.limit,
            sent: self.sent,
            frame_bytes: FLOW_CONTROL_BYTES,
            ..Packet::control(PacketKind::FlowControl, class)
        }
    }
}

/// The content of the [report of a lost frame](PacketKind::LostCredit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCredit {
    /// The blocks that the frame took.
    pub blocks: u32,
}

impl LostCredit {
    /// That of a report.
    #[inline]
    pub fn of(packet: &Packet) -> LostCredit {
        debug_assert_eq!(packet.kind, PacketKind::LostCredit);
        LostCredit {
            blocks: packet.sequence,
        }
    }

    /// The report of a frame, for the other end of its link.
    pub(crate) fn report_of(frame: &Packet) -> Packet {
        Packet {
            sequence: credit_blocks(u32::from(frame.frame_bytes)),
            frame_bytes: FLOW_CONTROL_BYTES,
            ..Packet::control(PacketKind::LostCredit, frame.class())
        }
    }
}

/// The content of a [request](PacketKind::CreditRequest) or a [credit](PacketKind::Credit) of a
/// scheduled fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CreditMessage {
    /// The host for whose packets it is.
    pub(crate) host: HostId,
    /// The bytes requested or granted.
    pub(crate) bytes: u32,
}

impl CreditMessage {
    /// That of a request or a credit.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> CreditMessage {
        debug_assert!(packet.kind.is_of_scheduler());
        CreditMessage {
            host: packet.destination,
            bytes: packet.sequence,
        }
    }

    /// The request or credit for packets of a class.
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

/// The end of a transfer within a [scale-up domain](PacketKind::ScaleUp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleUpEnd {
    /// The job that sends it.
    pub job: u16,
    /// Which transfer of its collective it is.
    pub transfer: u32,
}

impl ScaleUpEnd {
    /// That of a packet.
    pub fn of(packet: &Packet) -> ScaleUpEnd {
        debug_assert_eq!(packet.kind, PacketKind::ScaleUp);
        ScaleUpEnd {
            job: packet.queue_pair as u16,
            transfer: packet.sequence,
        }
    }

    /// The packet that brings it to a host at an instant, in ps.
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

/// What a cell has beside its packet, on its way from leaf to leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The leaf that sent it.
    pub(crate) leaf: u16,
    /// The number of its packet among those of its virtual output queue.
    pub(crate) number: u32,
}

impl Cell {
    /// That of a cell.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Cell {
        Cell {
            leaf: packet.queue_pair as u16,
            number: packet.sequence,
        }
    }

    /// A cell of a packet, as long as the whole of it.
    #[inline]
    pub(crate) fn part_of(self, packet: &Packet) -> Packet {
        Packet {
            queue_pair: u32::from(self.leaf),
            sequence: self.number,
            ..*packet
        }
    }
}

/// A run of packets of a queue pair, by their sequence numbers, that are to be sent again: those
/// that a [selective NAK](PacketKind::SelectiveNak) requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The first of them.
    pub first: u32,
    /// The one after the last.
    pub end: u32,
}

impl Missing {
    /// One packet alone.
    pub fn one(sequence: u32) -> Missing {
        Missing {
            first: sequence,
            end: sequence.wrapping_add(1),
        }
    }

    /// Those of a selective NAK.
    #[inline]
    pub fn of(packet: &Packet) -> Missing {
        debug_assert_eq!(packet.kind, PacketKind::SelectiveNak);
        Missing {
            first: packet.sequence,
            end: packet.sent,
        }
    }

    /// The selective NAK that requests them, made of one without content.
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
    /// A control packet without content, of the size of a MAC control frame; for no host.
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

    /// A pause frame for a class; zero quanta resume it.
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
