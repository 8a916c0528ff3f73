//! Links as users name them: `leaf0-spine1`, and a number among parallel cables.

use tenter_fabric::topology::{CableEnd, HostId, NodeId, Topology};

use tenter_language::config::word_or;
use tenter_language::notation::diagnostics::Path;
use tenter_language::units::suggestion;

/// Neighbours of a switch that a message names.
const NEIGHBOURS: usize = 8;

/// Choice between a link's parallel cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// All cables on the link.
    All,
    /// One cable by its number, counted from 0.
    Number(u32),
}

word_or!(Cable { "all" => All, Number(u32) });

/// A link as a scenario names it.
pub(crate) struct LinkName<'p> {
    word: String,
    path: Path<'p>,
    cable: Cable,
    cable_path: Path<'p>,
}

impl<'p> LinkName<'p> {
    /// Takes a mapping's link from its keys `link` and `cable`.
    pub(crate) fn new(word: &str, cable: Cable, mapping: &Path<'p>) -> LinkName<'p> {
        LinkName {
            word: word.to_owned(),
            path: mapping.key("link"),
            cable,
            cable_path: mapping.key("cable"),
        }
    }

    /// Returns the link's cable numbers; `None` after noting a problem.
    pub(crate) fn cables(&self, topology: &Topology) -> Option<Vec<u32>> {
        let (a, b) = self.nodes(topology)?;
        let cables = (0..).zip(&topology.cables);
        let between: Vec<u32> = cables
            .filter(|(_, cable)| {
                let [CableEnd { node: one, .. }, CableEnd { node: other, .. }] = cable.ends;
                (one, other) == (a, b) || (one, other) == (b, a)
            })
            .map(|(number, _)| number)
            .collect();
        if between.iter().any(|&cable| topology.is_fibre(cable)) {
            let what = "is a circuit of an optical switch, which lasts until that changes";
            let help = "name a link without an optical switch in it".to_owned();
            self.path.problem(what, help);
            return None;
        }
        if between.is_empty() {
            let peers = topology.neighbours(a).map(|peer| peer.node);
            let names = peers.map(|node| topology.name(node));
            let mut names: Vec<&str> = names.collect();
            names.dedup();
            // A switch may have hundreds of neighbours; some are help enough.
            let more = match names.len().saturating_sub(NEIGHBOURS) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            names.truncate(NEIGHBOURS);
            let name = topology.name(a);
            let help = format!("`{name}` has links to {}{more}", names.join(", "));
            self.path.problem("is no link of the fabric", help);
            return None;
        }
        let Cable::Number(cable) = self.cable else {
            return Some(between);
        };
        let found = between.get(cable as usize).map(|cable| vec![*cable]);
        if found.is_none() {
            let help = format!("there are {}, counted from 0", between.len());
            self.cable_path.problem("is no cable of the link", help);
        }
        found
    }

    /// Returns the link's two nodes. Names may contain hyphens, so every hyphen is tried as the
    /// separator.
    fn nodes(&self, topology: &Topology) -> Option<(NodeId, NodeId)> {
        let word = self.word.as_str();
        let splits = word.match_indices('-');
        let pairs = splits.map(|(at, _)| (&word[..at], &word[at + 1..]));
        let readings =
            pairs.filter_map(|(a, b)| topology.find(a.trim()).zip(topology.find(b.trim())));
        let readings: Vec<(NodeId, NodeId)> = readings.collect();
        let are_joined =
            |&(a, b): &(NodeId, NodeId)| topology.neighbours(a).any(|peer| peer.node == b);
        let mut joined = readings.iter().copied().filter(are_joined);
        let (first, second) = (joined.next(), joined.next());
        if let (Some(first), Some(second)) = (first, second) {
            let name = |node: NodeId| topology.name(node);
            let says = |(a, b)| format!("from `{}` to `{}`", name(a), name(b));
            let help = format!(
                "it may be the link {}, or that {}: give one of these nodes another name",
                says(first),
                says(second)
            );
            self.path.problem("names two links", help);
            return None;
        }
        // Without a link between them the first pair of nodes still helps: the report lists its
        // neighbours.
        let found = first.or_else(|| readings.first().copied());
        if found.is_none() {
            let unknown = word.split_once('-').map_or(word, |(a, b)| {
                if topology.find(a.trim()).is_some() {
                    b
                } else {
                    a
                }
            });
            let names = topology.nodes.iter().map(|node| node.name.as_str());
            // The search for a similar name compares with each; a limit keeps it short in large
            // fabrics.
            let near = suggestion(unknown.trim(), names.take(10_000));
            let help = if near.starts_with("did") {
                format!("`{unknown}` is no node: {near}")
            } else {
                "write the names of two neighbours with a hyphen: `leaf0-spine1`".to_owned()
            };
            self.path.problem("is no link of the fabric", help);
        }
        found
    }
}

/// Returns a switch's node by name.
pub(crate) fn find_switch(word: &str, path: &Path<'_>, topology: &Topology) -> Option<NodeId> {
    find(word, path, topology, false)
}

/// Returns a host by name.
pub(crate) fn find_host(word: &str, path: &Path<'_>, topology: &Topology) -> Option<HostId> {
    let node = find(word, path, topology, true)?;
    topology.host(node)
}

fn find(word: &str, path: &Path<'_>, topology: &Topology, is_host: bool) -> Option<NodeId> {
    let found = topology
        .find(word)
        .filter(|node| topology.is_host(*node) == is_host);
    if found.is_none() {
        let nodes = if is_host {
            // Hosts come first among the nodes.
            &topology.nodes.as_slice()[..topology.hosts]
        } else {
            &topology.nodes.as_slice()[topology.hosts..]
        };
        let mut names = nodes.iter().map(|node| node.name.as_str());
        let near = suggestion(word, names.clone().take(10_000));
        let what = if is_host { "host" } else { "switch" };
        let help = if near.starts_with("did") {
            near
        } else {
            let first = names.next().unwrap_or_default();
            let last = names.next_back().unwrap_or_default();
            if last.is_empty() {
                format!("there is only `{first}`")
            } else {
                format!("they are called `{first}` to `{last}`")
            }
        };
        path.problem(&format!("is no {what} of the fabric"), help);
    }
    found
}
