//! The fabric in numbers: tiers, links between switches, oversubscription.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_fabric::topology::{NodeId, Topology};
use tenter_sim::plan::Plan;

/// The fabric's counts, tiers and capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FabricFacts {
    /// Topology kind, as `fabric.kind` names it.
    pub kind: String,
    /// NIC count over the whole fabric.
    pub hosts: u64,
    /// Switches in all tiers, without optical ones.
    pub switches: u64,
    /// Cables; each has both directions.
    pub cables: u64,
    /// Planes, each with one port on every NIC; missing for a single plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planes: Option<u16>,
    /// Tiers that switches form, lowest first.
    pub tiers: Vec<TierFacts>,
    /// Tier pairs with cables between them.
    pub pairs: Vec<PairFacts>,
    /// Rate from one half of the hosts to the other; missing if half the narrowest tier is not the
    /// answer.
    pub bisection_gbps: Option<f64>,
    /// True if the bisection is exact; with unequal links it is an upper bound.
    pub bisection_exact: bool,
}

/// All switches in one tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierFacts {
    /// Tier name, such as `leaf`.
    pub name: String,
    /// Number of switches in this tier.
    pub switches: u64,
    /// Most ports in use at one such switch.
    pub ports_max: u64,
    /// Line rate summed over all cables to hosts and lower tiers.
    pub down_gbps: f64,
    /// Line rate summed over all cables to higher tiers; 0 in the highest tier.
    pub up_gbps: f64,
    /// Least down-to-up ratio among its switches; missing if nothing leads up.
    pub oversubscription_min: Option<f64>,
    /// Greatest down-to-up ratio among its switches.
    pub oversubscription_max: Option<f64>,
}

/// Cables between switches in two tiers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairFacts {
    /// Name of the lower tier.
    pub lower: String,
    /// Name of the higher tier, or the same one.
    pub upper: String,
    /// Switch pairs with at least one cable.
    pub pairs: u64,
    /// Fewest parallel cables in such a pair.
    pub links_min: u64,
    /// Most parallel cables in such a pair.
    pub links_max: u64,
    /// Least line rate among these cables.
    pub rate_min_gbps: f64,
    /// Greatest line rate among these cables.
    pub rate_max_gbps: f64,
}

/// Names a tier's switches: `leaf`, `spine` and so on, by number in deeper fabrics.
pub(crate) fn tier_name(topology: &Topology, tier: u8) -> String {
    match (tier, topology.top_tier()) {
        (0, _) => "leaf".to_owned(),
        (1, Some(1)) => "spine".to_owned(),
        (1, Some(2)) => "aggregation".to_owned(),
        (2, Some(2)) => "core".to_owned(),
        _ => format!("tier {tier}"),
    }
}

pub(crate) fn fabric_facts(plan: &Plan) -> FabricFacts {
    let topology = &plan.topology;
    let bisection = topology.bisection();
    FabricFacts {
        kind: plan.topology_spec.word().to_owned(),
        hosts: topology.hosts as u64,
        switches: topology.switches() as u64,
        cables: topology.cables.len() as u64,
        planes: Some(topology.nic_ports).filter(|&planes| planes > 1),
        tiers: tiers(topology),
        pairs: pairs(topology),
        bisection_gbps: bisection.map(|bisection| gbps(bisection.bps)),
        bisection_exact: bisection.is_some_and(|bisection| bisection.exact),
    }
}

fn tiers(topology: &Topology) -> Vec<TierFacts> {
    let ratios = topology.oversubscription();
    let facts = topology.tiers().into_iter().map(|capacity| {
        let own = ratios.iter().filter(|ratio| ratio.tier == capacity.tier);
        let own: Vec<f64> = own
            .map(tenter_fabric::topology::Oversubscription::ratio)
            .collect();
        let switches = topology.switch_nodes();
        let of_tier = switches.filter(|&node| topology.tier(node) == Some(capacity.tier));
        let ports = of_tier.map(|node| u64::from(topology.ports(node)));
        TierFacts {
            name: tier_name(topology, capacity.tier),
            switches: u64::from(capacity.switches),
            ports_max: ports.max().unwrap_or(0),
            down_gbps: gbps(capacity.down_bps),
            up_gbps: gbps(capacity.up_bps),
            oversubscription_min: own.iter().copied().reduce(f64::min),
            oversubscription_max: own.iter().copied().reduce(f64::max),
        }
    });
    facts.collect()
}

fn pairs(topology: &Topology) -> Vec<PairFacts> {
    let mut cables: BTreeMap<(NodeId, NodeId), u64> = BTreeMap::new();
    let mut found: BTreeMap<(u8, u8), PairFacts> = BTreeMap::new();
    // A circuit is two fibres, of which one counts; a dark port leads to itself.
    let once = topology.cables.iter();
    let once = once.filter(|cable| cable.ends[0] < cable.ends[1]);
    let between = once.filter_map(|cable| {
        let nodes = cable.ends.map(|end| end.node);
        let tiers = [topology.tier(nodes[0])?, topology.tier(nodes[1])?];
        Some((nodes, tiers, cable.rate.as_gbps()))
    });
    for (nodes, [a, b], rate) in between {
        *cables.entry((nodes[0], nodes[1])).or_insert(0) += 1;
        let tiers = (a.min(b), a.max(b));
        let facts = found.entry(tiers).or_insert_with(|| PairFacts {
            lower: tier_name(topology, tiers.0),
            upper: tier_name(topology, tiers.1),
            pairs: 0,
            links_min: u64::MAX,
            links_max: 0,
            rate_min_gbps: rate,
            rate_max_gbps: rate,
        });
        facts.rate_min_gbps = facts.rate_min_gbps.min(rate);
        facts.rate_max_gbps = facts.rate_max_gbps.max(rate);
    }
    for ((a, b), links) in cables {
        let tiers = [a, b].map(|node| topology.tier(node).unwrap_or(0));
        let tiers = (tiers[0].min(tiers[1]), tiers[0].max(tiers[1]));
        if let Some(facts) = found.get_mut(&tiers) {
            facts.pairs += 1;
            facts.links_min = facts.links_min.min(links);
            facts.links_max = facts.links_max.max(links);
        }
    }
    found.into_values().collect()
}

fn gbps(bits_per_second: u128) -> f64 {
    bits_per_second as f64 / 1e9
}
