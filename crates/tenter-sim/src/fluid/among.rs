//! Flow rates if flows run alone, or beside other flows that run for a fraction of the time.

use std::collections::HashMap;

use crate::fluid::amounts::{FlowRate, Weight};
use crate::fluid::flow::FlowSpec;
use crate::fluid::links::{LinkId, Links};
use crate::fluid::solver::Fluid;

/// Share of time during which a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Fraction of time during which it sends.
    pub part: Weight,
    /// Flows with the same phase number send at the same times. Different phases are independent.
    pub phase: u32,
}

impl Fluid {
    /// Returns the rate that the flow would have if no other flow existed.
    pub(crate) fn rate_alone(&self, spec: &FlowSpec) -> FlowRate {
        let always = Presence {
            part: Weight::WHOLE,
            phase: 0,
        };
        let mut loads = Loads::default();
        loads.add(self.links(), spec, always);
        loads.rate(self.links(), spec, always)
    }

    /// Returns the flows' rates when each of them sends for a fraction of the time. While a flow
    /// sends, it shares each of its links with every flow in its own phase, and with the mean load
    /// that the other phases put on the link.
    ///
    /// A flow that takes time b alone then takes b · (1 + Σ p) beside flows that send for fractions
    /// p: processor sharing (Kleinrock, "Time-shared Systems: A Theoretical Treatment", Journal of
    /// the ACM 14, 1967). If all flows always send, or share one phase, the result is an equal
    /// share of the flow's fullest link. That is a lower bound: flows held back elsewhere may leave
    /// capacity which this function does not hand out.
    pub(crate) fn rates_among(&self, specs: &[FlowSpec], presences: &[Presence]) -> Vec<FlowRate> {
        let links = self.links();
        let mut loads = Loads::default();
        for (spec, presence) in specs.iter().zip(presences) {
            loads.add(links, spec, *presence);
        }
        let rates = specs.iter().zip(presences);
        rates
            .map(|(spec, presence)| loads.rate(links, spec, *presence))
            .collect()
    }
}

/// Load on each link, in 2⁻⁴⁰ of one whole flow. The maps are only looked up, never iterated, so
/// their order cannot reach a result.
#[derive(Debug, Default)]
struct Loads {
    /// Mean load, with every flow weighted by its fraction of time.
    mean: HashMap<LinkId, u128>,
    /// Load that a phase's flows add to the mean while they send.
    of_phases: HashMap<(LinkId, u32), u128>,
}

impl Loads {
    fn add(&mut self, links: &Links, spec: &FlowSpec, Presence { part, phase }: Presence) {
        let absent = Weight::WHOLE.units().saturating_sub(part.units());
        for (link, weight) in spec.hops(links) {
            *self.mean.entry(link).or_default() += weight.units() * part.units();
            *self.of_phases.entry((link, phase)).or_default() += weight.units() * absent;
        }
    }

    /// Returns a flow's rate; its load has been added before.
    fn rate(&self, links: &Links, spec: &FlowSpec, presence: Presence) -> FlowRate {
        let of_links = spec.hops(links).filter_map(|(link, _)| {
            let taken = self.mean[&link] + self.of_phases[&(link, presence.phase)];
            // The division fails only if the flow's weight on this link is zero: the link then does
            // not limit the flow.
            let units = (links.capacities[link].0 * Weight::WHOLE.units()).checked_div(taken)?;
            Some(FlowRate::of_units(u64::try_from(units).unwrap_or(u64::MAX)))
        });
        of_links.fold(spec.limit, FlowRate::min)
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Rate;

    use super::*;
    use crate::fluid::amounts::Amount;

    /// Returns the rates in Gb/s for three flows, two of which leave by one link.
    fn rates(presences: [(u64, u32); 3]) -> Vec<u64> {
        let mut fluid = Fluid::default();
        let mut link = |gbps| fluid.add_link(FlowRate::of_line(Rate::from_gbps(gbps)));
        let [a, b, c, slow, out] = [400, 400, 400, 150, 300].map(&mut link);
        let ends = [(a, out), (b, out), (c, slow)];
        let specs = ends.map(|(from, to)| spec(&mut fluid, from, &[], to));
        let presences = presences.map(|(quarters, phase)| Presence {
            part: Weight::of(quarters, 4),
            phase,
        });
        let rates = fluid.rates_among(&specs, &presences);
        rates.iter().copied().map(gbps).collect()
    }

    fn spec(fluid: &mut Fluid, from: LinkId, between: &[LinkId], to: LinkId) -> FlowSpec {
        let hops: Vec<_> = between.iter().map(|link| (*link, Weight::WHOLE)).collect();
        FlowSpec {
            from: (from, Weight::WHOLE),
            route: fluid.route(&hops),
            to,
            limit: FlowRate::UNLIMITED,
            amount: Amount::of_bytes(1),
        }
    }

    fn gbps(rate: FlowRate) -> u64 {
        (rate.bits_per_second() / 1e9).round() as u64
    }

    #[test]
    fn flows_share_links_with_the_mean_of_others() {
        assert_eq!(rates([(4, 0), (4, 1), (4, 2)]), [150, 150, 150]);
        // One that is there for half of the time leaves 300 / 1.5.
        assert_eq!(rates([(4, 0), (2, 1), (1, 2)]), [200, 150, 150]);
        assert_eq!(rates([(1, 0), (1, 1), (1, 2)]), [240, 240, 150]);
    }

    #[test]
    fn flows_of_one_phase_are_there_together() {
        assert_eq!(rates([(1, 7), (1, 7), (1, 2)]), [150, 150, 150]);
        assert_eq!(rates([(1, 7), (1, 2), (1, 7)]), [240, 240, 150]);
    }

    #[test]
    fn a_flow_takes_a_link_for_each_time_that_it_passes() {
        let mut fluid = Fluid::default();
        let mut link = |gbps| fluid.add_link(FlowRate::of_line(Rate::from_gbps(gbps)));
        let [a, twice, b] = [400, 400, 400].map(&mut link);
        let flow = spec(&mut fluid, a, &[twice, twice], b);
        assert_eq!(gbps(fluid.rate_alone(&flow)), 200);
        let half = Presence {
            part: Weight::of(1, 2),
            phase: 0,
        };
        let rates = fluid.rates_among(&[flow], &[half]);
        assert_eq!(rates, [fluid.rate_alone(&flow)]);
    }
}
