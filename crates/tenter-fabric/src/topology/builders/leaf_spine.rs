//! Leaf-spine fabric (two-tier folded Clos) with parallel and unequal links.

use std::collections::BTreeMap;

use tenter_language::config::{component, default_with};
use tenter_language::units::{Budget, Rate, Time};

use super::{COUNTS, Cabling, DELAYS, RATES, check_counts, check_rates};
use crate::topology::size::Counts;
use crate::topology::wiring::{HOSTS_MAX, Wiring, product};
use crate::topology::{NodeId, Planes, Size, Topology, TopologyError};

component! {
    /// Leaves of equal size, each cabled to every spine.
    pub struct LeafSpine as "`fabric` with `kind: leaf-spine`", derive(Clone, Debug, PartialEq) {
        /// Number of leaves in the fabric.
        leaves: u32, in COUNTS;
        /// Host ports of each leaf.
        hosts_per_leaf: u32, in COUNTS;
        /// Number of spines in the fabric.
        spines: u32, in COUNTS;
        /// Parallel cables between each leaf and each spine.
        links_per_pair: u32 = "1", in COUNTS;
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of leaf-spine links.
        uplink_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of leaf-spine links.
        fabric_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
        /// Pairs of leaf and spine that differ from the rest.
        overrides: Vec<LinkOverride> = "[]";
        /// The leaf of every host, in the order of the hosts, counted from 0; at most
        /// `hosts_per_leaf` on each. `regular` fills leaf after leaf, and a shorter list leaves
        /// host ports empty.
        cabling: Cabling = "regular", in 0..=HOSTS_MAX;
        /// Planes of a multi-plane fabric: each is all the switches and cables that the other keys
        /// describe, and has one port of every NIC.
        planes: Planes = "1", omit default;
    }
}

component! {
    /// Differences of the cables between one leaf and one spine.
    pub struct LinkOverride as "`fabric.overrides[]` with `kind: leaf-spine`", derive(Clone, Debug, PartialEq, Eq) {
        /// The leaf, counted from 0.
        leaf: u32, in 0..=HOSTS_MAX;
        /// The spine, counted from 0.
        spine: u32, in 0..=HOSTS_MAX;
        /// Parallel cables between the two; 0 for none.
        links: Option<u32> = absent "`links_per_pair`", in 0..=HOSTS_MAX;
        /// Line rate of these cables.
        rate: Option<Rate> = absent "`uplink_rate`", in RATES;
    }
}

const SIZE_PARAMETERS: &str = "`leaves`, `hosts_per_leaf`, `spines` or `links_per_pair`";

impl LeafSpine {
    /// Creates a fabric with defaults for all other keys.
    pub fn new(leaves: u32, hosts_per_leaf: u32, spines: u32) -> LeafSpine {
        LeafSpine {
            leaves,
            hosts_per_leaf,
            spines,
            ..default_with(&[("leaves", "1"), ("hosts_per_leaf", "1"), ("spines", "1")])
        }
    }

    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[
            ("leaves", self.leaves),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("spines", self.spines),
            ("links_per_pair", self.links_per_pair),
        ])?;
        check_rates(&[
            ("host_rate", self.host_rate),
            ("uplink_rate", self.uplink_rate),
        ])?;
        self.checked_overrides()?;
        let (hosts, planes) = (self.host_count(), u128::from(self.planes.count()));
        let leaves = u128::from(self.leaves);
        Counts {
            hosts,
            switches: (leaves + u128::from(self.spines)) * planes,
            leaves,
            cables: self.cable_count(hosts).saturating_mul(planes),
            regions: 0,
        }
        .size(SIZE_PARAMETERS)
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        self.wire_named(budget, |host| format!("host{host}"))
    }

    /// Wires the fabric with hosts named by `host_name`.
    pub(super) fn wire_named(
        &self,
        budget: &Budget,
        host_name: impl Fn(u32) -> String,
    ) -> Result<Topology, TopologyError> {
        let overrides = self.checked_overrides()?;
        self.check_cabling()?;
        let mut wiring = Wiring::default();
        let hosts = self.host_count() as u32;
        for host in 0..hosts {
            wiring.host(host_name(host));
        }
        for leaf in 0..self.leaves {
            wiring.switch(format!("leaf{leaf}"), 0);
        }
        for spine in 0..self.spines {
            wiring.switch(format!("spine{spine}"), 1);
        }
        // The order of cables gives ports their numbers: hosts first, then spines.
        for host in 0..hosts {
            let leaf = NodeId::new(hosts + self.leaf_of(host));
            wiring.connect(NodeId::new(host), leaf, 1, self.host_rate, self.host_delay);
        }
        for leaf in 0..self.leaves {
            for spine in 0..self.spines {
                let change = overrides.get(&(leaf, spine));
                let links = change
                    .and_then(|change| change.links)
                    .unwrap_or(self.links_per_pair);
                let rate = change
                    .and_then(|change| change.rate)
                    .unwrap_or(self.uplink_rate);
                let first_spine = hosts + self.leaves;
                let (lower, upper) = (NodeId::new(hosts + leaf), NodeId::new(first_spine + spine));
                wiring.connect(lower, upper, links, rate, self.fabric_delay);
            }
        }
        wiring.on_planes(self.planes).finish(budget)
    }

    fn leaf_of(&self, host: u32) -> u32 {
        match &self.cabling {
            Cabling::Leaves(cabling) => cabling[host as usize],
            Cabling::Regular => host / self.hosts_per_leaf,
        }
    }

    fn host_count(&self) -> u128 {
        match &self.cabling {
            Cabling::Leaves(cabling) => cabling.len() as u128,
            Cabling::Regular => product(&[self.leaves, self.hosts_per_leaf]),
        }
    }

    /// Counts the cables. The overrides must have been checked, so that each pair has at most one.
    fn cable_count(&self, hosts: u128) -> u128 {
        let changed = self.overrides.iter().filter_map(|change| change.links);
        let (pairs, links) = changed.fold((0_u128, 0_u128), |(pairs, sum), links| {
            (pairs + 1, sum.saturating_add(u128::from(links)))
        });
        // Overridden pairs count with their own number of cables.
        let regular = product(&[self.leaves, self.spines]) - pairs;
        hosts
            .saturating_add(regular.saturating_mul(u128::from(self.links_per_pair)))
            .saturating_add(links)
    }

    fn checked_overrides(&self) -> Result<BTreeMap<(u32, u32), &LinkOverride>, TopologyError> {
        let mut pairs = BTreeMap::new();
        for change in &self.overrides {
            let LinkOverride {
                leaf,
                spine,
                links,
                rate,
            } = *change;
            if leaf >= self.leaves || spine >= self.spines {
                let (leaves, spines) = (self.leaves, self.spines);
                return Err(TopologyError::OverrideOutOfRange {
                    leaf,
                    spine,
                    leaves,
                    spines,
                });
            }
            if links.is_none() && rate.is_none() {
                return Err(TopologyError::OverrideEmpty { leaf, spine });
            }
            // Without cables there is nothing that could have the rate.
            if links == Some(0) && rate.is_some() {
                return Err(TopologyError::OverrideRateWithoutLinks { leaf, spine });
            }
            if rate == Some(Rate::from_bits_per_second(0)) {
                let parameter = format!("rate of the override for leaf {leaf} and spine {spine}");
                return Err(TopologyError::ZeroRate { parameter });
            }
            if pairs.insert((leaf, spine), change).is_some() {
                return Err(TopologyError::OverrideTwice { leaf, spine });
            }
        }
        Ok(pairs)
    }

    fn check_cabling(&self) -> Result<(), TopologyError> {
        let Cabling::Leaves(cabling) = &self.cabling else {
            return Ok(());
        };
        let ports = product(&[self.leaves, self.hosts_per_leaf]);
        if cabling.is_empty() || cabling.len() as u128 > ports {
            let most = ports.min(u128::from(HOSTS_MAX));
            let (given, wanted) = (cabling.len(), format!("1 to {most}"));
            return Err(TopologyError::CablingLength { given, wanted });
        }
        let mut hosts_on = vec![0_u32; self.leaves as usize];
        for (host, &leaf) in cabling.iter().enumerate() {
            let Some(hosts) = hosts_on.get_mut(leaf as usize) else {
                let leaves = self.leaves;
                return Err(TopologyError::CablingOutOfRange { host, leaf, leaves });
            };
            *hosts += 1;
        }
        let ports = self.hosts_per_leaf;
        match hosts_on.iter().position(|hosts| *hosts > ports) {
            None => Ok(()),
            Some(leaf) => {
                let (hosts, leaf) = (hosts_on[leaf], leaf as u32);
                Err(TopologyError::CablingOverfull { leaf, hosts, ports })
            }
        }
    }
}
