//! Flows over links, as time passes.

use tenter_language::units::Instant;

use crate::fluid::amounts::{Amount, FlowRate, Load, Weight};
use crate::fluid::certificate;
use crate::fluid::flow::{Flow, FlowId, FlowSpec};
use crate::fluid::links::{Kind, LinkId, Links, NOTHING, RouteId, Terms};
use crate::fluid::population::Population;
use crate::fluid::repair::Repair;

/// Flows over links, with max–min fair rates.
///
/// All changes between two calls of [`Fluid::settle`] belong to one instant. Between a change and
/// the next call, rates and ends must not be queried.
///
/// ```
/// use tenter_sim::fluid::{Amount, FlowRate, FlowSpec, Fluid, Weight};
/// use tenter_language::units::{Instant, Rate};
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
/// // At 400 Gb/s a byte takes 20 ps; each of the two flows has half of that rate.
/// assert_eq!(fluid.next_end(), Some(Instant::from_ps(40_000)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fluid {
    links: Links,
    population: Population,
    repair: Repair,
    /// Flows that have begun since `settle` was last called.
    begun: Vec<FlowId>,
}

/// Capacity, in flows, from which `begun` returns its memory after use: a job that starts all its
/// flows at once should not keep that list for the whole trial.
const MANY: usize = 1 << 16;

impl Fluid {
    /// Creates an empty `Fluid` whose links may carry up to `ppm` millionths more or less than
    /// their capacity before any rate changes. The rates are then the max–min fair ones for links
    /// that differ by that much. With many flows, most ends then change only a few rates.
    pub fn tolerating(ppm: u32) -> Fluid {
        let mut fluid = Fluid::default();
        fluid.repair.shares.tolerate(ppm);
        fluid
    }

    /// Adds a link that sends at `capacity`.
    pub fn add_link(&mut self, capacity: FlowRate) -> LinkId {
        let link = self.links.add(capacity);
        self.take_in(link);
        link
    }

    fn take_in(&mut self, link: LinkId) {
        self.population.add_link();
        self.repair.add_link(self.links.capacities[link]);
    }

    /// Returns the route over `hops`. Equal lists get the same route.
    pub fn route(&mut self, hops: &[(LinkId, Weight)]) -> RouteId {
        self.links.route(hops)
    }

    /// Creates a route for one flow alone, such as one whose links are drawn for it. It is never
    /// looked up or shared, and it is freed with the flow.
    pub fn own_route(&mut self, hops: &[(LinkId, Weight)]) -> RouteId {
        self.links.own_route(hops)
    }

    /// Returns a flow's links between its first and its last.
    pub(crate) fn hops(&self, id: FlowId) -> &[(LinkId, Weight)] {
        self.links.hops(self.population.flows[id].kind.route)
    }

    /// Starts a flow. The flow's rate is known after the next `settle`.
    pub fn begin(&mut self, spec: FlowSpec) -> FlowId {
        let (from, weight) = spec.from;
        let limit = spec.limit;
        let terms = self.links.terms_id(Terms { weight, limit });
        // Limits are links that no flow loads. A new one may have been created just now; the other
        // tables then need an entry for it.
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

    /// Removes a flow that has ended or is given up. Of many flows that have just begun, the last
    /// are found soonest.
    pub fn withdraw(&mut self, id: FlowId) {
        let Flow {
            bottleneck, kind, ..
        } = self.population.flows[id];
        self.repair.withdraw(&self.links, &mut self.population, id);
        self.population.remove(&self.links, id);
        // A flow without a bottleneck has begun since the last `settle` and is still in `begun`.
        if bottleneck == NOTHING
            && let Some(place) = self.begun.iter().rposition(|of| *of == id)
        {
            self.begun.remove(place);
        }
        if Links::is_own(kind.route) {
            self.links.drop_own(kind.route);
        }
    }

    /// Sets a link's rate; it takes effect at the next `settle`.
    pub fn set_capacity(&mut self, link: LinkId, capacity: FlowRate) {
        let after = Load::of_capacity(capacity);
        let before = std::mem::replace(&mut self.links.capacities[link], after);
        self.repair.set_capacity(link, [before, after]);
    }

    /// Finds the rates at `now`.
    pub fn settle(&mut self, now: Instant) {
        self.settle_and(now, |_, _| {});
    }

    /// Finds the rates at `now`, and calls `changed` with the old and the new rate for each flow
    /// whose rate differs. A new flow's old rate is 0.
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

    /// Returns the instant at which the next flow ends.
    pub fn next_end(&self) -> Option<Instant> {
        let end = self.repair.holders.next_end();
        (!end.is_never()).then_some(end)
    }

    /// Returns the flows that end at `at`, in numerical order. The caller must
    /// [withdraw](Fluid::withdraw) them.
    pub fn ending(&self, at: Instant) -> Vec<FlowId> {
        self.repair.holders.ending(&self.population.flows, at)
    }

    /// Returns how many rate searches there were since the start: one for each begin and each
    /// changed rate, including searches that found the same rate again.
    pub fn refilled(&self) -> u64 {
        self.repair.refilled
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// Returns the flow's rate since the last `settle`.
    pub fn rate(&self, id: FlowId) -> FlowRate {
        self.population.flows[id].rate
    }

    /// Returns a link that holds the flow back, the lowest-numbered if there are several; `None` if
    /// its own limit does.
    pub(crate) fn bottleneck(&self, id: FlowId) -> Option<LinkId> {
        let Flow { kind, rate, .. } = self.population.flows[id];
        if rate == self.links.terms(kind.terms).limit {
            return None;
        }
        let hops = kind.hops(&self.links).map(|(link, _)| link);
        hops.filter(|link| self.holds(*link, rate)).min()
    }

    /// Returns true if `link` is full and no flow on it has more than `rate`.
    fn holds(&self, link: LinkId, rate: FlowRate) -> bool {
        let share = self.repair.shares.of(link);
        if share.held > 0 {
            return share.level == rate;
        }
        let mut on = self.population.on(link).map(|(_, flow)| flow);
        share.may_be_full() && on.all(|flow| flow.rate <= rate)
    }

    /// Returns the rate at which a link sends.
    pub(crate) fn capacity(&self, link: LinkId) -> FlowRate {
        self.links.capacities[link].whole_rate()
    }

    /// Returns the flows' total rate on a link, each weighted by the part that the link carries.
    pub(crate) fn load(&self, link: LinkId) -> FlowRate {
        let spare = self.repair.shares.of(link).spare;
        let load = self.links.capacities[link].0.cast_signed() - spare;
        Load(load as u128).whole_rate()
    }

    /// Returns the amount that the flow still has to send at `now`.
    pub fn left(&self, id: FlowId, now: Instant) -> Amount {
        self.repair.holders.left(&self.population.flows[id], now)
    }

    /// Checks that the rates are max–min fair.
    ///
    /// # Errors
    /// A sentence about the first flow or link that is not: a defect in this room.
    pub fn check(&self) -> Result<(), String> {
        certificate::check(&self.links, &self.population, &self.repair.shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_language::units::Rate;

    /// Draws numbers by a seed.
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, bound: usize) -> usize {
            let Draw(state) = self;
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*state >> 33) as usize % bound
        }

        fn line(&mut self) -> FlowRate {
            FlowRate::of_line(Rate::from_gbps(10 + self.below(90) as u64))
        }
    }

    /// Begins and ends drawn flows and changes links, and returns all rates after each change.
    fn rates_of_a_story(fluid: &mut Fluid, seed: u64) -> Vec<Vec<FlowRate>> {
        let mut draw = Draw(seed);
        let links: Vec<LinkId> = (0..10).map(|_| fluid.add_link(draw.line())).collect();
        let mut alive: Vec<FlowId> = Vec::new();
        let mut story = Vec::new();
        for step in 0..60 {
            let at = Instant::from_ps(step * 1_000);
            for _ in 0..draw.below(4) {
                let hops: Vec<(LinkId, Weight)> = (0..draw.below(3))
                    .map(|_| (links[draw.below(10)], Weight::WHOLE))
                    .collect();
                let is_limited = draw.below(3) == 0;
                let route = fluid.route(&hops);
                alive.push(fluid.begin(FlowSpec {
                    from: (links[draw.below(10)], Weight::WHOLE),
                    route,
                    to: links[draw.below(10)],
                    limit: if is_limited {
                        draw.line()
                    } else {
                        FlowRate::UNLIMITED
                    },
                    // None of them ends by itself within the story.
                    amount: Amount::of_bytes(1 << 40),
                }));
            }
            if alive.len() > 4 && draw.below(2) == 0 {
                fluid.withdraw(alive.swap_remove(draw.below(alive.len())));
            }
            if draw.below(3) == 0 {
                fluid.set_capacity(links[draw.below(10)], draw.line());
            }
            fluid.settle(at);
            fluid
                .check()
                .unwrap_or_else(|what| panic!("seed {seed}, step {step}: {what}"));
            story.push(alive.iter().map(|id| fluid.rate(*id)).collect());
        }
        story
    }

    #[test]
    fn rates_that_are_found_anew_are_those_of_a_repair() {
        for seed in 0..50 {
            let repaired = rates_of_a_story(&mut Fluid::default(), seed);
            let mut fluid = Fluid::default();
            fluid.repair.most_visits = Some(1);
            let anew = rates_of_a_story(&mut fluid, seed);
            assert!(fluid.repair.anew > 30, "{}", fluid.repair.anew);
            // The order in which links fill decides who gets the unit that rounding leaves.
            let pairs = repaired.iter().flatten().zip(anew.iter().flatten());
            let apart = |(a, b): (&FlowRate, &FlowRate)| a.bits_per_second() - b.bits_per_second();
            let farthest = pairs.map(apart).map(f64::abs).fold(0.0, f64::max);
            assert!(farthest < 0.01, "seed {seed}: {farthest} bit/s");
        }
    }

    #[test]
    fn a_tolerance_holds_while_links_change() {
        let mut differ = 0;
        for seed in 0..50 {
            // The story checks the rates after each change.
            let near = rates_of_a_story(&mut Fluid::tolerating(10_000), seed);
            differ += usize::from(near != rates_of_a_story(&mut Fluid::default(), seed));
        }
        assert!(differ > 10, "{differ}");
    }
}
