//! Whether rates are the max–min fair ones.

use crate::flow::Bottleneck;
use crate::links::Links;
use crate::population::Population;

/// Looks for the bottleneck of every flow, and at the load of every link.
///
/// # Errors
/// A sentence about the first flow or link that should not be as it is.
pub(crate) fn check(links: &Links, population: &Population) -> Result<(), String> {
    for (link, capacity) in links.capacities.numbered() {
        let load = population.load(link);
        if load > *capacity {
            return Err(format!("link {link} carries {} of {}", load.0, capacity.0));
        }
        let of_flows = population.on(link).count();
        if of_flows != population.count_on(link) as usize {
            return Err(format!("link {link} does not list its flows"));
        }
    }
    for (id, flow) in population.alive() {
        let is_held = if let Some(link) = flow.bottleneck.link() {
            let mut others = population.on(link);
            population.is_full(links, link) && others.all(|(_, other)| other.rate <= flow.rate)
        } else {
            let limit = links.terms(flow.kind.terms).limit;
            flow.bottleneck == Bottleneck::OWN && flow.rate == limit
        };
        if !is_held {
            return Err(format!(
                "flow {id} has {} bit/s and might have more: {:?} does not hold it back",
                flow.rate.bits_per_second(),
                flow.bottleneck
            ));
        }
    }
    Ok(())
}
