//! One partition's records: both halves of each flow.

use std::cell::RefCell;

use tenter_endpoint::{Acknowledged, Delivery, HeldByRate, Marks};
use tenter_language::units::{ById, Instant};
use tenter_workload::graph::Consequences;
use tenter_workload::{JobId, RankId, RankSendSlot};

use super::jobs::JobPlan;

/// A flow's key: the share of a transfer that travels on one queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    pub(crate) job: JobId,
    pub(crate) queue_pair: u16,
    pub(crate) transfer: u32,
}

impl FlowKey {
    /// Packs the key into a work request's 64-bit tag.
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
    /// The first of the queue pairs over which it is split.
    pub(crate) first: RankSendSlot,
    pub(crate) transfer: u32,
    pub(crate) at: Instant,
}

/// The receiver's half of a flow. Latencies are in units of
/// [`SENT_UNIT_PS`](tenter_fabric::net::SENT_UNIT_PS) ps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveredHalf {
    pub(crate) key: FlowKey,
    /// Time at which the last byte arrived.
    pub(crate) at: Instant,
    /// Frame bytes that were accepted.
    pub(crate) bytes: u64,
    pub(crate) latency_sum: u64,
    pub(crate) latency_min: u32,
    pub(crate) latency_max: u32,
    /// Frames that were accepted at the receiver.
    pub(crate) frames: u32,
    /// Number of the job's instance.
    pub(crate) turn: u32,
}

/// The sender's half of a flow.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct AcknowledgedHalf {
    pub(crate) key: FlowKey,
    pub(crate) posted: Instant,
    pub(crate) first_sent: Instant,
    /// Time at which the acknowledgement arrived.
    pub(crate) at: Instant,
    /// Frames that were sent, retransmissions included.
    pub(crate) frames: u64,
    /// Frame bytes that were sent.
    pub(crate) bytes: u64,
    pub(crate) retransmitted_frames: u64,
    pub(crate) turn: u32,
}

impl AcknowledgedHalf {
    /// Returns the sorting key for flows that are received at the same instant. Instances are
    /// numbered by iteration, then by collective.
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
    /// Time at which its acknowledgement arrived.
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
            // Flow level loses nothing, and knows no latencies of packets.
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

/// A job's arrivals at flow level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) flows: u64,
    /// Frame bytes that have arrived.
    pub(crate) bytes: u64,
    /// Time at which the last flow arrived.
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

// There is one record of each kind per flow, and those of some microseconds are read again when
// rows are made: their size decides how many stay in the cache.
const _: () = assert!(size_of::<DeliveredHalf>() == 48 && size_of::<AcknowledgedHalf>() == 64);

/// The records of one partition since they were last collected.
#[derive(Debug, Default)]
pub(crate) struct PartitionRecords {
    /// For each endless job the frame bytes that were accepted, because its flows have no rows;
    /// `None` for other jobs.
    pub(crate) endless: ById<JobId, Option<u64>>,
    pub(crate) delivered: Vec<DeliveredHalf>,
    pub(crate) acknowledged: Vec<AcknowledgedHalf>,
    /// At flow level, each job's arrivals since the last collection.
    pub(crate) arrived: ById<JobId, Arrived>,
    pub(crate) complete: Vec<CompleteFlow>,
    /// Delivered flows with congestion marks: key, instance and marks.
    pub(crate) marked: Vec<(FlowKey, u32, Marks)>,
    /// Acknowledged flows that were held by their rates: key, instance and durations.
    pub(crate) held: Vec<(FlowKey, u32, HeldByRate)>,
    /// Transfers posted since the last collection, at flow level; `None` at packet level, where
    /// NICs take them.
    pub(crate) posted: Option<RefCell<Vec<Posted>>>,
    /// Scratch memory for [`Host`](crate::Host): transfers that an arrival releases.
    pub(crate) released: Vec<u32>,
    /// Scratch memory for [`Host`](crate::Host): requests that the current packet acknowledges.
    pub(crate) done: Vec<Acknowledged>,
    /// Scratch memory for [`Host`](crate::Host): consequences of an event in an operation graph.
    pub(crate) consequences: RefCell<Consequences>,
}

impl PartitionRecords {
    /// Makes empty records for a partition that has these jobs.
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
        // Endless jobs would fill the table of flows; a sum is all that is kept of them.
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

    /// Records a flow with `bytes` frame bytes that has arrived at flow level.
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

    /// Records a flow that is complete at flow level.
    pub(crate) fn completed(&mut self, flow: CompleteFlow) {
        if self.endless[flow.key.job].is_none() {
            self.complete.push(flow);
        }
    }

    /// Records congestion marks for a flow that has just been delivered.
    #[inline]
    pub(crate) fn marked(&mut self, key: FlowKey, turn: u32, marks: Marks) {
        if marks != Marks::default() && self.endless[key.job].is_none() {
            self.marked.push((key, turn, marks));
        }
    }

    /// Records the requests in `done`, and empties it.
    pub(crate) fn book_done(&mut self) {
        // In any order: flows are sorted before they become rows.
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
