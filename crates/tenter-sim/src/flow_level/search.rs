//! The ports that packets may take from one leaf to another.

use std::collections::BTreeMap;

use tenter_flow::Weight;
use tenter_topology::{CableEnd, HostId, NodeId, Routing, Topology};

use crate::network::{Context, NodeModel};

/// What ways are found in.
#[derive(Clone, Copy)]
pub(super) struct Net<'a> {
    pub(super) context: &'a Context,
    pub(super) topology: &'a Topology,
    pub(super) routing: &'a Routing,
    pub(super) nodes: &'a [NodeModel],
}

/// A step of the search: the ports that lead from all switches that are so far from the leaf.
pub(super) type Stage = Vec<(CableEnd, Weight)>;

/// What the search has found.
pub(super) struct Found {
    pub(super) stages: Vec<Stage>,
    /// Whether there is a way at all.
    pub(super) arrives: bool,
    /// Whether all packets from one leaf to the other take it.
    pub(super) is_of_pair: bool,
}

impl Found {
    /// The ports of the only path, where there is no other.
    pub(super) fn fixed_ports(&self) -> Option<Vec<CableEnd>> {
        let one = |stage: &Stage| match stage[..] {
            [(end, _)] => Some(end),
            _ => None,
        };
        self.stages.iter().map(one).collect()
    }
}

/// More switches than on any path.
pub(super) const STAGES_MAX: usize = 256;

/// Follows packets with a hash from a leaf to a host, over all ports that they may take.
pub(super) fn search(net: Net<'_>, leaves: (NodeId, NodeId), to: HostId, hash: u32) -> Found {
    let mut found = Found {
        stages: Vec::new(),
        arrives: false,
        is_of_pair: true,
    };
    let mut here = BTreeMap::from([(leaves.0, Weight::WHOLE)]);
    while found.stages.len() < STAGES_MAX {
        let mut stage = Stage::new();
        let mut next: BTreeMap<NodeId, Weight> = BTreeMap::new();
        for (&node, &weight) in here.iter().filter(|(node, _)| **node != leaves.1) {
            for (port, part) in choices(net, node, to, hash, &mut found.is_of_pair) {
                let weight = weight.times(part);
                let end = CableEnd { node, port };
                stage.push((end, weight));
                let beyond = net.topology.neighbour(node, port).node;
                let sum = next.entry(beyond).or_insert(Weight::NONE);
                *sum = sum.plus(weight);
            }
        }
        found.arrives |= here.contains_key(&leaves.1);
        if stage.is_empty() {
            break;
        }
        found.stages.push(stage);
        here = next;
    }
    found
}

/// The ports that packets with a hash take at a switch, each with the part of them that does.
fn choices(
    net: Net<'_>,
    node: NodeId,
    to: HostId,
    hash: u32,
    is_of_pair: &mut bool,
) -> Vec<(u16, Weight)> {
    let candidates = net.routing.candidates(net.topology.switch(node), to);
    let is_lit = |port: &u16| !net.topology.is_dark(node, *port);
    // Routing may not know yet of a circuit that is gone.
    let lit: Vec<u16> = candidates.iter().copied().filter(is_lit).collect();
    let candidates = &lit[..];
    if let [port] = candidates {
        return vec![(*port, Weight::WHOLE)];
    }
    let home = net.context.home(node);
    let varies = net.context.port_changes.entropy.is_some();
    if let NodeModel::Switch(switch) = &net.nodes[home.node.index()]
        && let Some(port) = switch.fixed_port(hash, to, net.routing)
        && !varies
        && candidates.contains(&port)
    {
        *is_of_pair = false;
        return vec![(port, Weight::WHOLE)];
    }
    // A load balancer that looks at queues gives fast links more.
    let balancing = &net.context.switch(node).load_balancing;
    let by_rate = net.context.scheduled.is_none() && balancing.reads_queues();
    let share = |port: u16| {
        if by_rate {
            net.topology.cable(node, port).rate.bits_per_second()
        } else {
            1
        }
    };
    let all = candidates.iter().map(|&port| share(port)).sum();
    let parts = candidates.iter();
    parts
        .map(|&port| (port, Weight::of(share(port), all)))
        .collect()
}
