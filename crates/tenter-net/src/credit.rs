//! Credit-based link-level flow control, as InfiniBand has it: a frame leaves only when the input
//! buffer of the other end has room for it.
//!
//! ```text
//!  sending end of a lane                                    receiving end
//!  FCTBS: blocks sent so far      ── frame ──────────────▶  ABR: blocks received so far
//!  FCCL: blocks that may be sent  ◀── flow-control packet ─  FCCL = ABR + free blocks
//!                                      when blocks have become free
//! ```
//!
//! Both ends count blocks of 64 bytes since the link was trained, and send each other sums, never
//! differences: so the next flow-control packet makes up for a loss on the way.
//!
//! Source: InfiniBand Architecture Specification, volume 1, link layer: flow control.

use tenter_config::component;
use tenter_units::{Bytes, Time};

use crate::headroom::paused_link::PausedLink;
use crate::packet::{CREDIT_BLOCK_BYTES, FLOW_CONTROL_BYTES, WIRE_OVERHEAD_BYTES, credit_blocks};

/// The most bytes that a receiver can grant ahead with the standard's counters of 12 bits: 2,048
/// blocks.
pub const CREDIT_MAX_BYTES: u64 = 2_048 * CREDIT_BLOCK_BYTES as u64;

component! {
    /// The parameters of a credit-based fabric; all its links share them.
    pub struct CreditSpec as "`fabric.switching` with `kind: credit-based`" {
        /// The input buffer that each port, of a switch or of a NIC, has for each class (virtual
        /// lane); in blocks of 64 bytes, rounded down.
        lane_bytes as "lane_buffer": u64 as Bytes = "128KiB", in LANE_MIN..=LANE_MAX, from "2,048 blocks are the most that the credit counters of InfiniBand, of 12 bits, can grant; what devices have is not published";
        /// A flow-control packet is sent when this much of an input buffer has become free since
        /// the last one.
        update_bytes as "update": u64 as Bytes = "4096B", in Bytes::new(1)..=LANE_MAX, from "assumed: about one for each full packet; the standard asks for one every 65,536 symbol times at least";
        /// From the end of a flow-control packet to the instant at which the other end applies it,
        /// without the delay of the cable.
        delay as "update_delay": Time = "100ns", in Time::ZERO..=Time::from_us(1_000), from "assumed: the part of a switch's pipeline that it passes";
    }
}

/// An input buffer has a block at least.
const LANE_MIN: Bytes = Bytes::new(CREDIT_BLOCK_BYTES as u64);
/// The most bytes of an input buffer.
const LANE_MAX: Bytes = Bytes::new(16 << 20);

impl CreditSpec {
    /// Blocks of the input buffer of a lane.
    pub fn lane_blocks(&self) -> u32 {
        (self.lane_bytes / u64::from(CREDIT_BLOCK_BYTES)) as u32
    }

    /// Blocks after which a flow-control packet goes out, at least one.
    pub fn update_blocks(&self) -> u32 {
        let blocks = self.update_bytes / u64::from(CREDIT_BLOCK_BYTES);
        blocks.max(1) as u32
    }

    /// How long it takes at most, on a link that may be busy in both directions, from the start of
    /// a frame until the credit for it is back, if it leaves its input buffer at once: its flight,
    /// a frame on the way back that the flow-control packet waits for, that packet, the cable and
    /// what the other end takes to go by it.
    pub fn round_trip(&self, link: &PausedLink) -> Time {
        let back = link.reverse_wire_bytes + u32::from(FLOW_CONTROL_BYTES);
        let back = link.rate.time_of_bits(u128::from(back) * 8);
        link.flight + back + link.cable_delay + self.delay
    }

    /// An input buffer, in bytes, with which frames of a link are sure to follow each other without
    /// a gap as long as they leave it at once: what is sent in a [round
    /// trip](CreditSpec::round_trip), one frame more, and what the sender has not been told of.
    pub fn needed_bytes(&self, link: &PausedLink) -> u64 {
        let wire_bits = u64::from(link.frame_bytes + WIRE_OVERHEAD_BYTES) * 8;
        let frame_time = link.rate.time_of_bits(u128::from(wire_bits)).ps().max(1);
        let frames = self.round_trip(link).ps().div_ceil(frame_time) + 1;
        let blocks = frames * u64::from(credit_blocks(link.frame_bytes))
            + u64::from(self.update_blocks() - 1);
        blocks * u64::from(CREDIT_BLOCK_BYTES)
    }

    /// The least input buffer of a lane, in bytes, with which frames of up to this size never wait
    /// forever: blocks that have not been reported are of no use to the sender.
    pub fn least_lane_bytes(&self, frame_bytes: u32) -> u64 {
        let blocks = credit_blocks(frame_bytes) + self.update_blocks() - 1;
        u64::from(blocks * CREDIT_BLOCK_BYTES)
    }
}

/// The receiving end of a lane of a link: its input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneBuffer {
    capacity: u32,
    update: u32,
    /// ABR, adjusted blocks received.
    received: u32,
    occupied: u32,
    /// The FCCL last sent to the other end.
    told: u32,
    high_water: u32,
    updates: u64,
    /// Frames that were lost on the way here.
    lost: u64,
}

impl LaneBuffer {
    /// An empty buffer whose sender knows how large it is.
    pub fn new(spec: &CreditSpec) -> LaneBuffer {
        LaneBuffer {
            capacity: spec.lane_blocks(),
            update: spec.update_blocks(),
            received: 0,
            occupied: 0,
            told: spec.lane_blocks(),
            high_water: 0,
            updates: 0,
            lost: 0,
        }
    }

    /// Takes a frame.
    #[inline]
    pub fn take(&mut self, frame_bytes: u16) {
        let blocks = credit_blocks(u32::from(frame_bytes));
        self.received = self.received.wrapping_add(blocks);
        self.occupied += blocks;
        self.high_water = self.high_water.max(self.occupied);
        debug_assert!(
            self.occupied <= self.capacity,
            "a frame was sent without credit"
        );
    }

    /// A frame leaves; returns the new credit limit if it must be sent to the other end.
    #[inline]
    pub fn free(&mut self, frame_bytes: u16) -> Option<u32> {
        self.occupied -= credit_blocks(u32::from(frame_bytes));
        self.tell_if_due()
    }

    /// Adjusts ABR by the blocks of a frame that was sent and lost; returns the new credit limit if
    /// the other end must be told.
    pub fn adjust(&mut self, blocks: u32) -> Option<u32> {
        self.received = self.received.wrapping_add(blocks);
        self.lost += 1;
        self.tell_if_due()
    }

    /// Frames that were lost on the way here.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn tell_if_due(&mut self) -> Option<u32> {
        let fresh = self.limit().wrapping_sub(self.told);
        (fresh >= self.update).then(|| self.tell())
    }

    /// FCCL, the credit limit: up to how many blocks in all the other end may send.
    pub fn limit(&self) -> u32 {
        let free = self.capacity - self.occupied;
        self.received.wrapping_add(free)
    }

    /// Notes that the limit is sent to the other end; returns it.
    pub fn tell(&mut self) -> u32 {
        self.told = self.limit();
        self.updates += 1;
        self.told
    }

    /// The link is trained anew, so both ends count from zero; returns the limit that the other end
    /// must be told. What the buffer holds is still there.
    pub fn renew(&mut self) -> u32 {
        self.received = 0;
        self.tell()
    }

    /// ABR, and the limit last sent to the other end.
    pub fn counted(&self) -> (u32, u32) {
        (self.received, self.told)
    }

    /// Blocks that it holds.
    pub fn occupied(&self) -> u32 {
        self.occupied
    }

    /// The most bytes it ever held, in whole blocks.
    pub fn high_water_bytes(&self) -> u64 {
        u64::from(self.high_water) * u64::from(CREDIT_BLOCK_BYTES)
    }

    /// Its size in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.capacity) * u64::from(CREDIT_BLOCK_BYTES)
    }

    /// Flow-control packets that it has caused.
    pub fn updates(&self) -> u64 {
        self.updates
    }
}

/// The sending end of a lane of a link: its credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCredit {
    /// FCTBS, total blocks sent.
    sent: u32,
    /// FCCL as it was last heard.
    limit: u32,
    /// Flow-control packets heard.
    updates: u64,
}

impl LaneCredit {
    /// That of a link whose other end has an empty buffer.
    pub fn new(spec: &CreditSpec) -> LaneCredit {
        LaneCredit {
            sent: 0,
            limit: spec.lane_blocks(),
            updates: 0,
        }
    }

    /// Blocks that may be sent.
    #[inline]
    pub fn left(&self) -> u32 {
        self.limit.wrapping_sub(self.sent)
    }

    /// Whether there is credit for a frame.
    #[inline]
    pub fn covers(&self, frame_bytes: u32) -> bool {
        credit_blocks(frame_bytes) <= self.left()
    }

    /// A frame is sent.
    #[inline]
    pub fn spend(&mut self, frame_bytes: u16) {
        self.sent = self
            .sent
            .wrapping_add(credit_blocks(u32::from(frame_bytes)));
    }

    /// Applies a flow-control packet.
    pub fn hear(&mut self, limit: u32) {
        self.limit = limit;
        self.updates += 1;
    }

    /// The link is trained anew: nothing may be sent until the other end has said how much.
    pub fn renew(&mut self) {
        self.sent = 0;
        self.limit = 0;
    }

    /// FCTBS, and FCCL as it was last heard.
    pub fn counted(&self) -> (u32, u32) {
        (self.sent, self.limit)
    }

    /// Flow-control packets that it has heard.
    pub fn updates(&self) -> u64 {
        self.updates
    }
}

/// A lane of a link, at the port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) port: u16,
    /// The queue of its class.
    pub(crate) queue: usize,
}

/// The input buffers of all ports and lanes of a switch.
#[derive(Clone, Debug)]
pub(crate) struct InputBuffers {
    /// By port, then queue.
    lanes: Vec<LaneBuffer>,
    queues: usize,
}

impl InputBuffers {
    pub(crate) fn new(spec: &CreditSpec, ports: usize, queues: usize) -> InputBuffers {
        InputBuffers {
            lanes: vec![LaneBuffer::new(spec); ports * queues],
            queues,
        }
    }

    /// The input buffer of a port and a queue.
    pub(crate) fn of(&self, port: u16, queue: usize) -> &LaneBuffer {
        &self.lanes[usize::from(port) * self.queues + queue]
    }

    pub(crate) fn of_mut(&mut self, lane: Lane) -> &mut LaneBuffer {
        &mut self.lanes[usize::from(lane.port) * self.queues + lane.queue]
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::Time;

    use super::{CreditSpec, LaneBuffer, LaneCredit, credit_blocks};

    /// 10 blocks, reported after every third.
    fn spec() -> CreditSpec {
        CreditSpec {
            lane_bytes: 700,
            update_bytes: 192,
            delay: Time::ZERO,
        }
    }

    #[test]
    fn a_frame_takes_whole_blocks() {
        assert_eq!(credit_blocks(64), 1);
        assert_eq!(credit_blocks(65), 2);
        assert_eq!(credit_blocks(4_174), 66);
        // A frame of 300 bytes takes five blocks; up to two free ones the sender does not know of.
        assert_eq!(spec().least_lane_bytes(300), 7 * 64);
    }

    #[test]
    fn what_is_sent_comes_back_once_it_has_left() {
        let (mut credit, mut buffer) = (LaneCredit::new(&spec()), LaneBuffer::new(&spec()));
        assert_eq!(credit.left(), 10);
        // Five blocks and four: one is left.
        for frame in [300, 256] {
            assert!(credit.covers(u32::from(frame)));
            credit.spend(frame);
            buffer.take(frame);
        }
        assert!(credit.covers(64) && !credit.covers(65));
        assert_eq!(buffer.free(300), Some(15));
        credit.hear(15);
        assert_eq!(credit.left(), 6);
        // Two blocks are not reported, with the next four they are.
        credit.spend(100);
        buffer.take(100);
        assert_eq!(buffer.free(100), None);
        assert_eq!(buffer.free(256), Some(21));
        assert_eq!(buffer.high_water_bytes(), 9 * 64);
        assert_eq!((buffer.occupied(), buffer.updates()), (0, 2));
    }

    #[test]
    fn credit_for_a_lost_frame_comes_back() {
        let (mut credit, mut buffer) = (LaneCredit::new(&spec()), LaneBuffer::new(&spec()));
        credit.spend(300);
        assert_eq!(buffer.adjust(credit_blocks(300)), Some(15));
        credit.hear(15);
        assert_eq!((credit.left(), buffer.lost()), (10, 1));
        assert_eq!((credit.counted(), buffer.counted()), ((5, 15), (5, 15)));
    }

    #[test]
    fn a_link_that_comes_up_counts_from_zero() {
        let (mut credit, mut buffer) = (LaneCredit::new(&spec()), LaneBuffer::new(&spec()));
        credit.spend(300);
        buffer.take(300);
        // Another frame is lost with the link.
        credit.spend(256);
        credit.renew();
        assert_eq!(credit.left(), 0);
        // Five of ten blocks are still taken.
        assert_eq!(buffer.renew(), 5);
        credit.hear(5);
        assert_eq!(credit.left(), 5);
        assert_eq!(buffer.free(300), Some(10));
    }
}
