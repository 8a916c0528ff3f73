//! Nodes ordered and partitioned by neighbourhood, for memory and threads.

use tenter_language::units::ById;

use crate::topology::{NodeId, Topology};

impl Topology {
    /// Returns all nodes in an order that keeps neighbours together: pod by pod, each leaf followed
    /// by its hosts and a pod's leaves by the switches above them, with the highest tier at the
    /// end.
    ///
    /// A pod is what stays connected without the highest tier; in a leaf-spine fabric that is one
    /// leaf.
    pub fn locality_order(&self) -> Vec<NodeId> {
        let top = self.top_tier();
        let is_top = |node: NodeId| top > Some(0) && self.tier(node) == top;
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut seen: ById<NodeId, bool> = vec![false; self.nodes.len()].into();
        for first in self.switch_nodes().filter(|switch| !is_top(*switch)) {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let mut pod = vec![first];
            let mut next = 0;
            while let Some(&switch) = pod.get(next) {
                next += 1;
                for peer in self.neighbours(switch).map(|peer| peer.node) {
                    let within = !self.is_host(peer) && !is_top(peer);
                    if within && !std::mem::replace(&mut seen[peer], true) {
                        pod.push(peer);
                    }
                }
            }
            // Switch numbers ascend with the tier, so this puts the pod's leaves first.
            pod.sort_unstable();
            for switch in pod {
                self.push_with_hosts(switch, &mut order);
            }
        }
        for switch in self.switch_nodes().filter(|switch| is_top(*switch)) {
            self.push_with_hosts(switch, &mut order);
        }
        order
    }

    /// Assigns every node to one of `threads` threads (at least one). A switch and its hosts are
    /// never separated (with several planes the switch on plane 0), and threads get about equally
    /// many ports.
    ///
    /// Leaves are dealt out in runs of [`locality_order`](Topology::locality_order), so that pods
    /// stay whole where possible. Each switch above them goes to the thread to which most of its
    /// cables lead, unless that thread already has its share.
    pub fn partition(&self, threads: u16) -> ById<NodeId, u16> {
        let threads = usize::from(threads.max(1));
        let order = self.locality_order();
        let (leaves, upper): (Vec<NodeId>, Vec<NodeId>) = order
            .into_iter()
            .filter(|node| !self.is_host(*node))
            // A switch with hosts is dealt like a leaf, whatever its tier.
            .partition(|switch| self.tier(*switch) == Some(0) || self.hosts_of(*switch) > 0);
        let mut dealing = Dealing::new(self, threads);
        let total: u64 = leaves.iter().map(|leaf| self.weight(*leaf)).sum();
        let mut before = 0;
        for leaf in leaves {
            let weight = self.weight(leaf);
            // The thread into whose share of the whole this leaf's middle falls. Everything is
            // doubled to stay integer.
            let middle = 2 * before + weight;
            let thread = u128::from(middle) * threads as u128 / u128::from((2 * total).max(1));
            dealing.give(leaf, (thread as usize).min(threads - 1));
            before += weight;
        }
        let everything: u64 = self.switch_nodes().map(|switch| self.weight(switch)).sum();
        let share = everything.div_ceil(threads as u64);
        for switch in upper {
            let thread = dealing.best(switch, share);
            dealing.give(switch, thread);
        }
        dealing
            .thread_of_node
            .iter()
            .map(|thread| thread.unwrap_or(0))
            .collect()
    }

    fn hosts_of(&self, switch: NodeId) -> u64 {
        self.own_hosts(switch).count() as u64
    }

    /// Iterates over the hosts that belong to a switch: those whose first port is there.
    fn own_hosts(&self, switch: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let hosts = self.neighbours(switch);
        let hosts = hosts.filter(|peer| self.is_host(peer.node) && peer.port == 0);
        hosts.map(|peer| peer.node)
    }

    /// Counts a switch's ports and its hosts, as a measure for work.
    fn weight(&self, switch: NodeId) -> u64 {
        self.nodes[switch].ports.len() as u64 + self.hosts_of(switch)
    }

    fn push_with_hosts(&self, switch: NodeId, order: &mut Vec<NodeId>) {
        order.push(switch);
        order.extend(self.own_hosts(switch));
    }
}

/// A partition while nodes are dealt to threads.
struct Dealing<'a> {
    topology: &'a Topology,
    thread_of_node: ById<NodeId, Option<u16>>,
    loads: Vec<u64>,
}

impl Dealing<'_> {
    fn new(topology: &Topology, threads: usize) -> Dealing<'_> {
        let thread_of_node = vec![None; topology.nodes.len()].into();
        Dealing {
            topology,
            thread_of_node,
            loads: vec![0; threads],
        }
    }

    fn give(&mut self, switch: NodeId, thread: usize) {
        self.loads[thread] += self.topology.weight(switch);
        self.thread_of_node[switch] = Some(thread as u16);
        for host in self.topology.own_hosts(switch) {
            self.thread_of_node[host] = Some(thread as u16);
        }
    }

    /// Chooses the thread for `switch`: among those with room the one to which most of its cables
    /// lead, and among equals the least loaded. Without room anywhere it is the least loaded one.
    fn best(&self, switch: NodeId, share: u64) -> usize {
        let mut cables = vec![0_u64; self.loads.len()];
        for peer in self.topology.neighbours(switch) {
            if let Some(thread) = self.thread_of_node[peer.node] {
                cables[usize::from(thread)] += 1;
            }
        }
        let weight = self.topology.weight(switch);
        let rank = |thread: &usize| {
            let load = self.loads[*thread];
            let room = load + weight <= share;
            let cables = if room { cables[*thread] } else { 0 };
            // The thread number comes last, so that the choice is unique.
            (!room, std::cmp::Reverse(cables), load, *thread)
        };
        (0..self.loads.len())
            .min_by_key(rank)
            .expect("there is at least one thread")
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Budget, Rate, Time};

    use crate::topology::{
        Cabling, CoreTier, FatTree, LeafSpine, NodeId, Planes, Taper, Topology, TopologySpec,
    };

    fn leaf_spine(leaves: u32, hosts_per_leaf: u32, spines: u32, links_per_pair: u32) -> Topology {
        let spec = LeafSpine {
            leaves,
            hosts_per_leaf,
            spines,
            links_per_pair,
            host_rate: Rate::from_gbps(400),
            uplink_rate: Rate::from_gbps(800),
            host_delay: Time::from_ns(300),
            fabric_delay: Time::from_ns(300),
            overrides: vec![],
            cabling: Cabling::Regular,
            planes: Planes::ONE,
        };
        TopologySpec::LeafSpine(spec)
            .build(&Budget::unlimited())
            .unwrap()
    }

    fn loads(topology: &Topology, threads: u16) -> Vec<usize> {
        let mut loads = vec![0; usize::from(threads)];
        for (node, thread) in topology
            .nodes
            .iter()
            .zip(topology.partition(threads).iter())
        {
            loads[usize::from(*thread)] += node.ports.len();
        }
        loads
    }

    fn order(topology: &Topology) -> Vec<u32> {
        let order = topology.locality_order().into_iter();
        order.map(NodeId::number).collect()
    }

    #[test]
    fn a_leaf_is_followed_by_its_hosts() {
        // Hosts 0–3, leaves 4 and 5, spine 6.
        assert_eq!(order(&leaf_spine(2, 2, 1, 1)), [4, 0, 1, 5, 2, 3, 6]);
    }

    #[test]
    fn a_pod_is_followed_by_its_aggregation_switches() {
        let tree = FatTree {
            hosts_per_leaf: 1,
            leaves_per_pod: 2,
            aggs_per_pod: 1,
            links_per_leaf_agg: 1,
            host_rate: Rate::from_gbps(400),
            leaf_rate: Rate::from_gbps(400),
            host_delay: Time::from_ns(300),
            leaf_delay: Time::from_ns(300),
            core: Some(CoreTier {
                pods: 2,
                cores_per_agg: 1,
                links_per_agg_core: 1,
                taper: Taper::default(),
                links_per_pod: None,
                rate: Rate::from_gbps(400),
                delay: Time::from_ns(300),
            }),
            planes: Planes::ONE,
        };
        // Hosts 0–3, leaves 4–7, aggregation 8 and 9, core 10.
        let topology = TopologySpec::FatTree(tree)
            .build(&Budget::unlimited())
            .unwrap();
        assert_eq!(order(&topology), [4, 0, 5, 1, 8, 6, 2, 7, 3, 9, 10]);
        // Each pod whole on its thread: leaves of 2 ports with a host each and an aggregation
        // switch of 3 ports.
        assert_eq!(*topology.partition(2), [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0]);
    }

    #[test]
    fn threads_share_the_ports() {
        // 8 leaves of 64 + 32 ports with 64 hosts and 4 spines of 64 ports: 8 · 160 + 4 · 64 =
        // 1,536.
        let topology = leaf_spine(8, 64, 4, 8);
        assert_eq!(loads(&topology, 1), [1536]);
        assert_eq!(loads(&topology, 2), [768, 768]);
        // Three leaves are 480, two are 320, and the spines fill up: 480 + 0, 320 + 192, 480 + 64.
        let mut three = loads(&topology, 3);
        three.sort_unstable();
        assert_eq!(three, [480, 512, 544]);
        assert_eq!(loads(&topology, 4), [384; 4]);
        assert_eq!(topology.partition(0), topology.partition(1));
    }

    #[test]
    fn a_leaf_and_its_hosts_share_a_thread() {
        let topology = leaf_spine(5, 3, 2, 1);
        for threads in 1..=20 {
            let thread = topology.partition(threads);
            assert!(thread.iter().all(|thread| *thread < threads));
            for host in topology.host_ids() {
                let leaf = topology.neighbour(host, 0).node;
                assert_eq!(thread[host.node()], thread[leaf]);
            }
        }
    }
}
