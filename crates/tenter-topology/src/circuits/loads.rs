//! How busy links are when traffic takes its routes, evenly spread where there are several.

use std::collections::BTreeMap;

use crate::{Routing, Topology};

use super::traffic::{Traffic, time_of};

/// How long a traffic takes through a fabric at least, and how far it goes; the less of both the
/// better. Times are in the unit of the traffic's amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate {
    /// The time of the busiest link, or NIC where that takes longer.
    pub busiest: u128,
    /// The times of all links between switches together: what is sent, by how far it goes.
    pub total: u128,
}

impl Estimate {
    /// Whether it is better than another one by so many thousandths at least.
    pub fn improves(self, other: Estimate, thousandths: u32) -> bool {
        let less = |own: u128, other: u128| {
            let kept = u128::from(1_000_u32.saturating_sub(thousandths));
            own < other && own.saturating_mul(1_000) <= other.saturating_mul(kept)
        };
        less(self.busiest, other.busiest)
            || (self.busiest <= other.busiest && less(self.total, other.total))
    }
}

/// The load of each link between switches, by the port that sends.
pub(super) struct Loads<'t> {
    topology: &'t Topology,
    /// Where the ports of each switch begin.
    first: Vec<u32>,
    amounts: Vec<u64>,
    nic: u128,
}

impl<'t> Loads<'t> {
    /// Sends a traffic over routes that were built for this graph.
    pub(super) fn of(topology: &'t Topology, routing: &Routing, traffic: &Traffic) -> Loads<'t> {
        let hosts = topology.hosts as u32;
        let mut first = vec![0];
        for switch in topology.switch_nodes() {
            let ports = topology.nodes[switch as usize].ports.len() as u32;
            first.push(first[(switch - hosts) as usize] + ports);
        }
        let mut loads = Loads {
            topology,
            amounts: vec![0; first.last().map_or(0, |end| *end as usize)],
            first,
            nic: traffic.busiest_nic(topology),
        };
        // A host of each leaf stands for all of them.
        let mut leader = vec![0; traffic.leaves() as usize];
        for host in (0..hosts).rev() {
            leader[traffic.leaf_of(host) as usize] = host;
        }
        let mut by_destination: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        for (src, dst, amount) in traffic.between() {
            let sources = by_destination.entry(leader[dst as usize]).or_default();
            sources.push((leader[src as usize], amount));
        }
        for (destination, sources) in by_destination {
            loads.send(routing, destination, &sources);
        }
        loads
    }

    /// Sends what several leaves have for one, the farthest first: every hop is one nearer.
    fn send(&mut self, routing: &Routing, to: u32, sources: &[(u32, u64)]) {
        let hosts = self.topology.hosts as u32;
        let mut waiting: Vec<BTreeMap<u32, u64>> = Vec::new();
        for &(from, amount) in sources {
            let links = routing.distance(from, to) as usize - 1;
            waiting.resize(waiting.len().max(links + 1), BTreeMap::new());
            *waiting[links].entry(routing.attachment(from)).or_default() += amount;
        }
        while let Some(switches) = waiting.pop() {
            let Some(nearer) = waiting.last_mut() else {
                break;
            };
            for (switch, amount) in switches {
                let ports = routing.candidates(switch, to);
                let shares = (ports.len() as u64).max(1);
                for (place, &port) in (0..).zip(ports) {
                    let more = amount / shares + u64::from(place < amount % shares);
                    let link = self.first[switch as usize] + u32::from(port);
                    self.amounts[link as usize] += more;
                    let next = self.topology.neighbour(hosts + switch, port).node - hosts;
                    *nearer.entry(next).or_default() += more;
                }
            }
        }
    }

    /// Every link with its time: node and port of the sender.
    fn times(&self) -> impl Iterator<Item = ((u32, u16), u128)> + '_ {
        let hosts = self.topology.hosts as u32;
        let switches = (0..).zip(self.first.windows(2));
        switches.flat_map(move |(switch, ends): (u32, &[u32])| {
            (ends[0]..ends[1]).map(move |link| {
                let (node, port) = (hosts + switch, (link - ends[0]) as u16);
                let rate = self.topology.cable(node, port).rate;
                ((node, port), time_of(self.amounts[link as usize], rate))
            })
        })
    }

    /// The estimate that these loads make.
    pub(super) fn estimate(&self) -> Estimate {
        let none = Estimate {
            busiest: self.nic,
            total: 0,
        };
        self.times().fold(none, |sum, (_, time)| Estimate {
            busiest: sum.busiest.max(time),
            total: sum.total.saturating_add(time),
        })
    }

    /// The links that take longest, where they take longer than any NIC.
    pub(super) fn busiest(&self) -> Vec<(u32, u16)> {
        let most = self.estimate().busiest;
        let busiest = self.times().filter(|&(_, time)| time == most);
        if most > self.nic {
            busiest.map(|(link, _)| link).collect()
        } else {
            Vec::new()
        }
    }
}
