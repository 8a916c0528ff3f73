//! Tiers of a fabric, found from who is cabled to whom.

use std::collections::HashMap;

use tenter_record::{PortRow, SwitchRow};

/// How far each node is from the nearest NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiers {
    /// 0 for NICs, 1 for the switches they are cabled to, and so on, by node index.
    of_node: Vec<u32>,
    indices: HashMap<String, u32>,
}

impl Tiers {
    /// The tiers of all nodes.
    pub fn of(ports: &[PortRow], switches: &[SwitchRow]) -> Tiers {
        let nodes = ports.iter().map(|port| port.node + 1).max().unwrap_or(0);
        let mut of_node = vec![0_u32; nodes as usize];
        let mut indices = HashMap::new();
        let mut peers: Vec<Vec<&str>> = vec![Vec::new(); nodes as usize];
        for port in ports {
            indices.insert(port.node_name.clone(), port.node);
            peers[port.node as usize].push(&port.peer_name);
        }
        for switch in switches {
            if let Some(tier) = of_node.get_mut(switch.node as usize) {
                *tier = u32::MAX;
            }
        }
        let mut reached: Vec<u32> = (0..nodes)
            .filter(|&node| of_node[node as usize] == 0)
            .collect();
        let mut tier = 0;
        while !reached.is_empty() {
            tier += 1;
            let mut next = Vec::new();
            for node in reached {
                for peer in &peers[node as usize] {
                    let Some(&peer) = indices.get(*peer) else {
                        continue;
                    };
                    if of_node[peer as usize] == u32::MAX {
                        of_node[peer as usize] = tier;
                        next.push(peer);
                    }
                }
            }
            reached = next;
        }
        Tiers { of_node, indices }
    }

    /// The tier of a node; of one that reaches no NIC, a number greater than all others.
    pub fn tier(&self, node: u32) -> u32 {
        self.of_node.get(node as usize).copied().unwrap_or(u32::MAX)
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<u32> {
        self.indices.get(name).copied()
    }

    /// The tiers at both ends of a port's cable, its own first.
    pub fn ends(&self, port: &PortRow) -> (u32, u32) {
        let peer = self.node(&port.peer_name);
        (
            self.tier(port.node),
            peer.map_or(u32::MAX, |peer| self.tier(peer)),
        )
    }

    /// Which way a port leads: `NIC → leaf`, `leaf → spine`, or by number in deeper fabrics.
    pub fn direction(&self, (from, to): (u32, u32)) -> String {
        format!("{} → {}", self.name(from), self.name(to))
    }

    fn name(&self, tier: u32) -> String {
        let top = self.of_node.iter().filter(|&&tier| tier != u32::MAX).max();
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
            .map(|port| tiers.direction(tiers.ends(port)))
            .collect();
        assert_eq!(
            ways,
            ["NIC → leaf", "leaf → NIC", "leaf → spine", "spine → leaf"]
        );
        assert_eq!(tiers.node("spine0"), Some(2));
    }
}
