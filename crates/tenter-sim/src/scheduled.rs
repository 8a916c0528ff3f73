//! The scheduled fabric as a whole: which switches are its leaves, the control links between them,
//! and whether what they have counted adds up.

use std::sync::Arc;

use tenter_engine::Output;
use tenter_net::scheduled::{HostPlace, LeafRecord, LeafWiring, Peer, ScheduledSpec};
use tenter_net::{Switch, SwitchModel};
use tenter_plan::Plan;

use crate::build::Context;
use crate::driver::Driver;
use crate::fabric::NodeModel;

/// The fabric's parameters and its leaves.
#[derive(Debug)]
pub(crate) struct ScheduledFabric {
    pub(crate) spec: ScheduledSpec,
    /// The nodes of the leaves, ascending.
    leaves: Vec<u32>,
    places: Arc<[HostPlace]>,
    may_lose: bool,
}

impl ScheduledFabric {
    pub(crate) fn of(plan: &Plan) -> Option<ScheduledFabric> {
        let spec = plan.scheduled.clone()?;
        let topology = &plan.topology;
        let hosts = 0..topology.hosts as u32;
        let ends: Vec<_> = hosts.map(|host| topology.neighbour(host, 0)).collect();
        let leaves = topology.leaves();
        let place = |end: &tenter_topology::CableEnd| HostPlace {
            leaf: leaves.partition_point(|&leaf| leaf < end.node) as u16,
            port: end.port,
        };
        Some(ScheduledFabric {
            places: ends.iter().map(place).collect(),
            spec,
            may_lose: !plan.faults.events.is_empty() || !plan.impairments.is_empty(),
            leaves,
        })
    }

    /// How many control links end at a node.
    pub(crate) fn control_inputs(&self, node: u32) -> u16 {
        self.number(node).map_or(0, |_| self.leaves.len() as u16)
    }

    /// A node's number among the leaves, if it is one.
    fn number(&self, node: u32) -> Option<u16> {
        self.leaves.binary_search(&node).ok().map(|at| at as u16)
    }
}

impl Context {
    /// The model of a switch of a scheduled fabric.
    pub(crate) fn scheduled_model<'a>(
        &'a self,
        node: u32,
        fabric: &'a ScheduledFabric,
    ) -> SwitchModel<'a> {
        let name = &self.topology().nodes[node as usize].name;
        let Some(number) = fabric.number(node) else {
            return SwitchModel::Spine {
                spec: &fabric.spec,
                seed: self.seed,
                name,
            };
        };
        let up = self.fastest_up(node);
        let peers = fabric.leaves.iter().map(|&to| {
            let (part, local) = self.home(to);
            let ports = self.topology().nodes[to as usize].ports.len() as u16;
            let output = Output {
                part,
                node: local,
                input: 2 * ports + number,
            };
            self.control_latency((node, &up), to)
                .map(|latency| Peer { output, latency })
        });
        let wiring = LeafWiring {
            number,
            peers: peers.collect(),
            places: Arc::clone(&fabric.places),
            may_lose: fabric.may_lose,
            name: (self.seed, name.clone()),
        };
        SwitchModel::Leaf(&fabric.spec, wiring)
    }

    /// How long the head of a cell takes from a leaf to each spine on the fastest way, in ps, by
    /// node; `u64::MAX` where none leads there.
    fn fastest_up(&self, from: u32) -> Vec<u64> {
        let topology = self.topology();
        let mut times = vec![u64::MAX; topology.nodes.len()];
        for port in 0..topology.nodes[from as usize].ports.len() as u16 {
            let spine = topology.neighbour(from, port).node;
            if !topology.is_host(spine) {
                let time = &mut times[spine as usize];
                *time = (*time).min(self.link(from, port).0.ps());
            }
        }
        times
    }

    /// How long a message takes from one leaf, with its ways up, to another, in ps: as long as the
    /// head of a cell on the fastest way; `None` to itself.
    fn control_latency(&self, (from, up): (u32, &[u64]), to: u32) -> Option<u64> {
        let topology = self.topology();
        let ports = 0..topology.nodes[to as usize].ports.len() as u16;
        let ends = ports.map(|port| topology.neighbour(to, port));
        let ways = ends.filter(|end| from != to && up[end.node as usize] < u64::MAX);
        let times = ways.map(|end| up[end.node as usize] + self.link(end.node, end.port).0.ps());
        times.min()
    }

    /// The shortest and the longest time of a message between two leaves, in ps.
    pub(crate) fn control_latencies(&self) -> Option<(u64, u64)> {
        let leaves = &self.scheduled.as_ref()?.leaves;
        let times = leaves.iter().flat_map(|&from| {
            let up = self.fastest_up(from);
            let latency = move |&to: &u32| self.control_latency((from, &up), to);
            leaves.iter().filter_map(latency)
        });
        times.fold(None, |bounds, time| {
            let (least, most) = bounds.unwrap_or((time, time));
            Some((time.min(least), time.max(most)))
        })
    }
}

/// Compares what a leaf has counted with what its ports have.
///
/// # Errors
/// A sentence that says what does not add up.
pub(crate) fn check_leaf(
    switch: &Switch,
    record: &LeafRecord,
    hosts: &[u16],
) -> Result<(), String> {
    let ports = || hosts.iter().map(|&port| &switch.ports()[usize::from(port)]);
    let mut from_hosts = (0, 0);
    let mut to_hosts = (0, 0);
    for (&number, port) in hosts.iter().zip(ports()) {
        let counters = port.counters();
        let received = switch.received(number);
        from_hosts.0 += received.0 - counters.dropped_frames;
        from_hosts.1 += received.1 - counters.dropped_bytes;
        let waiting: u64 = port
            .waiting()
            .map(|packet| u64::from(packet.frame_bytes))
            .sum();
        to_hosts.0 += counters.sent_frames + counters.unsent_frames + port.waiting().count() as u64;
        to_hosts.1 += counters.sent_bytes + counters.unsent_bytes + waiting;
    }
    let sums = [
        ("came from hosts", from_hosts, record.accepted),
        ("went to hosts", to_hosts, record.delivered),
    ];
    for (what, of_ports, counted) in sums {
        if of_ports != counted {
            return Err(format!(
                "{of_ports:?} (frames, bytes) {what}, but {counted:?} were counted"
            ));
        }
    }
    // What stayed in the leaf went straight from one list to the other.
    let local = |of: fn(&(u64, u64)) -> u64| {
        let kept = of(&record.accepted) - of(&record.waiting) - of(&record.sent);
        kept == of(&record.delivered) - of(&record.assembled)
    };
    if local(|pair| pair.0) && local(|pair| pair.1) {
        return Ok(());
    }
    Err(format!(
        "what stayed in the leaf does not add up: {record:?}"
    ))
}

/// Compares what leaves sent each other with what came, waits or was given up.
///
/// # Errors
/// A sentence that says what does not add up.
pub(crate) fn check_leaves<D: Driver>(driver: &D) -> Result<(), String> {
    let context = driver.fabric(0).context();
    let Some(fabric) = &context.scheduled else {
        return Ok(());
    };
    let mut sent = (0, 0);
    let mut found = (0, 0);
    for &leaf in &fabric.leaves {
        let (part, local) = context.home(leaf);
        let NodeModel::Switch(switch) = &driver.fabric(usize::from(part)).nodes()[local as usize]
        else {
            continue;
        };
        let record = switch.leaf_record().unwrap_or_default();
        let ports = switch.ports().len() as u16;
        let announced = driver.in_flight(usize::from(part), local).into_iter();
        let announced = announced
            .filter(|(input, packet)| *input >= 2 * ports && !packet.kind.is_of_scheduler());
        let announced = announced.fold((0, 0), |sum, (_, packet)| {
            (sum.0 + 1, sum.1 + u64::from(packet.frame_bytes))
        });
        sent.0 += record.sent.0;
        sent.1 += record.sent.1;
        for part in [
            record.assembled,
            record.assembling,
            record.given_up,
            announced,
        ] {
            found.0 += part.0;
            found.1 += part.1;
        }
    }
    if sent == found {
        return Ok(());
    }
    Err(format!(
        "leaves sent each other {sent:?} (frames, bytes), but {found:?} came, wait, were given up or are announced"
    ))
}
