//! Rail-optimised wiring: NIC `i` of every server of a group on the group's leaf of rail `i`.

use tenter_units::{Rate, Time};

use super::{LeafSpine, check_counts};
use crate::wiring::{check_size, product};
use crate::{Topology, TopologyError};

/// Servers with several NICs, one leaf per (server group, rail), and spines above all leaves.
///
/// Host `s · nics_per_server + i` is NIC `i` of server `s`; leaf `g · nics_per_server + i` is rail
/// `i` of group `g`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rail {
    /// How many servers.
    pub servers: u32,
    /// NICs of each server, which is the number of rails.
    pub nics_per_server: u32,
    /// Servers of a group, which is the number of host ports of a leaf; the last group may have
    /// fewer.
    pub servers_per_group: u32,
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
    /// The leaf of every NIC in rank order instead of its rail's, at most `servers_per_group` on
    /// each.
    pub cabling: Option<Vec<u32>>,
}

impl Rail {
    pub(super) fn build(&self) -> Result<Topology, TopologyError> {
        let nics = self.nics_per_server;
        check_counts(&[
            ("servers", self.servers),
            ("nics_per_server", nics),
            ("servers_per_group", self.servers_per_group),
        ])?;
        let hosts = product(&[self.servers, nics]);
        check_size(hosts, hosts, "`servers` or `nics_per_server`")?;
        let hosts = hosts as u32;
        let cabling = match &self.cabling {
            Some(given) if given.len() != hosts as usize => {
                let (given, wanted) = (given.len(), hosts.to_string());
                return Err(TopologyError::CablingLength { given, wanted });
            }
            Some(given) => given.clone(),
            None => (0..hosts).map(|host| self.leaf_of(host)).collect(),
        };
        let leaf_spine = LeafSpine {
            leaves: self.servers.div_ceil(self.servers_per_group) * nics,
            hosts_per_leaf: self.servers_per_group,
            spines: self.spines,
            links_per_pair: self.links_per_pair,
            host_rate: self.host_rate,
            uplink_rate: self.uplink_rate,
            host_delay: self.host_delay,
            fabric_delay: self.fabric_delay,
            overrides: Vec::new(),
            cabling: Some(cabling),
        };
        leaf_spine.wire(|host| format!("server{}/nic{}", host / nics, host % nics))
    }

    fn leaf_of(&self, host: u32) -> u32 {
        let (server, rail) = (host / self.nics_per_server, host % self.nics_per_server);
        server / self.servers_per_group * self.nics_per_server + rail
    }
}
