//! Load on each link when traffic takes its routes, evenly spread over equal ports.

use std::collections::BTreeMap;

use crate::topology::{HostId, Routing, SwitchId, Topology};
use tenter_language::units::ById;

use crate::steering::scenes::{Scenes, amount_in, in_use};
use crate::steering::traffic::{Traffic, time_of};

/// Estimate for traffic through a fabric: its time, its late part, and its distance. Less is
/// better, and the first difference decides. The unit of times follows from that of amounts: it is
/// 2⁻²⁰ ps if these are bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate {
    /// Time that the busiest link needs, or a NIC if that takes longer, summed over all scenes.
    pub busiest: u128,
    /// Time by which links between switches take longer than the busiest NIC sends, summed over
    /// links. A NIC that receives from many may take longer still and hide these links from
    /// `busiest`; the traffic of other NICs waits for them all the same.
    pub late: u128,
    /// Times of all links between switches, summed: the traffic times its distance.
    pub total: u128,
}

impl Estimate {
    /// Returns true if this estimate is better than `other` by at least `thousandths`.
    pub fn improves(self, other: Estimate, thousandths: u32) -> bool {
        let less = |own: u128, other: u128| {
            let kept = u128::from(1_000_u32.saturating_sub(thousandths));
            own < other && own.saturating_mul(1_000) <= other.saturating_mul(kept)
        };
        less(self.busiest, other.busiest)
            // A lesser criterion counts only if no greater one gets worse.
            || (self.busiest <= other.busiest
                && (less(self.late, other.late)
                    || (self.late <= other.late && less(self.total, other.total))))
    }
}

/// Estimates how `scenes` load the present circuits; `None` if these do not join all hosts.
///
/// If circuits spill (`spills`), they carry what they can while the busiest NIC sends, and the tree
/// carries the rest.
pub fn estimate(topology: &Topology, scenes: &Scenes, spills: bool) -> Option<Estimate> {
    let routing = Routing::rebuild(topology).ok()?;
    let of_scenes = scenes.iter().map(|traffic| {
        let all = Loads::of(topology, &routing, traffic, spills).estimate();
        // No receiver takes longer than the senders, so all traffic can be taken meanwhile.
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

/// Splits an amount over equal ports. The remainder goes to the first ones, one unit each.
fn shares(ports: &[u16], amount: u64) -> impl Iterator<Item = (u16, u64)> + '_ {
    let count = (ports.len() as u64).max(1);
    let share = move |place: u64| amount / count + u64::from(place < amount % count);
    (0..)
        .zip(ports)
        .map(move |(place, &port)| (port, share(place)))
}

/// Load on each link between switches, by the port that sends.
struct Loads<'t> {
    topology: &'t Topology,
    /// Each switch's first port among `amounts`.
    first: ById<SwitchId, u32>,
    /// Amount that each port sends.
    amounts: Vec<u64>,
    /// Amount at each switch that still has to be sent on.
    waiting: ById<SwitchId, u64>,
    /// Time that the busiest NIC needs, sending or receiving.
    nic: u128,
    /// Time that the NIC needs which sends longest.
    sender: u128,
    spills: bool,
}

impl<'t> Loads<'t> {
    /// Sends a traffic over the routes that were built for this graph.
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
        // Hosts on a leaf share their routes, so one host stands for all.
        let mut leader = vec![HostId::new(0); traffic.leaves() as usize];
        // Backwards, so that the first host on each leaf is the last one written.
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

    /// Sends the traffic from several leaves to one. The farthest switches go first, since every
    /// hop leads one link nearer.
    fn send(&mut self, routing: &Routing, to: HostId, sources: &[(HostId, u64)]) {
        let mut levels: Vec<Vec<SwitchId>> = Vec::new();
        for &(from, amount) in sources {
            // The distance counts switches; a level counts the links left to the destination.
            let links = routing.distance(from, to) as usize - 1;
            levels.resize(levels.len().max(links + 1), Vec::new());
            let direct = self.direct(routing, from, to, amount);
            self.hand(&mut levels[links], routing.attachment(from), direct);
            if direct < amount {
                self.spill(routing, from, to, amount - direct, &mut levels);
            }
        }
        while let Some(mut switches) = levels.pop() {
            // The order of arrivals must not matter.
            switches.sort_unstable();
            for switch in switches {
                let amount = std::mem::take(&mut self.waiting[switch]);
                // The last level is the destination itself.
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

    /// Returns the amount that takes the shortest way: all of it, or with spilling only what
    /// circuits carry while the busiest NIC sends.
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

    /// Sends `amount` through the tree, as far as the next switches on the way.
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
            // Only the number of links still to go is needed, and that is equal for all candidates.
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

    /// Adds an amount to a port's load, and returns the switch behind the port.
    fn pass(&mut self, switch: SwitchId, port: u16, amount: u64) -> SwitchId {
        self.amounts[(self.first[switch] + u32::from(port)) as usize] += amount;
        self.topology.switch_behind(switch, port)
    }

    /// Adds an amount at a switch, and puts the switch on its level the first time.
    fn hand(&mut self, level: &mut Vec<SwitchId>, switch: SwitchId, amount: u64) {
        let waiting = &mut self.waiting[switch];
        if *waiting == 0 && amount > 0 {
            level.push(switch);
        }
        *waiting += amount;
    }

    /// Iterates over the times that loaded links need.
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

    /// Computes the estimate from the loads.
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
