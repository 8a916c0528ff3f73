//! The `endpoint.addresses` section: one subnet per switch with hosts, and exceptions by host.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use tenter_endpoint::NicAddress;
use tenter_topology::Topology;

use crate::hosts::{HostNames, HostRef};
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Field, Section};
use tenter_notation::tree::Node;

const ADDRESSES: KeyTable = KeyTable {
    title: "`endpoint.addresses`",
    keys: &[
        key(
            "pool",
            "IPv4 prefix",
            Default("10.0.0.0/8"),
            "The addresses to share out: each switch with hosts gets the next subnet, its gateway the first address in it, its hosts the following ones",
        )
        .from("RFC 1918"),
        key(
            "prefix",
            "bits, or `auto`",
            Default("auto"),
            "Prefix length of those subnets; `auto` is 16, or longer where the pool has not enough of them (10.leaf.0.host/16 with the default pool)",
        ),
        key("dscp", "0 to 63", Default("26"), "DSCP of the data packets of every NIC; shifted right by 3 it is their class")
            .from("port settings in AI Fabric Test Methodology (Keysight)"),
        key("overrides", "list", Default("[]"), "Single NICs that differ"),
    ],
};

const OVERRIDE: KeyTable = KeyTable {
    title: "`endpoint.addresses.overrides[]`",
    keys: &[
        key(
            "host",
            "name or number",
            Required,
            "The NIC, by its name or counted from 0",
        ),
        key(
            "address",
            "IPv4 address",
            Depends("from the pool"),
            "Its address",
        ),
        key(
            "prefix",
            "bits",
            Depends("from the pool"),
            "Prefix length of its subnet",
        ),
        key(
            "gateway",
            "IPv4 address",
            Depends("from the pool"),
            "Its gateway; what it sends outside its own prefix goes there, so it must be within",
        ),
        key(
            "dscp",
            "0 to 63",
            Depends("from above"),
            "DSCP of its data packets",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 2] = [&ADDRESSES, &OVERRIDE];

/// How addresses are shared out, before it is known among how many NICs.
pub(crate) struct AddressPlan {
    pool: Ipv4Addr,
    pool_prefix: u8,
    prefix: Option<u8>,
    dscp: u8,
    overrides: Vec<Override>,
    /// For problems that show only when the fabric is known.
    at: Place,
}

/// Where the pool is spoken of.
type Place = Option<tenter_notation::diagnostics::Location>;

struct Override {
    host: HostRef,
    at: Place,
    address: Option<Ipv4Addr>,
    prefix: Option<u8>,
    gateway: Option<Ipv4Addr>,
    dscp: Option<u8>,
}

/// Reads `addresses` out of `endpoint`.
pub(crate) fn read(endpoint: &mut Section<'_>) -> Option<AddressPlan> {
    let mut section = endpoint.section("addresses", &ADDRESSES)?;
    let pool = section.take("pool").and_then(|field| read_pool(&field));
    let prefix = section.take("prefix").and_then(|field| {
        if field.word() == Some("auto") {
            Some(None)
        } else {
            field.integer(1..=30).map(Some)
        }
    });
    let dscp = section.integer("dscp", 0..=63);
    let overrides = section.take("overrides").and_then(|field| {
        let (overrides, node) = field.each(|_, item| read_override(item));
        section.put("overrides", node);
        overrides
    });
    let at = section.at();
    endpoint.put("addresses", section.finish());
    let (pool, pool_prefix) = pool?;
    Some(AddressPlan {
        pool,
        pool_prefix,
        prefix: prefix?,
        dscp: dscp?,
        overrides: overrides?,
        at,
    })
}

fn read_pool(field: &Field<'_>) -> Option<(Ipv4Addr, u8)> {
    let parts = field.word().and_then(|word| word.split_once('/'));
    let pool = parts.and_then(|(address, bits)| {
        let address: Ipv4Addr = address.parse().ok()?;
        let bits: u8 = bits.parse().ok().filter(|bits| (1..=29).contains(bits))?;
        (u32::from(address) & (u32::MAX >> bits) == 0).then_some((address, bits))
    });
    if pool.is_none() {
        let what = format!("must be an IPv4 prefix, not {}", field.node.describe());
        let help = "write for example `10.0.0.0/8`, without address bits behind the prefix";
        field.problem(&what, help.to_owned());
    }
    pool
}

fn read_override(item: Field<'_>) -> (Option<Override>, Node) {
    let mut section = item.section(&OVERRIDE);
    let at = section.at();
    let host_field = section.take("host");
    let at = host_field.as_ref().and_then(|field| field.at).or(at);
    let host = host_field.and_then(|field| HostRef::read(&field));
    let address = section.optional("address", read_address);
    let prefix = section.optional("prefix", |field| field.integer(1..=30));
    let gateway = section.optional("gateway", read_address);
    let dscp = section.optional("dscp", |field| field.integer(0..=63));
    let node = section.finish();
    let read = || {
        Some(Override {
            host: host?,
            at,
            address: address?,
            prefix: prefix?,
            gateway: gateway?,
            dscp: dscp?,
        })
    };
    (read(), node)
}

fn read_address(field: &Field<'_>) -> Option<Ipv4Addr> {
    let address = field.word().and_then(|word| word.parse().ok());
    if address.is_none() {
        let what = format!("must be an IPv4 address, not {}", field.node.describe());
        field.problem(&what, "write for example `10.3.0.7`".to_owned());
    }
    address
}

impl AddressPlan {
    /// The addresses of all NICs, in the order of the hosts.
    pub(crate) fn assign(
        &self,
        topology: &Topology,
        names: &HostNames<'_>,
    ) -> Option<Vec<NicAddress>> {
        let groups = Groups::of(topology);
        let prefix = self.subnet_prefix(&groups, names)?;
        let mut addresses: Vec<NicAddress> = groups
            .places
            .iter()
            .map(|&(group, within)| {
                let subnet = u32::from(self.pool) + (group << (32 - u32::from(prefix)));
                // .0 is the subnet itself and .1 its gateway.
                NicAddress {
                    address: subnet + 2 + within,
                    prefix,
                    gateway: subnet + 1,
                    dscp: self.dscp,
                }
            })
            .collect();
        for change in &self.overrides {
            let host = names.find(&change.host, change.at)?;
            let nic = &mut addresses[host as usize];
            nic.address = change.address.map_or(nic.address, u32::from);
            nic.prefix = change.prefix.unwrap_or(nic.prefix);
            nic.gateway = change.gateway.map_or(nic.gateway, u32::from);
            nic.dscp = change.dscp.unwrap_or(nic.dscp);
        }
        self.check_distinct(&addresses, topology, names);
        Some(addresses)
    }

    /// Where the addresses of a host are spoken of.
    pub(crate) fn place_of(&self, host: u32, names: &HostNames<'_>) -> Place {
        let of_host = |change: &&Override| names.find(&change.host, change.at) == Some(host);
        let change = self.overrides.iter().find(of_host);
        change.map_or(self.at, |change| change.at)
    }

    fn subnet_prefix(&self, groups: &Groups, names: &HostNames<'_>) -> Option<u8> {
        let switches = groups.count.max(1);
        let needed = self.pool_prefix + switches.next_power_of_two().trailing_zeros() as u8;
        let prefix = self.prefix.unwrap_or(needed.max(16));
        let room = |prefix: u8| (1_u64 << (32 - u32::from(prefix))).saturating_sub(3);
        if prefix < needed || prefix > 30 || room(prefix) < u64::from(groups.largest) {
            let message = format!(
                "the address pool does not hold {switches} subnets of {} hosts",
                groups.largest
            );
            let help = "give a larger `pool`, or another `prefix`".to_owned();
            names.problem(self.at, message, Some(help));
            return None;
        }
        Some(prefix)
    }

    fn check_distinct(&self, addresses: &[NicAddress], topology: &Topology, names: &HostNames<'_>) {
        if self.overrides.is_empty() {
            return;
        }
        let mut owner = BTreeMap::new();
        for (host, nic) in addresses.iter().enumerate() {
            if let Some(first) = owner.insert(nic.address, host) {
                let name = |host: usize| &topology.nodes[host].name;
                let message = format!(
                    "hosts `{}` and `{}` both have the address {}",
                    name(first),
                    name(host),
                    Ipv4Addr::from(nic.address)
                );
                let culprit = self
                    .overrides
                    .iter()
                    .find(|change| change.address.is_some());
                let at = culprit.map_or(self.at, |change| change.at);
                names.problem(
                    at,
                    message,
                    Some("give each NIC an address of its own".into()),
                );
            }
        }
    }
}

/// Hosts by the switch they are attached to.
struct Groups {
    /// Switches with hosts.
    count: u32,
    /// Hosts of the one that has most.
    largest: u32,
    /// Per host: the number of its switch among those with hosts, and its own number there.
    places: Vec<(u32, u32)>,
}

impl Groups {
    fn of(topology: &Topology) -> Groups {
        let mut number_of = BTreeMap::new();
        let mut sizes: Vec<u32> = Vec::new();
        let places = (0..topology.hosts)
            .map(|host| {
                let port = topology.nodes[host].ports[0];
                let peer =
                    topology.cables[port.cable as usize].ends[1 - usize::from(port.end)].node;
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
