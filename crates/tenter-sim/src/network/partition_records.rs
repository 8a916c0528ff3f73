//! What one part has to report: both halves of each flow.

use std::cell::RefCell;

use tenter_endpoint::{Acknowledged, Delivery, HeldByRate, Marks};
use tenter_units::{ById, Instant};
use tenter_workload::graph::Consequences;
use tenter_workload::{JobId, RankId, RankSendSlot};

use super::jobs::JobPlan;

/// One share of a transfer: what travels on one queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    pub(crate) job: JobId,
    pub(crate) queue_pair: u16,
    pub(crate) transfer: u32,
}

impl FlowKey {
    pub(crate) fn pack(self) -> u64 {
        u64::from(self.job.number()) << 48
            | u64::from(self.queue_pair) << 32
            | u64::from(self.transfer)
    }

    pub(crate) fn unpack(tag: u64) -> FlowKey {
        FlowKey {
            job: JobId::new((tag >> 48) as u16),
            queue_pair: (tag >> 32) as u16,
            transfer: tag as u32,
        }
    }
}

/// A transfer that a rank has posted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) job: JobId,
    /// The rank that sends it.
    pub(crate) rank: RankId,
    /// The first of the queue pairs that it is split over.
    pub(crate) first: RankSendSlot,
    pub(crate) transfer: u32,
    pub(crate) at: Instant,
}

/// The receiver's half of a flow. Latencies are in units of
/// [`SENT_UNIT_PS`](tenter_net::SENT_UNIT_PS).
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveredHalf {
    pub(crate) key: FlowKey,
    pub(crate) at: Instant,
    pub(crate) bytes: u64,
    pub(crate) latency_sum: u64,
    pub(crate) latency_min: u32,
    pub(crate) latency_max: u32,
    pub(crate) frames: u32,
    pub(crate) turn: u32,
}

/// The sender's half of a flow.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct AcknowledgedHalf {
    pub(crate) key: FlowKey,
    pub(crate) posted: Instant,
    pub(crate) first_sent: Instant,
    pub(crate) at: Instant,
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) retransmitted_frames: u64,
    pub(crate) turn: u32,
}

impl AcknowledgedHalf {
    /// What flows that are received at the same instant are sorted by. Turns are numbered by
    /// iteration, then by collective.
    pub(crate) fn order(&self) -> (JobId, u32, u32, u16) {
        let FlowKey {
            job,
            queue_pair,
            transfer,
        } = self.key;
        (job, self.turn, transfer, queue_pair)
    }
}

/// A flow at flow level, where both halves are known at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompleteFlow {
    pub(crate) key: FlowKey,
    pub(crate) turn: u32,
    pub(crate) frames: u32,
    pub(crate) bytes: u64,
    pub(crate) posted: Instant,
    pub(crate) first_sent: Instant,
    pub(crate) received: Instant,
    /// When its acknowledgement has arrived.
    pub(crate) at: Instant,
}

impl CompleteFlow {
    pub(crate) fn halves(&self) -> (AcknowledgedHalf, DeliveredHalf) {
        let &CompleteFlow {
            key,
            turn,
            frames,
            bytes,
            posted,
            first_sent,
            received,
            at,
        } = self;
        let sent = AcknowledgedHalf {
            key,
            posted,
            first_sent,
            at,
            frames: u64::from(frames),
            bytes,
            retransmitted_frames: 0,
            turn,
        };
        let delivered = DeliveredHalf {
            key,
            at: received,
            bytes,
            latency_sum: 0,
            latency_min: 0,
            latency_max: 0,
            frames,
            turn,
        };
        (sent, delivered)
    }
}

/// What has arrived of a job at flow level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) flows: u64,
    /// Frame bytes.
    pub(crate) bytes: u64,
    pub(crate) last: Instant,
}

impl Default for Arrived {
    fn default() -> Self {
        Arrived {
            flows: 0,
            bytes: 0,
            last: Instant::START,
        }
    }
}

// There is one of each per flow, and all of some microseconds are looked up again when rows are
// made of them.
const _: () = assert!(size_of::<DeliveredHalf>() == 48 && size_of::<AcknowledgedHalf>() == 64);

/// The records of one part since they were last collected.
#[derive(Debug, Default)]
pub(crate) struct PartitionRecords {
    /// Of each endless job the frame bytes accepted; its flows have no rows.
    pub(crate) endless: ById<JobId, Option<u64>>,
    pub(crate) delivered: Vec<DeliveredHalf>,
    pub(crate) acknowledged: Vec<AcknowledgedHalf>,
    /// What has arrived of each job at flow level, and flows that are complete there.
    pub(crate) arrived: ById<JobId, Arrived>,
    pub(crate) complete: Vec<CompleteFlow>,
    /// Marks of delivered flows and their turns, where there are any.
    pub(crate) marked: Vec<(FlowKey, u32, Marks)>,
    /// How long acknowledged flows were held by their rates, with their turns, where they were.
    pub(crate) held: Vec<(FlowKey, u32, HeldByRate)>,
    /// What has been posted to queue pairs, at flow level; NICs take it where there are packets.
    pub(crate) posted: Option<RefCell<Vec<Posted>>>,
    /// Scratch space of [`Host`](crate::Host).
    pub(crate) released: Vec<u32>,
    /// Scratch space of [`Host`](crate::Host): requests that the packet just served acknowledges.
    pub(crate) done: Vec<Acknowledged>,
    /// Scratch space of [`Host`](crate::Host), where ranks have graphs of operations.
    pub(crate) consequences: RefCell<Consequences>,
}

impl PartitionRecords {
    /// The records of a part of a network with these jobs.
    pub(crate) fn new(jobs: &ById<JobId, JobPlan>) -> PartitionRecords {
        PartitionRecords {
            endless: jobs
                .iter()
                .map(|plan| plan.is_endless().then_some(0))
                .collect(),
            arrived: vec![Arrived::default(); jobs.len()].into(),
            ..PartitionRecords::default()
        }
    }

    pub(crate) fn delivered(&mut self, key: FlowKey, turn: u32, delivery: &Delivery) {
        if let Some(bytes) = &mut self.endless[key.job] {
            *bytes += delivery.accepted_bytes;
            return;
        }
        self.delivered.push(DeliveredHalf {
            key,
            at: delivery.at,
            bytes: delivery.accepted_bytes,
            latency_sum: delivery.latency_sum,
            latency_min: delivery.latency_min,
            latency_max: delivery.latency_max,
            frames: delivery.accepted_frames,
            turn,
        });
    }

    /// A flow of so many frame bytes has arrived at flow level.
    pub(crate) fn arrived(&mut self, job: JobId, bytes: u64, now: Instant) {
        if let Some(endless) = &mut self.endless[job] {
            *endless += bytes;
            return;
        }
        let arrived = &mut self.arrived[job];
        arrived.flows += 1;
        arrived.bytes += bytes;
        arrived.last = arrived.last.max(now);
    }

    /// A flow is complete at flow level.
    pub(crate) fn completed(&mut self, flow: CompleteFlow) {
        if self.endless[flow.key.job].is_none() {
            self.complete.push(flow);
        }
    }

    /// Books the marks of a flow that has just been delivered.
    #[inline]
    pub(crate) fn marked(&mut self, key: FlowKey, turn: u32, marks: Marks) {
        if marks != Marks::default() && self.endless[key.job].is_none() {
            self.marked.push((key, turn, marks));
        }
    }

    /// Books the requests in `done`.
    pub(crate) fn book_done(&mut self) {
        while let Some(done) = self.done.pop() {
            self.acknowledged(&done);
        }
    }

    pub(crate) fn acknowledged(&mut self, done: &Acknowledged) {
        let key = FlowKey::unpack(done.request.tag);
        let turn = done.request.group;
        if self.endless[key.job].is_some() {
            return;
        }
        self.acknowledged.push(AcknowledgedHalf {
            key,
            posted: done.request.posted,
            first_sent: done.first_sent,
            at: done.at,
            frames: done.sent_frames,
            bytes: done.sent_bytes,
            retransmitted_frames: done.retransmitted_frames,
            turn,
        });
        if done.held != HeldByRate::default() {
            self.held.push((key, turn, done.held));
        }
    }
}
