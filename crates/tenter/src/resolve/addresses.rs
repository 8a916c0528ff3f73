//! The `endpoint.addresses` section: one subnet per switch with hosts, and exceptions by host.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use tenter_endpoint::NicAddress;
use tenter_fabric::topology::{HostId, Topology};
use tenter_language::units::ById;
use tenter_workload::spec::HostRef;

use crate::resolve::hosts::HostNames;
use tenter_language::config::{component, parsed, word_or};
use tenter_language::notation::diagnostics::Location;

component! {
    /// How addresses are shared out among the NICs.
    pub struct Addresses as "`endpoint.addresses`", derive(Clone, Debug, PartialEq) {
        /// The addresses to share out: each switch with hosts gets the next subnet, its gateway the
        /// first address in it, its hosts the following ones.
        pool: Pool = "10.0.0.0/8", from "RFC 1918";
        /// Prefix length of those subnets; `auto` is 16, or longer where the pool has not enough of
        /// them (10.leaf.0.host/16 with the default pool).
        prefix: Prefix = "auto", in 1..=30;
        /// DSCP of the data packets of every NIC; shifted right by 3 it is their class.
        dscp: u8 = "26", in 0..=63, from "port settings in AI Fabric Test Methodology (Keysight)";
        /// Single NICs that differ.
        overrides: Vec<AddressOverride> = "[]";
    }
}

component! {
    /// A NIC whose addresses differ.
    pub struct AddressOverride as "`endpoint.addresses.overrides[]`", derive(Clone, Debug, PartialEq) {
        /// The NIC, by its name or counted from 0.
        host: HostRef;
        /// Address of the NIC.
        address: Option<Ipv4Addr> = absent "from the pool";
        /// Prefix length of its subnet.
        prefix: Option<u8> = absent "from the pool", in 1..=30;
        /// Gateway of the NIC, which must be within its prefix: packets to other prefixes go there.
        gateway: Option<Ipv4Addr> = absent "from the pool";
        /// DSCP of its data packets.
        dscp: Option<u8> = absent "from above", in 0..=63;
    }
}

/// Length of a subnet's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// 16 bits, or more if the pool has too few blocks of that size.
    Auto,
    /// The prefix length in bits, 1 to 30.
    Bits(u8),
}

word_or!(Prefix { "auto" => Auto, Bits(u8) });

/// A block of IPv4 addresses that share a prefix, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    address: Ipv4Addr,
    prefix: u8,
}

impl FromStr for Pool {
    type Err = ();

    fn from_str(word: &str) -> Result<Pool, ()> {
        let (address, bits) = word.split_once('/').ok_or(())?;
        let address: Ipv4Addr = address.parse().map_err(|_| ())?;
        let prefix: u8 = bits.parse().map_err(|_| ())?;
        // A pool that ends in host bits (`10.0.0.1/8`) is more likely a slip than a wish for
        // rounding.
        let holds = (1..=29).contains(&prefix) && u32::from(address) & (u32::MAX >> prefix) == 0;
        holds.then_some(Pool { address, prefix }).ok_or(())
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.prefix)
    }
}

parsed!(Pool {
    "IPv4 prefix",
    "must be an IPv4 prefix, not",
    "write for example `10.0.0.0/8`, without address bits behind the prefix"
});

/// The section's path in a scenario.
const PATH: &str = "endpoint.addresses";

impl Addresses {
    /// Assigns each NIC an address, a gateway and a DSCP, by host. Notes a problem and returns
    /// `None` if the pool is too small or an override names no host.
    pub(crate) fn assign(
        &self,
        topology: &Topology,
        names: &HostNames<'_>,
    ) -> Option<ById<HostId, NicAddress>> {
        let groups = Groups::of(topology);
        let prefix = self.subnet_prefix(&groups, names)?;
        let mut addresses: ById<HostId, NicAddress> = groups
            .places
            .iter()
            .map(|&(group, within)| {
                // `subnet_prefix` has checked that the pool holds all groups, so nothing overflows.
                let subnet = u32::from(self.pool.address) + (group << (32 - u32::from(prefix)));
                // .0 is the subnet itself and .1 its gateway.
                NicAddress {
                    address: subnet + 2 + within,
                    prefix,
                    gateway: subnet + 1,
                    dscp: self.dscp,
                }
            })
            .collect();
        for (index, change) in self.overrides.iter().enumerate() {
            let host = names.find(&change.host, place(index, names))?;
            let nic = &mut addresses[host];
            nic.address = change.address.map_or(nic.address, u32::from);
            nic.prefix = change.prefix.unwrap_or(nic.prefix);
            nic.gateway = change.gateway.map_or(nic.gateway, u32::from);
            nic.dscp = change.dscp.unwrap_or(nic.dscp);
        }
        self.check_distinct(&addresses, topology, names);
        Some(addresses)
    }

    /// Returns the place to report when `host`'s address is at fault: its override, else the
    /// section.
    pub(crate) fn place_of(&self, host: HostId, names: &HostNames<'_>) -> Option<Location> {
        let mut changes = self.overrides.iter().enumerate();
        let of_host = |(index, change): &(usize, &AddressOverride)| {
            names.find(&change.host, place(*index, names)) == Some(host)
        };
        let change = changes.find(of_host);
        change.map_or_else(|| names.place(PATH), |(index, _)| place(index, names))
    }

    fn subnet_prefix(&self, groups: &Groups, names: &HostNames<'_>) -> Option<u8> {
        let switches = groups.count.max(1);
        // Each leaf takes a block whose number extends the pool's prefix, so blocks are a power of
        // two.
        let needed = self.pool.prefix + switches.next_power_of_two().trailing_zeros() as u8;
        let prefix = match self.prefix {
            Prefix::Auto => needed.max(16),
            Prefix::Bits(bits) => bits,
        };
        // The subnet itself, its gateway and the broadcast address carry no host.
        let room = |prefix: u8| (1_u64 << (32 - u32::from(prefix))).saturating_sub(3);
        if prefix < needed || prefix > 30 || room(prefix) < u64::from(groups.largest) {
            let message = format!(
                "the address pool does not hold {switches} subnets of {} hosts",
                groups.largest
            );
            let help = "give a larger `pool`, or another `prefix`".to_owned();
            names.problem(names.place(PATH), message, Some(help));
            return None;
        }
        Some(prefix)
    }

    fn check_distinct(
        &self,
        addresses: &ById<HostId, NicAddress>,
        topology: &Topology,
        names: &HostNames<'_>,
    ) {
        // The pool gives each host its own address, so only overrides can collide.
        if self.overrides.is_empty() {
            return;
        }
        let mut owner = BTreeMap::new();
        for (host, nic) in addresses.numbered() {
            if let Some(first) = owner.insert(nic.address, host) {
                let name = |host| topology.name(host);
                let message = format!(
                    "hosts `{}` and `{}` both have the address {}",
                    name(first),
                    name(host),
                    Ipv4Addr::from(nic.address)
                );
                // Which override set an address is not recorded; the first that sets any stands for
                // it.
                let culprit = self
                    .overrides
                    .iter()
                    .position(|change| change.address.is_some());
                let at = culprit.map_or_else(|| names.place(PATH), |index| place(index, names));
                names.problem(
                    at,
                    message,
                    Some("give each NIC an address of its own".into()),
                );
            }
        }
    }
}

/// Returns the place where override `index` names its host.
fn place(index: usize, names: &HostNames<'_>) -> Option<Location> {
    names.place(&format!("{PATH}.overrides[{index}].host"))
}

/// Hosts grouped by their leaf; each group gets a subnet.
struct Groups {
    /// Leaves to which hosts are attached.
    count: u32,
    /// Host count in the largest group.
    largest: u32,
    /// For each host, its group's index and its own index within that group.
    places: Vec<(u32, u32)>,
}

impl Groups {
    fn of(topology: &Topology) -> Groups {
        let mut number_of = BTreeMap::new();
        let mut sizes: Vec<u32> = Vec::new();
        let places = topology
            .host_ids()
            .map(|host| {
                // A NIC has one address on all of its planes; the first plane's leaf decides.
                let peer = topology.neighbour(host, 0).node;
                let group = *number_of.entry(peer).or_insert_with(|| {
                    sizes.push(0);
                    sizes.len() - 1
                });
                sizes[group] += 1;
                (group as u32, sizes[group] - 1)
            })
            .collect();
        Groups {
            count: sizes.len() as u32,
            largest: sizes.iter().copied().max().unwrap_or(0),
            places,
        }
    }
}
