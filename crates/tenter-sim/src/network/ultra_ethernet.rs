//! What NICs with the transport of Ultra Ethernet know of the network.

use std::sync::Arc;

use tenter_endpoint::ultra_ethernet::{Acknowledgements, Network};
use tenter_net::Limit;
use tenter_plan::{Plan, unloaded};
use tenter_topology::{HostId, Routing, Topology};
use tenter_units::{Rate, Time};

/// Round trips are measured between the hosts of so many leaves and those of all others.
const SOURCES: usize = 16;

/// The network of a plan, where its NICs have that transport.
pub(super) fn network(plan: &Plan, routing: &Routing) -> Option<Arc<Network>> {
    let spec = *plan.nic.ultra_ethernet()?;
    let round_trip = longest_round_trip(plan, routing);
    let differences = plan
        .port_changes
        .entropy
        .as_ref()
        .map(|of| of.differences());
    Some(Arc::new(Network {
        spec,
        round_trip,
        queue_drain: queue_drain(plan).unwrap_or(round_trip),
        trims: plan.switches.any_class(|class| class.trim.is_some()),
        oversubscription: oversubscription(&plan.topology),
        differences: differences.unwrap_or(&[0]).into(),
        seed: plan.seeds.hashing,
        acknowledgements: Arc::new(Acknowledgements::new(
            plan.topology.hosts * usize::from(plan.topology.nic_ports),
        )),
    }))
}

/// The rate of all hosts over that of the narrowest tier above them; 1 where none is narrower.
fn oversubscription(topology: &Topology) -> f64 {
    let tiers = topology.tiers();
    let hosts = tiers.first().map_or(0, |leaves| leaves.down_bps);
    let above = tiers.iter().map(|tier| tier.up_bps).filter(|&up| up > 0);
    above
        .min()
        .map_or(1.0, |up| (hosts as f64 / up as f64).max(1.0))
}

/// The longest round trip of a full packet and its acknowledgement without load: between the first
/// host of a few leaves and that of each other one.
fn longest_round_trip(plan: &Plan, routing: &Routing) -> Time {
    let topology = &plan.topology;
    let mut firsts: Vec<HostId> = Vec::new();
    let mut last = None;
    for host in topology.host_ids() {
        let leaf = topology.neighbour(host, 0).node;
        if last != Some(leaf) {
            firsts.push(host);
            last = Some(leaf);
        }
    }
    let every = firsts.len().div_ceil(SOURCES).max(1);
    let pairs = firsts.iter().step_by(every).flat_map(|&from| {
        let others = firsts.iter().copied().filter(move |&to| to != from);
        others.map(move |to| (from, to))
    });
    let time = |(from, to): (HostId, HostId)| {
        let links = |from, to| unloaded::links(plan, routing, from, to);
        let forth = unloaded::frame_time(&links(from, to), plan.nic.longest_frame_bytes());
        let back = unloaded::frame_time(&links(to, from), plan.nic.answer_frame_bytes());
        forth + back
    };
    let within = topology
        .host_ids()
        .nth(1)
        .map(|second| (HostId::new(0), second));
    let times = pairs.chain(within).map(time);
    times.fold(Time::LEAST, Time::max)
}

/// How long the longest queue of data takes to drain at the rate of the first NIC, where it has a
/// fixed limit; the class of control packets has another.
fn queue_drain(plan: &Plan) -> Option<Time> {
    let rate: Rate = plan.topology.cable(HostId::new(0), 0).rate;
    let limits = plan.switches.iter().flat_map(|switch| &switch.classes);
    let control = plan.nic.control_class();
    let data = limits.filter(|class| Some(class.class) != control);
    let limits = data.filter_map(|class| match class.limit {
        Limit::Static(bytes) if bytes < 1 << 32 => Some((bytes, rate)),
        // Wherever it is in proportion to the rate, it drains in this time.
        Limit::AtRate { bytes, rate } if bytes < 1 << 32 => Some((bytes, rate)),
        _ => None,
    });
    let drain = |bytes: u64, rate: Rate| {
        let ps = u128::from(bytes) * 8_000_000_000_000 / u128::from(rate.bits_per_second());
        Time::from_ps(ps as u64)
    };
    limits.map(|limit| drain(limit.0, limit.1)).max()
}
