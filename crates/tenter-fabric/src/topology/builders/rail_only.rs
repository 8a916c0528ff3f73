//! Rail-only fabric: a network for each rail, and nothing between them.
//!
//! Source: Wang, Ghobadi, Shakeri, Zhang and Hasani, "Rail-only: A Low-Cost High-Performance
//! Network for Training LLMs with Trillion Parameters" (HOTI 2024): NIC `i` of every server on rail
//! `i`, and no spines that join rails; what has to change rails passes the scale-up domain of a
//! server.

use tenter_language::config::{component, default_with};
use tenter_language::units::{Budget, ById, Rate, Time};

use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::topology::size::Counts;
use crate::topology::wiring::{HOSTS_MAX, Wiring, product};
use crate::topology::{HostId, NodeId, Size, Topology, TopologyError};

component! {
    /// Servers with several NICs, and for each NIC of a server a network of its own: one leaf, or
    /// leaves and spines.
    ///
    /// Host `s · nics_per_server + i` is NIC `i` of server `s`, on leaf `s / servers_per_leaf` of
    /// rail `i`.
    pub struct RailOnly as "`fabric` with `kind: rail-only`", derive(Clone, Debug, PartialEq) {
        /// Number of servers in the fabric.
        servers: u32, in COUNTS;
        /// NICs of each server, which is the number of rails; each NIC is a host.
        nics_per_server: u32, in COUNTS;
        /// Servers whose NICs share a leaf of each rail; the last leaf may have fewer.
        servers_per_leaf: u32 = by u32::clone | servers | "`servers`", in COUNTS;
        /// Spines of each rail; without any a rail has one leaf.
        spines_per_rail: u32 = "0", in 0..=HOSTS_MAX;
        /// Parallel cables between each leaf and each spine of a rail.
        links_per_pair: u32 = "1", in COUNTS;
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of leaf-spine links.
        uplink_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of leaf-spine links.
        fabric_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
    }
}

const SIZE_PARAMETERS: &str = "`servers`, `nics_per_server`, `spines_per_rail` or `links_per_pair`";

impl RailOnly {
    /// Creates a fabric with one leaf for each rail, and defaults for all other keys.
    pub fn new(servers: u32, nics_per_server: u32) -> RailOnly {
        RailOnly {
            servers,
            nics_per_server,
            servers_per_leaf: servers,
            ..default_with(&[("servers", "1"), ("nics_per_server", "1")])
        }
    }

    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[
            ("servers", self.servers),
            ("nics_per_server", self.nics_per_server),
            ("servers_per_leaf", self.servers_per_leaf),
            ("links_per_pair", self.links_per_pair),
        ])?;
        check_rates(&[
            ("host_rate", self.host_rate),
            ("uplink_rate", self.uplink_rate),
        ])?;
        let leaves = self.leaves_per_rail();
        // A rail is a network of its own: several leaves without spines would be cut off from each
        // other.
        if leaves > 1 && self.spines_per_rail == 0 {
            return Err(TopologyError::Parameter {
                parameter: "spines_per_rail",
                what: format!("is 0, and a rail has {leaves} leaves with no way between them"),
                remedy: format!("give at least 1, or `servers_per_leaf: {}`", self.servers),
            });
        }
        if leaves == 1 && self.spines_per_rail > 0 {
            return Err(TopologyError::Parameter {
                parameter: "spines_per_rail",
                what: format!(
                    "is {}, and a rail has one leaf, which needs no spine",
                    self.spines_per_rail
                ),
                remedy: "leave it out, or give a smaller `servers_per_leaf`".to_owned(),
            });
        }
        let (rails, hosts) = (self.nics_per_server, self.hosts());
        let up = product(&[rails, leaves, self.spines_per_rail, self.links_per_pair]);
        let leaves = product(&[rails, leaves]);
        Counts {
            hosts,
            switches: leaves + product(&[rails, self.spines_per_rail]),
            leaves,
            cables: hosts.saturating_add(up),
            regions: 0,
        }
        .size(SIZE_PARAMETERS)
    }

    fn leaves_per_rail(&self) -> u32 {
        self.servers.div_ceil(self.servers_per_leaf)
    }

    fn hosts(&self) -> u128 {
        product(&[self.servers, self.nics_per_server])
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let hosts = self.hosts() as u32;
        let (rails, leaves) = (self.nics_per_server, self.leaves_per_rail());
        let mut wiring = Wiring::default();
        for host in 0..hosts {
            wiring.host(format!("server{}/nic{}", host / rails, host % rails));
        }
        for (word, count, tier) in [("leaf", leaves, 0), ("spine", self.spines_per_rail, 1)] {
            for rail in 0..rails {
                for switch in 0..count {
                    wiring.switch(format!("rail{rail}/{word}{switch}"), tier);
                }
            }
        }
        let leaf_of = |rail: u32, leaf: u32| NodeId::new(hosts + rail * leaves + leaf);
        let first_spine = NodeId::new(hosts + rails * leaves);
        for host in 0..hosts {
            let (server, rail) = (host / rails, host % rails);
            let leaf = leaf_of(rail, server / self.servers_per_leaf);
            wiring.connect(NodeId::new(host), leaf, 1, self.host_rate, self.host_delay);
        }
        for rail in 0..rails {
            for (leaf, spine) in (0..leaves)
                .flat_map(|leaf| (0..self.spines_per_rail).map(move |spine| (leaf, spine)))
            {
                let spine = first_spine.after(rail * self.spines_per_rail + spine);
                let (count, rate) = (self.links_per_pair, self.uplink_rate);
                wiring.connect(leaf_of(rail, leaf), spine, count, rate, self.fabric_delay);
            }
        }
        let planes: ById<HostId, u32> = (0..hosts).map(|host| host % rails).collect();
        // A single rail is an ordinary fabric without planes.
        wiring.finish_planes(if rails > 1 { planes } else { ById::default() }, budget)
    }
}
