//! A fabric's switches in tiers and pods, as they are cabled, whatever its circuits are.
//!
//! In a flexible fat tree, an optical switch's ports show the standard tree's cables: the cables'
//! lower ends are the first half of the ports, the upper ends the second half in the same order. An
//! optical switch whose ports all lead to leaves takes a spine's place, and none of its circuits is
//! a cable in the tree.

use std::collections::{BTreeMap, HashMap, HashSet};

use tenter_results::CircuitRow;

use crate::report::trial_data::TrialData;
use tenter_results::Tiers;

/// Node and port numbers, as tables have them.
pub(crate) type Place = (u32, u16);

/// A switch with its place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeSwitch {
    /// Node index in all tables.
    pub(crate) node: u32,
    /// Name that the tables give the node.
    pub(crate) name: String,
    /// Tier: 1 for a leaf, one more for each tier above.
    pub(crate) tier: u32,
    /// Pod, in fabrics with three tiers and more; `None` in the highest tier.
    pub(crate) pod: Option<u32>,
    /// Number of NICs cabled to it.
    pub(crate) hosts: u64,
}

/// A fabric's switches, and where its ports lead when circuits are the tree's cables.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Switches by node index, without those that reach no NIC.
    pub(crate) switches: Vec<TreeSwitch>,
    /// Tiers of all nodes, with the tiers' names.
    pub(crate) tiers: Tiers,
    /// Ports that lead to an optical switch, with the node at the other end of the standard tree's
    /// cable, if there is one.
    pub(crate) optical: HashMap<Place, Option<u32>>,
}

impl Tree {
    /// Derives the tree from a trial's ports and circuits.
    pub(crate) fn of(trial: &TrialData) -> Tree {
        let is_switch: HashSet<u32> = trial.switches.iter().map(|row| row.node).collect();
        let mut names: HashMap<u32, &str> = HashMap::new();
        let mut hosts: HashMap<&str, u64> = HashMap::new();
        for port in &trial.ports {
            names.insert(port.node, &port.node_name);
            if !is_switch.contains(&port.node) {
                *hosts.entry(&port.peer_name).or_default() += 1;
            }
        }
        let is_leaf = |node: u32| {
            names
                .get(&node)
                .is_some_and(|name| hosts.contains_key(name))
        };
        let optical = homes(&trial.circuits, is_leaf);
        let tiers = Tiers::by(&trial.ports, &trial.switches, |port| {
            match optical.get(&(port.node, port.port)) {
                Some(home) => names.get(home.as_ref()?).copied(),
                None => Some(&port.peer_name),
            }
        });
        let switch = |&node: &u32| TreeSwitch {
            node,
            name: names
                .get(&node)
                .map_or_else(String::new, |name| (*name).to_owned()),
            tier: tiers.tier(node),
            pod: None,
            hosts: names
                .get(&node)
                .and_then(|name| hosts.get(name))
                .copied()
                .unwrap_or(0),
        };
        let mut switches: Vec<TreeSwitch> = is_switch.iter().map(switch).collect();
        // No tier: the switch reaches no NIC.
        switches.retain(|switch| switch.tier != u32::MAX);
        switches.sort_by_key(|switch| switch.node);
        let mut tree = Tree {
            switches,
            tiers,
            optical,
        };
        tree.find_pods(trial);
        tree
    }

    /// Returns the switch with a node index.
    pub(crate) fn switch(&self, node: u32) -> Option<&TreeSwitch> {
        let place = self
            .switches
            .binary_search_by_key(&node, |switch| switch.node);
        place.ok().map(|place| &self.switches[place])
    }

    /// Returns the highest tier, or 0 without switches.
    pub(crate) fn top(&self) -> u32 {
        let tiers = self.switches.iter().map(|switch| switch.tier);
        tiers.max().unwrap_or(0)
    }

    /// Returns the number of switches in a tier.
    pub(crate) fn count(&self, tier: u32) -> usize {
        let of_tier = self.switches.iter().filter(|switch| switch.tier == tier);
        of_tier.count()
    }

    /// Assigns pods: the parts that stay connected without the highest tier.
    fn find_pods(&mut self, trial: &TrialData) {
        let top = self.top();
        // Of two tiers, only single leaves are left without the highest.
        if top < 3 {
            return;
        }
        let mut peers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for port in &trial.ports {
            let peer = match self.optical.get(&(port.node, port.port)) {
                Some(home) => *home,
                None => self.tiers.node(&port.peer_name),
            };
            let tiers = (
                self.tiers.tier(port.node),
                peer.map_or(0, |peer| self.tiers.tier(peer)),
            );
            let is_inside = |tier: u32| tier > 0 && tier < top;
            let is_upwards = is_inside(tiers.0) && is_inside(tiers.1) && tiers.0 != tiers.1;
            if let (Some(peer), true) = (peer, is_upwards) {
                peers.entry(port.node).or_default().push(peer);
            }
        }
        let mut pod_of: HashMap<u32, u32> = HashMap::new();
        let mut pods = 0;
        for switch in self.switches.iter().filter(|switch| switch.tier < top) {
            if pod_of.contains_key(&switch.node) {
                continue;
            }
            let mut open = vec![switch.node];
            while let Some(node) = open.pop() {
                if pod_of.insert(node, pods).is_none() {
                    open.extend(peers.get(&node).into_iter().flatten());
                }
            }
            pods += 1;
        }
        for switch in &mut self.switches {
            switch.pod = pod_of.get(&switch.node).copied();
        }
    }
}

/// Returns the ports that lead to optical switches, with the standard tree's other cable end.
fn homes(rows: &[CircuitRow], is_leaf: impl Fn(u32) -> bool) -> HashMap<Place, Option<u32>> {
    let mut devices: BTreeMap<(u32, u16), Place> = BTreeMap::new();
    let mut ports: HashMap<u32, u16> = HashMap::new();
    for row in rows {
        let device = (row.node, row.port);
        let is_new = devices
            .insert((row.optical_switch, row.optical_port), device)
            .is_none();
        *ports.entry(row.optical_switch).or_default() += u16::from(is_new);
    }
    let home = |&(switch, port): &(u32, u16), device: Place| {
        let half = ports.get(&switch)? / 2;
        let other = if port < half {
            port.checked_add(half)?
        } else {
            port - half
        };
        let peer = devices.get(&(switch, other))?.0;
        // A cable of the tree has a leaf at exactly one end; between two leaves there is only a
        // circuit.
        (is_leaf(device.0) != is_leaf(peer)).then_some(peer)
    };
    let homes = devices
        .iter()
        .map(|(place, &device)| (device, home(place, device)));
    homes.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use tenter_results::{PortRow, SwitchRow};

    use super::*;

    /// A trial whose nodes are named by their indices.
    pub(crate) fn trial(hosts: u32, switches: u32, cables: &[(u32, u32)]) -> TrialData {
        let mut ports: Vec<PortRow> = Vec::new();
        for (node, peer) in cables.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
            let number = ports.iter().filter(|port| port.node == node).count() as u16;
            ports.push(PortRow {
                node,
                node_name: format!("n{node}"),
                port: number,
                peer_name: format!("n{peer}"),
                rate_gbps: 100.0,
                ..PortRow::default()
            });
        }
        let switch = |node| SwitchRow {
            node,
            node_name: format!("n{node}"),
            ..SwitchRow::default()
        };
        TrialData {
            ports,
            switches: (hosts..hosts + switches).map(switch).collect(),
            ..TrialData::empty()
        }
    }

    /// A fat tree of two pods with two leaves and one aggregation switch each, and a core; one
    /// optical switch is in all cables above the leaves.
    ///
    /// ```text
    ///            10
    ///         8      9        optical ports 4, 5 (at 8) and 6, 7 (at 9)
    ///       4   5  6   7      optical ports 0 to 3
    /// hosts 0   1  2   3
    /// ```
    pub(crate) fn flexible() -> TrialData {
        let cables = [
            (0, 4),
            (1, 5),
            (2, 6),
            (3, 7),
            (4, 8),
            (5, 8),
            (6, 9),
            (7, 9),
            (8, 10),
            (9, 10),
        ];
        let mut trial = trial(4, 7, &cables);
        let circuit =
            |port: u16, (node, device): Place, (peer_port, peer): (u32, u32)| CircuitRow {
                optical_port: port,
                peer_optical_port: Some(peer_port),
                node,
                node_name: format!("n{node}"),
                port: device,
                peer_node: Some(peer),
                peer_name: format!("n{peer}"),
                ..CircuitRow::default()
            };
        trial.circuits = vec![
            circuit(0, (4, 1), (4, 8)),
            circuit(1, (5, 1), (5, 8)),
            circuit(2, (6, 1), (6, 9)),
            circuit(3, (7, 1), (7, 9)),
            circuit(4, (8, 0), (0, 4)),
            circuit(5, (8, 1), (1, 5)),
            circuit(6, (9, 0), (2, 6)),
            circuit(7, (9, 1), (3, 7)),
        ];
        trial
    }

    #[test]
    fn tiers_and_pods_are_those_of_the_cables() {
        let mut trial = flexible();
        let places = |tree: &Tree| -> Vec<(u32, u32, Option<u32>)> {
            let switches = tree.switches.iter();
            switches.map(|of| (of.node, of.tier, of.pod)).collect()
        };
        let expected = [
            (4, 1, Some(0)),
            (5, 1, Some(0)),
            (6, 1, Some(1)),
            (7, 1, Some(1)),
            (8, 2, Some(0)),
            (9, 2, Some(1)),
            (10, 3, None),
        ];
        assert_eq!(places(&Tree::of(&trial)), expected);
        // The same if circuits begin elsewhere: leaf 5 with leaf 6, and pod 0's switch with leaf 7.
        for row in &mut trial.circuits {
            row.peer_node = None;
        }
        for port in &mut trial.ports {
            let elsewhere = [
                ((5, 1), "n6"),
                ((6, 1), "n5"),
                ((8, 1), "n7"),
                ((7, 1), "n8"),
            ];
            let found = elsewhere.iter().find(|of| of.0 == (port.node, port.port));
            if let Some((_, peer)) = found {
                port.peer_name = (*peer).to_owned();
            }
        }
        let tree = Tree::of(&trial);
        assert_eq!(places(&tree), expected);
        assert_eq!(tree.optical[&(5, 1)], Some(8));
        assert_eq!(tree.switch(5).map(|leaf| leaf.hosts), Some(1));
    }

    #[test]
    fn leaves_without_anything_above_are_one_tier() {
        let mut trial = trial(2, 2, &[(0, 2), (1, 3), (2, 3)]);
        let circuit = |port: u16, node: u32, peer: u32| CircuitRow {
            optical_port: port,
            node,
            port: 1,
            peer_node: Some(peer),
            ..CircuitRow::default()
        };
        trial.circuits = vec![circuit(0, 2, 3), circuit(1, 3, 2)];
        let tree = Tree::of(&trial);
        assert_eq!((tree.top(), tree.count(1)), (1, 2));
        assert_eq!(tree.optical[&(2, 1)], None, "no cable of a tree");
    }
}
