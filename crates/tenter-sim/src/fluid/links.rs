//! Links and the routes over them.

use std::collections::HashMap;

use tenter_language::units::{ById, id};

use crate::fluid::amounts::{FlowRate, Load, Weight};

id! {
    /// Index of a link in one direction, or of a bundle: several links that every flow loads alike.
    pub struct LinkId(u32);
}

/// Marks a missing link, such as the bottleneck of a new flow.
pub(crate) const NOTHING: LinkId = LinkId::new(u32::MAX);

id! {
    /// Route index. A route lists links, each with the part that it carries.
    pub struct RouteId(u32);
}

id! {
    /// Index of [`Terms`] in [`Links`].
    pub(crate) struct TermsId(u32);
}

/// Properties other than links that many flows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Terms {
    /// Load on the first link (the NIC's) as a part of the flow's rate.
    pub(crate) weight: Weight,
    /// Highest rate at which the sender sends.
    pub(crate) limit: FlowRate,
}

/// Everything that decides a flow's rate besides the other flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// First link: the one from the NIC.
    pub(crate) from: LinkId,
    pub(crate) terms: TermsId,
    /// Links between the first and the last.
    pub(crate) route: RouteId,
    /// Last link: the one to the receiving host.
    pub(crate) to: LinkId,
}

impl Kind {
    /// Iterates over all links that a flow of this kind loads.
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
    /// Calls `call` for each link that a flow of this kind loads. This is a repair's inner loop: a
    /// plain loop is faster here than the iterator of [`hops`](Self::hops).
    #[inline]
    pub(crate) fn each_hop(&self, links: &Links, mut call: impl FnMut(LinkId, Weight)) {
        call(self.from, links.terms[self.terms].weight);
        for &(link, weight) in links.hops(self.route) {
            call(link, weight);
        }
        call(self.to, Weight::WHOLE);
    }
}

/// Links, routes and terms, without the flows on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    pub(crate) capacities: ById<LinkId, Load>,
    /// Links on all shared routes, one route after the other.
    hops: Vec<(LinkId, Weight)>,
    /// End of each route's links in `hops`.
    ends: ById<RouteId, u32>,
    /// Route for each list of links. Only looked up, never iterated.
    known: HashMap<Box<[(LinkId, Weight)]>, RouteId>,
    /// Routes that belong to one flow each; `free` holds the slots that can be reused.
    own: Vec<Box<[(LinkId, Weight)]>>,
    free: Vec<usize>,
    terms: ById<TermsId, Terms>,
    /// Stand-in link for each limit, which no flow loads. Flows with the same limit are held back
    /// by it as by a link, so they share one rate and one heap.
    limits: ById<TermsId, LinkId>,
    /// Only looked up, never iterated.
    known_terms: HashMap<Terms, TermsId>,
    /// The terms looked up last: most flows have the same ones, which saves hashing them.
    last_terms: Option<(Terms, TermsId)>,
}

/// Number from which on a route belongs to one flow. Shared routes are numbered from 0.
const OWN: usize = 1 << 31;

impl Links {
    pub(crate) fn add(&mut self, capacity: FlowRate) -> LinkId {
        self.capacities.push(Load::of_capacity(capacity));
        LinkId::new(self.capacities.len() as u32 - 1)
    }

    /// Returns the route over `hops`, an existing one if it has the same links.
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

    /// Creates a route that belongs to one flow.
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

    /// Returns true if the route belongs to one flow.
    pub(crate) fn is_own(route: RouteId) -> bool {
        route.index() >= OWN
    }

    /// Frees the route that belonged to a flow which is gone.
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

    /// Returns the index of `terms`, and adds a stand-in link if a new limit is among them.
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

    /// Returns a limit's stand-in link, if the terms have a limit.
    pub(crate) fn limit(&self, id: TermsId) -> Option<LinkId> {
        let limit = self.limits[id];
        (limit != NOTHING).then_some(limit)
    }
}
