//! Rail-optimised fabric: NIC `i` of every server in a group is on the group's leaf for rail `i`.

use tenter_language::config::{component, default_with};
use tenter_language::units::{Budget, Rate, Time};

use super::{COUNTS, Cabling, DELAYS, LeafSpine, RATES, check_counts};
use crate::topology::size::Counts;
use crate::topology::wiring::{HOSTS_MAX, product};
use crate::topology::{Planes, Size, Topology, TopologyError};

component! {
    /// Servers with several NICs, one leaf per (server group, rail), and spines above all leaves.
    ///
    /// Host `s · nics_per_server + i` is NIC `i` of server `s`; leaf `g · nics_per_server + i` is
    /// rail `i` of group `g`.
    pub struct Rail as "`fabric` with `kind: rail`", derive(Clone, Debug, PartialEq) {
        /// Number of servers in the fabric.
        servers: u32, in COUNTS;
        /// NICs of each server, which is the number of rails; each NIC is a host.
        nics_per_server: u32, in COUNTS;
        /// Servers that share their leaves: one leaf per group and rail; the last group may have
        /// fewer.
        servers_per_group: u32 = by u32::clone | servers | "`servers`", in COUNTS;
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
        /// The leaf of every NIC, server by server, counted from 0; at most `servers_per_group` on
        /// each. `regular` puts NIC i on the leaf of rail i.
        cabling: Cabling = "regular", in 0..=HOSTS_MAX;
    }
}

impl Rail {
    /// Creates a fabric with one server group, and defaults for all other keys.
    pub fn new(servers: u32, nics_per_server: u32, spines: u32) -> Rail {
        Rail {
            servers,
            servers_per_group: servers,
            nics_per_server,
            spines,
            ..default_with(&[("servers", "1"), ("nics_per_server", "1"), ("spines", "1")])
        }
    }

    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[
            ("servers", self.servers),
            ("nics_per_server", self.nics_per_server),
            ("servers_per_group", self.servers_per_group),
        ])?;
        let hosts = self.hosts();
        // Hosts are checked first: the cabling below has an entry for each, and there are no more
        // leaves than hosts.
        let own = Counts {
            hosts,
            switches: 0,
            leaves: 0,
            cables: hosts,
            regions: 0,
        };
        own.size("`servers` or `nics_per_server`")?;
        self.leaf_spine()?.size()
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let nics = self.nics_per_server;
        let host_name = |host| format!("server{}/nic{}", host / nics, host % nics);
        self.leaf_spine()?.wire_named(budget, host_name)
    }

    fn hosts(&self) -> u128 {
        product(&[self.servers, self.nics_per_server])
    }

    /// Describes the same fabric as leaves and spines with a cabling map.
    fn leaf_spine(&self) -> Result<LeafSpine, TopologyError> {
        let hosts = self.hosts() as u32;
        let cabling = match &self.cabling {
            Cabling::Leaves(given) if given.len() != hosts as usize => {
                let (given, wanted) = (given.len(), hosts.to_string());
                return Err(TopologyError::CablingLength { given, wanted });
            }
            Cabling::Leaves(given) => given.clone(),
            Cabling::Regular => (0..hosts).map(|host| self.leaf_of(host)).collect(),
        };
        Ok(LeafSpine {
            leaves: self.servers.div_ceil(self.servers_per_group) * self.nics_per_server,
            hosts_per_leaf: self.servers_per_group,
            spines: self.spines,
            links_per_pair: self.links_per_pair,
            host_rate: self.host_rate,
            uplink_rate: self.uplink_rate,
            host_delay: self.host_delay,
            fabric_delay: self.fabric_delay,
            overrides: Vec::new(),
            cabling: Cabling::Leaves(cabling),
            planes: Planes::ONE,
        })
    }

    fn leaf_of(&self, host: u32) -> u32 {
        let (server, rail) = (host / self.nics_per_server, host % self.nics_per_server);
        // Leaves are numbered group by group, and within a group by rail.
        server / self.servers_per_group * self.nics_per_server + rail
    }
}
