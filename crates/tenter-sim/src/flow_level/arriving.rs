//! What happens at hosts: timers, arrivals and acknowledgements.

use std::cell::RefCell;

use tenter_endpoint::{Acknowledged, Delivery, WorkRequest};
use tenter_engine::{Home, LocalNode};
use tenter_net::{ReceiveSlot, SendSlot};
use tenter_units::Instant;

use crate::network::{FlowKey, NodeModel};

use super::domains::Domains;
use super::driver::FlowDriver;
use super::instants::Happens;
use super::messages::{MessageId, PairWay};

impl FlowDriver {
    pub(super) fn fire(&mut self, node: LocalNode, now: Instant) {
        self.planned[node.index()] = Instant::NEVER;
        let mut domains = Domains {
            instants: &mut self.instants,
            under_way: &mut self.under_way,
        };
        let (model, mut scope) = self.fabric.node(node);
        if let NodeModel::Host(host) = model {
            while host.next_timer().is_some_and(|next| next <= now) {
                host.fire(now, &mut scope, &mut domains);
            }
        }
        self.look_at(node, now);
    }

    /// Takes what a host has posted, and plans its next timer.
    pub(super) fn look_at(&mut self, node: LocalNode, now: Instant) {
        let posted = self.fabric.partition_records.posted.as_ref();
        let posted = posted.map(RefCell::take).unwrap_or_default();
        for posted in posted {
            self.post(posted, now);
        }
        let NodeModel::Host(host) = &self.fabric.nodes[node.index()] else {
            return;
        };
        if let Some(next) = host.next_timer()
            && next < self.planned[node.index()]
        {
            self.planned[node.index()] = next;
            self.instants.add(next, Happens::Timer(node.number()));
        }
    }

    /// A message has arrived whole.
    pub(super) fn deliver(&mut self, id: MessageId, now: Instant) {
        let message = *self.messages.get(id);
        let Some(PairWay { way, to, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let back = self.ways.way(way).delays.back;
        let answered = Happens::Acknowledged(message.sequence, id.number());
        self.instants.add(now + back, answered);
        let FlowKey { job, transfer, .. } = message.key;
        let delivery = Delivery {
            slot: ReceiveSlot::default(),
            nth: 0,
            at: now,
            accepted_frames: message.frames,
            accepted_bytes: message.frame_bytes,
            latency_min: 0,
            latency_max: 0,
            latency_sum: 0,
        };
        let shares = u32::from(self.fabric.context.jobs[job].job.queue_pairs);
        let is_whole = self.shares.is_last((job, transfer), shares);
        let Home { node, .. } = self.fabric.context.home(to);
        let (model, mut scope) = self.fabric.node(node);
        scope
            .partition_records
            .delivered(message.key, message.turn, &delivery);
        if let NodeModel::Host(host) = model
            && is_whole
        {
            let receiver = scope.schedules.of(job).transfer(transfer).receiver();
            if let Some(number) = scope.context.number_of(to, job, receiver) {
                host.transfer_arrived(number, job, transfer, delivery.at, &mut scope);
            }
        }
        self.look_at(node, now);
    }

    /// The acknowledgement of a message has arrived.
    pub(super) fn acknowledge(&mut self, id: MessageId, now: Instant) {
        let message = self.messages.close(id);
        let Some(PairWay { from, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let Home { node, .. } = self.fabric.context.home(from);
        let (model, scope) = self.fabric.node(node);
        scope.partition_records.acknowledged(&Acknowledged {
            slot: SendSlot::default(),
            request: WorkRequest {
                tag: message.key.pack(),
                group: message.turn,
                bytes: message.bytes,
                posted: message.posted,
            },
            first_sent: message.first_sent,
            at: now,
            sent_frames: u64::from(message.frames),
            sent_bytes: message.frame_bytes,
            retransmitted_frames: 0,
        });
        let FlowKey { job, transfer, .. } = message.key;
        if let NodeModel::Host(host) = model {
            host.share_acknowledged(job, transfer, message.posted, now, &scope);
        }
        self.look_at(node, now);
    }
}
