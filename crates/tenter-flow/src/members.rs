//! Which flows are on each link: those that enter or leave by it one by one, all others by their
//! routes, so that a flow is listed three times whatever the number of its links.

use tenter_units::ById;

use crate::flow::FlowId;
use crate::links::{Kind, LinkId, Links, RouteId};

/// A flow as it is listed: stale where the place has another now, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) flow: FlowId,
    pub(crate) generation: u32,
}

/// Flows, some of which may be gone.
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

    /// One is gone; all that are gone are dropped where they are many.
    fn remove(&mut self, is_alive: impl Fn(&Member) -> bool) {
        self.alive -= 1;
        if self.all.len() > 8 && self.all.len() as u32 > 2 * self.alive {
            self.all.retain(is_alive);
        }
    }
}

/// A link's flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnLink {
    own: Listed,
    /// Routes over it that have flows, or had some.
    routes: Vec<RouteId>,
    /// How many flows there are, each as often as it loads the link.
    pub(crate) alive: u32,
}

/// A route's flows.
#[derive(Clone, Debug, Default)]
struct OnRoute {
    flows: Listed,
    /// Whether its links list it.
    is_listed: bool,
    /// Whether it is among those that had no flow at some time.
    is_idle: bool,
}

/// The flows of all links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub(crate) links: ById<LinkId, OnLink>,
    /// Of routes that are not of one flow alone.
    routes: ById<RouteId, OnRoute>,
    /// Routes that had no flow at some time since they were listed.
    idle: Vec<RouteId>,
    /// How many have flows.
    active: usize,
}

/// Fewer idle routes are not worth looking through, but in tests.
const FEW: usize = if cfg!(debug_assertions) { 1 } else { 64 };

impl Members {
    pub(crate) fn add(&mut self, links: &Links, kind: Kind, member: Member) {
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

    /// Takes out a flow that is not alive any more.
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
        if !std::mem::replace(&mut on.is_idle, true) {
            self.idle.push(kind.route);
        }
        if self.idle.len() > FEW + self.active {
            self.drop_idle(links);
        }
    }

    /// Lets links forget routes without flows.
    fn drop_idle(&mut self, links: &Links) {
        let idle = std::mem::take(&mut self.idle);
        let mut touched = Vec::new();
        for &route in &idle {
            let on = &mut self.routes[route];
            on.is_idle = false;
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

    /// The flows of a link, and some that are gone.
    pub(crate) fn on(&self, link: LinkId) -> impl Iterator<Item = Member> {
        let on = &self.links[link];
        let by_route = on
            .routes
            .iter()
            .flat_map(|route| &self.routes[*route].flows.all);
        on.own.all.iter().chain(by_route).copied()
    }

    /// Gives the memory of all lists back: nobody is alive.
    pub(crate) fn release(&mut self) {
        for on in &mut self.links {
            on.own = Listed::default();
            on.routes = Vec::new();
        }
        self.routes = ById::default();
        self.idle = Vec::new();
    }
}
