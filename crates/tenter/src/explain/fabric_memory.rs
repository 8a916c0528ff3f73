//! Memory that a fabric takes before any packet is sent, with its switches' flow tables.

use std::collections::BTreeSet;

use tenter_fabric::net::load_balancing::TableSizes;
use tenter_fabric::topology::{NodeId, Size};
use tenter_sim::plan::Plan;

/// Bytes per host: NIC, cable, addresses, names and inboxes.
const HOST: u64 = 900;
/// Bytes per switch port without its queues, with half a cable and inboxes.
const SWITCH_PORT: u64 = 250;
/// Bytes for a port's queue and its class's priority group.
const QUEUE: u64 = 150;
/// Bytes for a lane's end.
const LANE_END: u64 = 40;
/// Bytes for a virtual output queue, at its own leaf and at the other.
const VOQ: u64 = 130;
/// Bytes for a port's row in `ports.parquet`, with names, twice while it is written.
const PORT_ROW: u64 = 600;

/// Estimates the bytes for nodes, links, routes and switch tables.
pub(crate) fn fabric_bytes(plan: &Plan) -> u64 {
    let topology = &plan.topology;
    let hosts = topology.hosts as u64;
    let planes = u64::from(topology.nic_ports);
    // A NIC's first port is part of `HOST`.
    let further_ports = hosts * (planes - 1);
    let switches = topology.nodes.iter().skip(topology.hosts);
    let ports: u64 = switches.map(|node| node.ports.len() as u64).sum();
    let queues = plan.switches.usual.classes.len() as u64;
    let groups = topology.leaves().len() as u64 / planes;
    let scheduled = plan
        .scheduled
        .as_ref()
        .map_or(0, |_| groups * hosts * queues * VOQ);
    // Each lane has counters at both ends; NICs keep all eight lanes.
    let lanes = plan
        .credit
        .map_or(0, |_| (16 * hosts + 2 * ports * queues) * LANE_END);
    scheduled
        + lanes
        + hosts * (HOST + PORT_ROW)
        + further_ports * (SWITCH_PORT + PORT_ROW)
        + ports * (SWITCH_PORT + PORT_ROW + queues * QUEUE)
        + Size::of(topology).routing_bytes()
        + switch_tables(plan)
}

/// Estimates the bytes for crossbars, and for load balancers' flow tables.
fn switch_tables(plan: &Plan) -> u64 {
    let topology = &plan.topology;
    let (used, leaves) = (used_leaves(plan), topology.leaves().len() as u64);
    let of_switch = |switch: NodeId| {
        let spec = plan.switches.of(topology, switch);
        let ports = topology.ports(switch);
        let crossbar = plan
            .input_queued
            .map_or(0, |of| of.memory_bytes(ports.into(), spec.classes.len()));
        let sizes = TableSizes {
            // Tables grow with the leaves that packets go to: those that have ranks.
            lists: equal_ports(plan, switch).min(used),
            ports: ports.into(),
            leaves,
        };
        crossbar.saturating_add(spec.load_balancing.table_bytes(&sizes))
    };
    let bytes = topology.switch_nodes().map(of_switch);
    bytes.fold(0, u64::saturating_add)
}

/// Counts the leaves that have job ranks.
fn used_leaves(plan: &Plan) -> u64 {
    let hosts = plan.jobs.iter().flat_map(|job| job.hosts.iter());
    let leaves = hosts.map(|&host| plan.topology.neighbour(host, 0).node);
    leaves.collect::<BTreeSet<_>>().len() as u64
}

/// Returns an upper bound for the equal-cost port lists that a switch chooses from. In a tree there
/// is one upwards, and one to each switch below with several cables; elsewhere each leaf may have
/// its own.
fn equal_ports(plan: &Plan, switch: NodeId) -> u64 {
    let topology = &plan.topology;
    let tier = topology.tier(switch);
    let mut below = Vec::new();
    for peer in topology.neighbours(switch) {
        let other = topology.tier(peer.node);
        if other == tier {
            // A link within a tier: this is no tree.
            return u64::MAX;
        }
        if other.is_some() && other < tier {
            below.push(peer.node);
        }
    }
    below.sort_unstable();
    let doubled = below.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
    1 + doubled.count() as u64
}
