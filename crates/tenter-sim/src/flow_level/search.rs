//! Search for the ports that packets may take from one leaf to another.

use std::collections::BTreeMap;

use crate::fluid::Weight;
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Routing, Topology};

use crate::network::{Context, NodeModel};

/// Everything that a path depends on.
#[derive(Clone, Copy)]
pub(super) struct Net<'a> {
    pub(super) context: &'a Context,
    pub(super) topology: &'a Topology,
    pub(super) routing: &'a Routing,
    pub(super) nodes: &'a [NodeModel],
}

/// Ports on all switches at one distance from the first leaf, each with the part of the packets
/// that takes it.
pub(super) type Stage = Vec<(CableEnd, Weight)>;

/// Ports on the way from one leaf to another.
pub(super) struct Found {
    pub(super) stages: Vec<Stage>,
    /// True if at least one path leads to the other leaf.
    pub(super) arrives: bool,
    /// True if the ports do not depend on the hash: then all queue pairs between the two leaves
    /// share the path.
    pub(super) is_of_pair: bool,
}

/// Follows the only path from a leaf to a host. Returns true if each switch has only one port for
/// packets with this hash, and these lead to the host's leaf. Otherwise `ports` holds just the
/// beginning of a path.
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

/// More switches than any path has. The bound also ends a walk along routes with a loop.
pub(super) const STAGES_MAX: usize = 256;

/// Follows packets with a hash from a leaf to a host, over all ports that they may take.
pub(super) fn search(net: Net<'_>, leaves: (NodeId, NodeId), to: HostId, hash: u32) -> Found {
    let mut found = Found {
        stages: Vec::new(),
        arrives: false,
        is_of_pair: true,
    };
    // Sorted by node, so that the sums and the order of ports are the same in every run.
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

/// Returns the ports that packets to a host may take. Until routing has converged it may still name
/// a port whose circuit is gone; such ports are left out.
fn lit_ports(net: Net<'_>, node: NodeId, to: HostId) -> impl Iterator<Item = u16> {
    let candidates = net.routing.candidates(net.topology.switch(node), to);
    let has_circuits = !net.topology.optics.is_empty();
    let is_lit = move |port: &u16| !has_circuits || !net.topology.is_dark(node, *port);
    candidates.iter().copied().filter(is_lit)
}

/// Returns the port that all packets with a hash take at a switch, if there is only one. The flag
/// is true if the switch has no other port to the host.
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
    // A NIC that varies the source port changes the hash from packet to packet.
    let varies = net.context.port_changes.entropy.is_some();
    let is_lit = lit_ports(net, node, to).any(|lit| lit == port);
    (is_lit && !varies).then_some((port, false))
}

/// Returns the ports that packets with a hash take at a switch, each with the part that takes it.
/// Clears `is_of_pair` if the hash decides.
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
    // A load balancer that reads queues ends up with loads in proportion to the links' rates.
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
