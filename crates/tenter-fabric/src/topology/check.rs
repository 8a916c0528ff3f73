//! Conditions that every topology must meet, whatever its description.

use std::collections::{BTreeMap, HashSet};

use tenter_language::units::{Budget, ById};

use crate::topology::{HostId, NodeId, Size, Topology, TopologyError};

impl Topology {
    /// Checks a freshly wired topology's names, host ports and reachability.
    pub(crate) fn check(&self, budget: &Budget) -> Result<(), TopologyError> {
        if self.hosts == 0 {
            return Err(TopologyError::NoHosts);
        }
        let mut names = HashSet::with_capacity(self.nodes.len());
        if let Some(node) = self
            .nodes
            .iter()
            .find(|node| !names.insert(node.name.as_str()))
        {
            return Err(TopologyError::DuplicateName {
                name: node.name.clone(),
            });
        }
        for number in self.host_ids() {
            let host = &self.nodes[number.node()];
            if host.ports.len() != usize::from(self.nic_ports) {
                let ports = host.ports.len() as u64;
                return Err(TopologyError::HostPorts {
                    host: host.name.clone(),
                    ports,
                });
            }
            let peer = self.neighbour(number, 0).node;
            if self.is_host(peer) {
                let (a, b) = (host.name.clone(), self.nodes[peer].name.clone());
                return Err(TopologyError::HostToHost { a, b });
            }
        }
        // Every plan needs a routing table, so a topology without room for one is of no use.
        Size::of(self).may_route(budget)?;
        self.hosts_reachable()
    }

    /// Checks that every host has a path to every other host on its plane.
    ///
    /// # Errors
    /// [`TopologyError::Unreachable`] with the first pair that has none.
    pub(crate) fn hosts_reachable(&self) -> Result<(), TopologyError> {
        let mut first_of: BTreeMap<Option<u32>, HostId> = BTreeMap::new();
        for host in self.host_ids() {
            let plane = self.planes.get(host.index()).copied();
            first_of.entry(plane).or_insert(host);
        }
        // Cables carry both ways, so everything that the first host reaches can also reach it.
        let mut seen: ById<NodeId, bool> = vec![false; self.nodes.len()].into();
        for &first in first_of.values() {
            let mut waiting = vec![first.node()];
            seen[first.node()] = true;
            while let Some(node) = waiting.pop() {
                for peer in self.neighbours(node) {
                    if !std::mem::replace(&mut seen[peer.node], true) {
                        waiting.push(peer.node);
                    }
                }
            }
        }
        let Some(lost) = self.host_ids().find(|host| !seen[host.node()]) else {
            return Ok(());
        };
        let plane = self.planes.get(lost.index()).copied();
        let first = first_of.get(&plane).copied().unwrap_or(lost);
        Err(TopologyError::Unreachable {
            from: self.name(first).to_owned(),
            to: self.name(lost).to_owned(),
        })
    }
}
