//! Work requests of send queue pairs that are not fully acknowledged.
//!
//! Most queue pairs have one request at a time and never resend a packet; that request lies in an
//! array by queue pair. A second request, or a packet to resend, moves the queue pair's requests to
//! a backlog, which holds several and counts what was resent. Once all are acknowledged, the
//! backlog is free for another queue pair.

mod steady;

use std::ops::Range;

use tenter_engine::{Ring, prefetch_at};
use tenter_fabric::net::SendSlot;

use tenter_language::units::{ById, Instant};

use super::work::{Acknowledged, WorkRequest};
use crate::message::MessageCut;
use crate::nic::held_by_rate::HeldByRate;

/// Stands for a backlog's index while a queue pair has none.
pub(super) const NO_BACKLOG: u32 = u32::MAX;

/// A queue pair's only request, in half a cache line. The payload byte count is in the queue pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Only {
    tag: u64,
    posted: Instant,
    pub(super) first_sent: Instant,
    group: u32,
    pub(super) packets: u32,
}

const _: () = assert!(size_of::<Only>() == 32);

/// A request in a backlog.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub(super) request: WorkRequest,
    pub(super) first_sent: Instant,
    pub(super) first_sequence: u32,
    pub(super) packets: u32,
    /// Frames that were sent and have been, or will be, sent again.
    pub(super) repeated_frames: u64,
    /// Frame bytes of those frames.
    pub(super) repeated_bytes: u64,
}

/// The requests of one queue pair, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    pub(super) posted: Ring<Posted>,
    /// Index in `posted` of the request being sent; past the end if all have been sent.
    pub(super) sending: u32,
    /// PSN of the first packet that has never been sent.
    pub(super) first_unsent: u32,
}

/// The requests of all send queue pairs at a NIC.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// The only request of each queue pair, unless it has a backlog.
    pub(super) only: ById<SendSlot, Only>,
    pub(super) backlogs: Vec<Backlog>,
    /// Indices of backlogs that no queue pair uses.
    pub(super) free: Vec<u32>,
}

impl Requests {
    /// Creates the state for `slots` send queue pairs.
    pub(crate) fn new(slots: usize) -> Requests {
        Requests {
            only: vec![Only::default(); slots].into(),
            backlogs: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Prefetches the request of a queue pair.
    #[inline]
    pub(crate) fn prefetch(&self, slot: SendSlot) {
        prefetch_at(&self.only, slot.index());
    }

    pub(super) fn backlog(&mut self, number: u32) -> &mut Backlog {
        &mut self.backlogs[number as usize]
    }

    /// Returns the index of a free backlog.
    pub(super) fn claim_backlog(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.backlogs.push(Backlog::default());
            self.backlogs.len() as u32 - 1
        })
    }
}

impl Only {
    pub(super) fn new(request: WorkRequest, packets: u32) -> Only {
        Only {
            tag: request.tag,
            posted: request.posted,
            first_sent: Instant::NEVER,
            group: request.group,
            packets,
        }
    }

    pub(super) fn request(&self, bytes: u64) -> WorkRequest {
        WorkRequest {
            tag: self.tag,
            group: self.group,
            bytes,
            posted: self.posted,
        }
    }

    #[inline]
    pub(super) fn acknowledged(
        &self,
        slot: SendSlot,
        bytes: u64,
        now: Instant,
        cut: MessageCut,
    ) -> Acknowledged {
        let packets = u64::from(self.packets);
        Acknowledged {
            slot,
            request: self.request(bytes),
            first_sent: self.first_sent,
            at: now,
            sent_frames: packets,
            sent_bytes: cut.request_frame_bytes(bytes, packets),
            retransmitted_frames: 0,
            held: HeldByRate::default(),
        }
    }
}

impl Backlog {
    /// Counts packets in `range` as sent in vain, or with `more` unset takes that back. `base` is
    /// the oldest unacknowledged PSN.
    pub(super) fn count_repeats(
        &mut self,
        range: &Range<u32>,
        base: u32,
        cut: MessageCut,
        more: bool,
    ) {
        for index in 0..self.posted.len() {
            self.posted.get_mut(index).repeat(range, base, cut, more);
        }
    }
}

impl Posted {
    pub(super) fn new(request: WorkRequest, first_sequence: u32, packets: u32) -> Posted {
        Posted {
            request,
            first_sent: Instant::NEVER,
            first_sequence,
            packets,
            repeated_frames: 0,
            repeated_bytes: 0,
        }
    }

    /// Counts this request's packets in `range` as sent in vain, or with `more` unset takes that
    /// back.
    fn repeat(&mut self, range: &Range<u32>, base: u32, cut: MessageCut, more: bool) {
        // PSNs wrap, so compare all by their distance from the oldest unacknowledged one. The
        // request itself may begin before it, hence the signed difference.
        let first = i64::from(self.first_sequence.wrapping_sub(base).cast_signed());
        let within = |sequence: u32| {
            (i64::from(sequence.wrapping_sub(base)) - first).clamp(0, i64::from(self.packets))
                as u64
        };
        let (from, to) = (within(range.start), within(range.end));
        let bytes = cut.frame_bytes(self.request.bytes, from, to);
        if more {
            self.repeated_frames += to - from;
            self.repeated_bytes += bytes;
        } else {
            self.repeated_frames -= to - from;
            self.repeated_bytes -= bytes;
        }
    }

    pub(super) fn acknowledged(
        &self,
        slot: SendSlot,
        now: Instant,
        cut: MessageCut,
    ) -> Acknowledged {
        let packets = u64::from(self.packets);
        Acknowledged {
            slot,
            request: self.request,
            first_sent: self.first_sent,
            at: now,
            sent_frames: packets + self.repeated_frames,
            sent_bytes: cut.request_frame_bytes(self.request.bytes, packets) + self.repeated_bytes,
            retransmitted_frames: self.repeated_frames,
            held: HeldByRate::default(),
        }
    }
}
