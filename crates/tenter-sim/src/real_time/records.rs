//! Halves of flows, as they travel from hosts to the books.

use serde::{Deserialize, Serialize};
use tenter_endpoint::Marks;
use tenter_language::units::Instant;
use tenter_workload::JobId;

use crate::network::{AcknowledgedHalf, DeliveredHalf, FlowKey};

/// A flow as its receiver saw it. Instants are in ps, latencies in units of
/// [`SENT_UNIT_PS`](tenter_fabric::net::SENT_UNIT_PS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfReceived {
    /// Job, by its index in the plan.
    pub job: u16,
    /// Index among the queue pairs between the two ranks.
    pub queue_pair: u16,
    /// Index of the transfer that the flow is a share of.
    pub transfer: u32,
    /// Index of the collective, counted over all iterations.
    pub turn: u32,
    /// Arrival of the last byte.
    pub at_ps: u64,
    /// Frame bytes accepted, without duplicates.
    pub bytes: u64,
    /// Frames accepted, without duplicates among them.
    pub frames: u32,
    /// Sum of the frames' latencies.
    pub latency_sum: u64,
    /// Lowest latency that a frame had.
    pub latency_min: u32,
    /// Highest latency that a frame had.
    pub latency_max: u32,
    /// Data frames that arrived with an ECN mark.
    pub marked_frames: u32,
    /// CNPs sent because of these marks.
    pub notifications: u32,
}

/// A flow as its sender saw it. Instants are in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfSent {
    /// Job, by its index in the plan.
    pub job: u16,
    /// Index among the queue pairs between the two ranks.
    pub queue_pair: u16,
    /// Index of the transfer that the flow is a share of.
    pub transfer: u32,
    /// Index of the collective, counted over all iterations.
    pub turn: u32,
    /// Instant at which the flow was posted.
    pub posted_ps: u64,
    /// Instant at which its first frame began to leave.
    pub first_sent_ps: u64,
    /// Arrival of the acknowledgement for the last byte.
    pub at_ps: u64,
    /// Frames sent, including those sent again.
    pub frames: u64,
    /// Frame bytes sent, including those sent again.
    pub bytes: u64,
    /// Frames that were sent again, each repetition counted.
    pub retransmitted_frames: u64,
}

/// Halves of flows that a host has recorded since it was last asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecords {
    /// Flows that have arrived at this host.
    pub received: Vec<HalfReceived>,
    /// Flows from this host that have been acknowledged.
    pub sent: Vec<HalfSent>,
}

impl HostRecords {
    /// Corrects all instants for the error of the host's clock by `to`, which maps ps to ps.
    pub fn correct(&mut self, to: impl Fn(u64) -> u64) {
        for half in &mut self.received {
            half.at_ps = to(half.at_ps);
        }
        for half in &mut self.sent {
            half.posted_ps = to(half.posted_ps);
            half.first_sent_ps = to(half.first_sent_ps);
            half.at_ps = to(half.at_ps);
        }
    }
}

impl HalfReceived {
    pub(super) fn new(half: &DeliveredHalf, marks: Marks) -> HalfReceived {
        HalfReceived {
            job: half.key.job.number(),
            queue_pair: half.key.queue_pair,
            transfer: half.key.transfer,
            turn: half.turn,
            at_ps: half.at.ps(),
            bytes: half.bytes,
            frames: half.frames,
            latency_sum: half.latency_sum,
            latency_min: half.latency_min,
            latency_max: half.latency_max,
            marked_frames: marks.frames,
            notifications: marks.notifications,
        }
    }

    pub(super) fn key(&self) -> FlowKey {
        FlowKey {
            job: JobId::new(self.job),
            queue_pair: self.queue_pair,
            transfer: self.transfer,
        }
    }

    pub(super) fn half(&self) -> DeliveredHalf {
        DeliveredHalf {
            key: self.key(),
            at: Instant::from_ps(self.at_ps),
            bytes: self.bytes,
            latency_sum: self.latency_sum,
            latency_min: self.latency_min,
            latency_max: self.latency_max,
            frames: self.frames,
            turn: self.turn,
        }
    }

    pub(super) fn marks(&self) -> Marks {
        Marks {
            frames: self.marked_frames,
            notifications: self.notifications,
        }
    }
}

impl HalfSent {
    pub(super) fn new(half: &AcknowledgedHalf) -> HalfSent {
        HalfSent {
            job: half.key.job.number(),
            queue_pair: half.key.queue_pair,
            transfer: half.key.transfer,
            turn: half.turn,
            posted_ps: half.posted.ps(),
            first_sent_ps: half.first_sent.ps(),
            at_ps: half.at.ps(),
            frames: half.frames,
            bytes: half.bytes,
            retransmitted_frames: half.retransmitted_frames,
        }
    }

    pub(super) fn key(&self) -> FlowKey {
        FlowKey {
            job: JobId::new(self.job),
            queue_pair: self.queue_pair,
            transfer: self.transfer,
        }
    }

    pub(super) fn half(&self) -> AcknowledgedHalf {
        AcknowledgedHalf {
            key: self.key(),
            posted: Instant::from_ps(self.posted_ps),
            first_sent: Instant::from_ps(self.first_sent_ps),
            at: Instant::from_ps(self.at_ps),
            frames: self.frames,
            bytes: self.bytes,
            retransmitted_frames: self.retransmitted_frames,
            turn: self.turn,
        }
    }
}
