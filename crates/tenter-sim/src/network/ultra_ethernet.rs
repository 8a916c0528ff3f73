//! The network as NICs with Ultra Ethernet know it.

use std::sync::Arc;

use crate::plan::{Plan, unloaded};
use tenter_endpoint::ultra_ethernet::{Acknowledgements, Network};
use tenter_fabric::topology::{HostId, Routing, Topology};
use tenter_language::units::{Rate, Time};

/// Describes the network for NICs with that transport; `None` for others.
pub(super) fn network(plan: &Plan, routing: &Routing) -> Option<Arc<Network>> {
    let spec = *plan.nic.ultra_ethernet()?;
    let round_trip = unloaded::longest_round_trip(plan, routing);
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
        // Without entropy there is one source port, which differs by nothing.
        differences: differences.unwrap_or(&[0]).into(),
        seed: plan.seeds.hashing,
        acknowledgements: Arc::new(Acknowledgements::new(
            plan.topology.hosts * usize::from(plan.topology.nic_ports),
        )),
    }))
}

/// Returns the total rate of all hosts over that of the narrowest tier above them; 1 if none is
/// narrower.
fn oversubscription(topology: &Topology) -> f64 {
    let tiers = topology.tiers();
    let hosts = tiers.first().map_or(0, |leaves| leaves.down_bps);
    let above = tiers.iter().map(|tier| tier.up_bps).filter(|&up| up > 0);
    above
        .min()
        .map_or(1.0, |up| (hosts as f64 / up as f64).max(1.0))
}

/// Returns the time in which the longest data queue drains at the first NIC's rate, if queues have
/// a fixed limit. The class for control packets has its own limit and does not count.
fn queue_drain(plan: &Plan) -> Option<Time> {
    let rate: Rate = plan.topology.cable(HostId::new(0), 0).rate;
    let limits = plan.switches.iter().flat_map(|switch| &switch.classes);
    let control = plan.nic.control_class();
    let data = limits.filter(|class| Some(class.class) != control);
    let limits = data.filter_map(|class| class.limit.at_port(rate));
    // A limit of 4 GiB or more is as good as none.
    let limits = limits.filter(|&bytes| bytes < 1 << 32);
    limits
        .max()
        .map(|bytes| rate.time_of_bits(u128::from(bytes) * 8))
}
