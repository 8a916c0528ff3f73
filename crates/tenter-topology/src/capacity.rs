//! Capacity tier by tier: oversubscription and bisection.

use crate::Topology;

/// What a switch offers downwards against what it has upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversubscription {
    /// Node number of the switch.
    pub switch: u32,
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
    /// How many switches are in it.
    pub switches: u32,
    /// Line rate of all cables to hosts and lower tiers, in bit/s.
    pub down_bps: u128,
    /// Line rate of all cables to higher tiers, in bit/s; zero for the highest.
    pub up_bps: u128,
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

    /// Half of the narrowest tier's capacity, in bit/s: what one half of the hosts can send to the
    /// other half.
    ///
    /// Exact for a folded Clos of equal links; an upper bound where links are unequal or within a
    /// tier.
    pub fn bisection_bps(&self) -> u128 {
        let hosts: u128 = (0..self.hosts as u32)
            .map(|host| rate_of(self, host, 0))
            .sum();
        let tiers = self.tiers();
        let ups = tiers.iter().map(|tier| tier.up_bps).filter(|up| *up > 0);
        ups.fold(hosts, u128::min) / 2
    }

    fn switch_capacities(&self) -> impl Iterator<Item = Oversubscription> + '_ {
        let switches = self.hosts as u32..self.nodes.len() as u32;
        switches.filter_map(|switch| {
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

fn rate_of(topology: &Topology, node: u32, port: u16) -> u128 {
    u128::from(topology.cable(node, port).rate.bits_per_second())
}
