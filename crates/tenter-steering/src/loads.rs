//! The load of links when traffic takes its routes, evenly spread over equal ones.

use std::collections::BTreeMap;

use tenter_topology::{HostId, Routing, SwitchId, Topology};
use tenter_units::ById;

use crate::scenes::{Scenes, amount_in, in_use};
use crate::traffic::{Traffic, time_of};

/// The time of traffic through a fabric, its late part, and its distance; the less of each the
/// better, the first deciding. Times are in the unit of the traffic's amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate {
    /// The time of the busiest link, or NIC if that takes longer, of all scenes together.
    pub busiest: u128,
    /// By how much links between switches take longer than the busiest NIC sends, all of them
    /// together. A NIC that receives from many may take longer still, and hides these links from
    /// `busiest`; the traffic of other NICs waits for them all the same.
    pub late: u128,
    /// The times of all links between switches together: the traffic times its distance.
    pub total: u128,
}

impl Estimate {
    /// Whether it is better than another one by a number of thousandths at least.
    pub fn improves(self, other: Estimate, thousandths: u32) -> bool {
        let less = |own: u128, other: u128| {
            let kept = u128::from(1_000_u32.saturating_sub(thousandths));
            own < other && own.saturating_mul(1_000) <= other.saturating_mul(kept)
        };
        less(self.busiest, other.busiest)
            || (self.busiest <= other.busiest
                && (less(self.late, other.late)
                    || (self.late <= other.late && less(self.total, other.total))))
    }
}

/// The estimate of the present circuits for a traffic; `None` if they do not join all.
///
/// If circuits `spill`, they carry what they can while the busiest NIC sends, and the tree the
/// rest.
pub fn estimate(topology: &Topology, scenes: &Scenes, spills: bool) -> Option<Estimate> {
    let routing = Routing::rebuild(topology).ok()?;
    let of_scenes = scenes.iter().map(|traffic| {
        let all = Loads::of(topology, &routing, traffic, spills).estimate();
        if traffic.busiest_nic(topology) == traffic.busiest_sender(topology) {
            return all;
        }
        let taken = traffic.taken(topology);
        let taken = Loads::of(topology, &routing, &taken, spills).estimate();
        Estimate {
            late: taken.late,
            ..all
        }
    });
    let none = Estimate {
        busiest: 0,
        late: 0,
        total: 0,
    };
    Some(of_scenes.fold(none, |sum, of| Estimate {
        busiest: sum.busiest + of.busiest,
        late: sum.late.saturating_add(of.late),
        total: sum.total.saturating_add(of.total),
    }))
}

/// An amount over equal ports: the remainder of even shares goes to the first of them.
fn shares(ports: &[u16], amount: u64) -> impl Iterator<Item = (u16, u64)> + '_ {
    let count = (ports.len() as u64).max(1);
    let share = move |place: u64| amount / count + u64::from(place < amount % count);
    (0..)
        .zip(ports)
        .map(move |(place, &port)| (port, share(place)))
}

/// The load of each link between switches, by the port that sends.
struct Loads<'t> {
    topology: &'t Topology,
    /// Where the ports of each switch begin.
    first: ById<SwitchId, u32>,
    amounts: Vec<u64>,
    /// By switch: the amount that goes on from there.
    waiting: ById<SwitchId, u64>,
    /// The time of the busiest NIC, and of the one that sends longest.
    nic: u128,
    sender: u128,
    spills: bool,
}

impl<'t> Loads<'t> {
    /// Sends a traffic over routes that were built for this graph.
    fn of(topology: &'t Topology, routing: &Routing, traffic: &Traffic, spills: bool) -> Loads<'t> {
        let mut first: ById<SwitchId, u32> = vec![0].into();
        for (switch, node) in topology.switch_ids().zip(topology.switch_nodes()) {
            let next = first[switch] + u32::from(topology.ports(node));
            first.push(next);
        }
        let mut loads = Loads {
            topology,
            amounts: vec![0; first.last().map_or(0, |end| *end as usize)],
            waiting: vec![0; topology.switches()].into(),
            first,
            nic: traffic.busiest_nic(topology),
            sender: traffic.busiest_sender(topology),
            spills,
        };
        // One host of each leaf stands for all of them.
        let mut leader = vec![HostId::new(0); traffic.leaves() as usize];
        for host in topology.host_ids().rev() {
            leader[traffic.leaf_of(host) as usize] = host;
        }
        let mut by_destination: BTreeMap<HostId, Vec<(HostId, u64)>> = BTreeMap::new();
        for (src, dst, amount) in traffic.between() {
            let sources = by_destination.entry(leader[dst as usize]).or_default();
            sources.push((leader[src as usize], amount));
        }
        for (destination, sources) in by_destination {
            loads.send(routing, destination, &sources);
        }
        loads
    }

    /// Sends the traffic of several leaves to one, the farthest first: every hop is one nearer.
    fn send(&mut self, routing: &Routing, to: HostId, sources: &[(HostId, u64)]) {
        let mut levels: Vec<Vec<SwitchId>> = Vec::new();
        for &(from, amount) in sources {
            let links = routing.distance(from, to) as usize - 1;
            levels.resize(levels.len().max(links + 1), Vec::new());
            let direct = self.direct(routing, from, to, amount);
            self.hand(&mut levels[links], routing.attachment(from), direct);
            if direct < amount {
                self.spill(routing, from, to, amount - direct, &mut levels);
            }
        }
        while let Some(mut switches) = levels.pop() {
            switches.sort_unstable();
            for switch in switches {
                let amount = std::mem::take(&mut self.waiting[switch]);
                // The last level is the destination.
                let Some(nearer) = levels.last_mut() else {
                    continue;
                };
                for (port, more) in shares(routing.candidates(switch, to), amount) {
                    let next = self.pass(switch, port, more);
                    self.hand(nearer, next, more);
                }
            }
        }
    }

    /// The part that takes the shortest way: all of it, or as much as circuits carry while the
    /// busiest NIC sends.
    fn direct(&self, routing: &Routing, from: HostId, to: HostId, amount: u64) -> u64 {
        let leaf = routing.attachment(from);
        if !self.spills || routing.others(leaf, to).is_empty() {
            return amount;
        }
        let node = self.topology.switch_node(leaf);
        let carried = |port: &u16| {
            let rate = self.topology.cable(node, *port).rate;
            amount_in(self.sender, rate)
        };
        let ports = routing.candidates(leaf, to).iter();
        amount.min(ports.map(carried).sum())
    }

    /// Sends the rest through the tree, up to the next switches on the way.
    fn spill(
        &mut self,
        routing: &Routing,
        from: HostId,
        to: HostId,
        amount: u64,
        levels: &mut Vec<Vec<SwitchId>>,
    ) {
        let leaf = routing.attachment(from);
        for (port, more) in shares(routing.others(leaf, to), amount) {
            let next = self.pass(leaf, port, more);
            let (mut links, mut at) = (0, next);
            while let Some(port) = routing.candidates(at, to).first() {
                if at == routing.attachment(to) {
                    break;
                }
                at = self.topology.switch_behind(at, *port);
                links += 1;
            }
            levels.resize(levels.len().max(links + 1), Vec::new());
            self.hand(&mut levels[links], next, more);
        }
    }

    /// An amount leaves a switch by a port; returns the switch to which it goes.
    fn pass(&mut self, switch: SwitchId, port: u16, amount: u64) -> SwitchId {
        self.amounts[(self.first[switch] + u32::from(port)) as usize] += amount;
        self.topology.switch_behind(switch, port)
    }

    /// An amount waits at a switch, which is on its level from then on.
    fn hand(&mut self, level: &mut Vec<SwitchId>, switch: SwitchId, amount: u64) {
        let waiting = &mut self.waiting[switch];
        if *waiting == 0 && amount > 0 {
            level.push(switch);
        }
        *waiting += amount;
    }

    /// The time of every link.
    fn times(&self) -> impl Iterator<Item = u128> + '_ {
        let switches = self.topology.switch_nodes().zip(self.first.windows(2));
        switches.flat_map(move |(switch, ends)| {
            let loaded = (ends[0]..ends[1]).filter(|link| self.amounts[*link as usize] > 0);
            loaded.map(move |link| {
                let port = (link - ends[0]) as u16;
                let rate = self.topology.cable(switch, port).rate;
                time_of(self.amounts[link as usize], rate)
            })
        })
    }

    /// The estimate that these loads make.
    fn estimate(&self) -> Estimate {
        let none = Estimate {
            busiest: self.nic,
            late: 0,
            total: 0,
        };
        self.times().fold(none, |sum, time| Estimate {
            busiest: sum.busiest.max(in_use(time)),
            late: sum
                .late
                .saturating_add(in_use(time).saturating_sub(self.sender)),
            total: sum.total.saturating_add(time),
        })
    }
}
