//! Halves of flows, as they travel from hosts to the books.

use serde::{Deserialize, Serialize};
use tenter_endpoint::Marks;
use tenter_units::Instant;
use tenter_workload::JobId;

use crate::network::{AcknowledgedHalf, DeliveredHalf, FlowKey};

/// What a receiver knows of a flow. Instants are in ps, latencies in units of
/// [`SENT_UNIT_PS`](tenter_net::SENT_UNIT_PS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfReceived {
    /// The job.
    pub job: u16,
    /// Which of the queue pairs of its way it took.
    pub queue_pair: u16,
    /// The transfer that it is a share of.
    pub transfer: u32,
    /// The collective of the job, counted over all iterations.
    pub turn: u32,
    /// When its last byte arrived.
    pub at_ps: u64,
    /// Frame bytes accepted.
    pub bytes: u64,
    /// Frames accepted.
    pub frames: u32,
    /// Sum of their latencies.
    pub latency_sum: u64,
    /// The least of these.
    pub latency_min: u32,
    /// The greatest.
    pub latency_max: u32,
    /// Data frames that came with a mark.
    pub marked_frames: u32,
    /// Congestion notifications sent for them.
    pub notifications: u32,
}

/// What a sender knows of a flow. Instants are in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfSent {
    /// The job.
    pub job: u16,
    /// Which of the queue pairs of its way it took.
    pub queue_pair: u16,
    /// The transfer that it is a share of.
    pub transfer: u32,
    /// The collective of the job, counted over all iterations.
    pub turn: u32,
    /// When it was posted.
    pub posted_ps: u64,
    /// When its first frame began to leave.
    pub first_sent_ps: u64,
    /// When the acknowledgement of its last byte arrived.
    pub at_ps: u64,
    /// Frames sent, those sent again included.
    pub frames: u64,
    /// Their frame bytes.
    pub bytes: u64,
    /// Frames sent again.
    pub retransmitted_frames: u64,
}

/// What a host has recorded since it was last asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecords {
    /// Of flows that have arrived.
    pub received: Vec<HalfReceived>,
    /// Of flows that have been acknowledged.
    pub sent: Vec<HalfSent>,
}

impl HostRecords {
    /// Moves all instants by the error of a host's clock, which `to` corrects.
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
