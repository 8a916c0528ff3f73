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

/// Whether each switch from a leaf to a host has but one port for packets with a hash, and these
/// arrive: then they take `ports`, which are but the beginning of a way otherwise.
pub(super) fn only_path(
    net: Net<'_>,
    leaves: (NodeId, NodeId),
    to: HostId,
    hash: u32,
    ports: &mut Vec<CableEnd>,
) -> bool {
    ports.clear();
    let mut node = leaves.0;
    while node != leaves.1 && ports.len() < STAGES_MAX {
        let Some((port, _)) = only_choice(net, node, to, hash) else {
            return false;
        };
        ports.push(CableEnd { node, port });
        node = net.topology.neighbour(node, port).node;
    }
    node == leaves.1
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

/// The ports that packets to a host may take from a switch. Routing may not know yet of a circuit
/// that is gone.
fn lit_ports(net: Net<'_>, node: NodeId, to: HostId) -> impl Iterator<Item = u16> {
    let candidates = net.routing.candidates(net.topology.switch(node), to);
    let has_circuits = !net.topology.optics.is_empty();
    let is_lit = move |port: &u16| !has_circuits || !net.topology.is_dark(node, *port);
    candidates.iter().copied().filter(is_lit)
}

/// The port that all packets with a hash take at a switch, where there is but one for them, and
/// whether no other leads to the host.
fn only_choice(net: Net<'_>, node: NodeId, to: HostId, hash: u32) -> Option<(u16, bool)> {
    let mut lit = lit_ports(net, node, to);
    let first = lit.next()?;
    if lit.next().is_none() {
        return Some((first, true));
    }
    let home = net.context.home(node);
    let NodeModel::Switch(switch) = &net.nodes[home.node.index()] else {
        return None;
    };
    let port = switch.fixed_port(hash, to, net.routing)?;
    let varies = net.context.port_changes.entropy.is_some();
    let is_lit = lit_ports(net, node, to).any(|lit| lit == port);
    (is_lit && !varies).then_some((port, false))
}

/// The ports that packets with a hash take at a switch, each with the part of them that does.
fn choices(
    net: Net<'_>,
    node: NodeId,
    to: HostId,
    hash: u32,
    is_of_pair: &mut bool,
) -> Vec<(u16, Weight)> {
    if let Some((port, has_no_other)) = only_choice(net, node, to, hash) {
        *is_of_pair &= has_no_other;
        return vec![(port, Weight::WHOLE)];
    }
    let candidates: Vec<u16> = lit_ports(net, node, to).collect();
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
