//! Memory of a switch in a credit-based fabric: an input buffer for each port and lane.
//!
//! Every frame finds room, as its sender had credit for it. Every departure may return some credit.

use std::collections::VecDeque;

use tenter_language::units::Instant;

use super::frame::{ControlMessage, PendingControl, QueuedFrame};
use super::storage::{Buffer, Storage};
use crate::net::credit::{CreditSpec, InputBuffers, Lane, LaneBuffer};

/// The input buffers of all ports and lanes.
#[derive(Clone, Debug)]
pub(crate) struct CreditBuffer {
    inputs: InputBuffers,
    queues: usize,
    /// Flow-control packets not yet sent, in order.
    pending: VecDeque<PendingControl>,
}

impl CreditBuffer {
    /// Makes empty input buffers for `ports` ports with `queues` lanes each.
    pub(crate) fn new(spec: &CreditSpec, ports: usize, queues: usize) -> CreditBuffer {
        CreditBuffer {
            inputs: InputBuffers::new(spec, ports, queues),
            queues,
            pending: VecDeque::new(),
        }
    }

    pub(crate) fn input(&self, port: u16, queue: usize) -> &LaneBuffer {
        self.inputs.of(port, queue)
    }

    /// Stores an arriving frame in the input buffer of its lane; its sender had credit for it.
    pub(crate) fn take_in(&mut self, lane: Lane, frame_bytes: u16) {
        self.inputs.of_mut(lane).take(frame_bytes);
    }

    /// Frees the space of a frame that leaves; the lane's sender is sent new credit if it is due.
    #[inline(never)]
    pub(crate) fn give_back(&mut self, lane: Lane, frame_bytes: u16) {
        let limit = self.inputs.of_mut(lane).free(frame_bytes);
        self.send_limit(lane, limit);
    }

    /// Returns credit for `blocks` that were sent to a lane and lost on the link.
    pub(crate) fn adjust_credit(&mut self, lane: Lane, blocks: u32) {
        let limit = self.inputs.of_mut(lane).adjust(blocks);
        self.send_limit(lane, limit);
    }

    fn send_limit(&mut self, lane: Lane, limit: Option<u32>) {
        self.pending.extend(limit.map(|limit| PendingControl {
            port: lane.port,
            queue: lane.queue as u8,
            message: ControlMessage::Credit(limit),
        }));
    }
}

impl Storage for CreditBuffer {
    #[inline]
    fn is_booked(&self, _: usize) -> bool {
        true
    }

    #[inline]
    fn release(&mut self, frame: QueuedFrame, _: Instant) {
        let lane = Lane {
            port: frame.input,
            queue: frame.queue,
        };
        self.give_back(lane, frame.bytes as u16);
    }

    fn release_seldom(&mut self, frame: QueuedFrame, now: Instant) {
        self.release(frame, now);
    }
}

impl Buffer for CreditBuffer {
    #[inline]
    fn is_armed(&self) -> bool {
        true
    }

    #[inline]
    fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    fn take_pending(&mut self) -> Option<PendingControl> {
        self.pending.pop_front()
    }

    #[inline]
    fn next_refresh(&self) -> Instant {
        Instant::NEVER
    }

    fn refresh(&mut self, _: Instant) {}

    // Waiting frames keep their space. The sender's credit is void with the link, and `link_up`
    // sends it anew.
    fn link_down(&mut self, _: u16, _: Instant) {}

    /// Sends the lane's free space to the sender, which has no credit yet.
    fn link_up(&mut self, port: u16, _: Instant) {
        for queue in 0..self.queues {
            let lane = Lane { port, queue };
            let limit = self.inputs.of_mut(lane).renew();
            self.send_limit(lane, Some(limit));
        }
    }

    fn has_paused(&self, _: u16, _: usize) -> bool {
        false
    }

    fn xoffs(&self, _: u16) -> u64 {
        0
    }
}
