//! Messages in the queues of switches, for trials in which nothing but their NICs holds senders
//! back.
//!
//! NICs send as fast as they can, and what a switch cannot send at once waits for its link. A
//! message is therefore sent at its NIC's rate, and its last packet waits at the fullest link of
//! its path behind everything that arrived before. Later arrivals do not slow it down.
//!
//! The model feeds all links of a path from the NICs directly, each one later by the time that
//! packets need to reach it. A backlog at one link would reach the next one no faster than the
//! first link sends, so waits are not added up: the longest one counts.

use crate::fluid::{FlowRate, FlowSpec, Fluid, LinkId, Queues, RouteId, Waiting, Weight};
use crate::plan::Plan;
use tenter_fabric::topology::{HostId, Topology};
use tenter_language::units::{ById, Instant, Rate, Time};

use super::messages::{MessageId, Messages};
use super::ways::{Hop, Way, Ways};

/// A rate above that of any NIC.
const ANY_RATE: Rate = Rate::from_gbps(1_000_000);

/// Queues of the switches' links.
#[derive(Debug)]
pub(super) struct OpenQueues {
    queues: Queues,
    /// Route and last link for flows, in place of the fabric. They hold no flow back. Each NIC has
    /// a last link to itself: one for all NICs would be visited with every flow that begins
    /// anywhere.
    no_route: RouteId,
    beyond: ById<HostId, LinkId>,
    /// Largest backlog that a message's last packet has met at a link, in bytes.
    pub(super) most_bytes: u64,
    /// Drawn links for each message that is in the queues.
    drawn: ById<MessageId, Drawn>,
}

/// Links that were drawn for a message.
#[derive(Clone, Debug, Default)]
struct Drawn {
    /// The links between the leaves.
    hops: Box<[Hop]>,
    /// Rate at which the NIC sent the message's end.
    rate: FlowRate,
}

/// A link on a message's path, the part of the message that passes it, and the delay from its NIC.
type Passed = (LinkId, Weight, Time);

/// The link on a message's path with the highest load for its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fullest {
    pub(super) link: LinkId,
    /// Part of the message that it carries.
    pub(super) part: Weight,
    /// Arrival rate divided by service rate.
    pub(super) load: f64,
    /// Rate at which the message's end was sent.
    pub(super) rate: FlowRate,
}

impl OpenQueues {
    /// Creates the queues, if only NICs hold senders back in this plan.
    pub(super) fn new(plan: &Plan, fluid: &mut Fluid) -> Option<OpenQueues> {
        let hosts = plan.topology.host_ids();
        plan.queues_are_open().then(|| OpenQueues {
            queues: Queues::default(),
            no_route: fluid.route(&[]),
            beyond: hosts
                .map(|_| fluid.add_link(FlowRate::of_line(ANY_RATE)))
                .collect(),
            most_bytes: 0,
            drawn: ById::default(),
        })
    }

    /// Turns a message's flow into one that only its NIC limits.
    pub(super) fn of_nic_alone(&self, from: HostId, spec: FlowSpec) -> FlowSpec {
        FlowSpec {
            route: self.no_route,
            to: self.beyond[from],
            limit: FlowRate::UNLIMITED,
            ..spec
        }
    }

    /// Returns the part that each drawn link carries.
    pub(super) fn drawn_parts(&self, id: MessageId) -> Vec<(LinkId, Weight)> {
        Hop::parts(&self.drawn[id].hops)
    }

    /// Splits a bundle's queue evenly among its links.
    pub(super) fn divide(&mut self, bundle: LinkId, links: &[LinkId]) {
        self.queues.divide(bundle, links);
    }

    /// Creates queues for the links on a path. The past must be known for as long as packets take
    /// to reach the last link.
    pub(super) fn open(&mut self, fluid: &Fluid, way: &Way, links: impl Iterator<Item = LinkId>) {
        self.queues.remember(way.delays.until_exit());
        for link in links {
            self.queues.set_rate(link, fluid.capacity(link));
        }
    }

    /// Remembers the links that are drawn for a message.
    pub(super) fn take(&mut self, id: MessageId, hops: Box<[Hop]>) {
        if self.drawn.len() <= id.index() {
            self.drawn.resize(id.index() + 1, Drawn::default());
        }
        self.drawn[id].hops = hops;
    }

    /// Changes a message's rate at `now`. The change reaches each link later by the delay from the
    /// NIC.
    pub(super) fn change(&mut self, path: &Path<'_>, now: Instant, rates: [FlowRate; 2]) {
        for (link, part, after) in path.passed(&self.drawn) {
            self.queues.change(link, part, now + after, rates);
            // Each change is a chance to drop old ones, so the list stays short.
            self.queues.pass(link, now);
        }
    }

    /// Ends a message that has been sent completely, at last with `rate`.
    pub(super) fn end(&mut self, path: &Path<'_>, now: Instant, rate: FlowRate) {
        self.change(path, now, [rate, FlowRate::default()]);
        if path.way.is_drawn() {
            self.drawn[path.id].rate = rate;
        }
    }

    /// Returns the last packet's wait for a message that was sent completely at `sent`. If packets
    /// choose links, also returns the fullest one.
    pub(super) fn wait(
        &mut self,
        path: &Path<'_>,
        ways: &Ways,
        sent: Instant,
    ) -> (Time, Option<Fullest>) {
        let mut longest = Time::ZERO;
        for (link, _, after) in path.passed(&self.drawn) {
            let Waiting { time, bytes } = self.queues.waiting(link, sent + after);
            longest = longest.max(time);
            // The queue of a bundle is that of all its links together; they are filled evenly.
            self.most_bytes = self.most_bytes.max(bytes / ways.links_of(link));
        }
        if !path.way.is_drawn() {
            return (longest, None);
        }
        // Packets do not choose the last link: it is the one to their host.
        let chosen = path.passed(&self.drawn).filter(|of| of.0 != path.exit);
        let loads = chosen.map(|(link, part, after)| Fullest {
            link,
            part,
            load: self.queues.load(link, sent + after),
            rate: self.drawn[path.id].rate,
        });
        // Of equal loads the first counts, so the choice is the same in every run.
        let fullest = loads.reduce(|most, next| if next.load > most.load { next } else { most });
        (longest, fullest)
    }

    /// Drops a message's drawn links once it has passed all queues.
    pub(super) fn forget(&mut self, path: &Path<'_>) {
        if path.way.is_drawn() {
            self.drawn[path.id] = Drawn::default();
        }
    }
}

/// Links that a message passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    id: MessageId,
    pub(super) way: &'a Way,
    exit: LinkId,
}

impl<'a> Path<'a> {
    /// Returns a message's links, if its queue pair has a path.
    pub(super) fn of(
        messages: &Messages,
        ways: &'a Ways,
        topology: &Topology,
        id: MessageId,
    ) -> Option<Self> {
        let own = messages.way(messages.get(id).pair)?;
        Some(Path {
            id,
            way: ways.way(own.way),
            exit: ways.link(topology.neighbour(own.to, 0)),
        })
    }

    /// Returns the time from the end of sending to the query for the last packet's wait: when a
    /// full packet reaches the last link. A short last packet may arrive in less time, `rest`,
    /// which then counts.
    pub(super) fn until_asked(&self, rest: Time) -> Time {
        self.way.delays.until_exit().min(rest)
    }

    /// Iterates over the links in the order in which they are passed.
    fn passed<'d>(
        self,
        drawn: &'d ById<MessageId, Drawn>,
    ) -> impl Iterator<Item = Passed> + use<'a, 'd>
    where
        'a: 'd,
    {
        let is_known = self.way.is_drawn() && self.id.index() < drawn.len();
        let hops: &'d [Hop] = if is_known {
            &drawn[self.id].hops
        } else {
            &self.way.hops
        };
        let way = self.way;
        let between = hops.iter().map(move |hop| {
            let after = way.delays.until_stage(usize::from(hop.stage));
            (hop.link, hop.part, after)
        });
        between.chain([(self.exit, Weight::WHOLE, way.delays.until_exit())])
    }
}
