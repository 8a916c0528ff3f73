//! Credit-based link-level flow control, as in InfiniBand: a frame leaves only when the input
//! buffer at the other end has room for it.
//!
//! ```text
//!  sending end of a lane                                    receiving end
//!  FCTBS: blocks sent so far      ── frame ──────────────▶  ABR: blocks received so far
//!  FCCL: blocks that may be sent  ◀── flow-control packet ─  FCCL = ABR + free blocks
//!                                      when blocks have become free
//! ```
//!
//! Both ends count blocks of 64 bytes since the link was trained, and send each other sums, never
//! differences: so the next flow-control packet makes up for a lost one (decision 0025).
//!
//! Source: InfiniBand Architecture Specification, volume 1, link layer: flow control.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use crate::net::headroom::paused_link::PausedLink;
use crate::net::packet::{
    CREDIT_BLOCK_BYTES, FLOW_CONTROL_BYTES, WIRE_OVERHEAD_BYTES, credit_blocks,
};

/// Most bytes that a receiver can grant ahead with the standard's counters of 12 bits: 2,048
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

/// Smallest input buffer for a lane, one block.
const LANE_MIN: Bytes = Bytes::new(CREDIT_BLOCK_BYTES as u64);
/// Largest input buffer that a scenario may give a lane.
const LANE_MAX: Bytes = Bytes::new(16 << 20);

impl CreditSpec {
    /// Returns the blocks in a lane's input buffer.
    pub fn lane_blocks(&self) -> u32 {
        (self.lane_bytes / u64::from(CREDIT_BLOCK_BYTES)) as u32
    }

    /// Returns the freed blocks after which a flow-control packet goes out, at least one.
    pub fn update_blocks(&self) -> u32 {
        let blocks = self.update_bytes / u64::from(CREDIT_BLOCK_BYTES);
        blocks.max(1) as u32
    }

    /// Returns the longest time from a frame's start until its credit is back, on a link that is
    /// busy in both directions, if the frame leaves its input buffer at once.
    ///
    /// It adds up the frame's flight, a frame on the way back that the flow-control packet waits
    /// for, that packet, the cable, and the delay until the other end applies it.
    pub fn round_trip(&self, link: &PausedLink) -> Time {
        let back = link.reverse_wire_bytes + u32::from(FLOW_CONTROL_BYTES);
        let back = link.rate.time_of_bits(u128::from(back) * 8);
        link.flight + back + link.cable_delay + self.delay
    }

    /// Returns the input buffer, in bytes, with which frames on a link follow each other without a
    /// gap as long as they leave it at once: the bytes sent in a [round
    /// trip](CreditSpec::round_trip), one frame more, and free blocks that have not been reported
    /// to the sender.
    pub fn needed_bytes(&self, link: &PausedLink) -> u64 {
        let wire_bits = u64::from(link.frame_bytes + WIRE_OVERHEAD_BYTES) * 8;
        let frame_time = link.rate.time_of_bits(u128::from(wire_bits)).ps().max(1);
        let frames = self.round_trip(link).ps().div_ceil(frame_time) + 1;
        let blocks = frames * u64::from(credit_blocks(link.frame_bytes))
            + u64::from(self.update_blocks() - 1);
        blocks * u64::from(CREDIT_BLOCK_BYTES)
    }

    /// Returns the smallest input buffer, in bytes, with which frames up to `frame_bytes` never
    /// wait forever: the sender cannot use free blocks that have not been reported.
    pub fn least_lane_bytes(&self, frame_bytes: u32) -> u64 {
        let blocks = credit_blocks(frame_bytes) + self.update_blocks() - 1;
        u64::from(blocks * CREDIT_BLOCK_BYTES)
    }
}

/// A lane's receiving end: its input buffer, in 64-byte blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneBuffer {
    capacity: u32,
    /// Freed blocks that make a flow-control packet due.
    update: u32,
    /// ABR, adjusted blocks received: frames that arrived or were lost.
    received: u32,
    /// Blocks of the frames that are in the buffer.
    occupied: u32,
    /// The FCCL last sent to the other end.
    told: u32,
    /// Most blocks that were ever in use at once.
    high_water: u32,
    updates: u64,
    /// Frames that were lost on the way here.
    lost: u64,
}

impl LaneBuffer {
    /// Makes an empty buffer whose sender knows its size.
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

    /// Stores a frame that has arrived.
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

    /// Frees a frame's blocks; returns the new credit limit if a flow-control packet is due.
    #[inline]
    pub fn free(&mut self, frame_bytes: u16) -> Option<u32> {
        self.occupied -= credit_blocks(u32::from(frame_bytes));
        self.tell_if_due()
    }

    /// Adds a lost frame's blocks to ABR; returns the new credit limit if a flow-control packet is
    /// due.
    pub fn adjust(&mut self, blocks: u32) -> Option<u32> {
        self.received = self.received.wrapping_add(blocks);
        self.lost += 1;
        self.tell_if_due()
    }

    /// Returns the frames that were lost on the way here.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn tell_if_due(&mut self) -> Option<u32> {
        // The sums wrap after 2^32 blocks, and their difference does not.
        let fresh = self.limit().wrapping_sub(self.told);
        (fresh >= self.update).then(|| self.tell())
    }

    /// Returns FCCL, the credit limit: the blocks since the start up to which the other end may
    /// send.
    pub(crate) fn limit(&self) -> u32 {
        let free = self.capacity - self.occupied;
        self.received.wrapping_add(free)
    }

    /// Returns the limit, and notes that it is sent to the other end.
    pub(crate) fn tell(&mut self) -> u32 {
        self.told = self.limit();
        self.updates += 1;
        self.told
    }

    /// Counts from zero again, as the link is trained anew; returns the limit for the other end.
    /// Stored frames keep their blocks.
    pub fn renew(&mut self) -> u32 {
        self.received = 0;
        self.tell()
    }

    /// Returns ABR, and the limit last sent to the other end.
    pub fn counted(&self) -> (u32, u32) {
        (self.received, self.told)
    }

    /// Returns the blocks in use.
    pub fn occupied(&self) -> u32 {
        self.occupied
    }

    /// Returns the most bytes ever in use, in whole blocks.
    pub fn high_water_bytes(&self) -> u64 {
        u64::from(self.high_water) * u64::from(CREDIT_BLOCK_BYTES)
    }

    /// Returns the buffer's size in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.capacity) * u64::from(CREDIT_BLOCK_BYTES)
    }

    /// Returns how many flow-control packets the buffer has caused.
    pub fn updates(&self) -> u64 {
        self.updates
    }
}

/// A lane's sending end: its credit, in 64-byte blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCredit {
    /// FCTBS, total blocks sent since the link was trained.
    sent: u32,
    /// FCCL, as last received from the other end.
    limit: u32,
    /// Flow-control packets received for the lane.
    updates: u64,
}

impl LaneCredit {
    /// Makes the credit for a lane whose other end has an empty buffer.
    pub fn new(spec: &CreditSpec) -> LaneCredit {
        LaneCredit {
            sent: 0,
            limit: spec.lane_blocks(),
            updates: 0,
        }
    }

    /// Returns the blocks that may be sent now.
    #[inline]
    pub(crate) fn left(&self) -> u32 {
        self.limit.wrapping_sub(self.sent)
    }

    /// Returns true if there is credit for a frame.
    #[inline]
    pub fn covers(&self, frame_bytes: u32) -> bool {
        credit_blocks(frame_bytes) <= self.left()
    }

    /// Takes the credit for a frame that is sent.
    #[inline]
    pub fn spend(&mut self, frame_bytes: u16) {
        self.sent = self
            .sent
            .wrapping_add(credit_blocks(u32::from(frame_bytes)));
    }

    /// Applies a flow-control packet with the FCCL `limit`.
    pub fn hear(&mut self, limit: u32) {
        self.limit = limit;
        self.updates += 1;
    }

    /// Voids the credit, as the link is trained anew: nothing may be sent before the next
    /// flow-control packet.
    pub fn renew(&mut self) {
        self.sent = 0;
        self.limit = 0;
    }

    /// Returns FCTBS, and FCCL as last received.
    pub fn counted(&self) -> (u32, u32) {
        (self.sent, self.limit)
    }

    /// Returns how many flow-control packets were received.
    pub fn updates(&self) -> u64 {
        self.updates
    }
}

/// A lane at a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) port: u16,
    /// The lane's queue, by its class.
    pub(crate) queue: usize,
}

/// A switch's input buffers, one for each port and lane.
#[derive(Clone, Debug)]
pub(crate) struct InputBuffers {
    /// Ordered by port, then by queue.
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

    pub(crate) fn of(&self, port: u16, queue: usize) -> &LaneBuffer {
        &self.lanes[usize::from(port) * self.queues + queue]
    }

    pub(crate) fn of_mut(&mut self, lane: Lane) -> &mut LaneBuffer {
        &mut self.lanes[usize::from(lane.port) * self.queues + lane.queue]
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Time;

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
