//! When flows end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tenter_units::Instant;

use crate::flow::FlowId;
use crate::population::Population;

/// Flows that end at an instant.
#[derive(Clone, Debug)]
enum Ending {
    One(FlowId),
    Many(Vec<FlowId>),
}

impl Ending {
    fn all(&self) -> &[FlowId] {
        match self {
            Ending::One(flow) => std::slice::from_ref(flow),
            Ending::Many(flows) => flows,
        }
    }

    fn add(&mut self, flow: FlowId) {
        match self {
            Ending::One(first) => *self = Ending::Many(vec![*first, flow]),
            Ending::Many(flows) => flows.push(flow),
        }
    }

    /// Those of them that still end then, each once, in the order of their numbers.
    fn current(self, population: &Population, end: Instant) -> Vec<FlowId> {
        let mut flows = match self {
            Ending::One(flow) => vec![flow],
            Ending::Many(flows) => flows,
        };
        flows.retain(|of| is_current(population, end, *of));
        flows.sort_unstable();
        flows.dedup();
        flows
    }
}

/// Flows by the instant at which they end at their present rates. Entries of flows that have other
/// rates now are stale, and dropped when they are met or become many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    ends: BTreeMap<Instant, Ending>,
    entries: usize,
}

/// Fewer entries are not worth looking through.
const FEW: usize = 1 << 12;

/// Whether a flow ends at an instant. Whatever flow its place has now, it is listed then.
fn is_current(population: &Population, end: Instant, of: FlowId) -> bool {
    let flow = population.flows.get(of.index());
    flow.is_some_and(|flow| flow.life.is_alive() && flow.end == end)
}

impl Ends {
    pub(crate) fn add(&mut self, flow: FlowId, end: Instant) {
        if end.is_never() {
            return;
        }
        match self.ends.entry(end) {
            Entry::Vacant(entry) => {
                entry.insert(Ending::One(flow));
            }
            Entry::Occupied(mut entry) => entry.get_mut().add(flow),
        }
        self.entries += 1;
    }

    /// When the next flow ends.
    pub(crate) fn next(&mut self, population: &Population) -> Option<Instant> {
        if self.entries > FEW && self.entries > 4 * population.len() {
            self.drop_stale(population);
        }
        while let Some(first) = self.ends.first_entry() {
            let end = *first.key();
            let mut flows = first.get().all().iter();
            if flows.any(|of| is_current(population, end, *of)) {
                return Some(end);
            }
            self.entries -= first.remove().all().len();
        }
        None
    }

    /// The flows that end at an instant, in the order of their numbers.
    pub(crate) fn take(&mut self, population: &Population, end: Instant) -> Vec<FlowId> {
        let Some(flows) = self.ends.remove(&end) else {
            return Vec::new();
        };
        self.entries -= flows.all().len();
        flows.current(population, end)
    }

    fn drop_stale(&mut self, population: &Population) {
        self.ends.retain(|&end, ending| {
            let all = std::mem::replace(ending, Ending::Many(Vec::new()));
            let current = all.current(population, end);
            *ending = match current[..] {
                [one] => Ending::One(one),
                _ => Ending::Many(current),
            };
            !ending.all().is_empty()
        });
        self.entries = self.ends.values().map(|ending| ending.all().len()).sum();
    }
}
