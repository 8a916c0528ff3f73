//! Explicit topology: a fabric given node by node and link by link.

use std::collections::HashMap;

use tenter_language::config::{Idle, choice, component};
use tenter_language::units::{Budget, Rate, Time, nearest};

use super::{COUNTS, DELAYS, RATES};
use crate::topology::size::Counts;
use crate::topology::wiring::Wiring;
use crate::topology::{NodeId, NodeKind, Routing, Size, StaticRoute, Topology, TopologyError};

component! {
    /// Any graph: a list of nodes and a list of links between them.
    ///
    /// Hosts are numbered in the order of the list, then switches by tier and within a tier in the
    /// order of the list.
    pub struct Explicit as "`fabric` with `kind: explicit`", derive(Clone, Debug, PartialEq) {
        /// Hosts and switches; hosts are numbered in this order.
        nodes: Vec<ExplicitNode>;
        /// Routes that switches take instead of the shortest.
        routes: Vec<ExplicitRoute> = "[]";
        /// The cables between them.
        links: Vec<ExplicitLink>;
    }
}

component! {
    /// A node of an explicit topology.
    pub struct ExplicitNode as "`fabric.nodes[]` with `kind: explicit`", derive(Clone, Debug, PartialEq, Eq) {
        idle idle;
        /// A name no other node has.
        name: String, in NAME_MAX;
        /// Kind of node: a host or a switch.
        kind: ExplicitKind = "host";
        /// Of a switch: how far it is from the hosts, 0 for a leaf.
        tier: u8 = "0", in 0..=254;
    }
}

/// Kind of a node in an explicit topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplicitKind {
    /// A NIC with one port.
    Host,
    /// A packet switch on some tier.
    Switch,
}

choice!(ExplicitKind { "host" => Host, "switch" => Switch });

component! {
    /// One or several parallel cables of an explicit topology.
    pub struct ExplicitLink as "`fabric.links[]` with `kind: explicit`", derive(Clone, Debug, PartialEq, Eq) {
        /// The node at one end.
        a: String, in NAME_MAX;
        /// The node at the other end.
        b: String, in NAME_MAX;
        /// Line rate of each cable.
        rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of each cable.
        delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Number of parallel cables between the two nodes.
        count: u32 = "1", in COUNTS;
    }
}

component! {
    /// A way that a switch of an explicit topology takes instead of the shortest.
    pub struct ExplicitRoute as "`fabric.routes[]` with `kind: explicit`", derive(Clone, Debug, PartialEq, Eq) {
        /// The switch that takes this route.
        at: String, in NAME_MAX;
        /// The switch to whose hosts it leads.
        to: String, in NAME_MAX;
        /// The neighbour that it goes to next; of several cables all are equal.
        via: String, in NAME_MAX;
    }
}

/// Most characters in a node's name.
const NAME_MAX: usize = 64;

/// Lists keys without effect: hosts have no tier.
fn idle(node: &ExplicitNode) -> Vec<Idle> {
    let keys: &[&str] = match node.kind {
        ExplicitKind::Host => &["tier"],
        ExplicitKind::Switch => &[],
    };
    let remedy = "leave it out, or write `kind: switch`";
    Idle::all(keys, "means nothing for a host", remedy)
}

impl ExplicitNode {
    /// Creates a node with this name.
    pub fn new(name: impl Into<String>, kind: NodeKind) -> ExplicitNode {
        let (kind, tier) = match kind {
            NodeKind::Host => (ExplicitKind::Host, 0),
            NodeKind::Switch { tier } => (ExplicitKind::Switch, tier),
        };
        let name = name.into();
        ExplicitNode { name, kind, tier }
    }
}

impl Explicit {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        let hosts = self
            .nodes
            .iter()
            .filter(|node| node.kind == ExplicitKind::Host)
            .count();
        let cables = self.links.iter().map(|link| u128::from(link.count)).sum();
        let switches = (self.nodes.len() - hosts) as u128;
        Counts {
            hosts: hosts as u128,
            switches,
            leaves: switches,
            cables,
            regions: 0,
        }
        .size("the list of nodes or the `count` of links")
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        if let Some(index) = self.nodes.iter().position(|node| node.name.is_empty()) {
            return Err(TopologyError::EmptyName { index });
        }
        let (mut wiring, numbers) = self.add_nodes();
        for (index, link) in self.links.iter().enumerate() {
            let [a, b] = [&link.a, &link.b].map(|name| {
                numbers
                    .get(name.as_str())
                    .copied()
                    .ok_or_else(|| self.unknown(index, name))
            });
            let (a, b) = (a?, b?);
            link.check(index)?;
            wiring.connect(a, b, link.count, link.rate, link.delay);
        }
        let mut topology = wiring.finish(budget)?;
        for (index, route) in self.routes.iter().enumerate() {
            let known = &topology.routes;
            let found = route.find(&topology, known, |name| numbers.get(name).copied());
            let route = found.map_err(|what| TopologyError::Route {
                index,
                at: route.at.clone(),
                to: route.to.clone(),
                what,
            })?;
            topology.routes.push(route);
        }
        if !topology.routes.is_empty() {
            // A loop shows only with all routes in place.
            Routing::build(&topology, budget)?;
        }
        Ok(topology)
    }

    fn add_nodes(&self) -> (Wiring, HashMap<&str, NodeId>) {
        let rank = |node: &ExplicitNode| match node.kind {
            ExplicitKind::Host => 0,
            ExplicitKind::Switch => u32::from(node.tier) + 1,
        };
        let mut nodes: Vec<&ExplicitNode> = self.nodes.iter().collect();
        nodes.sort_by_key(|node| rank(node));
        let mut wiring = Wiring::default();
        let mut numbers = HashMap::with_capacity(nodes.len());
        for node in nodes {
            let number = match node.kind {
                ExplicitKind::Host => wiring.host(node.name.clone()),
                ExplicitKind::Switch => wiring.switch(node.name.clone(), node.tier),
            };
            // Of two nodes with the same name the first stays here; the final check refuses both.
            numbers.entry(node.name.as_str()).or_insert(number);
        }
        (wiring, numbers)
    }

    fn unknown(&self, link: usize, name: &str) -> TopologyError {
        let names = self.nodes.iter().map(|node| node.name.as_str());
        let remedy = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to the list of nodes".to_owned(),
        };
        TopologyError::UnknownNode {
            link,
            name: name.to_owned(),
            remedy,
        }
    }
}

impl ExplicitLink {
    fn check(&self, index: usize) -> Result<(), TopologyError> {
        let place = |key: &str| format!("{key} of link {index} ({} – {})", self.a, self.b);
        if self.count == 0 {
            return Err(TopologyError::ZeroCount {
                parameter: place("count"),
            });
        }
        if self.rate.bits_per_second() == 0 {
            return Err(TopologyError::ZeroRate {
                parameter: place("rate"),
            });
        }
        Ok(())
    }
}

impl ExplicitRoute {
    /// Translates names into numbers, or returns the error as a clause with its remedy.
    fn find(
        &self,
        topology: &Topology,
        known: &[StaticRoute],
        number: impl Fn(&str) -> Option<NodeId>,
    ) -> Result<StaticRoute, String> {
        let switch = |name: &str| {
            let found = number(name).filter(|&node| !topology.is_host(node));
            found.ok_or_else(|| {
                format!("names `{name}`, which is no switch of the list; name one that is")
            })
        };
        let (at, to, via) = (switch(&self.at)?, switch(&self.to)?, switch(&self.via)?);
        if at == to {
            return Err("starts where it ends; name two different switches".to_owned());
        }
        // Traffic ends at hosts, so a route to a switch without any would never be used.
        if !topology
            .neighbours(to)
            .any(|peer| topology.is_host(peer.node))
        {
            return Err("leads to a switch without hosts; name one that has some".to_owned());
        }
        if !topology.neighbours(at).any(|peer| peer.node == via) {
            let via = &self.via;
            return Err(format!(
                "goes via `{via}`, to which no link leads; add one, or name a neighbour"
            ));
        }
        if known
            .iter()
            .any(|route| (route.switch, route.destination) == (at, to))
        {
            return Err("is given twice; keep one of the two".to_owned());
        }
        Ok(StaticRoute {
            switch: at,
            destination: to,
            next: via,
        })
    }
}
