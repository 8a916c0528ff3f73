//! A job's fragmentation: the leaves and pods that its hosts span, relative to the fewest possible.
//!
//! Source: the metric in "Bandwidth Steering in HPC Using Silicon Nanophotonics" (SC19) for jobs on
//! Cori, where the groups that an application spans are divided by the fewest possible.

use std::collections::BTreeMap;

use tenter_language::units::ById;

use crate::topology::{HostId, NodeId, Topology};

/// Groups that some hosts span, and the fewest that could hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Groups with at least one such host.
    pub groups: u32,
    /// Fewest groups that together have as many hosts.
    pub fewest: u32,
}

impl Span {
    /// Returns the fragmentation factor: 1 if the hosts are as close together as possible.
    pub fn factor(self) -> f64 {
        f64::from(self.groups) / f64::from(self.fewest.max(1))
    }
}

impl Topology {
    /// Returns how many leaves `hosts` span.
    pub fn leaf_span(&self, hosts: &[HostId]) -> Span {
        let leaf = |host: HostId| self.neighbour(host, 0).node;
        let leaves: ById<HostId, NodeId> = self.host_ids().map(leaf).collect();
        span(&leaves, hosts)
    }

    /// Returns how many pods `hosts` span. A pod is what stays connected, tier by tier, without the
    /// highest tier; in a leaf-spine fabric it is a leaf. Cables and circuits within a tier join no
    /// pods.
    pub fn pod_span(&self, hosts: &[HostId]) -> Span {
        span(&self.pods(), hosts)
    }

    /// Returns each host's pod, counted from 0.
    pub(crate) fn pods(&self) -> ById<HostId, u32> {
        let top = self.top_tier();
        let is_top = |node: NodeId| top > Some(0) && self.tier(node) == top;
        let mut pod_of: ById<NodeId, Option<u32>> = vec![None; self.nodes.len()].into();
        let mut pods = 0;
        for first in self.switch_nodes().filter(|switch| !is_top(*switch)) {
            if pod_of[first].is_some() {
                continue;
            }
            pod_of[first] = Some(pods);
            let mut open = vec![first];
            while let Some(switch) = open.pop() {
                for peer in self.neighbours(switch).map(|peer| peer.node) {
                    // Cables within a tier join no pods.
                    let beside = !self.is_host(peer) && self.tier(peer) == self.tier(switch);
                    if !is_top(peer) && !beside && pod_of[peer].is_none() {
                        pod_of[peer] = Some(pods);
                        // A host forwards nothing, so pods do not grow through it.
                        if !self.is_host(peer) {
                            open.push(peer);
                        }
                    }
                }
            }
            pods += 1;
        }
        // Hosts on a switch of the highest tier, if any, are one pod more.
        let pods = |pod: &Option<u32>| pod.unwrap_or(pods);
        pod_of.iter().take(self.hosts).map(pods).collect()
    }
}

/// Returns how many groups `hosts` span, where `group_of` has every host's group.
fn span<G: Copy + Ord>(group_of: &ById<HostId, G>, hosts: &[HostId]) -> Span {
    let mut sizes: BTreeMap<G, usize> = BTreeMap::new();
    for &group in group_of {
        *sizes.entry(group).or_default() += 1;
    }
    let mut used: Vec<HostId> = hosts.to_vec();
    used.sort_unstable();
    // A host counts once, however often it is listed.
    used.dedup();
    let wanted = used.len();
    let mut groups: Vec<G> = used.iter().map(|&host| group_of[host]).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut largest: Vec<usize> = sizes.into_values().collect();
    // Filling the largest groups first takes the fewest.
    largest.sort_unstable_by(|a, b| b.cmp(a));
    let mut held = 0;
    let filled = largest.iter().take_while(|&&size| {
        let more = held < wanted;
        held += size;
        more
    });
    Span {
        fewest: filled.count() as u32,
        groups: groups.len() as u32,
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Budget, Rate, Time};

    use super::*;
    use crate::topology::{CoreTier, FatTree, Planes, Taper, TopologySpec};

    /// Three pods of two leaves with four hosts each.
    fn tree() -> Topology {
        let rate = Rate::from_gbps(400);
        let delay = Time::from_ns(10);
        let spec = TopologySpec::FatTree(FatTree {
            hosts_per_leaf: 4,
            leaves_per_pod: 2,
            aggs_per_pod: 2,
            links_per_leaf_agg: 1,
            host_rate: rate,
            leaf_rate: rate,
            host_delay: delay,
            leaf_delay: delay,
            core: Some(CoreTier {
                pods: 3,
                cores_per_agg: 2,
                links_per_agg_core: 1,
                taper: Taper::default(),
                links_per_pod: None,
                rate,
                delay,
            }),
            planes: Planes::ONE,
        });
        spec.build(&Budget::unlimited()).expect("it can be built")
    }

    #[test]
    fn spans_of_a_tree_by_hand() {
        let tree = tree();
        let spans = |hosts: &[u32]| {
            let hosts: Vec<HostId> = hosts.iter().copied().map(HostId::new).collect();
            let both = [tree.leaf_span(&hosts), tree.pod_span(&hosts)];
            both.map(|span| (span.groups, span.fewest))
        };
        assert_eq!(tree.pods().as_slice()[..9], [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(spans(&[0, 1, 2, 3]), [(1, 1), (1, 1)]);
        // Five hosts need two leaves, which can be of one pod.
        assert_eq!(spans(&[0, 1, 2, 3, 8]), [(2, 2), (2, 1)]);
        assert_eq!(spans(&[0, 4, 8, 12, 16, 20]), [(6, 2), (3, 1)]);
        assert_eq!(spans(&(0..24).collect::<Vec<_>>()), [(6, 6), (3, 3)]);
        let factor = tree
            .leaf_span(&[0, 4, 8, 12, 16, 20].map(HostId::new))
            .factor();
        assert!((factor - 3.0).abs() < 1e-12);
    }
}
