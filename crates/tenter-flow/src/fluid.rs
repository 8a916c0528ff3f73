//! Flows over links, as time passes.

use tenter_units::Instant;

use crate::amounts::{Amount, FlowRate, Load, Weight};
use crate::certificate;
use crate::flow::{Flow, FlowId, FlowSpec};
use crate::links::{Kind, LinkId, Links, NOTHING, RouteId, Terms};
use crate::population::Population;
use crate::repair::Repair;

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
///     fluid.begin(FlowSpec {
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
    repair: Repair,
    /// Flows that have begun since the rates were last found.
    begun: Vec<FlowId>,
}

/// The memory of a list of more flows is given back.
const MANY: usize = 1 << 16;

impl Fluid {
    /// Flows over links which may carry more or less than they can, by so many millionths of it:
    /// the rates are the max–min fair ones of links that are so much faster or slower. Among many
    /// flows most ends then change the rates of few.
    pub fn tolerating(ppm: u32) -> Fluid {
        let mut fluid = Fluid::default();
        fluid.repair.shares.tolerate(ppm);
        fluid
    }

    /// A further link with the rate at which it sends.
    pub fn add_link(&mut self, capacity: FlowRate) -> LinkId {
        let link = self.links.add(capacity);
        self.take_in(link);
        link
    }

    fn take_in(&mut self, link: LinkId) {
        self.population.add_link();
        self.repair.add_link(self.links.capacities[link]);
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
        self.links.hops(self.population.flows[id].kind.route)
    }

    /// Lets a flow begin.
    pub fn begin(&mut self, spec: FlowSpec) -> FlowId {
        let (from, weight) = spec.from;
        let limit = spec.limit;
        let terms = self.links.terms_id(Terms { weight, limit });
        if let Some(limit) = self.links.limit(terms)
            && limit.index() == self.population.links()
        {
            self.take_in(limit);
        }
        let kind = Kind {
            from,
            terms,
            route: spec.route,
            to: spec.to,
        };
        let id = self.population.add(&self.links, kind, spec.amount);
        self.begun.push(id);
        id
    }

    /// Takes a flow out that has ended, or is given up. Of many that have just begun, the last are
    /// found soonest.
    pub fn withdraw(&mut self, id: FlowId) {
        let Flow {
            bottleneck, kind, ..
        } = self.population.flows[id];
        self.repair.withdraw(&self.links, &mut self.population, id);
        self.population.remove(&self.links, id);
        if bottleneck == NOTHING
            && let Some(place) = self.begun.iter().rposition(|of| *of == id)
        {
            self.begun.remove(place);
        }
        if Links::is_own(kind.route) {
            self.links.drop_own(kind.route);
        }
    }

    /// Gives a link another rate from `now` on.
    pub fn set_capacity(&mut self, link: LinkId, capacity: FlowRate) {
        let after = Load::of_capacity(capacity);
        let before = std::mem::replace(&mut self.links.capacities[link], after);
        self.repair.set_capacity(link, [before, after]);
    }

    /// Finds the rates at `now`.
    pub fn settle(&mut self, now: Instant) {
        self.settle_and(now, |_, _| {});
    }

    /// Finds the rates at `now`, and calls `changed` for each flow that then has another rate, with
    /// the rate before and after: none before where it has begun.
    pub fn settle_and(&mut self, now: Instant, changed: impl FnMut(FlowId, [FlowRate; 2])) {
        let (links, begun) = (&self.links, &self.begun);
        self.repair
            .settle(links, &mut self.population, begun, now, changed);
        self.begun.clear();
        if self.begun.capacity() > MANY {
            self.begun = Vec::new();
        }
        self.population.release();
    }

    /// When the next flow ends.
    pub fn next_end(&self) -> Option<Instant> {
        let end = self.repair.holders.next_end();
        (!end.is_never()).then_some(end)
    }

    /// The flows that end at an instant, in the order of their numbers. They must be
    /// [withdrawn](Fluid::withdraw).
    pub fn ending(&self, at: Instant) -> Vec<FlowId> {
        self.repair.holders.ending(&self.population.flows, at)
    }

    /// How many times flows have had their rates found since the start: each begin and each change
    /// of a rate once, and flows whose rates turned out to be the same.
    pub fn refilled(&self) -> u64 {
        self.repair.refilled
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// The rate of a flow.
    pub fn rate(&self, id: FlowId) -> FlowRate {
        self.population.flows[id].rate
    }

    /// A link that holds a flow back, of several the one with the lowest number; `None` for one
    /// that has its own limit.
    pub fn bottleneck(&self, id: FlowId) -> Option<LinkId> {
        let Flow { kind, rate, .. } = self.population.flows[id];
        if rate == self.links.terms(kind.terms).limit {
            return None;
        }
        let hops = kind.hops(&self.links).map(|(link, _)| link);
        hops.filter(|link| self.holds(*link, rate)).min()
    }

    /// Whether a link is full and gives nobody more than this rate.
    fn holds(&self, link: LinkId, rate: FlowRate) -> bool {
        let share = self.repair.shares.of(link);
        if share.held > 0 {
            return share.level == rate;
        }
        let mut on = self.population.on(link).map(|(_, flow)| flow);
        share.may_be_full() && on.all(|flow| flow.rate <= rate)
    }

    /// The rate at which a link sends.
    pub fn capacity(&self, link: LinkId) -> FlowRate {
        self.links.capacities[link].whole_rate()
    }

    /// What all flows of a link take of it.
    pub fn load(&self, link: LinkId) -> FlowRate {
        let spare = self.repair.shares.of(link).spare;
        let load = self.links.capacities[link].0.cast_signed() - spare;
        Load(load as u128).whole_rate()
    }

    /// What a flow has still to send at `now`.
    pub fn left(&self, id: FlowId, now: Instant) -> Amount {
        self.repair.holders.left(&self.population.flows[id], now)
    }

    /// Looks whether the rates are the max–min fair ones.
    ///
    /// # Errors
    /// A sentence about the first flow or link where they are not: a defect of this crate.
    pub fn check(&self) -> Result<(), String> {
        certificate::check(&self.links, &self.population, &self.repair.shares)
    }
}
