//! A fabric given node by node and link by link.

use std::collections::HashMap;

use tenter_units::{Rate, Time};

use crate::wiring::{Wiring, check_size};
use crate::{NodeKind, Routing, StaticRoute, Topology, TopologyError};

/// Any graph: a list of nodes and a list of links between them.
///
/// Hosts are numbered in the order of the list, then switches by tier and within a tier in the
/// order of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Explicit {
    /// Hosts and switches, in any order.
    pub nodes: Vec<ExplicitNode>,
    /// Links between them.
    pub links: Vec<ExplicitLink>,
    /// Ways that are not the shortest.
    pub routes: Vec<ExplicitRoute>,
}

/// A node of an explicit topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplicitNode {
    /// A name no other node has.
    pub name: String,
    /// Host, or switch of a tier.
    pub kind: NodeKind,
}

/// One or several parallel cables of an explicit topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplicitLink {
    /// Name of the node at one end.
    pub a: String,
    /// Name of the node at the other end.
    pub b: String,
    /// Line rate of each cable, per direction.
    pub rate: Rate,
    /// Propagation delay of each cable.
    pub delay: Time,
    /// How many parallel cables.
    pub count: u32,
}

/// A way that a switch of an explicit topology takes instead of the shortest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplicitRoute {
    /// Name of the switch.
    pub at: String,
    /// Name of the switch whose hosts it leads to.
    pub to: String,
    /// Name of the switch at the other end of one of its links.
    pub via: String,
}

impl Explicit {
    pub(super) fn build(&self) -> Result<Topology, TopologyError> {
        let hosts = self
            .nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Host)
            .count();
        let cables = self.links.iter().map(|link| u128::from(link.count)).sum();
        check_size(
            hosts as u128,
            cables,
            "the list of nodes or the `count` of links",
        )?;
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
        let mut topology = wiring.finish()?;
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
            // Only the whole shows whether they lead anywhere.
            Routing::build(&topology)?;
        }
        Ok(topology)
    }

    fn add_nodes(&self) -> (Wiring, HashMap<&str, u32>) {
        let rank = |node: &ExplicitNode| match node.kind {
            NodeKind::Host => 0,
            NodeKind::Switch { tier } => u32::from(tier) + 1,
        };
        let mut nodes: Vec<&ExplicitNode> = self.nodes.iter().collect();
        nodes.sort_by_key(|node| rank(node));
        let mut wiring = Wiring::default();
        let mut numbers = HashMap::with_capacity(nodes.len());
        for node in nodes {
            let number = match node.kind {
                NodeKind::Host => wiring.host(node.name.clone()),
                NodeKind::Switch { tier } => wiring.switch(node.name.clone(), tier),
            };
            // Of two nodes with one name the first is kept here; the check of the whole refuses
            // them.
            numbers.entry(node.name.as_str()).or_insert(number);
        }
        (wiring, numbers)
    }

    fn unknown(&self, link: usize, name: &str) -> TopologyError {
        let names = self.nodes.iter().map(|node| node.name.as_str());
        let near = names
            .map(|known| (strsim::damerau_levenshtein(name, known), known))
            .min()
            .filter(|(slips, _)| *slips <= 2);
        let remedy = match near {
            Some((_, near)) => format!("did you mean `{near}`?"),
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
    /// The route by numbers, or what is wrong with it.
    fn find(
        &self,
        topology: &Topology,
        known: &[StaticRoute],
        number: impl Fn(&str) -> Option<u32>,
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
