//! When flows end.

use std::collections::BTreeMap;

use crate::population::{FlowId, Population};
use tenter_units::Instant;

/// A flow, and its number among all that ever began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    sequence: u64,
    flow: FlowId,
}

/// Flows by the instant at which they end at their present rates. Entries of flows that have other
/// rates now are stale, and dropped when they are met or become many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    ends: BTreeMap<Instant, Vec<Entry>>,
    entries: usize,
}

/// Fewer entries are not worth looking through.
const FEW: usize = 1 << 12;

impl Ends {
    pub(crate) fn add(&mut self, flow: FlowId, sequence: u64, end: Instant) {
        if !end.is_never() {
            self.ends
                .entry(end)
                .or_default()
                .push(Entry { sequence, flow });
            self.entries += 1;
        }
    }

    fn is_current(population: &Population, end: Instant, of: &Entry) -> bool {
        let flow = &population.flows[of.flow];
        flow.sequence == of.sequence && flow.end == end
    }

    /// When the next flow ends.
    pub(crate) fn next(&mut self, population: &Population) -> Option<Instant> {
        if self.entries > FEW && self.entries > 4 * population.len() {
            self.drop_stale(population);
        }
        while let Some(first) = self.ends.first_entry() {
            let end = *first.key();
            let mut flows = first.get().iter();
            if flows.any(|of| Ends::is_current(population, end, of)) {
                return Some(end);
            }
            self.entries -= first.remove().len();
        }
        None
    }

    /// The flows that end at an instant, in the order in which they began.
    pub(crate) fn take(&mut self, population: &Population, end: Instant) -> Vec<FlowId> {
        let Some(mut flows) = self.ends.remove(&end) else {
            return Vec::new();
        };
        self.entries -= flows.len();
        flows.retain(|of| Ends::is_current(population, end, of));
        flows.sort_unstable();
        flows.dedup();
        flows.into_iter().map(|of| of.flow).collect()
    }

    fn drop_stale(&mut self, population: &Population) {
        self.ends.retain(|&end, flows| {
            flows.retain(|of| Ends::is_current(population, end, of));
            !flows.is_empty()
        });
        self.entries = self.ends.values().map(Vec::len).sum();
    }
}
