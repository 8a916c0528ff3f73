//! Capacity by tier: oversubscription and bisection.

use tenter_language::units::{ById, Rate};

use crate::topology::{HostId, NodeId, Topology};

/// One switch's downward and upward rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversubscription {
    /// Switch whose rates these are.
    pub switch: NodeId,
    /// Tier that the switch is on, 0 for a leaf.
    pub tier: u8,
    /// Line rates summed over its cables to hosts and lower tiers, in bit/s.
    pub down_bps: u128,
    /// Line rates summed over its cables to higher tiers, in bit/s; above zero in
    /// [`Topology::oversubscription`].
    pub up_bps: u128,
}

impl Oversubscription {
    /// Returns the downward over the upward rate: 1 is non-blocking, above 1 oversubscribed, below
    /// 1 a fabric with speed-up.
    pub fn ratio(&self) -> f64 {
        self.down_bps as f64 / self.up_bps as f64
    }
}

/// Capacity summed over all switches in one tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierCapacity {
    /// Tier that is summed, 0 for leaves.
    pub tier: u8,
    /// Number of switches in the tier.
    pub switches: u32,
    /// Line rates summed over cables to hosts and lower tiers, in bit/s.
    pub down_bps: u128,
    /// Line rates summed over cables to higher tiers, in bit/s; zero for the highest tier.
    pub up_bps: u128,
}

/// Rate between the hosts' two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// Rate in each direction, in bit/s.
    pub bps: u128,
    /// True if the rate is exact. With unequal link rates it is an upper bound.
    pub exact: bool,
}

impl Topology {
    /// Returns the oversubscription for each switch with cables to a higher tier, in node order:
    /// leaves first.
    ///
    /// Cables within a tier count neither as down nor as up.
    pub fn oversubscription(&self) -> Vec<Oversubscription> {
        self.switch_capacities()
            .filter(|switch| switch.up_bps > 0)
            .collect()
    }

    /// Returns the capacity summed over each tier that has switches, lowest first.
    pub fn tiers(&self) -> Vec<TierCapacity> {
        let mut tiers: Vec<TierCapacity> = Vec::new();
        for Oversubscription {
            tier,
            down_bps,
            up_bps,
            ..
        } in self.switch_capacities()
        {
            // Switches come in the order of their numbers, so tiers are put in place by search.
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

    /// Returns the rate between the hosts' two halves, cut where least gets through: half the
    /// narrowest tier's capacity.
    ///
    /// Returns `None` where that is not the answer: with an odd host count, with several planes,
    /// with cables within a tier, or if the fabric below the narrowest tier does not fall into an
    /// even number of parts with equally many hosts. Half the hosts are then not half the parts.
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
        // A tier with at least the rate of all hosts narrows nothing.
        let narrow = narrowest.filter(|tier| tier.up_bps < hosts);
        if narrow.is_some_and(|tier| !self.has_even_parts(tier.tier)) {
            return None;
        }
        Some(Bisection {
            // Half of the uplinks belong to each half, and all its traffic to the other half takes
            // them.
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

    /// Returns true if the switches up to `tier` form an even number of parts that are not joined
    /// below the next tier and have equally many hosts.
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

    /// Returns true if all hosts have equal line rates, and all switches in a tier equal rates up
    /// and down.
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
