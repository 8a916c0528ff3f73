//! Links and the routes over them.

use std::collections::HashMap;

use tenter_units::{ById, id};

use crate::amounts::{FlowRate, Load, Weight};

id! {
    /// A link in one direction, or several that every flow loads alike.
    pub struct LinkId(u32);
}

/// No link.
pub(crate) const NOTHING: LinkId = LinkId::new(u32::MAX);

id! {
    /// A list of links that flows pass, each with the part of the flow that it carries.
    pub struct RouteId(u32);
}

id! {
    /// Terms that are known.
    pub(crate) struct TermsId(u32);
}

/// What many flows have in common beside links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Terms {
    /// How much of the link that it enters by a flow takes for what it sends.
    pub(crate) weight: Weight,
    /// The most that it sends at.
    pub(crate) limit: FlowRate,
}

/// All that decides the rate of a flow beside the other flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// The link that it enters by.
    pub(crate) from: LinkId,
    pub(crate) terms: TermsId,
    /// The links between.
    pub(crate) route: RouteId,
    /// The link that it leaves by.
    pub(crate) to: LinkId,
}

impl Kind {
    /// All links that a flow of the kind loads.
    pub(crate) fn hops<'l>(
        &self,
        links: &'l Links,
    ) -> impl Iterator<Item = (LinkId, Weight)> + use<'l> {
        let first = (self.from, links.terms(self.terms).weight);
        let between = links.hops(self.route).iter().copied();
        let last = (self.to, Weight::WHOLE);
        std::iter::once(first).chain(between).chain([last])
    }
}

impl Kind {
    /// Calls for each link that a flow of the kind loads: sooner done than [`hops`](Self::hops).
    #[inline]
    pub(crate) fn each_hop(&self, links: &Links, mut call: impl FnMut(LinkId, Weight)) {
        call(self.from, links.terms[self.terms].weight);
        for &(link, weight) in links.hops(self.route) {
            call(link, weight);
        }
        call(self.to, Weight::WHOLE);
    }
}

/// The links, without the flows on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    pub(crate) capacities: ById<LinkId, Load>,
    /// Links of all routes, one route after the other.
    hops: Vec<(LinkId, Weight)>,
    /// Where the hops of each route end.
    ends: ById<RouteId, u32>,
    /// Only looked up, never iterated.
    known: HashMap<Box<[(LinkId, Weight)]>, RouteId>,
    /// Routes that one flow has alone, and the places of those that are gone.
    own: Vec<Box<[(LinkId, Weight)]>>,
    free: Vec<usize>,
    terms: ById<TermsId, Terms>,
    /// Flows with the same limit are held back by it as by a link that none of them loads.
    limits: ById<TermsId, LinkId>,
    /// Only looked up, never iterated.
    known_terms: HashMap<Terms, TermsId>,
    /// Those that were looked up last: most flows have the same.
    last_terms: Option<(Terms, TermsId)>,
}

/// Routes from this number on belong to one flow each.
const OWN: usize = 1 << 31;

impl Links {
    pub(crate) fn add(&mut self, capacity: FlowRate) -> LinkId {
        self.capacities.push(Load::of_capacity(capacity));
        LinkId::new(self.capacities.len() as u32 - 1)
    }

    /// The route over some links; one that is there already if it has the same.
    pub(crate) fn route(&mut self, hops: &[(LinkId, Weight)]) -> RouteId {
        if let Some(&known) = self.known.get(hops) {
            return known;
        }
        self.hops.extend_from_slice(hops);
        self.ends.push(self.hops.len() as u32);
        let route = RouteId::new(self.ends.len() as u32 - 1);
        self.known.insert(hops.into(), route);
        route
    }

    /// A route for one flow alone, which goes with it.
    pub(crate) fn own_route(&mut self, hops: &[(LinkId, Weight)]) -> RouteId {
        let place = if let Some(free) = self.free.pop() {
            self.own[free] = hops.into();
            free
        } else {
            self.own.push(hops.into());
            self.own.len() - 1
        };
        RouteId::new((OWN + place) as u32)
    }

    /// Whether one flow alone has a route.
    pub(crate) fn is_own(route: RouteId) -> bool {
        route.index() >= OWN
    }

    /// Drops the route of a flow that is gone.
    pub(crate) fn drop_own(&mut self, route: RouteId) {
        let place = route.index() - OWN;
        self.own[place] = Box::default();
        self.free.push(place);
    }

    pub(crate) fn hops(&self, route: RouteId) -> &[(LinkId, Weight)] {
        let index = route.index();
        if let Some(own) = index.checked_sub(OWN) {
            return &self.own[own];
        }
        let ends = self.ends.as_slice();
        let first = if index == 0 { 0 } else { ends[index - 1] };
        &self.hops[first as usize..ends[index] as usize]
    }

    /// The number of some terms.
    pub(crate) fn terms_id(&mut self, terms: Terms) -> TermsId {
        if let Some((last, id)) = self.last_terms
            && last == terms
        {
            return id;
        }
        let next = TermsId::new(self.terms.len() as u32);
        let id = *self.known_terms.entry(terms).or_insert(next);
        if id == next {
            self.terms.push(terms);
            let limit = match terms.limit {
                FlowRate::UNLIMITED => NOTHING,
                limit => self.add(limit),
            };
            self.limits.push(limit);
        }
        self.last_terms = Some((terms, id));
        id
    }

    pub(crate) fn terms(&self, id: TermsId) -> Terms {
        self.terms[id]
    }

    /// What stands for the limit of some terms, if they have one.
    pub(crate) fn limit(&self, id: TermsId) -> Option<LinkId> {
        let limit = self.limits[id];
        (limit != NOTHING).then_some(limit)
    }
}
