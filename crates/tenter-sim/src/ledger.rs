//! What one part has to report: both halves of each flow, and the digest.

use tenter_endpoint::{Acknowledged, Delivery};
use tenter_record::Digest;

/// One share of a transfer: what travels on one queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    pub(crate) job: u16,
    pub(crate) queue_pair: u16,
    pub(crate) transfer: u32,
}

impl FlowKey {
    pub(crate) fn pack(self) -> u64 {
        u64::from(self.job) << 48 | u64::from(self.queue_pair) << 32 | u64::from(self.transfer)
    }

    pub(crate) fn unpack(tag: u64) -> FlowKey {
        FlowKey {
            job: (tag >> 48) as u16,
            queue_pair: (tag >> 32) as u16,
            transfer: tag as u32,
        }
    }
}

/// The receiver's half of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveredHalf {
    pub(crate) key: FlowKey,
    pub(crate) turn: u32,
    pub(crate) delivery: Delivery,
}

/// The sender's half of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcknowledgedHalf {
    pub(crate) key: FlowKey,
    pub(crate) turn: u32,
    pub(crate) done: Acknowledged,
}

/// The records of one part since they were last collected.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) delivered: Vec<DeliveredHalf>,
    pub(crate) acknowledged: Vec<AcknowledgedHalf>,
    pub(crate) digest: Digest,
    /// Scratch space of [`Host`](crate::Host).
    pub(crate) released: Vec<u32>,
}

/// First words of the digest's records.
const DELIVERED: u64 = 1;
const ACKNOWLEDGED: u64 = 2;

impl Ledger {
    pub(crate) fn delivered(&mut self, key: FlowKey, turn: u32, delivery: &Delivery) {
        self.digest.add(&[
            DELIVERED,
            key.pack(),
            u64::from(turn),
            delivery.at,
            delivery.accepted_frames,
            delivery.accepted_bytes,
            delivery.latency_sum,
            delivery.latency_max,
        ]);
        self.delivered.push(DeliveredHalf {
            key,
            turn,
            delivery: *delivery,
        });
    }

    pub(crate) fn acknowledged(&mut self, done: &Acknowledged) {
        let key = FlowKey::unpack(done.request.tag);
        let turn = done.request.group;
        self.digest.add(&[
            ACKNOWLEDGED,
            key.pack(),
            u64::from(turn),
            done.request.posted,
            done.first_sent,
            done.at,
            done.sent_frames,
            done.sent_bytes,
        ]);
        self.acknowledged.push(AcknowledgedHalf {
            key,
            turn,
            done: *done,
        });
    }
}
