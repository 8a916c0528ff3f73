//! Proof that the rates are max–min fair.

use crate::fluid::amounts::{FlowRate, Load};
use crate::fluid::flow::{Flow, FlowId};
use crate::fluid::links::Links;
use crate::fluid::population::Population;
use crate::fluid::shares::Shares;

/// Checks that no link is overloaded and that every flow has a bottleneck.
///
/// # Errors
/// A sentence that names the first flow or link which violates this.
pub(crate) fn check(links: &Links, population: &Population, shares: &Shares) -> Result<(), String> {
    // Highest rate on each link that is full; `None` for a link with capacity to spare.
    let mut highest = Vec::new();
    for (link, capacity) in links.capacities.numbered() {
        let mut on: Vec<(FlowId, &Flow)> = population.on(link).collect();
        if on.len() != population.count_on(link) as usize {
            return Err(format!("link {link} does not list its flows"));
        }
        // A link that a flow passes twice lists it twice.
        on.sort_unstable_by_key(|(id, _)| *id);
        on.dedup_by_key(|(id, _)| *id);
        let (mut load, mut weights, mut most) = (0, 0, FlowRate::default());
        for (_, flow) in on {
            most = most.max(flow.rate);
            for (_, weight) in flow.kind.hops(links).filter(|(hop, _)| *hop == link) {
                load += Load::of(flow.rate, weight).0;
                weights += weight.units();
            }
        }
        let tolerance = shares.of(link).tolerance();
        if load > capacity.0 + tolerance {
            return Err(format!("link {link} carries {load} of {}", capacity.0));
        }
        // Rates are rounded down, so each flow may leave up to one rate unit on the link
        // unused: a full link can miss its capacity by less than the sum of the weights.
        let is_full = capacity.0.saturating_sub(load) < weights.max(tolerance);
        highest.push(is_full.then_some(most));
    }
    for (id, flow) in population.alive() {
        let link = flow.bottleneck;
        let limit = links.terms(flow.kind.terms).limit;
        // A limit is a link without flows on it, so `highest` says nothing about it.
        let is_held = if links.limit(flow.kind.terms) == Some(link) {
            flow.rate == limit
        } else {
            let highest = highest.get(link.index()).copied().flatten();
            flow.rate <= limit && highest == Some(flow.rate)
        };
        if !is_held {
            return Err(format!(
                "flow {id} has {} bit/s and might have more: {link} does not hold it back",
                flow.rate.bits_per_second(),
            ));
        }
    }
    Ok(())
}
