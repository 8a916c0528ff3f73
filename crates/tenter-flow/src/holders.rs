//! Links and limits with the flows that they hold back.

use tenter_units::{ById, Instant};

use crate::amounts::{Amount, FlowRate};
use crate::flow::{Flow, FlowId};
use crate::held::Held;
use crate::links::{LinkId, NOTHING};
use crate::soonest::Soonest;

/// What each link and each limit holds back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    all: ById<LinkId, Held>,
    /// When the first flow of each ends, where that has not changed.
    ends: Soonest,
    /// Those of which it may have, some of them several times.
    changed: Vec<LinkId>,
}

impl Holders {
    pub(crate) fn add_link(&mut self) {
        self.all.push(Held::default());
        self.ends.push();
    }

    /// Takes the list of the flows that a link holds back, which has to be [put](Self::put) back
    /// before any of them changes.
    pub(crate) fn take(&mut self, link: LinkId) -> Vec<FlowId> {
        std::mem::take(&mut self.all[link].flows)
    }

    pub(crate) fn held_by(&self, link: LinkId) -> &[FlowId] {
        &self.all[link].flows
    }

    pub(crate) fn put(&mut self, link: LinkId, flows: Vec<FlowId>) {
        self.all[link].flows = flows;
    }

    /// Gives all flows that a link holds back another rate.
    pub(crate) fn set_rate(&mut self, link: LinkId, rate: FlowRate, now: Instant) {
        self.all[link].set_rate(rate, now);
        self.changed.push(link);
    }

    /// From now on a link holds a flow back, and no other one.
    pub(crate) fn hold(
        &mut self,
        flows: &mut ById<FlowId, Flow>,
        id: FlowId,
        link: LinkId,
        now: Instant,
    ) {
        let left = self.left(&flows[id], now);
        self.release(flows, id);
        flows[id].bottleneck = link;
        self.all[link].add(flows, id, left, now);
        self.changed.push(link);
    }

    /// Nothing holds a flow back any more.
    pub(crate) fn release(&mut self, flows: &mut ById<FlowId, Flow>, id: FlowId) {
        let link = flows[id].bottleneck;
        if link != NOTHING {
            self.all[link].remove(flows, id);
            self.changed.push(link);
        }
    }

    /// What a flow has still to send.
    pub(crate) fn left(&self, flow: &Flow, now: Instant) -> Amount {
        match flow.bottleneck {
            NOTHING => flow.mark,
            link => self.all[link].left(flow, now),
        }
    }

    /// Finds the ends that have changed.
    pub(crate) fn find_ends(&mut self, flows: &ById<FlowId, Flow>) {
        self.changed.sort_unstable();
        self.changed.dedup();
        for link in self.changed.drain(..) {
            let end = self.all[link].next_end(flows);
            self.ends.set(link.index(), end);
        }
    }

    /// When the next flow ends, or never.
    pub(crate) fn next_end(&self) -> Instant {
        self.ends.first()
    }

    /// The flows that end at an instant, in the order of their numbers.
    pub(crate) fn ending(&self, flows: &ById<FlowId, Flow>, at: Instant) -> Vec<FlowId> {
        let mut all = Vec::new();
        self.ends.up_to(at, |place| {
            self.all[LinkId::new(place as u32)].ending(flows, at, &mut all);
        });
        all.sort_unstable();
        all
    }
}
