//! Flows that have limits of their own, by their limits.

use std::ops::Range;

use tenter_units::ById;

use crate::amounts::FlowRate;
use crate::flow::FlowId;
use crate::links::{Links, TermsId};
use crate::population::{Population, Which};

/// Flows with limits, the lowest limits first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limited {
    /// For each of the terms that the flows have, how many have them; then where they are listed.
    of_terms: ById<TermsId, Range<u32>>,
    /// The terms that there are, by their limits.
    terms: Vec<(FlowRate, TermsId)>,
    flows: Vec<FlowId>,
    next: usize,
}

/// The memory of fewer flows is kept.
const FEW: usize = 1 << 16;

impl Limited {
    /// Lists those of some flows that have limits.
    pub(crate) fn list(&mut self, links: &Links, population: &Population, which: Which<'_>) {
        self.of_terms.resize(links.terms_count(), 0..0);
        self.terms.clear();
        self.next = 0;
        let flow_at = |place| {
            let id = which.at(population, place)?;
            Some((id, population.flows[id].kind.terms))
        };
        let places = 0..which.places(population);
        for (_, terms) in places.clone().filter_map(flow_at) {
            let of = &mut self.of_terms[terms];
            if of.end == 0 {
                let limit = links.terms(terms).limit;
                if limit == FlowRate::UNLIMITED {
                    continue;
                }
                self.terms.push((limit, terms));
            }
            of.end += 1;
        }
        self.terms.sort_unstable();
        let mut first = 0;
        for &(_, terms) in &self.terms {
            let of = &mut self.of_terms[terms];
            let count = of.end;
            *of = first..first;
            first += count;
        }
        self.flows.clear();
        self.flows.resize(first as usize, FlowId::default());
        if first == 0 {
            return;
        }
        for (id, terms) in places.filter_map(flow_at) {
            if links.terms(terms).limit < FlowRate::UNLIMITED {
                let of = &mut self.of_terms[terms];
                self.flows[of.end as usize] = id;
                of.end += 1;
            }
        }
    }

    /// The flows of the next limit, if that is no more than `level`.
    pub(crate) fn next_up_to(&mut self, level: FlowRate) -> Option<(FlowRate, &[FlowId])> {
        let &(limit, terms) = self.terms.get(self.next)?;
        if limit > level {
            return None;
        }
        self.next += 1;
        let Range { start, end } = self.of_terms[terms];
        Some((limit, &self.flows[start as usize..end as usize]))
    }

    /// Forgets them.
    pub(crate) fn release(&mut self) {
        for &(_, terms) in &self.terms {
            self.of_terms[terms] = 0..0;
        }
        if self.flows.len() > FEW {
            self.flows = Vec::new();
        }
    }
}
