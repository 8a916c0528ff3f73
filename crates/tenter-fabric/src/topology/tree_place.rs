//! Places for hosts and switches in a fat tree, for routing by destination alone.

use tenter_language::units::ById;

use crate::topology::{HostId, NodeId, Topology};

/// A switch's place in a fat tree, as far as routing by destination needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreePlace {
    /// Switches on its tier that serve the same hosts: as many as there are paths up from a leaf to
    /// this tier, parallel cables counted once.
    pub stride: u32,
    /// Switches directly above it; 0 at the top.
    pub parents: u32,
}

impl TreePlace {
    /// Place for a switch that has only hosts around it.
    pub(crate) const ROOT: TreePlace = TreePlace {
        stride: 1,
        parents: 0,
    };
}

impl Topology {
    /// Returns a switch's place, derived from its neighbours' tiers.
    pub fn tree_place(&self, switch: NodeId) -> TreePlace {
        let tier = self.tier(switch);
        let of_tier = |is: fn(&Option<u8>, &Option<u8>) -> bool| {
            let peers = self.neighbours(switch).map(|peer| peer.node);
            let peers = peers.filter(|&peer| !self.is_host(peer));
            peers.filter(move |&peer| is(&self.tier(peer), &tier))
        };
        let mut parents: Vec<NodeId> = of_tier(Option::gt).collect();
        parents.sort_unstable();
        parents.dedup();
        // In a tree all children of a switch have the same place, so one is enough.
        let stride = of_tier(Option::lt).next().map_or(1, |child| {
            let below = self.tree_place(child);
            below.stride.saturating_mul(below.parents.max(1))
        });
        TreePlace {
            stride,
            parents: parents.len() as u32,
        }
    }

    /// Numbers the hosts by leaf, and on each leaf by port.
    pub(crate) fn tree_order(&self) -> ById<HostId, u32> {
        let mut hosts: Vec<HostId> = self.host_ids().collect();
        hosts.sort_by_key(|&host| self.neighbours(host).next().map(|end| (end.node, end.port)));
        let mut order: ById<HostId, u32> = vec![0; self.hosts].into();
        for (number, host) in (0..).zip(hosts) {
            order[host] = number;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Budget, Rate, Time};

    use super::TreePlace;
    use crate::topology::{Cabling, LeafSpine, Planes, Topology, TopologySpec};

    fn places(topology: &Topology) -> Vec<(u32, u32)> {
        let switches = topology.switch_nodes();
        let places = switches.map(|switch| topology.tree_place(switch));
        places
            .map(|TreePlace { stride, parents }| (stride, parents))
            .collect()
    }

    #[test]
    fn parallel_cables_count_once() {
        let rate = Rate::from_gbps(400);
        let topology = TopologySpec::LeafSpine(LeafSpine {
            leaves: 2,
            hosts_per_leaf: 2,
            spines: 3,
            links_per_pair: 2,
            host_rate: rate,
            uplink_rate: rate,
            host_delay: Time::from_ns(10),
            fabric_delay: Time::from_ns(10),
            overrides: Vec::new(),
            cabling: Cabling::Leaves(vec![1, 0, 1, 0]),
            planes: Planes::ONE,
        });
        let topology = topology
            .build(&Budget::unlimited())
            .expect("it can be built");
        assert_eq!(places(&topology), [(1, 3), (1, 3), (3, 0), (3, 0), (3, 0)]);
        // Hosts 1 and 3 are on the first leaf.
        assert_eq!(*topology.tree_order(), [2, 0, 3, 1]);
    }
}
