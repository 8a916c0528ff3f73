//! The fabric of a trial, whatever its topology, with the load of its cables.

use std::collections::BTreeMap;

use tenter_record::PortRow;

use super::plot::{Fabric, Link, Metric, Node, Num, Plot};
use crate::trial_data::TrialData;
use tenter_record::Tiers;

/// More cables cover each other, and a report gets large.
const CABLES: usize = 12_000;
/// Beyond so many cables utilisation alone is drawn.
const CABLES_IN_FULL: usize = 3_000;

/// Cables by their ends, each with the ports of both ends.
type Cables<'a> = BTreeMap<(u32, u32), [Vec<&'a PortRow>; 2]>;

fn cables<'a>(ports: &'a [PortRow], tiers: &Tiers) -> Cables<'a> {
    let mut cables: Cables<'a> = BTreeMap::new();
    for port in ports {
        let Some(peer) = tiers.node(&port.peer_name) else {
            continue;
        };
        let key = (port.node.min(peer), port.node.max(peer));
        let end = usize::from(port.node > peer);
        cables.entry(key).or_default()[end].push(port);
    }
    cables
}

/// Adds the drawing, unless the fabric is too large for one.
pub(super) fn draw(trial: &TrialData, tiers: &Tiers, page: &mut String) {
    let cables = cables(&trial.ports, tiers);
    if cables.is_empty() || cables.len() > CABLES {
        return;
    }
    // Fabrics without tiers are drawn as circles, which need height.
    let is_peer = |&(a, b): &(u32, u32)| tiers.tier(a) > 0 && tiers.tier(a) == tiers.tier(b);
    let height = if cables.keys().any(is_peer) {
        680.0
    } else {
        400.0
    };
    Plot::Fabric(Fabric {
        title: "The fabric with the load of its cables",
        height: Num(height),
        nodes: nodes(&trial.ports, tiers),
        links: cables
            .iter()
            .map(|(&(a, b), ports)| link(a, b, ports))
            .collect(),
        metrics: metrics(&cables),
    })
    .draw(page);
}

fn link(a: u32, b: u32, ports: &[Vec<&PortRow>; 2]) -> Link {
    let first = ports.iter().flatten().next();
    Link {
        a,
        b,
        rate_bps: Num(first.map_or(0.0, |port| port.rate_gbps * 1e9)),
    }
}

fn nodes<'a>(ports: &'a [PortRow], tiers: &Tiers) -> Vec<Node<'a>> {
    let mut names: BTreeMap<u32, (&str, &str)> = BTreeMap::new();
    for port in ports {
        names
            .entry(port.node)
            .or_insert((port.node_name.as_str(), port.peer_name.as_str()));
    }
    let node = |(&id, &(name, peer)): (&u32, &(&'a str, &'a str))| {
        let is_host = tiers.tier(id) == 0;
        Node {
            id,
            name,
            tier: tiers.tier(id).min(99),
            kind: if is_host { "host" } else { "switch" },
            group: group_in(if is_host { peer } else { name }),
        }
    };
    names.iter().map(node).collect()
}

/// The number of the group that a name begins with: `pod1/agg0` is in 1.
fn group_in(name: &str) -> Option<u32> {
    let (group, _) = name.split_once('/')?;
    let digits = group.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}

/// What is drawn of the link that a port sends over.
pub(super) struct LinkMetric {
    /// The word of its button.
    pub(super) word: &'static str,
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    column: &'static str,
    value: fn(&PortRow) -> f64,
}

impl LinkMetric {
    /// The greatest value of those ports that were read; no number if none was.
    pub(super) fn most(&self, ports: &[&PortRow]) -> f64 {
        // A number that is not 0 is one, be it of part of the column.
        let read = ports
            .iter()
            .filter(|port| !port.unread.lacks(self.column) || (self.value)(port) > 0.0);
        let most = read.map(|port| (self.value)(port)).reduce(f64::max);
        most.unwrap_or(f64::NAN)
    }

    /// What has the full colour if this is the greatest value.
    pub(super) fn full(&self, greatest: f64) -> f64 {
        if self.unit == "%" { 100.0 } else { greatest }
    }
}

/// In the order of their buttons.
pub(super) const METRICS: [LinkMetric; 4] = [
    LinkMetric {
        word: "u",
        name: "Utilisation",
        unit: "%",
        column: "utilisation",
        value: |port| (100.0 * port.utilisation).min(100.0),
    },
    LinkMetric {
        word: "p",
        name: "Paused",
        unit: "ns",
        column: "paused_ns",
        value: |port| port.paused.as_ns(),
    },
    LinkMetric {
        word: "d",
        name: "Dropped",
        unit: "frames",
        column: "dropped_frames",
        value: |port| (port.dropped_frames + port.rx_dropped_frames) as f64,
    },
    LinkMetric {
        word: "q",
        name: "Deepest queue",
        unit: "bytes",
        column: "queue_high_water_bytes",
        value: |port| port.queue_high_water_bytes as f64,
    },
];

fn metrics<'a>(cables: &Cables<'_>) -> BTreeMap<&'a str, Metric<'a>> {
    let count = if cables.len() > CABLES_IN_FULL {
        1
    } else {
        METRICS.len()
    };
    let mut metrics = BTreeMap::new();
    for of in METRICS.iter().take(count) {
        // No number where ports are there and none was read.
        let most = |ports: &Vec<&PortRow>| {
            if ports.is_empty() {
                0.0
            } else {
                of.most(ports)
            }
        };
        let values = cables.values().map(|ends| ends.each_ref().map(most));
        let values: Vec<[f64; 2]> = values.collect();
        let greatest = values.iter().flatten().copied().fold(0.0, f64::max);
        let metric = Metric {
            name: of.name,
            unit: of.unit,
            full: Num(of.full(greatest)),
            // What is nowhere needs no list of zeros.
            values: if greatest > 0.0 || values.iter().flatten().any(|value| value.is_nan()) {
                values.iter().map(|ends| ends.map(Num)).collect()
            } else {
                Vec::new()
            },
        };
        metrics.insert(of.word, metric);
    }
    metrics
}

#[cfg(test)]
mod tests {
    use tenter_record::SwitchRow;

    use super::*;

    #[test]
    fn cables_between_two_nodes_are_one_with_the_greatest_of_each_end() {
        let port = |node: u32, name: &str, peer: &str, utilisation| PortRow {
            node,
            node_name: name.to_owned(),
            peer_name: peer.to_owned(),
            rate_gbps: 400.0,
            utilisation,
            ..PortRow::default()
        };
        let ports = [
            port(0, "host0", "pod3/leaf0", 0.5),
            port(1, "pod3/leaf0", "host0", 0.25),
            port(1, "pod3/leaf0", "host0", 0.75),
        ];
        let leaf = SwitchRow {
            node: 1,
            ..SwitchRow::default()
        };
        let tiers = Tiers::of(&ports, &[leaf]);
        let cables = cables(&ports, &tiers);
        assert_eq!(cables.len(), 1);
        let metrics = metrics(&cables);
        assert_eq!(metrics["u"].values, [[Num(50.0), Num(75.0)]]);
        assert!(metrics["d"].values.is_empty());
        let mut unread = ports.clone();
        unread[0].unread.add("paused_ns");
        let paused = &super::metrics(&super::cables(&unread, &tiers))["p"].values;
        assert!(paused[0][0].0.is_nan() && paused[0][1] == Num(0.0));
        let nodes = nodes(&ports, &tiers);
        assert!(nodes.iter().all(|node| node.group == Some(3)), "{nodes:?}");
    }
}
