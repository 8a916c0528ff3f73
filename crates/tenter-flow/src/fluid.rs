//! Flows over links, as time passes.

use tenter_units::Instant;

use crate::amounts::{Amount, FlowRate, Load, Weight};
use crate::certificate;
use crate::ends::Ends;
use crate::flow::{Bottleneck, FlowId, FlowSpec};
use crate::links::{Kind, LinkId, Links, RouteId, Terms};
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
    /// Those that have ended since. Their places still tell what rates they had.
    ended: Vec<FlowId>,
    /// Scratch space: both by their kinds.
    kinds: [Vec<(Kind, FlowId)>; 2],
    /// Links whose capacity has changed since.
    changed: Vec<LinkId>,
}

/// The memory of a list of more flows is given back.
const MANY: usize = 1 << 16;

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
        self.links.hops(self.population.flows[id].kind.route)
    }

    /// Lets a flow begin.
    pub fn begin(&mut self, now: Instant, spec: FlowSpec) -> FlowId {
        let (from, weight) = spec.from;
        let limit = spec.limit;
        let kind = Kind {
            from,
            terms: self.links.terms_id(Terms { weight, limit }),
            route: spec.route,
            to: spec.to,
        };
        let id = self.population.add(&self.links, kind, spec.amount, now);
        self.begun.push(id);
        id
    }

    /// Takes a flow out that has ended, or is given up. Of many that have just begun, the last are
    /// found soonest.
    pub fn withdraw(&mut self, id: FlowId) {
        let flow = self.population.flows[id];
        self.population.remove(&self.links, id);
        let is_new = flow.bottleneck == Bottleneck::UNKNOWN;
        if is_new && let Some(place) = self.begun.iter().rposition(|of| *of == id) {
            self.begun.remove(place);
        }
        if Links::is_own(flow.kind.route) {
            // Nobody takes its place.
            self.touch(flow.kind);
            self.links.drop_own(flow.kind.route);
        }
        if is_new || Links::is_own(flow.kind.route) {
            self.population.free(id);
        } else {
            self.ended.push(id);
        }
    }

    /// The links of a kind have lost or gained a flow.
    fn touch(&mut self, kind: Kind) {
        for (link, _) in kind.hops(&self.links) {
            self.repair.touch(link);
        }
    }

    /// Gives a link another rate from `now` on.
    pub fn set_capacity(&mut self, link: LinkId, capacity: FlowRate) {
        self.links.capacities[link] = Load::of_capacity(capacity);
        self.changed.push(link);
    }

    /// Finds the rates at `now`.
    pub fn settle(&mut self, now: Instant) {
        self.settle_and(now, |_, _| {});
    }

    /// Finds the rates at `now`, and calls `changed` for each flow that then has another rate, with
    /// the rate before and after: none before where it has begun.
    pub fn settle_and(&mut self, now: Instant, mut changed: impl FnMut(FlowId, [FlowRate; 2])) {
        self.replace(now, &mut changed);
        for link in std::mem::take(&mut self.changed) {
            self.repair.open_all_on(&mut self.population, link);
        }
        self.repair.open_touched(&mut self.population);
        let (links, ends) = (&self.links, &mut self.ends);
        let changed = |flow, rates, end| {
            ends.add(flow, end);
            changed(flow, rates);
        };
        self.repair
            .settle(links, &mut self.population, now, changed);
        self.population.release();
    }

    /// Lets flows that have begun take the places of others of their kind that have ended at the
    /// same instant: nobody else's rate changes by that. The rest is opened.
    fn replace(&mut self, now: Instant, changed: &mut impl FnMut(FlowId, [FlowRate; 2])) {
        let begun = std::mem::take(&mut self.begun);
        let ended = std::mem::take(&mut self.ended);
        if begun.is_empty() || ended.is_empty() {
            for &id in &begun {
                self.open_new(id);
            }
            for &id in &ended {
                self.free_ended(id);
            }
        } else {
            self.match_kinds(&begun, &ended, now, changed);
        }
        for (list, kept) in [(begun, &mut self.begun), (ended, &mut self.ended)] {
            if list.capacity() <= MANY {
                *kept = list;
                kept.clear();
            }
        }
    }

    /// Both lists by kinds: those of a kind that are in both are one flow that goes on.
    fn match_kinds(
        &mut self,
        begun: &[FlowId],
        ended: &[FlowId],
        now: Instant,
        changed: &mut impl FnMut(FlowId, [FlowRate; 2]),
    ) {
        let [mut new, mut old] = std::mem::take(&mut self.kinds);
        for (ids, kinds) in [(begun, &mut new), (ended, &mut old)] {
            kinds.clear();
            kinds.extend(ids.iter().map(|&id| (self.population.flows[id].kind, id)));
            kinds.sort_unstable();
        }
        let mut rest = old.iter().copied().peekable();
        for &(kind, id) in &new {
            while let Some((_, gone)) = rest.next_if(|&(of, _)| of < kind) {
                self.free_ended(gone);
            }
            let Some((_, before)) = rest.next_if(|&(of, _)| of == kind) else {
                self.open_new(id);
                continue;
            };
            let flow = self.population.flows[before];
            self.population
                .set_rate(&self.links, id, flow.rate, flow.bottleneck, now);
            self.ends.add(id, self.population.flows[id].end);
            changed(id, [FlowRate::default(), flow.rate]);
            self.population.free(before);
        }
        for (_, gone) in rest {
            self.free_ended(gone);
        }
        if new.capacity().max(old.capacity()) <= MANY {
            self.kinds = [new, old];
        }
    }

    /// A flow has begun that takes nobody's place.
    fn open_new(&mut self, id: FlowId) {
        self.repair.open(&mut self.population, id);
        self.touch(self.population.flows[id].kind);
    }

    /// A flow has ended whose place nobody takes.
    fn free_ended(&mut self, id: FlowId) {
        self.population.free(id);
        if self.population.len() > 0 {
            self.touch(self.population.flows[id].kind);
        }
    }

    /// When the next flow ends, in ps.
    pub fn next_end(&mut self) -> Option<Instant> {
        self.ends.next(&self.population)
    }

    /// The flows that end at an instant, in the order of their numbers. They must be
    /// [withdrawn](Fluid::withdraw).
    pub fn ending(&mut self, at: Instant) -> Vec<FlowId> {
        self.ends.take(&self.population, at)
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// The rate of a flow.
    pub fn rate(&self, id: FlowId) -> FlowRate {
        self.population.flows[id].rate
    }

    /// A link that holds a flow back; `None` for one that has its own limit.
    pub fn bottleneck(&self, id: FlowId) -> Option<LinkId> {
        self.population.flows[id].bottleneck.link()
    }

    /// The rate at which a link sends.
    pub fn capacity(&self, link: LinkId) -> FlowRate {
        self.links.capacities[link].whole_rate()
    }

    /// What all flows of a link take of it.
    pub fn load(&self, link: LinkId) -> FlowRate {
        self.population.load(link).whole_rate()
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
