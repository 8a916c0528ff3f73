//! A connection's work requests that are not fully acknowledged.

use std::collections::VecDeque;

use tenter_fabric::net::SendSlot;
use tenter_language::units::Instant;

use super::cut::Cut;
use crate::nic::held_by_rate::Waits;
use crate::send::{Acknowledged, WorkRequest};

/// A request, whose packets are numbered from `first` on.
#[derive(Clone, Copy, Debug)]
struct Posted {
    request: WorkRequest,
    first_sent: Instant,
    first: u32,
    packets: u32,
    /// Frames that were sent again.
    repeated_frames: u64,
    /// Frame bytes in the frames that were sent again.
    repeated_bytes: u64,
}

/// A connection's requests, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    posted: VecDeque<Posted>,
    /// Requests at the front whose packets have all been sent.
    sent_whole: usize,
}

/// A packet that has not been sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsent {
    pub(super) frame_bytes: u16,
    pub(super) ends_request: bool,
}

impl Requests {
    /// Appends a request whose packets are numbered from `first` on, and returns its packet count.
    pub(super) fn post(&mut self, request: WorkRequest, first: u32, cut: Cut) -> u32 {
        let packets = u32::try_from(cut.packets(request.bytes))
            .expect("a plan puts fewer than 2^30 packets of a collective on a connection");
        self.posted.push_back(Posted {
            request,
            first_sent: Instant::NEVER,
            first,
            packets,
            repeated_frames: 0,
            repeated_bytes: 0,
        });
        packets
    }

    /// Makes packet `number` for the current request. It is the next one and leaves at `now`.
    pub(super) fn send(&mut self, number: u32, cut: Cut, now: Instant) -> Unsent {
        let posted = &mut self.posted[self.sent_whole];
        let nth = number.wrapping_sub(posted.first);
        if nth == 0 {
            posted.first_sent = now;
        }
        let ends_request = nth + 1 == posted.packets;
        self.sent_whole += usize::from(ends_request);
        Unsent {
            frame_bytes: cut.frame_bytes(posted.request.bytes, u64::from(nth)),
            ends_request,
        }
    }

    /// Returns the frame bytes for packet `number`, which is the next one and has not been sent.
    pub(super) fn next_frame_bytes(&self, number: u32, cut: Cut) -> u16 {
        let posted = &self.posted[self.sent_whole];
        let nth = number.wrapping_sub(posted.first);
        cut.frame_bytes(posted.request.bytes, u64::from(nth))
    }

    /// Counts a packet that is sent again.
    pub(super) fn repeat(&mut self, number: u32, frame_bytes: u16) {
        let holds = |posted: &&mut Posted| number.wrapping_sub(posted.first) < posted.packets;
        if let Some(posted) = self.posted.iter_mut().find(holds) {
            posted.repeated_frames += 1;
            posted.repeated_bytes += u64::from(frame_bytes);
        }
    }

    /// Returns the position at which the request for the next packet lies: the one with packet
    /// `lost`, if that must be resent, or else the first unsent one.
    pub(super) fn sending(&self, lost: Option<u32>) -> usize {
        let holds =
            |posted: &Posted, number: u32| number.wrapping_sub(posted.first) < posted.packets;
        let of_lost = lost.and_then(|number| {
            let mut posted = self.posted.iter();
            posted.position(|posted| holds(posted, number))
        });
        of_lost.unwrap_or(self.sent_whole)
    }

    /// Removes requests whose packets all lie before `before`, and appends them to `done`. Returns
    /// their number.
    pub(super) fn acknowledge(
        &mut self,
        before: u32,
        waits: &mut Waits,
        slot: SendSlot,
        cut: Cut,
        now: Instant,
        done: &mut Vec<Acknowledged>,
    ) -> u32 {
        let mut finished = 0;
        while let Some(posted) = self.posted.front() {
            let end = posted.first.wrapping_add(posted.packets);
            // Numbers wrap: a distance beyond half the range means that packets are missing.
            if self.sent_whole == 0 || before.wrapping_sub(end) > u32::MAX / 2 {
                break;
            }
            done.push(Acknowledged {
                slot,
                request: posted.request,
                first_sent: posted.first_sent,
                at: now,
                sent_frames: u64::from(posted.packets) + posted.repeated_frames,
                sent_bytes: cut.all_frame_bytes(posted.request.bytes) + posted.repeated_bytes,
                retransmitted_frames: posted.repeated_frames,
                held: waits.acknowledged(),
            });
            self.posted.pop_front();
            self.sent_whole -= 1;
            finished += 1;
        }
        finished
    }

    /// Returns the requests, oldest first.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = WorkRequest> + '_ {
        self.posted.iter().map(|posted| posted.request)
    }

    /// Returns the number of unacknowledged requests.
    pub(super) fn count(&self) -> usize {
        self.posted.len()
    }
}
