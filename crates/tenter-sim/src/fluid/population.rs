//! All flows, and the lists by which they are found.

use tenter_language::units::ById;

use crate::fluid::amounts::{Amount, FlowRate};
use crate::fluid::flow::{Flow, FlowId, Life};
use crate::fluid::links::{Kind, LinkId, Links, NOTHING};
use crate::fluid::members::{Member, Members, OnLink};

/// All flows, and the flows on each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Population {
    pub(crate) flows: ById<FlowId, Flow>,
    free: Vec<FlowId>,
    members: Members,
    alive: usize,
}

/// Slots that are kept for later flows once no flow is left. Tests free them early, so that this
/// code runs in them.
const FEW: usize = if cfg!(debug_assertions) { 4 } else { 1 << 16 };

impl Population {
    /// Returns the link count, stand-ins for limits included.
    pub(crate) fn links(&self) -> usize {
        self.members.links.len()
    }

    pub(crate) fn add_link(&mut self) {
        self.members.links.push(OnLink::default());
    }

    /// Adds a flow, which has no rate yet.
    pub(crate) fn add(&mut self, links: &Links, kind: Kind, amount: Amount) -> FlowId {
        self.alive += 1;
        let mut flow = Flow {
            mark: amount,
            kind,
            rate: FlowRate::default(),
            bottleneck: NOTHING,
            place: 0,
            life: Life::FIRST,
        };
        // The slot that was freed last is used first. If its generations are used up, it is dropped
        // for good, and the flow gets a new slot.
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

    /// Removes a flow; its slot becomes free.
    pub(crate) fn remove(&mut self, links: &Links, id: FlowId) {
        let flow = &mut self.flows[id];
        flow.life = flow.life.over();
        let kind = flow.kind;
        self.alive -= 1;
        let flows = &self.flows;
        self.members
            .remove(links, kind, |of| is_current(flows, *of));
        self.free.push(id);
    }

    /// Frees a large population's memory once no flow is left.
    pub(crate) fn release(&mut self) {
        if self.alive == 0 && self.flows.len() > FEW {
            // Stale list entries would name slots that are gone, so the lists go too.
            self.flows = ById::default();
            self.free = Vec::new();
            self.members.release();
        }
    }

    /// Returns the flows on a link. One that passes the link twice may come twice.
    pub(crate) fn on(&self, link: LinkId) -> impl Iterator<Item = (FlowId, &Flow)> {
        let members = self.members.on(link);
        let current = members.filter(|of| is_current(&self.flows, *of));
        current.map(|of| (of.flow, &self.flows[of.flow]))
    }

    /// Returns the flow count on a link; a flow that passes it twice counts twice.
    pub(crate) fn count_on(&self, link: LinkId) -> u32 {
        self.members.links[link].alive
    }

    /// Returns all flows, in numerical order.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        let flows = self.flows.numbered();
        flows.filter(|(_, flow)| flow.life.is_alive())
    }
}

fn is_current(flows: &ById<FlowId, Flow>, of: Member) -> bool {
    let life = flows[of.flow].life;
    life.is_alive() && life.generation() == of.generation
}
