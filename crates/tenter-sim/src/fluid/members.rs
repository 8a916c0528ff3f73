//! Lists that name the flows on each link. A link lists flows that start or end on it directly, and
//! all others by their route, so a flow appears in three lists however long its path.

use tenter_language::units::ById;

use crate::fluid::flow::FlowId;
use crate::fluid::links::{Kind, LinkId, Links, RouteId};

/// List entry. It is stale if the flow's slot is empty or holds a later generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) flow: FlowId,
    pub(crate) generation: u32,
}

/// Flows, with stale entries among them.
#[derive(Clone, Debug, Default)]
struct Listed {
    all: Vec<Member>,
    alive: u32,
}

impl Listed {
    fn add(&mut self, member: Member) {
        self.all.push(member);
        self.alive += 1;
    }

    /// Counts one flow less. Removing its entry would need a search, so stale entries stay until
    /// they are the majority.
    fn remove(&mut self, is_alive: impl Fn(&Member) -> bool) {
        self.alive -= 1;
        if self.all.len() > 8 && self.all.len() as u32 > 2 * self.alive {
            self.all.retain(is_alive);
        }
    }
}

/// Flows that pass one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnLink {
    own: Listed,
    /// Routes over the link that have flows, or had some.
    routes: Vec<RouteId>,
    /// Flow count; a flow that passes the link twice counts twice.
    pub(crate) alive: u32,
}

/// Flows that take one route.
#[derive(Clone, Debug, Default)]
struct OnRoute {
    flows: Listed,
    /// Set while its links list the route.
    is_listed: bool,
    /// Set while the route is in [`Members::idle`].
    is_idle: bool,
}

/// Flows on all links and routes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub(crate) links: ById<LinkId, OnLink>,
    /// Flows on shared routes. A route that belongs to one flow has no entry: its links list the
    /// flow.
    routes: ById<RouteId, OnRoute>,
    /// Routes that have been without a flow at some time since they were listed.
    idle: Vec<RouteId>,
    /// Number of routes that have flows.
    active: usize,
}

/// Idle routes that are tolerated before a clean-up. Tests clean up early, so that this code runs
/// in them.
const FEW: usize = if cfg!(debug_assertions) { 1 } else { 64 };

impl Members {
    pub(crate) fn add(&mut self, links: &Links, kind: Kind, member: Member) {
        // A link that is passed twice counts the flow twice, and lists it twice too.
        for (link, _) in kind.hops(links) {
            self.links[link].alive += 1;
        }
        self.links[kind.from].own.add(member);
        self.links[kind.to].own.add(member);
        if Links::is_own(kind.route) {
            for &(link, _) in links.hops(kind.route) {
                self.links[link].own.add(member);
            }
            return;
        }
        if self.routes.len() <= kind.route.index() {
            self.routes
                .resize(kind.route.index() + 1, OnRoute::default());
        }
        let on = &mut self.routes[kind.route];
        self.active += usize::from(on.flows.alive == 0);
        on.flows.add(member);
        if !std::mem::replace(&mut on.is_listed, true) {
            for &(link, _) in links.hops(kind.route) {
                self.links[link].routes.push(kind.route);
            }
        }
    }

    /// Removes a flow. `is_alive` is false for it by now.
    pub(crate) fn remove(&mut self, links: &Links, kind: Kind, is_alive: impl Fn(&Member) -> bool) {
        for (link, _) in kind.hops(links) {
            self.links[link].alive -= 1;
        }
        self.links[kind.from].own.remove(&is_alive);
        self.links[kind.to].own.remove(&is_alive);
        if Links::is_own(kind.route) {
            for &(link, _) in links.hops(kind.route) {
                self.links[link].own.remove(&is_alive);
            }
            return;
        }
        let on = &mut self.routes[kind.route];
        on.flows.remove(&is_alive);
        if on.flows.alive > 0 {
            return;
        }
        self.active -= 1;
        // A route may become idle several times before a clean-up, but is listed once.
        if !std::mem::replace(&mut on.is_idle, true) {
            self.idle.push(kind.route);
        }
        if self.idle.len() > FEW + self.active {
            self.drop_idle(links);
        }
    }

    /// Removes routes without flows from their links' lists.
    fn drop_idle(&mut self, links: &Links) {
        let idle = std::mem::take(&mut self.idle);
        let mut touched = Vec::new();
        for &route in &idle {
            let on = &mut self.routes[route];
            on.is_idle = false;
            // The route may have flows again.
            on.is_listed = on.flows.alive > 0;
            if !on.is_listed {
                touched.extend(links.hops(route).iter().map(|(link, _)| *link));
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for link in touched {
            let routes = &self.routes;
            self.links[link]
                .routes
                .retain(|route| routes[*route].is_listed);
        }
    }

    /// Returns the entries for the link's flows, stale ones included.
    pub(crate) fn on(&self, link: LinkId) -> impl Iterator<Item = Member> {
        let on = &self.links[link];
        let by_route = on
            .routes
            .iter()
            .flat_map(|route| &self.routes[*route].flows.all);
        on.own.all.iter().chain(by_route).copied()
    }

    /// Frees the memory that all lists take. No flow may be alive.
    pub(crate) fn release(&mut self) {
        for on in &mut self.links {
            on.own = Listed::default();
            on.routes = Vec::new();
        }
        self.routes = ById::default();
        self.idle = Vec::new();
    }
}
