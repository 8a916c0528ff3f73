//! Capacity tier by tier: oversubscription and bisection.

use tenter_units::{ById, Rate};

use crate::{HostId, NodeId, Topology};

/// The rate of a switch downwards against its rate upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversubscription {
    /// The switch.
    pub switch: NodeId,
    /// Its tier, 0 for a leaf.
    pub tier: u8,
    /// Line rate of all its cables to hosts and lower tiers together, in bit/s.
    pub down_bps: u128,
    /// Line rate of all its cables to higher tiers together, in bit/s, above zero.
    pub up_bps: u128,
}

impl Oversubscription {
    /// Downlink over uplink rate: 1 is non-blocking, above 1 oversubscribed, below 1 a fabric with
    /// speed-up.
    pub fn ratio(&self) -> f64 {
        self.down_bps as f64 / self.up_bps as f64
    }
}

/// The summed capacity of one tier of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierCapacity {
    /// The tier, 0 for leaves.
    pub tier: u8,
    /// Number of its switches.
    pub switches: u32,
    /// Line rate of all cables to hosts and lower tiers, in bit/s.
    pub down_bps: u128,
    /// Line rate of all cables to higher tiers, in bit/s; zero for the highest.
    pub up_bps: u128,
}

/// The rate from one half of the hosts to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// In bit/s.
    pub bps: u128,
    /// Whether it is exact; otherwise, with links of unequal rates, it is an upper bound.
    pub exact: bool,
}

impl Topology {
    /// Oversubscription of every switch that has cables to a higher tier, in node order: leaves
    /// first.
    ///
    /// Cables within a tier count neither as down nor as up.
    pub fn oversubscription(&self) -> Vec<Oversubscription> {
        self.switch_capacities()
            .filter(|switch| switch.up_bps > 0)
            .collect()
    }

    /// The summed capacity of each tier that has switches, lowest first.
    pub fn tiers(&self) -> Vec<TierCapacity> {
        let mut tiers: Vec<TierCapacity> = Vec::new();
        for Oversubscription {
            tier,
            down_bps,
            up_bps,
            ..
        } in self.switch_capacities()
        {
            let place = tiers.partition_point(|known| known.tier < tier);
            if tiers.get(place).is_none_or(|known| known.tier != tier) {
                tiers.insert(
                    place,
                    TierCapacity {
                        tier,
                        switches: 0,
                        down_bps: 0,
                        up_bps: 0,
                    },
                );
            }
            let sum = &mut tiers[place];
            sum.switches += 1;
            sum.down_bps += down_bps;
            sum.up_bps += up_bps;
        }
        tiers
    }

    /// The rate from one half of the hosts to the other, with the hosts cut into halves where least
    /// gets through: half of the narrowest tier's capacity.
    ///
    /// `None` where that is not the answer: with an odd number of hosts, with several planes, with
    /// cables within a tier, or where the parts of the fabric below the narrowest tier's uplinks
    /// are not an even number of parts with equally many hosts. Then a half of the hosts is not a
    /// half of the parts.
    pub fn bisection(&self) -> Option<Bisection> {
        if !self.hosts.is_multiple_of(2)
            || !self.planes.is_empty()
            || self.has_cables_within_tiers()
        {
            return None;
        }
        let lines = self.host_ids().map(|host| self.line_rate(host));
        let hosts: u128 = lines.map(|rate| u128::from(rate.bits_per_second())).sum();
        let tiers = self.tiers();
        let upward = tiers.iter().filter(|tier| tier.up_bps > 0);
        let narrowest = upward.min_by_key(|tier| tier.up_bps);
        let narrow = narrowest.filter(|tier| tier.up_bps < hosts);
        if narrow.is_some_and(|tier| !self.has_even_parts(tier.tier)) {
            return None;
        }
        Some(Bisection {
            bps: narrow.map_or(hosts, |tier| tier.up_bps) / 2,
            exact: self.is_regular(),
        })
    }

    fn has_cables_within_tiers(&self) -> bool {
        self.cables.iter().any(|cable| {
            let [a, b] = cable.ends.map(|end| self.tier(end.node));
            a.is_some() && a == b
        })
    }

    /// Whether the switches up to a tier make up an even number of parts that are not joined below
    /// the next tier, and have equally many hosts.
    fn has_even_parts(&self, tier: u8) -> bool {
        let mut hosts_of_part = Vec::new();
        let mut seen: ById<NodeId, bool> = vec![false; self.nodes.len()].into();
        for host in self.host_ids().map(HostId::node) {
            if seen[host] {
                continue;
            }
            let (mut found, mut open) = (0, vec![host]);
            seen[host] = true;
            while let Some(node) = open.pop() {
                found += usize::from(self.is_host(node));
                for peer in self.neighbours(node) {
                    let below = self.tier(peer.node).is_none_or(|other| other <= tier);
                    if below && !std::mem::replace(&mut seen[peer.node], true) {
                        open.push(peer.node);
                    }
                }
            }
            hosts_of_part.push(found);
        }
        let equal = hosts_of_part.windows(2).all(|pair| pair[0] == pair[1]);
        equal && hosts_of_part.len().is_multiple_of(2)
    }

    /// Whether all hosts have equal cables, and all switches of a tier the same up and down.
    fn is_regular(&self) -> bool {
        let rates: Vec<Rate> = self.host_ids().map(|host| self.line_rate(host)).collect();
        let switches: Vec<Oversubscription> = self.switch_capacities().collect();
        let like_the_first = |switch: &Oversubscription| {
            let first = switches.iter().find(|other| other.tier == switch.tier);
            first.is_some_and(|first| {
                (first.up_bps, first.down_bps) == (switch.up_bps, switch.down_bps)
            })
        };
        rates.windows(2).all(|pair| pair[0] == pair[1]) && switches.iter().all(like_the_first)
    }

    fn switch_capacities(&self) -> impl Iterator<Item = Oversubscription> + '_ {
        self.switch_nodes().filter_map(|switch| {
            let tier = self.tier(switch)?;
            let (mut down_bps, mut up_bps) = (0, 0);
            for (port, peer) in self.neighbours(switch).enumerate() {
                let rate = rate_of(self, switch, port as u16);
                match self.tier(peer.node) {
                    Some(other) if other > tier => up_bps += rate,
                    Some(other) if other == tier => {}
                    _ => down_bps += rate,
                }
            }
            Some(Oversubscription {
                switch,
                tier,
                down_bps,
                up_bps,
            })
        })
    }
}

fn rate_of(topology: &Topology, node: NodeId, port: u16) -> u128 {
    u128::from(topology.cable(node, port).rate.bits_per_second())
}
