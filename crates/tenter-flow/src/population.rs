//! The flows that there are, and which of them are on each link.

use tenter_units::{ById, Instant, id};

use crate::amounts::{Amount, FlowRate, Load, Weight};
use crate::links::{LinkId, Links, RouteId};

id! {
    /// A flow; the number of one that has ended is given to another.
    pub struct FlowId(u32);
}

/// What a flow loads, and how much it has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// The link that it enters by, and how much of that it takes for what it sends.
    pub from: (LinkId, Weight),
    /// The links between.
    pub route: RouteId,
    /// The link that it leaves by.
    pub to: LinkId,
    /// The most that it sends at.
    pub limit: FlowRate,
    /// What it has to send.
    pub amount: Amount,
}

/// All that decides the rate of a flow beside the other flows.
pub(crate) type Kind = (LinkId, Weight, RouteId, LinkId, FlowRate);

impl FlowSpec {
    pub(crate) fn kind(&self) -> Kind {
        (self.from.0, self.from.1, self.route, self.to, self.limit)
    }

    /// All links that it loads.
    pub(crate) fn hops<'l>(
        &self,
        links: &'l Links,
    ) -> impl Iterator<Item = (LinkId, Weight)> + use<'l> {
        let last = (self.to, Weight::WHOLE);
        let between = links.hops(self.route).iter().copied();
        std::iter::once(self.from).chain(between).chain([last])
    }
}

/// What holds a flow back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bottleneck {
    /// Its own limit.
    Own,
    /// A link that is full.
    Link(LinkId),
    /// Nothing yet: it has no rate.
    Unknown,
}

/// A flow with its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) spec: FlowSpec,
    pub(crate) rate: FlowRate,
    pub(crate) bottleneck: Bottleneck,
    /// What was left when its rate last changed, and when that was, in ps.
    pub(crate) left: Amount,
    pub(crate) since: Instant,
    /// When it ends at this rate.
    pub(crate) end: Instant,
    /// Its number among all that ever began; 0 while the place is free.
    pub(crate) sequence: u64,
    /// Whether it is among those that are solved for.
    pub(crate) is_open: bool,
}

/// A flow as a link lists it: stale where the place has another now.
#[derive(Clone, Copy, Debug)]
struct Member {
    flow: FlowId,
    sequence: u64,
}

/// A link's flows.
#[derive(Clone, Debug, Default)]
struct Members {
    listed: Vec<Member>,
    alive: u32,
    /// What they take.
    load: Load,
    /// The sum of their weights.
    weight: u128,
}

/// The flows, and those on each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Population {
    pub(crate) flows: ById<FlowId, Flow>,
    free: Vec<FlowId>,
    members: ById<LinkId, Members>,
    begun: u64,
    alive: usize,
}

impl Population {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.alive
    }

    pub(crate) fn add_link(&mut self) {
        self.members.push(Members::default());
    }

    /// Takes in a flow, without a rate.
    pub(crate) fn add(&mut self, links: &Links, spec: FlowSpec, now: Instant) -> FlowId {
        self.begun += 1;
        self.alive += 1;
        let flow = Flow {
            spec,
            rate: FlowRate::default(),
            bottleneck: Bottleneck::Unknown,
            left: spec.amount,
            since: now,
            end: Instant::NEVER,
            sequence: self.begun,
            is_open: false,
        };
        let id = if let Some(free) = self.free.pop() {
            self.flows[free] = flow;
            free
        } else {
            self.flows.push(flow);
            FlowId::new(self.flows.len() as u32 - 1)
        };
        let member = Member {
            flow: id,
            sequence: self.begun,
        };
        for (link, weight) in spec.hops(links) {
            let members = &mut self.members[link];
            members.listed.push(member);
            members.alive += 1;
            members.weight += weight.units();
        }
        id
    }

    /// Takes a flow out, whose rate then is nobody's.
    pub(crate) fn remove(&mut self, links: &Links, id: FlowId) {
        let flow = &mut self.flows[id];
        let (spec, rate) = (flow.spec, flow.rate);
        flow.sequence = 0;
        self.alive -= 1;
        self.free.push(id);
        for (link, weight) in spec.hops(links) {
            let members = &mut self.members[link];
            members.alive -= 1;
            members.weight -= weight.units();
            members.load.0 -= Load::of(rate, weight).0;
            if members.listed.len() > 8 && members.listed.len() as u32 > 2 * members.alive {
                let flows = &self.flows;
                let is_alive = |of: &Member| flows[of.flow].sequence == of.sequence;
                members.listed.retain(is_alive);
            }
        }
    }

    /// Gives a flow its rate from `now` on.
    pub(crate) fn set_rate(
        &mut self,
        links: &Links,
        id: FlowId,
        rate: FlowRate,
        bottleneck: Bottleneck,
        now: Instant,
    ) {
        let flow = &mut self.flows[id];
        flow.bottleneck = bottleneck;
        let before = flow.rate;
        if before == rate && !flow.end.is_never() {
            return;
        }
        flow.left = flow.left.after(before, now - flow.since);
        flow.since = now;
        flow.rate = rate;
        flow.end = flow
            .left
            .time_at(rate)
            .map_or(Instant::NEVER, |time| now.saturating_add(time));
        for (link, weight) in flow.spec.hops(links) {
            let load = &mut self.members[link].load;
            load.0 = load.0 - Load::of(before, weight).0 + Load::of(rate, weight).0;
        }
    }

    /// The flows of a link.
    pub(crate) fn on(&self, link: LinkId) -> impl Iterator<Item = (FlowId, &Flow)> {
        self.members[link].listed.iter().filter_map(|of| {
            let flow = &self.flows[of.flow];
            (flow.sequence == of.sequence).then_some((of.flow, flow))
        })
    }

    /// How many flows a link has.
    pub(crate) fn count_on(&self, link: LinkId) -> u32 {
        self.members[link].alive
    }

    /// What the flows of a link take of it.
    pub(crate) fn load(&self, link: LinkId) -> Load {
        self.members[link].load
    }

    /// Whether a link cannot give each of its flows even one unit more.
    pub(crate) fn is_full(&self, links: &Links, link: LinkId) -> bool {
        let members = &self.members[link];
        links.capacities[link].0.saturating_sub(members.load.0) < members.weight
    }

    /// All flows.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        let flows = self.flows.numbered();
        flows.filter(|(_, flow)| flow.sequence > 0)
    }
}
