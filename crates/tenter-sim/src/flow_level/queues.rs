//! Messages in the queues of switches, where nothing but their NICs holds senders back.
//!
//! NICs send as fast as they can, and what a switch cannot send at once waits for its link. So a
//! message is sent at the rate that its NIC has for it, and its last packet waits at the fullest of
//! its links behind all that came before. What comes later does not slow it down.
//!
//! Links that a message passes one after the other are taken to be fed by NICs directly, each as
//! much later as packets take to get there: what waits at one of them is not what the others let
//! wait as well, so the longest wait counts.

use tenter_flow::{FlowRate, FlowSpec, Fluid, LinkId, Queues, RouteId, Waiting, Weight};
use tenter_plan::Plan;
use tenter_topology::{HostId, Topology};
use tenter_units::{ById, Instant, Rate, Time};

use super::messages::{MessageId, Messages};
use super::ways::{Hop, Way, Ways};

/// More than a NIC sends.
const ANY_RATE: Rate = Rate::from_gbps(1_000_000);

/// The queues of switches.
#[derive(Debug)]
pub(super) struct OpenQueues {
    queues: Queues,
    /// Where flows go from each NIC: no link holds them back. One of them for all NICs would have
    /// to be looked at with each flow that begins.
    no_route: RouteId,
    beyond: ById<HostId, LinkId>,
    /// The most that a last packet has found waiting at a link, in bytes.
    pub(super) most_bytes: u64,
    /// The links of messages whose packets are drawn.
    drawn: ById<MessageId, Drawn>,
}

/// A message whose packets are drawn.
#[derive(Clone, Debug, Default)]
struct Drawn {
    /// Its links.
    hops: Box<[Hop]>,
    /// The rate at which its NIC has sent the end of it.
    rate: FlowRate,
}

/// A link that a message passes, the part of it that does, and how long after its NIC.
type Passed = (LinkId, Weight, Time);

/// The link that has most to carry of all that a message passes, for what it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fullest {
    pub(super) link: LinkId,
    /// How much of the message it carries.
    pub(super) part: Weight,
    /// What comes to it, as a part of what it sends.
    pub(super) load: f64,
    /// The rate at which the end of the message was sent.
    pub(super) rate: FlowRate,
}

impl OpenQueues {
    /// Those of a trial in which nothing but their NICs holds senders back.
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

    /// The flow of a message from its NIC, of one that would be held back by links and windows as
    /// well.
    pub(super) fn of_nic_alone(&self, from: HostId, spec: FlowSpec) -> FlowSpec {
        FlowSpec {
            route: self.no_route,
            to: self.beyond[from],
            limit: FlowRate::UNLIMITED,
            ..spec
        }
    }

    /// What each of the drawn links of a message carries of it.
    pub(super) fn drawn_parts(&self, id: MessageId) -> Vec<(LinkId, Weight)> {
        Hop::parts(&self.drawn[id].hops)
    }

    /// Lets each link of a bundle have its part of what they had together.
    pub(super) fn divide(&mut self, bundle: LinkId, links: &[LinkId]) {
        self.queues.divide(bundle, links);
    }

    /// Gives the links of a way queues, and remembers as long as packets take to its last one.
    pub(super) fn open(&mut self, fluid: &Fluid, way: &Way, links: impl Iterator<Item = LinkId>) {
        self.queues.remember(way.delays.until_exit());
        for link in links {
            self.queues.set_rate(link, fluid.capacity(link));
        }
    }

    /// A message takes links that are drawn for it.
    pub(super) fn take(&mut self, id: MessageId, hops: Box<[Hop]>) {
        if self.drawn.len() <= id.index() {
            self.drawn.resize(id.index() + 1, Drawn::default());
        }
        self.drawn[id].hops = hops;
    }

    /// A message is sent at another rate from `now` on, and so comes to its links a while later.
    pub(super) fn change(&mut self, path: &Path<'_>, now: Instant, rates: [FlowRate; 2]) {
        for (link, part, after) in path.passed(&self.drawn) {
            self.queues.change(link, part, now + after, rates);
            self.queues.pass(link, now);
        }
    }

    /// All of a message has been sent, the end of it at some rate.
    pub(super) fn end(&mut self, path: &Path<'_>, now: Instant, rate: FlowRate) {
        self.change(path, now, [rate, FlowRate::default()]);
        if path.way.is_drawn() {
            self.drawn[path.id].rate = rate;
        }
    }

    /// How long the last packet of a message waits that was sent at an instant; and where packets
    /// choose links, the fullest of these.
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
            self.most_bytes = self.most_bytes.max(bytes / ways.links_of(link));
        }
        if !path.way.is_drawn() {
            return (longest, None);
        }
        // Packets do not choose the last link.
        let chosen = path.passed(&self.drawn).filter(|of| of.0 != path.exit);
        let loads = chosen.map(|(link, part, after)| Fullest {
            link,
            part,
            load: self.queues.load(link, sent + after),
            rate: self.drawn[path.id].rate,
        });
        let fullest = loads.reduce(|most, next| if next.load > most.load { next } else { most });
        (longest, fullest)
    }

    /// A message has passed all queues.
    pub(super) fn forget(&mut self, path: &Path<'_>) {
        if path.way.is_drawn() {
            self.drawn[path.id] = Drawn::default();
        }
    }
}

/// The links that a message passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    id: MessageId,
    pub(super) way: &'a Way,
    exit: LinkId,
}

impl<'a> Path<'a> {
    /// That of a message whose way is known.
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

    /// How long after a message has been sent it is asked what waits before its last packet: once a
    /// full packet has come to the last link, or once one arrives that takes but this rest.
    pub(super) fn until_asked(&self, rest: Time) -> Time {
        self.way.delays.until_exit().min(rest)
    }

    /// The links one after the other.
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
