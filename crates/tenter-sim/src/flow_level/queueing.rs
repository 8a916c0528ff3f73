//! How messages pass the switches' queues.

use crate::fluid::{FlowId, FlowRate};
use tenter_language::units::{Instant, Time};

use super::driver::FlowDriver;
use super::instants::Happens;
use super::messages::{Message, MessageId, PairId};
use super::queues::Path;

impl FlowDriver {
    /// Creates queues for the links on a queue pair's path.
    pub(super) fn open_queues(&mut self, pair: PairId) {
        let (Some(open), Some(own)) = (&mut self.queues, self.messages.way(pair)) else {
            return;
        };
        let way = self.ways.way(own.way);
        let exit = self.ways.link(self.fabric.topology.neighbour(own.to, 0));
        let between = way.hops.iter().map(|hop| hop.link);
        let links = between.chain(way.drawn_ports(&self.ways)).chain([exit]);
        open.open(&self.fluid, way, links);
    }

    /// Remembers the links that are drawn for a message when it begins to be sent.
    pub(super) fn enter_queues(&mut self, id: MessageId) {
        let Some(open) = &mut self.queues else {
            return;
        };
        let message = self.messages.get(id);
        let way = self.messages.way(message.pair);
        let way = way.map(|own| self.ways.way(own.way));
        let hops = way.and_then(|way| self.ways.drawn_hops(way, message.burst()));
        if let Some(hops) = hops {
            open.take(id, hops);
        }
    }

    /// Finds the flows' rates at `now`, and passes the changes on to the queues.
    pub(super) fn settle(&mut self, now: Instant) {
        let Some(open) = &mut self.queues else {
            self.fluid.settle(now);
            return;
        };
        let (messages, ways) = (&self.messages, &self.ways);
        let topology = &self.fabric.topology;
        self.fluid.settle_and(now, |flow, rates| {
            let id = messages.of_flow(flow);
            if let Some(path) = id.and_then(|id| Path::of(messages, ways, topology, id)) {
                open.change(&path, now, rates);
            }
        });
    }

    /// Loads all links one by one from now on. Each gets its part of its bundle's backlog. Flows
    /// under way stop in the queues on their old paths; the caller restarts them on new ones.
    pub(super) fn dissolve_bundles(&mut self, now: Instant) {
        if let Some(open) = &mut self.queues {
            let (messages, ways) = (&self.messages, &self.ways);
            for (id, flow) in messages.sending() {
                let path = Path::of(messages, ways, &self.fabric.topology, id);
                if let Some(path) = path {
                    let rates = [self.fluid.rate(flow), FlowRate::default()];
                    open.change(&path, now, rates);
                }
            }
            for (bundle, links) in ways.bundles() {
                open.divide(bundle, &links);
            }
        }
        self.ways.dissolve_bundles();
    }

    /// Handles a message that has been sent completely. Returns true if its last packet has queues
    /// to pass: the arrival is then decided when it reaches the last one.
    pub(super) fn leave_nic(&mut self, flow: FlowId, id: MessageId, now: Instant) -> bool {
        let path = Path::of(&self.messages, &self.ways, &self.fabric.topology, id);
        let (Some(open), Some(path)) = (&mut self.queues, path) else {
            return false;
        };
        open.end(&path, now, self.fluid.rate(flow));
        let message = self.messages.get(id);
        let queued = Happens::Queued(message.sequence, id.number());
        let until_asked = path.until_asked(self.rest(message));
        self.instants.add(now + until_asked, queued);
        true
    }

    /// Decides when a message arrives whose last packet has reached its last queue.
    pub(super) fn pass_queues(&mut self, id: MessageId, now: Instant) {
        let message = *self.messages.get(id);
        let rest = self.rest(&message);
        let path = Path::of(&self.messages, &self.ways, &self.fabric.topology, id);
        let (Some(open), Some(path)) = (&mut self.queues, path) else {
            return;
        };
        let sent = now.saturating_sub(path.until_asked(rest));
        let (queued, fullest) = open.wait(&path, &self.ways, sent);
        open.forget(&path);
        let last = fullest.and_then(|link| self.wait_on(&message, link));
        let arrival = sent + rest + queued + last.unwrap_or(Time::ZERO);
        let arrival = self.in_order(&message, arrival).max(now);
        let arrives = Happens::Delivered(message.sequence, id.number());
        self.instants.add(arrival, arrives);
    }

    /// Returns when a message arrives. If links are drawn, that is not before the queue pair's
    /// previous message; without draws all messages take one path and arrive in order anyway.
    pub(super) fn in_order(&mut self, message: &Message, arrival: Instant) -> Instant {
        if !self.ways.are_drawn() {
            return arrival;
        }
        let last = self.arrivals.entry(message.pair).or_insert(arrival);
        *last = arrival.max(*last);
        *last
    }
}
