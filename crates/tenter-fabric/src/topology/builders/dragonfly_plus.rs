//! Dragonfly+: groups of leaves and spines, whose spines are cabled to those of all other groups.
//!
//! Source: Shpiner, Haramaty, Eliad, Zdornov, Gafni and Zahavi, "Dragonfly+: Low Cost Topology for
//! Scaling Datacenters" (`HiPINEB` 2017), section II.

use tenter_language::config::component;
use tenter_language::units::{Budget, Rate, Time};

use super::groups::{global_ports, lay_global_cables};
use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::topology::shape::RouterGroups;
use crate::topology::size::Counts;
use crate::topology::wiring::{Wiring, product};
use crate::topology::{NodeId, SafeClasses, Size, Topology, TopologyError};

component! {
    /// Groups of leaves with hosts and of spines, each leaf cabled to each spine of its group, and
    /// the spines of each two groups to each other.
    ///
    /// Host `p` of leaf `l` of group `g` is number `(g · leaves + l) · hosts + p`. Global port `k`
    /// of a group is on spine `k / global_links_per_spine`, and leads to the group that is
    /// `k mod (groups - 1) + 1` further on.
    pub struct DragonflyPlus as "`fabric` with `kind: dragonfly-plus`", derive(Clone, Debug, PartialEq) {
        /// Number of groups: at most one more than a group has global ports. Each two groups have
        /// the same number of cables between them, as many as their global ports are enough for.
        groups: u32, in COUNTS;
        /// Number of leaves in each group.
        leaves_per_group: u32, in COUNTS;
        /// Number of spines in each group.
        spines_per_group: u32, in COUNTS;
        /// Host ports of each leaf.
        hosts_per_leaf: u32, in COUNTS;
        /// Parallel cables between each leaf and each spine of its group.
        links_per_pair: u32 = "1", in COUNTS;
        /// Ports of each spine for cables to other groups.
        global_links_per_spine: u32, in COUNTS;
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables between leaves and spines.
        local_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables between groups.
        global_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables between leaves and spines.
        local_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables between groups.
        global_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
    }
}

const SIZE_PARAMETERS: &str = "`groups`, `leaves_per_group`, `spines_per_group`, `hosts_per_leaf`, `links_per_pair` or `global_links_per_spine`";

impl DragonflyPlus {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[
            ("groups", self.groups),
            ("leaves_per_group", self.leaves_per_group),
            ("spines_per_group", self.spines_per_group),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("links_per_pair", self.links_per_pair),
            ("global_links_per_spine", self.global_links_per_spine),
        ])?;
        check_rates(&[
            ("host_rate", self.host_rate),
            ("local_rate", self.local_rate),
            ("global_rate", self.global_rate),
        ])?;
        let global_ports = global_ports(self.spines(), "global_links_per_spine")?;
        let groups = u128::from(self.groups);
        let hosts = self.hosts();
        let (leaves, spines) = (self.leaves_per_group, self.spines_per_group);
        let local = groups.saturating_mul(product(&[leaves, spines, self.links_per_pair]));
        // An upper bound: ports beyond the last round that reaches all groups stay empty.
        let global = groups.saturating_mul(global_ports) / 2;
        let leaves = product(&[self.groups, leaves]);
        Counts {
            hosts,
            switches: leaves + product(&[self.groups, spines]),
            leaves,
            cables: hosts.saturating_add(local).saturating_add(global),
            regions: groups,
        }
        .size(SIZE_PARAMETERS)
    }

    /// Returns the arrangement that the spines form, which carry all cables between groups.
    fn spines(&self) -> RouterGroups {
        RouterGroups {
            count: self.groups,
            routers_per_group: self.spines_per_group,
            global_links_per_router: self.global_links_per_spine,
        }
    }

    fn hosts(&self) -> u128 {
        product(&[self.groups, self.leaves_per_group, self.hosts_per_leaf])
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let hosts = self.hosts() as u32;
        let mut wiring = Wiring::default();
        wiring.hosts(hosts);
        let tiers = [
            (self.leaves_per_group, "leaf", 0),
            (self.spines_per_group, "spine", 1),
        ];
        let mut regions = Vec::new();
        for (per_group, word, tier) in tiers {
            for group in 0..self.groups {
                for switch in 0..per_group {
                    wiring.switch(format!("group{group}/{word}{switch}"), tier);
                    regions.push(group);
                }
            }
        }
        let first_leaf = NodeId::new(hosts);
        let first_spine = first_leaf.after(self.groups * self.leaves_per_group);
        wiring.connect_hosts(
            first_leaf,
            self.hosts_per_leaf,
            self.host_rate,
            self.host_delay,
        );
        for leaf in 0..self.groups * self.leaves_per_group {
            let group = leaf / self.leaves_per_group;
            for spine in 0..self.spines_per_group {
                let ends = [
                    first_leaf.after(leaf),
                    first_spine.after(group * self.spines_per_group + spine),
                ];
                let [a, b] = ends;
                wiring.connect(a, b, self.links_per_pair, self.local_rate, self.local_delay);
            }
        }
        let (rate, delay) = (self.global_rate, self.global_delay);
        lay_global_cables(&mut wiring, self.spines(), first_spine, rate, delay);
        let mut topology = wiring.finish(budget)?;
        topology.regions = regions.into();
        // Up, across and down forms no cycle; only a detour goes up again.
        topology.safe_classes = SafeClasses {
            shortest: Some(1),
            detours: Some(if self.groups < 3 { 1 } else { 3 }),
        };
        Ok(topology)
    }
}
