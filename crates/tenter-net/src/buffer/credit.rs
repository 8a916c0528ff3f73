//! The memory of a switch whose senders go by credit: an input buffer for each port and class.
//!
//! Every frame has room, as its sender had credit for it. Every departure may give some back.

use std::collections::VecDeque;

use tenter_units::Instant;

use super::frame::{ControlMessage, PendingControl, QueuedFrame};
use super::storage::{Buffer, Storage};
use crate::credit::{CreditSpec, InputBuffers, Lane, LaneBuffer};

/// The input buffers of a switch.
#[derive(Clone, Debug)]
pub(crate) struct CreditBuffer {
    inputs: InputBuffers,
    queues: usize,
    /// Control frames that have not been sent, in order.
    pending: VecDeque<PendingControl>,
}

impl CreditBuffer {
    /// The empty input buffers of a number of ports, with a number of queues each.
    pub(crate) fn new(spec: &CreditSpec, ports: usize, queues: usize) -> CreditBuffer {
        CreditBuffer {
            inputs: InputBuffers::new(spec, ports, queues),
            queues,
            pending: VecDeque::new(),
        }
    }

    /// The input buffer of a port and a queue.
    pub(crate) fn input(&self, port: u16, queue: usize) -> &LaneBuffer {
        self.inputs.of(port, queue)
    }

    /// Takes a frame into the input buffer of its port and queue, for which it had credit.
    pub(crate) fn take_in(&mut self, lane: Lane, frame_bytes: u16) {
        self.inputs.of_mut(lane).take(frame_bytes);
    }

    /// A frame leaves the input buffer of its port and queue.
    #[inline(never)]
    pub(crate) fn give_back(&mut self, lane: Lane, frame_bytes: u16) {
        let limit = self.inputs.of_mut(lane).free(frame_bytes);
        self.send_limit(lane, limit);
    }

    /// A number of blocks was sent to the input buffer of a port and queue, and lost.
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

    fn link_down(&mut self, _: u16, _: Instant) {}

    /// The sender must be told what it may send.
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
