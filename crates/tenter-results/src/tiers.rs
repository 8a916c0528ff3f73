//! A fabric's tiers, computed from its cables.

use std::collections::{BTreeMap, HashMap};

use tenter_language::units::Time;

use crate::rows::{PortRow, SwitchRow, TierRow};
use crate::unread::Unread;

/// Each node's distance from the nearest NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiers {
    /// Tier by node index: 0 for NICs, 1 for the switches they are cabled to, and so on.
    of_node: BTreeMap<u32, u32>,
    indices: HashMap<String, u32>,
}

/// Tiers between which a port sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Direction {
    /// The sender's tier, 0 for NICs.
    pub from: u32,
    /// The receiver's tier, 0 for NICs.
    pub to: u32,
}

impl Direction {
    /// Returns true if the direction leads away from the NICs.
    pub fn is_upward(self) -> bool {
        self.from < self.to
    }
}

impl Tiers {
    /// Computes all nodes' tiers from the ports' neighbours.
    pub fn of(ports: &[PortRow], switches: &[SwitchRow]) -> Tiers {
        Tiers::by(ports, switches, |port| Some(&port.peer_name))
    }

    /// Computes the tiers if `peer` returns the node that a port leads to.
    pub fn by<'a>(
        ports: &'a [PortRow],
        switches: &[SwitchRow],
        peer: impl Fn(&'a PortRow) -> Option<&'a str>,
    ) -> Tiers {
        let mut tiers = Tiers::default();
        let mut peers: HashMap<u32, Vec<&str>> = HashMap::new();
        for port in ports {
            tiers.indices.insert(port.node_name.clone(), port.node);
            tiers.of_node.insert(port.node, 0);
            peers.entry(port.node).or_default().extend(peer(port));
        }
        // Until a search from the NICs reaches a switch, it has the greatest possible tier.
        for switch in switches {
            tiers.of_node.insert(switch.node, u32::MAX);
        }
        let nics = tiers.of_node.iter().filter(|node| *node.1 == 0);
        let mut reached: Vec<u32> = nics.map(|node| *node.0).collect();
        let mut tier = 0;
        while !reached.is_empty() {
            tier += 1;
            let mut next = Vec::new();
            for peer in reached.iter().filter_map(|node| peers.get(node)).flatten() {
                // A port may lead to a node without rows, such as an optical switch.
                let Some(&peer) = tiers.indices.get(*peer) else {
                    continue;
                };
                if tiers.tier(peer) == u32::MAX {
                    tiers.of_node.insert(peer, tier);
                    next.push(peer);
                }
            }
            reached = next;
        }
        tiers
    }

    /// Returns a node's tier; a number above all tiers if it reaches no NIC.
    pub fn tier(&self, node: u32) -> u32 {
        self.of_node.get(&node).copied().unwrap_or(u32::MAX)
    }

    /// Returns the index of the node called `name`.
    pub fn node(&self, name: &str) -> Option<u32> {
        self.indices.get(name).copied()
    }

    /// Returns the tiers at both ends of a port's cable.
    pub fn direction(&self, port: &PortRow) -> Direction {
        let peer = self.node(&port.peer_name);
        Direction {
            from: self.tier(port.node),
            to: peer.map_or(u32::MAX, |peer| self.tier(peer)),
        }
    }

    /// Returns `NIC → leaf`, `leaf → spine` and so on, by number in deeper fabrics.
    pub fn direction_name(&self, direction: Direction) -> String {
        let Direction { from, to } = direction;
        format!("{} → {}", self.name(from), self.name(to))
    }

    /// Returns a row for each direction, upwards from the NICs and down again.
    pub fn rows(&self, ports: &[PortRow]) -> Vec<TierRow> {
        let mut directions: BTreeMap<Direction, Vec<&PortRow>> = BTreeMap::new();
        for port in ports {
            directions
                .entry(self.direction(port))
                .or_default()
                .push(port);
        }
        // Directions sort by sender's tier; reversed, those downwards lead from the top to the
        // NICs.
        let (up, mut down): (Vec<_>, Vec<_>) =
            directions.iter().partition(|(way, _)| way.is_upward());
        down.reverse();
        let row = |(&way, ports): (&Direction, &Vec<&PortRow>)| self.row(way, ports);
        up.into_iter().chain(down).map(row).collect()
    }

    fn row(&self, way: Direction, ports: &[&PortRow]) -> TierRow {
        let bytes = spread(ports, |port| port.tx_bytes);
        let xoff = spread(ports, |port| port.rx_xoff_frames);
        let paused = spread(ports, |port| port.paused.ps());
        let busy = || ports.iter().map(|port| port.utilisation);
        TierRow {
            direction: self.direction_name(way),
            from_tier: way.from,
            to_tier: way.to,
            links: ports.len() as u64,
            tx_min_bytes: bytes.min,
            tx_mean_bytes: bytes.mean,
            tx_max_bytes: bytes.max,
            // Missing rather than wrong if any counter was not read.
            tx_max_over_mean: (bytes.max > 0 && unread(ports).is_empty())
                .then(|| bytes.max as f64 / bytes.mean),
            utilisation_min: busy().fold(f64::INFINITY, f64::min),
            utilisation_mean: busy().sum::<f64>() / ports.len() as f64,
            utilisation_max: busy().fold(0.0, f64::max),
            rx_xoff_min_frames: xoff.min,
            rx_xoff_mean_frames: xoff.mean,
            rx_xoff_max_frames: xoff.max,
            paused_min: Time::from_ps(paused.min),
            paused_mean: Time::from_ps(paused.mean as u64),
            paused_max: Time::from_ps(paused.max),
            dropped_frames: ports.iter().map(|port| port.dropped_frames).sum(),
            unread: unread(ports),
        }
    }

    /// Returns a tier's name: `leaf`, `spine` and so on, by number in deeper fabrics.
    pub fn name(&self, tier: u32) -> String {
        let top = self
            .of_node
            .values()
            .filter(|&&tier| tier != u32::MAX)
            .max();
        match (tier, top.copied().unwrap_or(0)) {
            (0, _) => "NIC".to_owned(),
            (1, 1) => "switch".to_owned(),
            (1, _) => "leaf".to_owned(),
            (2, 2) => "spine".to_owned(),
            (2, 3) => "aggregation".to_owned(),
            (3, 3) => "core".to_owned(),
            (tier, _) => format!("tier {tier}"),
        }
    }
}

/// Columns in the tier table, each after the port column that it summarises.
const SUMS: [(&str, &str); 13] = [
    ("tx_bytes", "tx_min_bytes"),
    ("tx_bytes", "tx_mean_bytes"),
    ("tx_bytes", "tx_max_bytes"),
    ("utilisation", "utilisation_min"),
    ("utilisation", "utilisation_mean"),
    ("utilisation", "utilisation_max"),
    ("rx_xoff_frames", "rx_xoff_min_frames"),
    ("rx_xoff_frames", "rx_xoff_mean_frames"),
    ("rx_xoff_frames", "rx_xoff_max_frames"),
    ("paused_ns", "paused_min_ns"),
    ("paused_ns", "paused_mean_ns"),
    ("paused_ns", "paused_max_ns"),
    ("dropped_frames", "dropped_frames"),
];

/// Returns the tier columns that cannot be computed, because a port lacks their counter.
fn unread(ports: &[&PortRow]) -> Unread {
    let lacks = |column: &str| ports.iter().any(|port| port.unread.lacks(column));
    let columns = SUMS.iter().filter(|sum| lacks(sum.0));
    Unread::all(columns.map(|sum| sum.1))
}

/// A value's spread over at least one port.
struct Spread {
    min: u64,
    mean: f64,
    max: u64,
}

fn spread(ports: &[&PortRow], value: impl Fn(&PortRow) -> u64) -> Spread {
    let values = || ports.iter().map(|port| value(port));
    // Bytes over all links may exceed 64 bits.
    let sum: u128 = values().map(u128::from).sum();
    Spread {
        min: values().min().unwrap_or(0),
        mean: sum as f64 / ports.len().max(1) as f64,
        max: values().max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(node: u32, name: &str, peer: &str) -> PortRow {
        PortRow {
            node,
            node_name: name.to_owned(),
            peer_name: peer.to_owned(),
            ..PortRow::default()
        }
    }

    #[test]
    fn two_tiers() {
        let ports = [
            port(0, "host0", "leaf0"),
            port(1, "leaf0", "host0"),
            port(1, "leaf0", "spine0"),
            port(2, "spine0", "leaf0"),
        ];
        let switch = |node| SwitchRow {
            node,
            ..SwitchRow::default()
        };
        let tiers = Tiers::of(&ports, &[switch(1), switch(2)]);
        let ways: Vec<String> = ports
            .iter()
            .map(|port| tiers.direction_name(tiers.direction(port)))
            .collect();
        assert_eq!(
            ways,
            ["NIC → leaf", "leaf → NIC", "leaf → spine", "spine → leaf"]
        );
        assert_eq!(tiers.node("spine0"), Some(2));
    }

    #[test]
    fn a_row_says_how_even_the_links_were() {
        let loaded = |peer: &str, bytes, xoff, paused| PortRow {
            tx_bytes: bytes,
            rx_xoff_frames: xoff,
            paused: Time::from_ps(paused),
            utilisation: bytes as f64 / 1e3,
            dropped_frames: 2,
            ..port(1, "leaf0", peer)
        };
        let ports = [
            port(0, "host0", "leaf0"),
            loaded("spine0", 100, 4, 11),
            loaded("spine1", 500, 0, 0),
            port(2, "spine0", "leaf0"),
            port(3, "spine1", "leaf0"),
        ];
        let switch = |node| SwitchRow {
            node,
            ..SwitchRow::default()
        };
        let rows = Tiers::of(&ports, &[switch(1), switch(2), switch(3)]).rows(&ports);
        let directions: Vec<&str> = rows.iter().map(|row| row.direction.as_str()).collect();
        assert_eq!(directions, ["NIC → leaf", "leaf → spine", "spine → leaf"]);
        let row = &rows[1];
        assert_eq!((row.links, row.dropped_frames), (2, 4));
        assert_eq!((row.tx_min_bytes, row.tx_max_bytes), (100, 500));
        // 600 / 2 = 300, and 500 / 300.
        assert_eq!(row.tx_mean_bytes.round() as u64, 300);
        assert_eq!(row.tx_max_over_mean, Some(500.0 / 300.0));
        assert_eq!((row.utilisation_min, row.utilisation_max), (0.1, 0.5));
        let xoff = (row.rx_xoff_min_frames, row.rx_xoff_max_frames);
        assert_eq!((xoff, row.rx_xoff_mean_frames), ((0, 4), 2.0));
        // 11 / 2 rounded down.
        assert_eq!(row.paused_mean, Time::from_ps(5));
        assert_eq!(rows[0].tx_max_over_mean, None);
    }
}
