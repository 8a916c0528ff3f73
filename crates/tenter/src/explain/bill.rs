//! Bill of materials, with power as far as it is known.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_language::units::{Rate, Time};
use tenter_sim::plan::{Device, Plan};

use crate::explain::fabric::tier_name;
use crate::explain::power::{PowerFacts, power_facts};

/// Parts to buy for the fabric, and their power.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bill {
    /// NICs by line rate: Gb/s and count, ascending.
    pub nics: Vec<(f64, u64)>,
    /// Switches tier by tier, grouped by the ports that they use.
    pub switches: Vec<SwitchLine>,
    /// Cables, grouped by the tiers they connect, rate and delay.
    pub cables: Vec<CableLine>,
    /// Power for all switch chips together; missing if it is unknown for any device.
    pub switch_chips_watts: Option<u64>,
    /// Switch-chip power divided by the NIC count.
    pub watts_per_nic: Option<f64>,
    /// Switch and cable power, if the scenario names a power profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerFacts>,
    /// Figures that are not known, in words.
    pub not_known: Vec<String>,
}

/// Switches in one tier that use the same ports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SwitchLine {
    /// Tier name, such as `leaf`.
    pub tier: String,
    /// Number of such switches in the tier.
    pub count: u64,
    /// Ports that each switch uses: count and Gb/s.
    pub ports: Vec<(u64, f64)>,
    /// Share of the device's ports in use, in percent: above 100 one device is not enough. Missing
    /// if its ports are unknown.
    pub device_percent: Option<f64>,
}

/// Cables between two tiers with the same rate and delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CableLine {
    /// Tiers that they connect: `NIC - leaf`.
    pub between: String,
    /// Number of such cables in the fabric.
    pub count: u64,
    /// Line rate in each direction.
    pub rate_gbps: f64,
    /// Propagation delay from end to end.
    pub delay_ns: f64,
    /// Length for this delay, at 1.98·10⁸ m/s.
    pub length_m: f64,
}

/// Metres that a signal travels per nanosecond, in copper and in fibre about.
const METRES_PER_NS: f64 = 0.198;

/// Lists the parts of a plan's fabric.
pub fn bill(plan: &Plan) -> Bill {
    let topology = &plan.topology;
    let device = |node| plan.devices.of_tier(topology.tier(node).unwrap_or(0));
    let watts = |node| device(node).and_then(|device| device.power_watts);
    let each = topology.switch_nodes().map(watts);
    // The sum is missing as soon as one switch's power is unknown.
    let whole: Option<u64> = each.map(|watts| watts.map(u64::from)).sum();
    Bill {
        nics: nics(plan),
        switches: switch_lines(plan)
            .into_iter()
            .chain(optical_lines(plan))
            .collect(),
        cables: cable_lines(plan),
        switch_chips_watts: whole,
        watts_per_nic: whole.map(|whole| whole as f64 / topology.hosts as f64),
        power: plan.power.as_ref().map(|of| power_facts(plan, of)),
        not_known: not_known(plan),
    }
}

fn nics(plan: &Plan) -> Vec<(f64, u64)> {
    let mut rates: BTreeMap<Rate, u64> = BTreeMap::new();
    for host in plan.topology.host_ids() {
        *rates.entry(plan.topology.line_rate(host)).or_insert(0) += 1;
    }
    let nics = rates.into_iter();
    nics.map(|(rate, count)| (rate.as_gbps(), count)).collect()
}

fn switch_lines(plan: &Plan) -> Vec<SwitchLine> {
    let topology = &plan.topology;
    // Switches of a tier whose ports are alike share a line.
    let mut alike: BTreeMap<(u8, BTreeMap<Rate, u64>), u64> = BTreeMap::new();
    for switch in topology.switch_nodes() {
        let mut ports: BTreeMap<Rate, u64> = BTreeMap::new();
        for port in 0..topology.ports(switch) {
            *ports.entry(topology.cable(switch, port).rate).or_insert(0) += 1;
        }
        let tier = topology.tier(switch).unwrap_or(0);
        *alike.entry((tier, ports)).or_insert(0) += 1;
    }
    let line = |((tier, ports), count): ((u8, BTreeMap<Rate, u64>), u64)| SwitchLine {
        tier: tier_name(topology, tier),
        count,
        device_percent: plan
            .devices
            .of_tier(tier)
            .and_then(|device| device_percent(device, &ports)),
        ports: ports
            .into_iter()
            .map(|(rate, count)| (count, rate.as_gbps()))
            .collect(),
    };
    alike.into_iter().map(line).collect()
}

/// Lists optical circuit switches, grouped by the ports in use.
fn optical_lines(plan: &Plan) -> impl Iterator<Item = SwitchLine> {
    let topology = &plan.topology;
    let mut alike: BTreeMap<(u64, Rate), u64> = BTreeMap::new();
    for switch in topology.optics.switches() {
        let Some(first) = switch.ports.first() else {
            continue;
        };
        let rate = topology.cable(first.device.node, first.device.port).rate;
        let ports = switch.ports.len() as u64;
        *alike.entry((ports, rate)).or_insert(0) += 1;
    }
    alike.into_iter().map(|((ports, rate), count)| SwitchLine {
        tier: "optical circuit".to_owned(),
        count,
        device_percent: None,
        ports: vec![(ports, rate.as_gbps())],
    })
}

/// Returns the device share that ports take, in percent. A port takes one n-th if the device has n
/// ports at the next listed rate; `None` for ports faster than all listed ones.
fn device_percent(device: &Device, ports: &BTreeMap<Rate, u64>) -> Option<f64> {
    if device.ports.is_empty() {
        return None;
    }
    let share = ports.iter().fold(0.0, |sum, (&rate, &count)| {
        // A port also runs at a lower rate than its own.
        let at_least = device.ports.iter().filter(|(_, listed)| *listed >= rate);
        let most = at_least.map(|(count, _)| *count).max();
        sum + most.map_or(f64::INFINITY, |most| count as f64 / f64::from(most))
    });
    Some(100.0 * share).filter(|share| share.is_finite())
}

fn cable_lines(plan: &Plan) -> Vec<CableLine> {
    let topology = &plan.topology;
    // A fibre ends at an optical switch, which is in no tier.
    let mut alike: BTreeMap<(Option<u8>, Option<u8>, Rate, Time), u64> = BTreeMap::new();
    for cable in &topology.cables {
        let [a, b] = cable.ends.map(|end| topology.tier(end.node));
        let key = match topology.optics.place(cable.ends[0]) {
            None => (a.min(b), a.max(b), cable.rate, cable.delay),
            Some(place) => (a, None, cable.rate, topology.optics.port(place).fibre),
        };
        *alike.entry(key).or_insert(0) += 1;
    }
    let line = |((lower, upper, rate, delay), count): (_, u64)| {
        let lower = match lower {
            None => "NIC".to_owned(),
            Some(tier) => tier_name(topology, tier),
        };
        let upper = match upper {
            None => "optical circuit switch".to_owned(),
            Some(tier) => tier_name(topology, tier),
        };
        let delay_ns = Time::as_ns(delay);
        CableLine {
            between: format!("{lower} - {upper}"),
            count,
            rate_gbps: Rate::as_gbps(rate),
            delay_ns,
            length_m: delay_ns * METRES_PER_NS,
        }
    };
    alike.into_iter().map(line).collect()
}

fn not_known(plan: &Plan) -> Vec<String> {
    let mut open = Vec::new();
    for device in plan.devices.iter() {
        let Some(device) = device else {
            open.push(
                "ports and power of the switches: no device is named; set `fabric.switch.profile`"
                    .to_owned(),
            );
            continue;
        };
        if device.ports.is_empty() {
            open.push(format!("how many ports `{}` has", device.name));
        }
        if device.power_watts.is_none() {
            open.push(format!("the power of `{}`", device.name));
        }
    }
    // Several tiers may have the same device.
    open.dedup();
    let rest = match plan.power {
        None => "the power of NICs, cables, optics, fans and power supplies",
        Some(_) => "the power of NICs",
    };
    open.push(rest.to_owned());
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_take_their_part_of_a_device() {
        let device = Device {
            name: "x".to_owned(),
            ports: vec![(64, Rate::from_gbps(800)), (128, Rate::from_gbps(400))],
            power_watts: None,
        };
        let percent = |ports: &[(u64, u64)]| {
            let ports = ports.iter();
            let ports = ports.map(|&(gbps, count)| (Rate::from_gbps(gbps), count));
            device_percent(&device, &ports.collect())
        };
        // 32 of 64 and 64 of 128 are two halves; a port of 100G takes the place of one of 400G.
        assert_eq!(percent(&[(800, 32), (400, 64)]), Some(100.0));
        assert_eq!(percent(&[(100, 64)]), Some(50.0));
        assert_eq!(percent(&[(800, 128)]), Some(200.0));
        assert_eq!(percent(&[(1600, 1)]), None);
        let unknown = Device {
            ports: Vec::new(),
            ..device.clone()
        };
        assert_eq!(device_percent(&unknown, &BTreeMap::new()), None);
    }
}
