//! The flows that there are.

use tenter_units::{ById, Instant};

use crate::amounts::{Amount, FlowRate, Load};
use crate::flow::{Bottleneck, Flow, FlowId, Life};
use crate::links::{Kind, LinkId, Links};
use crate::members::{Member, Members, OnLink};

/// The flows, and those on each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Population {
    pub(crate) flows: ById<FlowId, Flow>,
    free: Vec<FlowId>,
    members: Members,
    alive: usize,
}

/// The memory of fewer flows is kept for others, but in tests.
const FEW: usize = if cfg!(debug_assertions) { 4 } else { 1 << 16 };

impl Population {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.alive
    }

    pub(crate) fn add_link(&mut self) {
        self.members.links.push(OnLink::default());
    }

    /// Takes in a flow, without a rate.
    pub(crate) fn add(&mut self, links: &Links, kind: Kind, left: Amount, now: Instant) -> FlowId {
        self.alive += 1;
        let mut flow = Flow {
            left,
            since: now,
            rate: FlowRate::default(),
            end: Instant::NEVER,
            kind,
            bottleneck: Bottleneck::UNKNOWN,
            life: Life::FIRST,
        };
        let free = self.free.pop();
        let free = free.and_then(|id| Some((id, self.flows[id].life.next()?)));
        let id = if let Some((free, life)) = free {
            flow.life = life;
            self.flows[free] = flow;
            free
        } else {
            self.flows.push(flow);
            FlowId::new(self.flows.len() as u32 - 1)
        };
        let member = Member {
            flow: id,
            generation: flow.life.generation(),
        };
        self.members.add(links, kind, member);
        id
    }

    /// Takes a flow out, whose rate then is nobody's. Its place has to be [freed](Self::free).
    pub(crate) fn remove(&mut self, links: &Links, id: FlowId) {
        let flow = &mut self.flows[id];
        flow.life = flow.life.over();
        let (kind, rate) = (flow.kind, flow.rate);
        if let Some(link) = flow.bottleneck.link() {
            self.members.links[link].held -= 1;
        }
        self.alive -= 1;
        let flows = &self.flows;
        self.members
            .remove(links, kind, rate, |of| is_current(flows, *of));
    }

    /// Gives the place of a flow that was taken out to another.
    pub(crate) fn free(&mut self, id: FlowId) {
        self.free.push(id);
    }

    /// Gives the memory of many back when nobody is left.
    pub(crate) fn release(&mut self) {
        if self.alive == 0 && self.flows.len() > FEW {
            self.flows = ById::default();
            self.free = Vec::new();
            self.members.release();
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
        let last = std::mem::replace(&mut flow.bottleneck, bottleneck);
        if last != bottleneck {
            if let Some(link) = last.link() {
                self.members.links[link].held -= 1;
            }
            if let Some(link) = bottleneck.link() {
                self.members.links[link].held += 1;
            }
        }
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
        for (link, weight) in flow.kind.hops(links) {
            let load = &mut self.members.links[link].load;
            load.0 = load.0 - Load::of(before, weight).0 + Load::of(rate, weight).0;
        }
    }

    /// The flows of a link.
    pub(crate) fn on(&self, link: LinkId) -> impl Iterator<Item = (FlowId, &Flow)> {
        let members = self.members.on(link);
        let current = members.filter(|of| is_current(&self.flows, *of));
        current.map(|of| (of.flow, &self.flows[of.flow]))
    }

    /// How many flows a link holds back.
    pub(crate) fn held_by(&self, link: LinkId) -> u32 {
        self.members.links[link].held
    }

    /// How many flows a link has.
    pub(crate) fn count_on(&self, link: LinkId) -> u32 {
        self.members.links[link].alive
    }

    /// What the flows of a link take of it.
    pub(crate) fn load(&self, link: LinkId) -> Load {
        self.members.links[link].load
    }

    /// Whether a link cannot give each of its flows even one unit more.
    pub(crate) fn is_full(&self, links: &Links, link: LinkId) -> bool {
        let on = &self.members.links[link];
        links.capacities[link].0.saturating_sub(on.load.0) < on.weight
    }

    /// All flows.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        let flows = self.flows.numbered();
        flows.filter(|(_, flow)| flow.life.is_alive())
    }
}

/// Some of the flows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    /// All that there are.
    All,
    /// These, each once.
    These(&'a [FlowId]),
}

impl Which<'_> {
    /// Places to look at.
    pub(crate) fn places(self, population: &Population) -> usize {
        match self {
            Which::All => population.flows.len(),
            Which::These(flows) => flows.len(),
        }
    }

    /// The flow of a place, if it has one.
    pub(crate) fn at(self, population: &Population, place: usize) -> Option<FlowId> {
        match self {
            Which::All => {
                let id = FlowId::new(place as u32);
                population.flows[id].life.is_alive().then_some(id)
            }
            Which::These(flows) => Some(flows[place]),
        }
    }
}

fn is_current(flows: &ById<FlowId, Flow>, of: Member) -> bool {
    let life = flows[of.flow].life;
    life.is_alive() && life.generation() == of.generation
}
