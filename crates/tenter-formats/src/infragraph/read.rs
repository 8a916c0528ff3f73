//! Conversion of an infrastructure into a fabric.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tenter_language::notation::diagnostics::quote;

use tenter_language::units::{Budget, suggestion};

use super::annotations::Ranks;
use super::document::Document;
use super::expand::{Devices, Edges, Path, numbered};
use super::index;
use super::parts::{Endpoint, Instance, Link, Read};
use super::server::server;
use crate::error::{ImportError, Place};
use crate::fabric::{Cable, End, FabricReading, FabricText, Graph, Selection, given};
use crate::imported::Source;
use crate::limits;

/// Most instances in a file, each counted with its copies.
const INSTANCES_MAX: u64 = 1 << 24;

/// A component: its instance's number among all copies, and its path's number.
type Component = (u32, u32);

/// An edge between two components of different instances.
struct Wire {
    ends: [Component; 2],
    link: Link,
    name: String,
    at: Place,
}

/// Reads an infrastructure, with ranks from a further file.
///
/// # Errors
/// The first value that violates the format, with its line, and structures that are no fabric.
pub fn read(
    source: Source<'_>,
    annotations: Option<Source<'_>>,
    reading: &FabricReading,
    budget: &Budget,
) -> Read<FabricText> {
    let allowed = limits::text(source.bytes.len(), budget);
    let document = allowed.and_then(|()| Document::read(source.bytes, annotations));
    let fabric = document.and_then(|document| {
        let devices = Devices::of(&document.devices)?;
        Infrastructure::of(&document, devices)?.fabric(reading, budget)
    });
    fabric.map_err(|error| error.in_file(source.name))
}

/// Instances and the expanded edges between them.
struct Infrastructure<'d> {
    document: &'d Document,
    devices: Devices<'d>,
    /// Number of each instance's first copy among all copies.
    firsts: Vec<u32>,
    /// Place of each instance in the document.
    by_name: BTreeMap<&'d str, usize>,
    /// All paths that edges name, by their numbers.
    paths: Vec<Path>,
    numbers: BTreeMap<Path, u32>,
    /// Edges between instances, in the order in which they were first named.
    wires: Vec<Wire>,
    notes: Vec<String>,
}

fn wrong(at: Place, what: String, remedy: impl Into<String>) -> ImportError {
    ImportError::new(at, what, remedy)
}

impl<'d> Infrastructure<'d> {
    /// Numbers the copies of all instances, and expands the edges.
    fn of(document: &'d Document, devices: Devices<'d>) -> Read<Infrastructure<'d>> {
        let mut own = Infrastructure {
            document,
            devices,
            firsts: Vec::new(),
            by_name: BTreeMap::new(),
            paths: Vec::new(),
            numbers: BTreeMap::new(),
            wires: Vec::new(),
            notes: document.notes.clone(),
        };
        let mut all = 0_u64;
        for (place, instance) in document.instances.iter().enumerate() {
            own.by_name.entry(&instance.name).or_insert(place);
            own.devices.get(&instance.device, instance.at)?;
            own.firsts.push(all as u32);
            all += u64::from(instance.count);
            if all > INSTANCES_MAX {
                let what = "there are more than 16777216 instances".to_owned();
                return Err(wrong(instance.at, what, "give smaller counts"));
            }
        }
        own.expand()?;
        Ok(own)
    }

    /// Returns the instance to which a copy belongs, and the copy's number there.
    fn instance(&self, copy: u32) -> (&'d Instance, u32) {
        let place = self
            .firsts
            .partition_point(|first| *first <= copy)
            .saturating_sub(1);
        // Instances without copies share their first number with the next one.
        (&self.document.instances[place], copy - self.firsts[place])
    }

    /// Returns all components that an end stands for.
    fn components(&mut self, end: &Endpoint) -> Read<Vec<Component>> {
        let name = index::name(&end.instance);
        let place = self.by_name.get(name).copied();
        let found = place.map(|place| (&self.document.instances[place], self.firsts[place]));
        let Some((instance, first)) = found else {
            let names = self
                .document
                .instances
                .iter()
                .map(|known| known.name.as_str());
            let what = format!("there is no instance {}", quote(name));
            return Err(wrong(end.at, what, suggestion(name, names)));
        };
        let copies = index::indexes(&end.instance, instance.count, end.at)?;
        let paths = self
            .devices
            .paths(&instance.device, &end.component, end.at)?;
        self.devices
            .spend(copies.len().saturating_mul(paths.len()), end.at)?;
        if copies.len().saturating_mul(paths.len()) as u64 > INSTANCES_MAX / 16 {
            let what = "an end stands for more than 1048576 components".to_owned();
            return Err(wrong(end.at, what, "give smaller slices"));
        }
        // Paths are numbered, because many components share them.
        let mut numbers = Vec::with_capacity(paths.len());
        for path in paths {
            let next = self.paths.len() as u32;
            let number = *self.numbers.entry(path).or_insert_with_key(|path| {
                self.paths.push(path.clone());
                next
            });
            numbers.push(number);
        }
        let each = |copy: u32| numbers.iter().map(move |&path| (first + copy, path));
        Ok(copies.into_iter().flat_map(each).collect())
    }

    /// Expands the edges between instances. Of several edges between two components the last one
    /// holds, as in the package.
    fn expand(&mut self) -> Read<()> {
        let mut edges = Edges::default();
        let mut known: HashMap<[Component; 2], usize> = HashMap::new();
        let (mut within, mut twice) = (0_u64, 0_u64);
        let document = self.document;
        for edge in &document.edges {
            let Some(&link) = document.links.get(&edge.link) else {
                let names = document.links.keys().map(String::as_str);
                let what = format!("there is no link {}", quote(&edge.link));
                return Err(wrong(edge.at, what, suggestion(&edge.link, names)));
            };
            let (a, b) = (
                self.components(&edge.ends[0])?,
                self.components(&edge.ends[1])?,
            );
            for (a, b) in edges.pairs(edge.scheme, [&a, &b], edge.at)? {
                if a.0 == b.0 {
                    within += 1;
                    continue;
                }
                let wire = Wire {
                    ends: [a, b],
                    link,
                    name: edge.link.clone(),
                    at: edge.at,
                };
                let next = self.wires.len();
                // The ends are sorted, because an edge has no direction.
                let place = *known.entry([a.min(b), a.max(b)]).or_insert(next);
                if place == next {
                    self.wires.push(wire);
                } else {
                    self.wires[place] = wire;
                    twice += 1;
                }
            }
        }
        for (count, what) in [
            (
                edges.uneven,
                "edge(s) one2one have ends of different numbers: what is left over has no cable",
            ),
            (within, "edge(s) within an instance are left out"),
            (
                twice,
                "edge(s) join components that others join, too, and replace those",
            ),
        ] {
            if count > 0 {
                self.notes.push(format!("{count} {what}"));
            }
        }
        Ok(())
    }

    /// Returns a flag for each instance: true for servers. Guess: an instance that the user does
    /// not name is a server if its device has an `xpu` or a `nic`.
    fn servers(&self, reading: &FabricReading) -> Vec<bool> {
        let of = |text: &Option<String>| Selection::of(text.as_deref().unwrap_or_default());
        let (hosts, switches) = (of(&reading.hosts), of(&reading.switches));
        let instances = self.document.instances.iter();
        let is_server = instances.map(|instance| {
            let counts = self.devices.counts(&instance.device);
            hosts.has(&instance.name)
                || (!switches.has(&instance.name) && counts.xpus + counts.nics > 0)
        });
        is_server.collect()
    }

    fn shown(&self, copy: u32) -> String {
        let (instance, number) = self.instance(copy);
        match instance.count {
            1 => instance.shown.clone(),
            _ => numbered(&instance.shown, number),
        }
    }

    /// Makes the fabric: servers' components become hosts, all other instances switches.
    fn fabric(mut self, reading: &FabricReading, budget: &Budget) -> Read<FabricText> {
        let servers = self.servers(reading);
        let place = |own: &Self, copy: u32| {
            own.firsts
                .partition_point(|first| *first <= copy)
                .saturating_sub(1)
        };
        // Edges at each component of a server, sorted by instance and component: the order of
        // hosts.
        let mut nics: BTreeMap<(u32, Path), Vec<usize>> = BTreeMap::new();
        let mut switches: BTreeMap<u32, Place> = BTreeMap::new();
        for (number, wire) in self.wires.iter().enumerate() {
            for (copy, path) in wire.ends {
                if servers[place(&self, copy)] {
                    let path = self.paths[path as usize].clone();
                    nics.entry((copy, path)).or_default().push(number);
                } else {
                    switches.entry(copy).or_insert(wire.at);
                }
            }
        }
        let mut graph = Graph::default();
        let mut hosts = Hosts::of(&self, &nics);
        let end = Place::Line(self.document.end.max(1));
        graph.server = self.server(&hosts)?;
        // Hosts are numbered by their place in the list, so ranks must sort it before.
        self.order(&mut hosts, &mut graph.server)?;
        let mut ends: HashMap<(u32, usize), End> = HashMap::new();
        for host in hosts.list {
            let at = self.wires[host.wire].at;
            ends.insert((host.copy, host.wire), graph.host(host.name, at));
        }
        let nodes: BTreeMap<u32, End> = switches
            .into_iter()
            .map(|(copy, at)| (copy, graph.switch(self.shown(copy), at)))
            .collect();
        for (number, wire) in self.wires.iter().enumerate() {
            let of = |(copy, _): Component| ends.get(&(copy, number)).or(nodes.get(&copy)).copied();
            let both = [of(wire.ends[0]), of(wire.ends[1])];
            let [Some(a), Some(b)] = both else { continue };
            let shown = format!("the link {}", quote(&wire.name));
            let rate = given(wire.link.rate, reading.rate, &shown, wire.at)?;
            graph.cable(Cable {
                ends: [a, b],
                rate,
                delay: wire.link.latency.or(reading.delay),
                loss: "0".to_owned(),
                at: wire.at,
            });
        }
        self.idle(&mut graph.notes);
        // Notes on the file come before those on the fabric.
        graph.notes.splice(0..0, self.notes);
        let heading = "The cables of an infrastructure of InfraGraph.";
        graph.finish(heading, end, budget)
    }

    /// Notes how many instances have no cable.
    fn idle(&self, notes: &mut Vec<String>) {
        let mut cabled: Vec<u32> = self
            .wires
            .iter()
            .flat_map(|wire| wire.ends.map(|(copy, _)| copy))
            .collect();
        cabled.sort_unstable();
        cabled.dedup();
        let all = self
            .document
            .instances
            .iter()
            .map(|instance| u64::from(instance.count));
        let idle = all.sum::<u64>() - cabled.len() as u64;
        if idle > 0 {
            notes.push(format!("{idle} instance(s) without a cable are left out"));
        }
    }

    /// Returns the scale-up domain and NPUs of servers, if all servers have the same.
    fn server(&mut self, hosts: &Hosts) -> Read<Option<crate::fabric::Server>> {
        let mut kinds: Vec<(&str, u64)> = Vec::new();
        let mut known: BTreeSet<(&str, u64)> = BTreeSet::new();
        for of_copy in hosts.list.chunk_by(|a, b| a.copy == b.copy) {
            let (instance, _) = self.instance(of_copy[0].copy);
            let kind = (instance.device.as_str(), of_copy.len() as u64);
            if known.insert(kind) {
                kinds.push(kind);
            }
        }
        let mut found = Vec::new();
        for (device, nics) in kinds {
            let at = self.devices.get(device, Place::Line(1))?.at;
            found.push(server(&self.devices, device, at, nics, &mut self.notes)?);
        }
        let first = found.first().copied().flatten();
        if found.iter().any(|other| *other != first) {
            let what = "servers differ in what their xpus share, so each NIC has one NPU";
            self.notes.push(what.to_owned());
            return Ok(None);
        }
        Ok(first)
    }

    /// Sorts the hosts by their ranks.
    fn order(&mut self, hosts: &mut Hosts, server: &mut Option<crate::fabric::Server>) -> Read<()> {
        let instances = &self.document.instances;
        let device = |name: &str| {
            let found = instances.get(*self.by_name.get(name)?)?;
            Some((found.device.clone(), found.count))
        };
        let ranks = Ranks::of(&self.document.ranks, &self.devices, device)?;
        if ranks.is_empty() {
            return Ok(());
        }
        let mut all: Vec<u64> = Vec::new();
        for of_copy in hosts.list.chunk_by_mut(|a, b| a.copy == b.copy) {
            let (instance, number) = self.instance(of_copy[0].copy);
            let (name, device) = (instance.name.as_str(), &instance.device);
            let own = ranks.of_instance(name, number, &self.devices, device);
            let nics = of_copy.len();
            for (nic, host) in of_copy.iter_mut().enumerate() {
                // Guess: the NPUs of a server are shared out evenly over its NICs, in order.
                let each = own.len().div_ceil(nics).max(1);
                let first = own.get(nic * each..).unwrap_or_default();
                host.rank = match own.as_slice() {
                    // A single rank belongs to the server as a whole.
                    &[rank] => Some(rank),
                    _ => first.iter().take(each).min().copied(),
                };
            }
            all.extend(own);
        }
        // The sort is stable: hosts without rank keep their order behind the others.
        hosts.list.sort_by_key(|host| host.rank.unwrap_or(u64::MAX));
        let unranked = hosts.list.iter().filter(|host| host.rank.is_none()).count();
        if unranked > 0 {
            let what = format!("{unranked} host(s) without a rank are behind those that have one");
            self.notes.push(what);
        }
        let copies = hosts.list.chunk_by(|a, b| a.copy == b.copy).count();
        if let Some(of) = server
            && (copies != hosts.copies || of.npus_per_nic > 1 && !in_blocks(&all, of.npus_per_nic))
        {
            let what = "ranks of a server do not follow each other, so its scale-up domain, which \
                        joins consecutive NPUs, is left out";
            self.notes.push(what.to_owned());
            *server = None;
        }
        Ok(())
    }
}

/// Returns true if the ranks, which are listed by NPU, are consecutive within each NIC.
fn in_blocks(ranks: &[u64], of_nic: u32) -> bool {
    let mut blocks = ranks.chunks(of_nic as usize);
    blocks.all(|block| {
        block
            .iter()
            .zip(block.iter().skip(1))
            .all(|(a, b)| *b == a + 1)
    })
}

/// A NIC with a cable.
struct Host {
    name: String,
    /// Number of the server among all copies.
    copy: u32,
    wire: usize,
    rank: Option<u64>,
}

/// All hosts, in the order of their numbers.
struct Hosts {
    list: Vec<Host>,
    /// Number of servers with hosts.
    copies: usize,
}

impl Hosts {
    /// Makes a host for each server cable, ordered by instances and components.
    fn of(infrastructure: &Infrastructure<'_>, nics: &BTreeMap<(u32, Path), Vec<usize>>) -> Hosts {
        let mut list: Vec<Host> = Vec::new();
        let mut cables: BTreeMap<u32, usize> = BTreeMap::new();
        for ((copy, _), wires) in nics {
            *cables.entry(*copy).or_default() += wires.len();
        }
        // Names have the component only where some instance has several server cables.
        let several = cables.values().any(|count| *count > 1);
        for ((copy, path), wires) in nics {
            let (instance, _) = infrastructure.instance(*copy);
            let (_, component) = infrastructure.devices.describe(&instance.device, path);
            for (number, &wire) in wires.iter().enumerate() {
                let mut name = infrastructure.shown(*copy);
                if several {
                    name = format!("{name}/{component}");
                }
                if number > 0 {
                    name = format!("{name}.{number}");
                }
                list.push(Host {
                    name,
                    copy: *copy,
                    wire,
                    rank: None,
                });
            }
        }
        let copies = cables.len();
        Hosts { list, copies }
    }
}
