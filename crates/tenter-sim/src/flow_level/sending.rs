//! Sending by queue pairs: their paths and flows, and the loads that these leave behind.

use std::sync::Arc;

use crate::fluid::{Amount, FlowId, FlowSpec, LinkId, RouteId, Weight};
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};
use tenter_workload::split;

use crate::network::{Context, Fabric, FlowKey, Posted, QueuePairId, Unwatched};

use super::carried::Load;
use super::driver::FlowDriver;
use super::messages::{Message, MessageId, PairId, PairWay};
use super::search::Net;
use super::way_delays::EndFrames;
use super::ways::{MixedLoads, nic};

impl FlowDriver {
    /// Posts a transfer's shares to its queue pairs.
    pub(super) fn post(&mut self, posted: Posted, now: Instant) {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[posted.job];
        let transfer = self
            .fabric
            .schedules
            .of(posted.job)
            .transfer(posted.transfer);
        let turn = self.fabric.schedules.turn(posted.job);
        let lane = transfer.way(plan.job.queue_pair_scope).lane;
        for queue_pair in 0..plan.job.queue_pairs {
            let slot = posted.first.after(u32::from(queue_pair));
            let pair = self.first_pairs[posted.job][posted.rank].after(slot.number());
            // Neither ends nor hash of a queue pair ever change, so its path is found once.
            if self.messages.way(pair).is_none() {
                let of = QueuePairId::of(posted.job, &transfer, lane, queue_pair);
                self.find_way(pair, plan.job.ends(&transfer), context.hash(of), now);
            }
            let bytes = split::share(transfer.bytes, plan.job.queue_pairs, queue_pair);
            let key = FlowKey {
                job: posted.job,
                queue_pair,
                transfer: posted.transfer,
            };
            let message = Message::new(key, turn, pair, bytes, self.frames(bytes));
            let (id, is_first) = self.messages.post(message, posted.at);
            // A queue pair sends one message at a time; later ones begin when those before them
            // end.
            if is_first {
                self.begin(id, now);
            }
        }
    }

    /// Finds a queue pair's path. If it loads a link alone that other paths load in a bundle, the
    /// bundles are dissolved and all paths are found again.
    pub(super) fn find_way(&mut self, pair: PairId, ends: [HostId; 2], hash: u32, now: Instant) {
        let found = self
            .ways
            .find(self.fabric.net(), &mut self.fluid, ends, hash);
        let way = found.unwrap_or_else(|MixedLoads| {
            self.dissolve_bundles(now);
            self.find_ways_again(now);
            let ways = &mut self.ways;
            let again = ways.find(self.fabric.net(), &mut self.fluid, ends, hash);
            // With the bundles gone, this search cannot fail again.
            again.unwrap_or_else(|MixedLoads| unreachable!("there are no bundles"))
        });
        let [from, to] = ends;
        let own = PairWay {
            way,
            hash,
            from,
            to,
        };
        self.messages.set_way(pair, own);
        self.open_queues(pair);
    }

    /// Starts to send a message.
    pub(super) fn begin(&mut self, id: MessageId, now: Instant) {
        self.begin_with(id, None, now);
    }

    /// Starts to send a message, or goes on with the amount `left`.
    pub(super) fn begin_with(&mut self, id: MessageId, left: Option<Amount>, now: Instant) {
        let message = *self.messages.get(id);
        let amount = left.unwrap_or(Amount::of_bytes(self.wire_bytes(&message)));
        let own = self.messages.way(message.pair);
        // A path that leads nowhere keeps its flow even with queues: it has to wait at the link
        // without capacity.
        let own = own.filter(|own| self.ways.arrives(own.way));
        let spec = match (&self.queues, own) {
            (Some(open), Some(own)) => self
                .ends_of(&message, amount)
                .map(|spec| open.of_nic_alone(own.from, spec)),
            _ => self.spec(&message, amount),
        };
        if let Some(spec) = spec {
            self.enter_queues(id);
            let flow = self.fluid.begin(spec);
            self.messages.begin(id, flow, now);
        }
    }

    /// Returns the flow that carries `amount` of a message.
    pub(super) fn spec(&mut self, message: &Message, amount: Amount) -> Option<FlowSpec> {
        let PairWay { way, .. } = self.messages.way(message.pair)?;
        let route = self.ways.route(&mut self.fluid, way, message.burst());
        let spec = self.ends_of(message, amount)?;
        Some(FlowSpec { route, ..spec })
    }

    /// Returns the flow with both hosts' links only.
    fn ends_of(&self, message: &Message, amount: Amount) -> Option<FlowSpec> {
        let PairWay { way, from, to, .. } = self.messages.way(message.pair)?;
        let context = &self.fabric.context;
        Some(FlowSpec {
            from: (
                self.ways.link(nic(from)),
                entry_weight(context, from, message),
            ),
            route: RouteId::default(),
            to: self.ways.link(context.topology.neighbour(to, 0)),
            limit: self.ways.way(way).limit,
            amount,
        })
    }

    /// Returns the time between the flow's end and the message's arrival on an idle path.
    pub(super) fn rest(&self, message: &Message) -> Time {
        let Some(PairWay { way, .. }) = self.messages.way(message.pair) else {
            return Time::ZERO;
        };
        let cut = self.fabric.context.nic.cut();
        let (bytes, packets) = (message.bytes, u64::from(message.frames));
        let frame = |from: u64| cut.frame_bytes(bytes, from, from + 1) as u32;
        let ends = EndFrames {
            first: frame(0),
            before: packets.checked_sub(2).map(frame),
            last: frame(packets - 1),
        };
        // The gap behind a message takes time at the NIC, so it is part of the flow; the arrival
        // does not wait for it.
        let rest = self.ways.way(way).delays.rest(ends);
        rest.saturating_sub(self.fabric.context.nic.message_gap)
    }

    /// Returns the frame count in a message with `bytes` bytes.
    pub(super) fn frames(&self, bytes: u64) -> u32 {
        self.fabric.context.nic.cut().packets(bytes) as u32
    }

    /// Returns the bytes of all frames in a message.
    pub(super) fn frame_bytes(&self, message: &Message) -> u64 {
        frame_bytes(&self.fabric.context, message)
    }

    /// Returns the bytes that all frames in a message take on the wire, with preamble and gap.
    pub(super) fn wire_bytes(&self, message: &Message) -> u64 {
        wire_bytes(&self.fabric.context, message)
    }

    /// Returns the part that each drawn link carries; empty if links are not drawn.
    pub(super) fn drawn_parts(&self, id: MessageId, flow: FlowId) -> Vec<(LinkId, Weight)> {
        let way = self.messages.way(self.messages.get(id).pair);
        if way.is_none_or(|own| !self.ways.way(own.way).is_drawn()) {
            return Vec::new();
        }
        match &self.queues {
            Some(open) => open.drawn_parts(id),
            None => self.fluid.hops(flow).to_vec(),
        }
    }

    /// Counts the load from `messages` equal messages. `drawn` has the part that each drawn link
    /// carries.
    pub(super) fn count(&mut self, message: &Message, messages: u64, drawn: &[(LinkId, Weight)]) {
        let Some(PairWay { way, from, to, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let load = Load {
            frames: u64::from(message.frames) * messages,
            bytes: self.frame_bytes(message) * messages,
        };
        self.ways.send(way, load, drawn, &mut self.carried);
        // Links between the leaves, and the links of both hosts.
        let links = self.ways.way(way).stages + 2;
        self.carried.add_hops(load.frames * links);
        self.carried.count(nic(from), load, Weight::WHOLE);
        let leaves = self.fabric.context.topology.neighbour(to, 0);
        self.carried.count(leaves, load, Weight::WHOLE);
        self.carried.receive(to, load);
    }
}

fn frame_bytes(context: &Context, message: &Message) -> u64 {
    let cut = context.nic.cut();
    cut.request_frame_bytes(message.bytes, u64::from(message.frames))
}

fn wire_bytes(context: &Context, message: &Message) -> u64 {
    let around = u64::from(message.frames) * u64::from(WIRE_OVERHEAD_BYTES);
    frame_bytes(context, message) + around
}

/// Returns the load that a message puts on its NIC's link, whose time includes the gaps behind
/// messages. It may exceed the whole.
fn entry_weight(context: &Context, from: HostId, message: &Message) -> Weight {
    let gap = context.nic.message_gap;
    if gap.is_zero() {
        return Weight::WHOLE;
    }
    let wire = wire_bytes(context, message);
    let messages = message.bytes.div_ceil(context.nic.message_bytes).max(1);
    let rate = context.topology.cable(from, 0).rate.bytes_per_second();
    let idle = messages as f64 * gap.as_s() * rate;
    Weight::of(wire + idle.round() as u64, wire)
}

impl Fabric<Unwatched> {
    /// Returns everything that a path depends on.
    fn net(&self) -> Net<'_> {
        Net {
            context: &self.context,
            topology: &self.topology,
            routing: &self.routing,
            nodes: &self.nodes,
        }
    }
}
