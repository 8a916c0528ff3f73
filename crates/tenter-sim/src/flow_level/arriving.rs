//! Events at hosts: timers, arrivals and acknowledgements.

use std::cell::RefCell;

use tenter_engine::{Home, LocalNode};
use tenter_language::units::Instant;

use crate::network::{CompleteFlow, FlowKey, NodeModel};

use super::domains::Domains;
use super::driver::FlowDriver;
use super::instants::Happens;
use super::messages::{MessageId, PairWay};

impl FlowDriver {
    pub(super) fn fire(&mut self, node: LocalNode, now: Instant) {
        // The event that was planned for this node is being handled; `look_at` plans the next.
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

    /// Sends what a host has posted, and plans the host's next timer.
    pub(super) fn look_at(&mut self, node: LocalNode, now: Instant) {
        // A host posts into this shared cell, since it cannot reach the driver while it runs.
        let posted = self.fabric.partition_records.posted.as_ref();
        let posted = posted.map(RefCell::take).unwrap_or_default();
        for posted in posted {
            self.post(posted, now);
        }
        let NodeModel::Host(host) = &self.fabric.nodes[node.index()] else {
            return;
        };
        if let Some(next) = host.next_timer()
            // An earlier event will look again and plan this one then.
            && next < self.planned[node.index()]
        {
            self.planned[node.index()] = next;
            self.instants.add(next, Happens::Timer(node.number()));
        }
    }

    /// Handles a message that has arrived whole.
    pub(super) fn deliver(&mut self, id: MessageId, now: Instant) {
        let message = self.messages.receive(id, now);
        let Some(PairWay { way, to, .. }) = self.messages.way(message.pair) else {
            return;
        };
        // An acknowledgement takes the path back without waiting, and no bandwidth.
        let back = self.ways.way(way).delays.back;
        let answered = Happens::Acknowledged(message.sequence, id.number());
        self.instants.add(now + back, answered);
        let bytes = self.frame_bytes(&message);
        let FlowKey { job, transfer, .. } = message.key;
        // A transfer has arrived once its share on every queue pair has.
        let shares = u32::from(self.fabric.context.jobs[job].job.queue_pairs);
        let is_whole = self.shares.is_last((job, transfer), shares);
        let Home { node, .. } = self.fabric.context.home(to);
        let (model, mut scope) = self.fabric.node(node);
        scope.partition_records.arrived(job, bytes, now);
        if let NodeModel::Host(host) = model
            && is_whole
        {
            let receiver = scope.schedules.of(job).transfer(transfer).receiver();
            if let Some(number) = scope.context.number_of(to, job, receiver) {
                host.transfer_arrived(number, job, transfer, now, &mut scope);
            }
        }
        self.look_at(node, now);
    }

    /// Handles the acknowledgement that has arrived for a message.
    pub(super) fn acknowledge(&mut self, id: MessageId, now: Instant) {
        let message = self.messages.close(id);
        let Some(PairWay { from, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let bytes = self.frame_bytes(&message);
        let Home { node, .. } = self.fabric.context.home(from);
        let (model, scope) = self.fabric.node(node);
        scope.partition_records.completed(CompleteFlow {
            key: message.key,
            turn: message.turn,
            frames: message.frames,
            bytes,
            posted: message.posted,
            first_sent: message.first_sent,
            received: message.received,
            at: now,
        });
        let FlowKey { job, transfer, .. } = message.key;
        if let NodeModel::Host(host) = model {
            host.share_acknowledged(job, transfer, message.posted, now, &scope);
        }
        self.look_at(node, now);
    }
}
