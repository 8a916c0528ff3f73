//! A fabric's greatest power, by a power profile.
//!
//! Existing parts draw static power, whatever the traffic: switches, their ports with cables, and
//! both ends of each cable. Dynamic power is energy per bit and element passed. The distinction,
//! and power per unit throughput, follow "Bandwidth Steering in HPC Using Silicon Nanophotonics"
//! (SC19). Here all NICs send at line rate; a run's summary has the power for its traffic.

use serde::Serialize;
use tenter_sim::plan::{Plan, PowerProfile, PoweredParts};

/// Power that switches and cables draw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerFacts {
    /// Name of the power profile.
    pub profile: String,
    /// Static power in switches without their ports.
    pub switches_watts: f64,
    /// Static power in switch ports with cables.
    pub ports_watts: f64,
    /// Static power in both ends of all cables, those in NICs too.
    pub cable_ends_watts: f64,
    /// Static power in optical switches, which hold their circuits.
    pub optical_switches_watts: f64,
    /// Sum over these static powers.
    pub static_watts: f64,
    /// Static power over all NICs' total line rate.
    pub static_watts_per_gbps: f64,
    /// Energy per bit on the shortest path between two hosts, through one switch.
    pub least_pj_per_bit: f64,
    /// Energy per bit on a path up to the highest tier and down again.
    pub most_pj_per_bit: f64,
    /// Dynamic power if all NICs send at line rate over the highest tier; a tapered fabric carries
    /// less.
    pub dynamic_watts_at_most: f64,
}

/// Computes the power that a plan's fabric draws.
pub(crate) fn power_facts(plan: &Plan, profile: &PowerProfile) -> PowerFacts {
    let topology = &plan.topology;
    let power = profile.constants.static_power(&PoweredParts::of(topology));
    let static_watts = power.watts();
    let hosts = topology.host_ids();
    let rates = hosts.map(|host| topology.line_rate(host).bits_per_second() as f64);
    let bits_per_second: f64 = rates.sum();
    let picojoules =
        |switches: u64| profile.constants.dynamic_joules(switches, switches + 1) * 1e12;
    let tiers = u64::from(topology.top_tier().unwrap_or(0));
    // Up through all tiers and down again, with the top one once.
    let most = picojoules(2 * tiers + 1);
    PowerFacts {
        profile: profile.name.clone(),
        switches_watts: power.switches,
        ports_watts: power.ports,
        cable_ends_watts: power.cable_ends,
        optical_switches_watts: power.optical_switches,
        static_watts,
        static_watts_per_gbps: static_watts / (bits_per_second / 1e9),
        least_pj_per_bit: picojoules(1),
        most_pj_per_bit: most,
        dynamic_watts_at_most: most * bits_per_second / 1e12,
    }
}

#[cfg(test)]
mod tests {
    use crate::resolve::{Format, load};

    use super::*;

    #[test]
    fn a_leaf_spine_fabric_by_hand() {
        let text = "
fabric:
  kind: leaf-spine
  leaves: 4
  hosts_per_leaf: 24
  spines: 12
  host_rate: 100Gbps
  uplink_rate: 100Gbps
  power: edr-100g
jobs: [{collectives: [{collective: send-recv, size: 1MiB}]}]
";
        let loaded = load(text, "x.yaml", Format::Yaml, &[], None);
        let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
        let facts = power_facts(&plan, plan.power.as_ref().expect("it is named"));
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        };
        // 16 switches of 64 W; 4 · 36 and 12 · 4 ports of 2 W; 96 + 48 cables with two ends of
        // 3.5 W.
        close(facts.switches_watts, 1_024.0);
        close(facts.ports_watts, 384.0);
        close(facts.cable_ends_watts, 1_008.0);
        close(facts.optical_switches_watts, 0.0);
        // 2,416 W for 9,600 Gb/s.
        close(facts.static_watts_per_gbps, 2_416.0 / 9_600.0);
        // One switch, and three; 11.4 pJ for 9.6 Tb/s.
        close(facts.least_pj_per_bit, 3.8);
        close(facts.most_pj_per_bit, 11.4);
        close(facts.dynamic_watts_at_most, 109.44);
    }
}
