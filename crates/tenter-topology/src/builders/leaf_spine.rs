//! Leaf-spine (two-tier folded Clos) with parallel and unequal links.

use std::collections::BTreeMap;

use tenter_units::{Rate, Time};

use super::{check_counts, check_rates};
use crate::wiring::{HOSTS_MAX, Wiring, check_size, product};
use crate::{Topology, TopologyError};

/// Leaves of equal size, each cabled to every spine.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafSpine {
    /// How many leaves.
    pub leaves: u32,
    /// Host ports of each leaf; all of them are used unless `cabling` says otherwise.
    pub hosts_per_leaf: u32,
    /// How many spines.
    pub spines: u32,
    /// Parallel cables between each leaf and each spine.
    pub links_per_pair: u32,
    /// Line rate of host links.
    pub host_rate: Rate,
    /// Line rate of leaf-spine links.
    pub uplink_rate: Rate,
    /// Propagation delay of host links.
    pub host_delay: Time,
    /// Propagation delay of leaf-spine links.
    pub fabric_delay: Time,
    /// Pairs of leaf and spine that differ from the rest.
    pub overrides: Vec<LinkOverride>,
    /// The leaf of every host in rank order, at most `hosts_per_leaf` on each; without it, host `h`
    /// is on leaf `h / hosts_per_leaf`. A shorter map leaves host ports empty.
    pub cabling: Option<Vec<u32>>,
}

/// What is different between one leaf and one spine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOverride {
    /// The leaf.
    pub leaf: u32,
    /// The spine.
    pub spine: u32,
    /// Parallel cables between the two instead of `links_per_pair`; 0 for none.
    pub links: Option<u32>,
    /// Their line rate instead of `uplink_rate`.
    pub rate: Option<Rate>,
}

const SIZE_PARAMETERS: &str = "`leaves`, `hosts_per_leaf`, `spines` or `links_per_pair`";

impl LeafSpine {
    pub(super) fn build(&self) -> Result<Topology, TopologyError> {
        self.wire(|host| format!("host{host}"))
    }

    /// Builds with hosts named by `host_name`.
    pub(super) fn wire(
        &self,
        host_name: impl Fn(u32) -> String,
    ) -> Result<Topology, TopologyError> {
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
        let overrides = self.checked_overrides()?;
        let hosts = self.host_count();
        check_size(hosts, self.cable_count(hosts), SIZE_PARAMETERS)?;
        self.check_cabling()?;
        let mut wiring = Wiring::default();
        let hosts = hosts as u32;
        for host in 0..hosts {
            wiring.host(host_name(host));
        }
        for leaf in 0..self.leaves {
            wiring.switch(format!("leaf{leaf}"), 0);
        }
        for spine in 0..self.spines {
            wiring.switch(format!("spine{spine}"), 1);
        }
        for host in 0..hosts {
            let leaf = hosts + self.leaf_of(host);
            wiring.connect(host, leaf, 1, self.host_rate, self.host_delay);
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
                let (lower, upper) = (hosts + leaf, hosts + self.leaves + spine);
                wiring.connect(lower, upper, links, rate, self.fabric_delay);
            }
        }
        wiring.finish()
    }

    fn leaf_of(&self, host: u32) -> u32 {
        match &self.cabling {
            Some(cabling) => cabling[host as usize],
            None => host / self.hosts_per_leaf,
        }
    }

    fn host_count(&self) -> u128 {
        match &self.cabling {
            Some(cabling) => cabling.len() as u128,
            None => product(&[self.leaves, self.hosts_per_leaf]),
        }
    }

    /// Counts the cables; the overrides have been checked to be of different pairs.
    fn cable_count(&self, hosts: u128) -> u128 {
        let changed = self.overrides.iter().filter_map(|change| change.links);
        let (pairs, links) = changed.fold((0_u128, 0_u128), |(pairs, sum), links| {
            (pairs + 1, sum.saturating_add(u128::from(links)))
        });
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
        let Some(cabling) = &self.cabling else {
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
