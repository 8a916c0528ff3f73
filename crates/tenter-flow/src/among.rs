//! Rates of flows that are alone, or among others that are under way for parts of the time.

use std::collections::HashMap;

use crate::amounts::{FlowRate, Weight};
use crate::flow::FlowSpec;
use crate::fluid::Fluid;
use crate::links::{LinkId, Links};

impl Fluid {
    /// The rate that a flow would have if there were no other.
    pub fn rate_alone(&self, spec: &FlowSpec) -> FlowRate {
        rate_beside(self.links(), spec, |_, _| 0)
    }

    /// The rates of some flows among themselves, each of which is under way for a part of the time:
    /// while a flow is, it shares each of its links with as much of the others as is there in the
    /// mean.
    ///
    /// A flow that is sent in a time b alone then takes b · (1 + Σ p) where others are there for
    /// parts p of the time: processor sharing (Kleinrock, "Time-shared Systems: A Theoretical
    /// Treatment", Journal of the ACM 14, 1967). Where all are there all the time, it is an equal
    /// share of the fullest link, even where others, held back elsewhere, leave some of theirs.
    pub fn rates_among(&self, specs: &[FlowSpec], parts: &[Weight]) -> Vec<FlowRate> {
        let links = self.links();
        // Only looked up.
        let mut loads: HashMap<LinkId, u128> = HashMap::new();
        for (spec, part) in specs.iter().zip(parts) {
            for (link, weight) in spec.hops(links) {
                *loads.entry(link).or_default() += weight.units() * part.units();
            }
        }
        let rates = specs.iter().zip(parts).map(|(spec, part)| {
            let others = |link, weight: Weight| loads[&link] - weight.units() * part.units();
            rate_beside(links, spec, others)
        });
        rates.collect()
    }
}

/// The rate of a flow where others take so much of its links, in 2⁻⁴⁰ of a flow's whole weight.
fn rate_beside(
    links: &Links,
    spec: &FlowSpec,
    others: impl Fn(LinkId, Weight) -> u128,
) -> FlowRate {
    let whole = Weight::WHOLE.units();
    let of_links = spec.hops(links).filter_map(|(link, weight)| {
        let taken = weight.units() * whole + others(link, weight);
        let units = (links.capacities[link].0 * whole).checked_div(taken)?;
        Some(FlowRate::of_units(u64::try_from(units).unwrap_or(u64::MAX)))
    });
    of_links.fold(spec.limit, FlowRate::min)
}

#[cfg(test)]
mod tests {
    use tenter_units::Rate;

    use super::*;
    use crate::amounts::Amount;

    #[test]
    fn flows_share_links_with_the_mean_of_others() {
        let mut fluid = Fluid::default();
        let mut link = |gbps| fluid.add_link(FlowRate::of_line(Rate::from_gbps(gbps)));
        let [a, b, c, slow, out] = [400, 400, 400, 150, 300].map(&mut link);
        let route = fluid.route(&[]);
        let spec = |from, to| FlowSpec {
            from: (from, Weight::WHOLE),
            route,
            to,
            limit: FlowRate::UNLIMITED,
            amount: Amount::of_bytes(1),
        };
        let specs = [spec(a, out), spec(b, out), spec(c, slow)];
        let rates = |parts: [u64; 3]| {
            let parts = parts.map(|part| Weight::of(part, 4));
            let rates = fluid.rates_among(&specs, &parts);
            rates
                .iter()
                .map(|rate| (rate.bits_per_second() / 1e9).round())
                .collect::<Vec<_>>()
        };
        assert_eq!(rates([4, 4, 4]), [150.0, 150.0, 150.0]);
        // One that is there for half of the time leaves 300 / 1.5.
        assert_eq!(rates([4, 2, 1]), [200.0, 150.0, 150.0]);
        assert_eq!(rates([1, 1, 1]), [240.0, 240.0, 150.0]);
    }
}
