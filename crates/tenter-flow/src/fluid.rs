//! Flows over links, as time passes.

use std::collections::HashMap;

use tenter_units::Instant;

use crate::amounts::{Amount, FlowRate, Load, Weight};
use crate::certificate;
use crate::ends::Ends;
use crate::links::{LinkId, Links, RouteId};
use crate::population::{Bottleneck, FlowId, FlowSpec, Kind, Population};
use crate::repair::Repair;

/// A rate that flows of a kind had when they ended, and what held them back.
type Left = (FlowRate, Bottleneck);

/// Flows over links with max–min fair rates.
///
/// Changes between two calls of [`Fluid::settle`] are of one instant. Nothing may be asked about
/// rates and ends between a change and the next call.
///
/// ```
/// use tenter_flow::{Amount, FlowRate, FlowSpec, Fluid, Weight};
/// use tenter_units::{Instant, Rate};
///
/// let mut fluid = Fluid::default();
/// let [a, b, out] = [400, 400, 400].map(|gbps| {
///     fluid.add_link(FlowRate::of_line(Rate::from_gbps(gbps)))
/// });
/// let route = fluid.route(&[]);
/// for from in [a, b] {
///     fluid.begin(Instant::START, FlowSpec {
///         from: (from, Weight::WHOLE),
///         route,
///         to: out,
///         limit: FlowRate::UNLIMITED,
///         amount: Amount::of_bytes(1_000),
///     });
/// }
/// fluid.settle(Instant::START);
/// // Each of the two has half of what a byte takes 20 ps at.
/// assert_eq!(fluid.next_end(), Some(Instant::from_ps(40_000)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fluid {
    links: Links,
    population: Population,
    ends: Ends,
    repair: Repair,
    /// Flows that have begun since the rates were last found.
    begun: Vec<FlowId>,
    /// Rates of those that have ended since. Only looked up.
    ended: HashMap<Kind, Vec<Left>>,
    /// One flow of each kind of them, in the order in which they ended.
    ended_kinds: Vec<FlowSpec>,
    /// Links whose capacity has changed since.
    changed: Vec<LinkId>,
}

impl Fluid {
    /// A further link with the rate at which it sends.
    pub fn add_link(&mut self, capacity: FlowRate) -> LinkId {
        self.population.add_link();
        self.repair.add_link();
        self.links.add(capacity)
    }

    /// The route over some links, which is made where it is not known.
    pub fn route(&mut self, hops: &[(LinkId, Weight)]) -> RouteId {
        self.links.route(hops)
    }

    /// A route for one flow alone, such as one whose parts are drawn for it: nothing is looked up,
    /// and it is gone with the flow.
    pub fn own_route(&mut self, hops: &[(LinkId, Weight)]) -> RouteId {
        self.links.own_route(hops)
    }

    /// The links of a flow between the one that it enters by and the one that it leaves by.
    pub fn hops(&self, id: FlowId) -> &[(LinkId, Weight)] {
        self.links.hops(self.population.flows[id].spec.route)
    }

    /// Lets a flow begin.
    pub fn begin(&mut self, now: Instant, spec: FlowSpec) -> FlowId {
        let id = self.population.add(&self.links, spec, now);
        self.begun.push(id);
        id
    }

    /// Takes a flow out that has ended, or is given up.
    pub fn withdraw(&mut self, id: FlowId) {
        let flow = self.population.flows[id];
        self.population.remove(&self.links, id);
        let is_new = flow.bottleneck == Bottleneck::Unknown;
        if is_new {
            self.begun.retain(|of| *of != id);
        }
        if Links::is_own(flow.spec.route) {
            // Nobody takes its place.
            for (link, _) in flow.spec.hops(&self.links) {
                self.repair.touch(link);
            }
            self.links.drop_own(flow.spec.route);
            return;
        }
        if is_new {
            return;
        }
        let left = self.ended.entry(flow.spec.kind()).or_default();
        if left.is_empty() {
            self.ended_kinds.push(flow.spec);
        }
        left.push((flow.rate, flow.bottleneck));
    }

    /// Gives a link another rate from `now` on.
    pub fn set_capacity(&mut self, link: LinkId, capacity: FlowRate) {
        self.links.capacities[link] = Load::of_capacity(capacity);
        self.changed.push(link);
    }

    /// Finds the rates at `now`.
    pub fn settle(&mut self, now: Instant) {
        self.replace(now);
        for spec in std::mem::take(&mut self.ended_kinds) {
            let left = self.ended.remove(&spec.kind());
            if left.is_some_and(|left| !left.is_empty()) {
                for (link, _) in spec.hops(&self.links) {
                    self.repair.touch(link);
                }
            }
        }
        for link in std::mem::take(&mut self.changed) {
            self.repair.open_all_on(&mut self.population, link);
        }
        self.repair.open_touched(&mut self.population);
        let (links, ends) = (&self.links, &mut self.ends);
        let changed = |flow, sequence, end| ends.add(flow, sequence, end);
        self.repair
            .settle(links, &mut self.population, now, changed);
    }

    /// Lets flows that have begun take the places of others of their kind that have ended at the
    /// same instant: nobody else's rate changes by that. The rest is opened.
    fn replace(&mut self, now: Instant) {
        for id in std::mem::take(&mut self.begun) {
            let spec = self.population.flows[id].spec;
            let left = self.ended.get_mut(&spec.kind()).and_then(Vec::pop);
            let Some((rate, bottleneck)) = left else {
                self.repair.open(&mut self.population, id);
                for (link, _) in spec.hops(&self.links) {
                    self.repair.touch(link);
                }
                continue;
            };
            self.population
                .set_rate(&self.links, id, rate, bottleneck, now);
            let flow = &self.population.flows[id];
            self.ends.add(id, flow.sequence, flow.end);
        }
    }

    /// When the next flow ends, in ps.
    pub fn next_end(&mut self) -> Option<Instant> {
        self.ends.next(&self.population)
    }

    /// The flows that end at an instant, in the order in which they began. They must be
    /// [withdrawn](Fluid::withdraw).
    pub fn ending(&mut self, at: Instant) -> Vec<FlowId> {
        self.ends.take(&self.population, at)
    }

    /// The rate that a flow would have if there were no other.
    pub fn rate_alone(&self, spec: &FlowSpec) -> FlowRate {
        let hops = spec.hops(&self.links);
        let of_links = hops.filter_map(|(link, weight)| {
            let units = self.links.capacities[link].0.checked_div(weight.units())?;
            Some(FlowRate::of_units(u64::try_from(units).unwrap_or(u64::MAX)))
        });
        of_links.fold(spec.limit, FlowRate::min)
    }

    /// The rate of a flow.
    pub fn rate(&self, id: FlowId) -> FlowRate {
        self.population.flows[id].rate
    }

    /// What a flow has still to send at `now`.
    pub fn left(&self, id: FlowId, now: Instant) -> Amount {
        let flow = &self.population.flows[id];
        flow.left.after(flow.rate, now - flow.since)
    }

    /// Looks whether the rates are the max–min fair ones.
    ///
    /// # Errors
    /// A sentence about the first flow or link where they are not: a defect of this crate.
    pub fn check(&self) -> Result<(), String> {
        certificate::check(&self.links, &self.population)
    }
}
