//! Links and limits with the flows that they hold back.

use tenter_language::units::{ById, Instant};

use crate::fluid::amounts::{Amount, FlowRate};
use crate::fluid::flow::{Flow, FlowId};
use crate::fluid::held::Held;
use crate::fluid::links::{LinkId, NOTHING};
use crate::fluid::soonest::Soonest;

/// Heap of held-back flows for each link and each limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    all: ById<LinkId, Held>,
    /// First flow's end on each link. Stale for the links in `changed`.
    ends: Soonest,
    /// Links whose first end may have changed, each once: [`Held::is_changed`] marks them.
    changed: Vec<LinkId>,
}

impl Holders {
    pub(crate) fn add_link(&mut self) {
        self.all.push(Held::default());
        self.ends.push();
    }

    /// Takes the list that names `link`'s held-back flows. The caller must [put](Self::put) it back
    /// before any of these flows is added or removed.
    pub(crate) fn take(&mut self, link: LinkId) -> Vec<FlowId> {
        std::mem::take(&mut self.all[link].flows)
    }

    pub(crate) fn put(&mut self, link: LinkId, flows: Vec<FlowId>) {
        self.all[link].flows = flows;
    }

    /// Sets the rate for all flows that `link` holds back.
    pub(crate) fn set_rate(&mut self, link: LinkId, rate: FlowRate, now: Instant) {
        self.all[link].set_rate(rate, now);
        self.note(link);
    }

    /// Makes `link` the flow's only bottleneck.
    pub(crate) fn hold(
        &mut self,
        flows: &mut ById<FlowId, Flow>,
        id: FlowId,
        link: LinkId,
        now: Instant,
    ) {
        // The remainder has to be read from the old bottleneck before the flow leaves it.
        let left = self.left(&flows[id], now);
        self.release(flows, id);
        flows[id].bottleneck = link;
        self.all[link].add(flows, id, left, now);
        self.note(link);
    }

    /// Removes the flow from its bottleneck, if it has one. The flow's own field is left to the
    /// caller.
    pub(crate) fn release(&mut self, flows: &mut ById<FlowId, Flow>, id: FlowId) {
        let link = flows[id].bottleneck;
        if link != NOTHING {
            self.all[link].remove(flows, id);
            self.note(link);
        }
    }

    /// Notes that a link's first end may have changed.
    fn note(&mut self, link: LinkId) {
        if !std::mem::replace(&mut self.all[link].is_changed, true) {
            self.changed.push(link);
        }
    }

    /// Returns the amount that a flow still has to send.
    pub(crate) fn left(&self, flow: &Flow, now: Instant) -> Amount {
        match flow.bottleneck {
            NOTHING => flow.mark,
            link => self.all[link].left(flow, now),
        }
    }

    /// Updates the ends on links that have changed.
    pub(crate) fn find_ends(&mut self, flows: &ById<FlowId, Flow>) {
        for link in self.changed.drain(..) {
            let held = &mut self.all[link];
            held.is_changed = false;
            self.ends.set(link.index(), held.next_end(flows));
        }
    }

    /// Returns the instant at which the next flow ends, or never.
    pub(crate) fn next_end(&self) -> Instant {
        self.ends.first()
    }

    /// Returns the flows that end at `at`, in numerical order.
    pub(crate) fn ending(&self, flows: &ById<FlowId, Flow>, at: Instant) -> Vec<FlowId> {
        let mut all = Vec::new();
        self.ends.up_to(at, |place| {
            self.all[LinkId::new(place as u32)].ending(flows, at, &mut all);
        });
        // The tournament and the heaps yield an order that depends on history; results must not.
        all.sort_unstable();
        all
    }
}
