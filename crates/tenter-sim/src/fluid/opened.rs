//! Flows that a repair has opened, by link.

use tenter_language::units::ById;

use crate::fluid::flow::FlowId;
use crate::fluid::links::LinkId;

/// A flow on a link, and the entry for the flow that was opened there before.
#[derive(Clone, Copy, Debug)]
struct Entry {
    link: LinkId,
    flow: FlowId,
    before: u32,
}

/// Marks a link without entries.
const NONE: u32 = u32::MAX;

/// Number of entries at which listing stops: with that many, most flows on a link are open, and the
/// link's own list serves as well. Debug builds stop early, so that tests read both lists.
const MANY: usize = if cfg!(debug_assertions) { 64 } else { 1 << 16 };

/// The flows opened on each link since the pass began, those that have closed again among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened {
    last: ById<LinkId, u32>,
    entries: Vec<Entry>,
}

impl Opened {
    pub(crate) fn add_link(&mut self) {
        self.last.push(NONE);
    }

    pub(crate) fn add(&mut self, link: LinkId, flow: FlowId) {
        if self.entries.len() < MANY {
            let before = std::mem::replace(&mut self.last[link], self.entries.len() as u32);
            self.entries.push(Entry { link, flow, before });
        }
    }

    /// Iterates over the flows opened on a link, or returns `None` if there are too many to list.
    /// A flow that was opened twice comes twice.
    pub(crate) fn on(&self, link: LinkId) -> Option<impl Iterator<Item = FlowId>> {
        let entry = |place: u32| self.entries.get(place as usize);
        let all = std::iter::successors(entry(self.last[link]), move |of| entry(of.before));
        (self.entries.len() < MANY).then(|| all.map(|of| of.flow))
    }

    /// Forgets all flows.
    pub(crate) fn clear(&mut self) {
        for of in self.entries.drain(..) {
            self.last[of.link] = NONE;
        }
    }
}
