//! Dragonfly: groups of routers, with every two routers in a group and every two groups cabled to
//! each other.
//!
//! Source: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology"
//! (ISCA 2008), section 3.1, with one cable between the routers of a group.

use tenter_language::config::component;
use tenter_language::units::{Budget, Rate, Time};

use super::groups::{global_ports, lay_global_cables};
use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::topology::shape::{RouterGroups, Shape};
use crate::topology::size::Counts;
use crate::topology::wiring::{Wiring, product};
use crate::topology::{NodeId, SafeClasses, Size, Topology, TopologyError};

component! {
    /// Groups of routers with hosts on each of them.
    ///
    /// Host `p` of router `r` of group `g` is number `(g · routers + r) · hosts + p`. Global port
    /// `k` of a group is on router `k / global_links_per_router`, and leads to the group that is
    /// `k mod (groups - 1) + 1` further on.
    pub struct Dragonfly as "`fabric` with `kind: dragonfly`", derive(Clone, Debug, PartialEq) {
        /// Number of groups: at most one more than a group has global ports. Each two groups have
        /// the same number of cables between them, as many as their global ports are enough for.
        groups: u32, in COUNTS;
        /// Routers of each group; each two of them have a cable.
        routers_per_group: u32, in COUNTS;
        /// Host ports of each router.
        hosts_per_router: u32, in COUNTS;
        /// Ports of each router for cables to other groups.
        global_links_per_router: u32, in COUNTS;
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables within groups.
        local_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables between groups.
        global_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables within groups.
        local_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables between groups.
        global_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
    }
}

const SIZE_PARAMETERS: &str =
    "`groups`, `routers_per_group`, `hosts_per_router` or `global_links_per_router`";

impl Dragonfly {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[
            ("groups", self.groups),
            ("routers_per_group", self.routers_per_group),
            ("hosts_per_router", self.hosts_per_router),
            ("global_links_per_router", self.global_links_per_router),
        ])?;
        check_rates(&[
            ("host_rate", self.host_rate),
            ("local_rate", self.local_rate),
            ("global_rate", self.global_rate),
        ])?;
        let global_ports = global_ports(self.arrangement(), "global_links_per_router")?;
        let (hosts, routers) = (
            self.hosts(),
            product(&[self.groups, self.routers_per_group]),
        );
        let local = routers.saturating_mul(u128::from(self.routers_per_group - 1)) / 2;
        // An upper bound: ports beyond the last round that reaches all groups stay empty.
        let global = global_ports.saturating_mul(u128::from(self.groups)) / 2;
        Counts {
            hosts,
            switches: routers,
            leaves: routers,
            cables: hosts.saturating_add(local).saturating_add(global),
            regions: self.groups.into(),
        }
        .size(SIZE_PARAMETERS)
    }

    fn arrangement(&self) -> RouterGroups {
        RouterGroups {
            count: self.groups,
            routers_per_group: self.routers_per_group,
            global_links_per_router: self.global_links_per_router,
        }
    }

    fn hosts(&self) -> u128 {
        product(&[self.groups, self.routers_per_group, self.hosts_per_router])
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let hosts = self.hosts() as u32;
        let mut wiring = Wiring::default();
        wiring.hosts(hosts);
        for group in 0..self.groups {
            for router in 0..self.routers_per_group {
                wiring.switch(format!("group{group}/router{router}"), 0);
            }
        }
        let first = NodeId::new(hosts);
        wiring.connect_hosts(
            first,
            self.hosts_per_router,
            self.host_rate,
            self.host_delay,
        );
        let arrangement = self.arrangement();
        let router_of =
            |group: u32, router: u32| NodeId::new(hosts + group * self.routers_per_group + router);
        for group in 0..self.groups {
            for router in 0..self.routers_per_group {
                let from = router_of(group, router);
                for other in router + 1..self.routers_per_group {
                    let to = router_of(group, other);
                    wiring.connect(from, to, 1, self.local_rate, self.local_delay);
                }
            }
        }
        let (rate, delay) = (self.global_rate, self.global_delay);
        lay_global_cables(&mut wiring, arrangement, first, rate, delay);
        let mut topology = wiring.finish(budget)?;
        let routers = 0..self.groups * self.routers_per_group;
        topology.regions = routers
            .map(|router| router / self.routers_per_group)
            .collect();
        topology.shape = Some(Shape::Groups(arrangement));
        topology.safe_classes = SafeClasses {
            // A class for each group on a path: two on shortest paths and three on detours.
            shortest: Some(self.groups.min(2)),
            detours: Some(self.groups.min(3)),
        };
        Ok(topology)
    }
}
