//! Scale-up domains and NICs of servers.

use std::collections::{BTreeMap, BTreeSet};

use tenter_language::units::{Rate, Time};

use super::expand::{Devices, Edges, Path};
use super::parts::{Kind, Link, Read};
use crate::error::Place;
use crate::fabric;

/// Largest scale-up domain of a scenario, in NPUs, and its shortest latency.
const DOMAIN_MAX: u64 = 1_024;
const LATENCY_MIN: Time = Time::from_ns(50);

/// The link of an edge, with its name.
#[derive(Clone)]
struct Wire {
    name: String,
    link: Link,
}

/// Edges within a server, each with its link.
type Inner = Vec<(Path, Path, Wire)>;

/// Adds a device's edges, and those in nested devices with `xpu`s.
fn inner(
    devices: &Devices<'_>,
    device: &str,
    at: Place,
    prefix: &Path,
    edges: &mut Edges,
    found: &mut Inner,
) -> Read<()> {
    let of = devices.get(device, at)?;
    for edge in &of.edges {
        let mut ends = [Vec::new(), Vec::new()];
        for (paths, end) in ends.iter_mut().zip(&edge.ends) {
            *paths = devices.paths(device, &end.component, end.at)?;
        }
        // Guess: an edge whose link the device does not define has no known rate or latency.
        let wire = Wire {
            name: edge.link.clone(),
            link: of.links.get(&edge.link).copied().unwrap_or_default(),
        };
        let [a, b] = &ends;
        let whole = |path: &Path| [prefix.as_slice(), path.as_slice()].concat();
        for (a, b) in edges.pairs(edge.scheme, [a, b], edge.at)? {
            found.push((whole(&a), whole(&b), wire.clone()));
        }
    }
    for (place, component) in (0_u32..).zip(&of.components) {
        let is_server = component.kind == Kind::Device && devices.counts(&component.name).xpus > 0;
        for index in (0..component.count).filter(|_| is_server) {
            let mut prefix = prefix.clone();
            prefix.push((place, index));
            inner(devices, &component.name, of.at, &prefix, edges, found)?;
        }
    }
    Ok(())
}

/// Scale-up domains: for each `xpu` the first one that it reaches over scale-up links. Guess: a
/// link is for scale-up if no edge with a link of that name leads to a CPU, NIC or memory.
struct Domains {
    first: BTreeMap<Path, Path>,
    rate: Option<Rate>,
    latency: Option<Time>,
}

/// Finds the scale-up domains from the kinds of all ends and the edges between them.
fn domains(kinds: &BTreeMap<&Path, Kind>, edges: &Inner) -> Domains {
    let is_xpu = |path: &Path| kinds.get(path) == Some(&Kind::Xpu);
    let is_other =
        |path: &Path| matches!(kinds.get(path), Some(Kind::Cpu | Kind::Nic | Kind::Memory));
    let outer = edges.iter().filter(|(a, b, _)| is_other(a) || is_other(b));
    let outer: BTreeSet<&str> = outer.map(|(_, _, wire)| wire.name.as_str()).collect();
    let mut peers: BTreeMap<&Path, Vec<(&Path, Link)>> = BTreeMap::new();
    for (a, b, Wire { name, link }) in edges {
        if !outer.contains(name.as_str()) {
            peers.entry(a).or_default().push((b, *link));
            peers.entry(b).or_default().push((a, *link));
        }
    }
    let mut first: BTreeMap<Path, Path> = BTreeMap::new();
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let (mut rates, mut latency) = (BTreeSet::new(), None);
    for (&xpu, own) in peers.iter().filter(|(path, _)| is_xpu(path)) {
        let links: Vec<(bool, Link)> = own
            .iter()
            .map(|(peer, link)| (is_xpu(peer), *link))
            .collect();
        let total = links.iter().try_fold(0_u64, |total, (_, link)| {
            Some(total.saturating_add(link.rate?.bits_per_second()))
        });
        // A domain has one rate, so the `xpu` with the least bandwidth decides.
        rates.extend(total.filter(|total| *total > 0));
        for (direct, link) in links {
            // From `xpu` to `xpu` a path has one link, or two over a switch.
            let hops = if direct { 1 } else { 2 };
            let time = link
                .latency
                .map(|hop| Time::from_ps(hop.ps().saturating_mul(hops)));
            // The slowest path bounds the latency of the domain.
            latency = latency.max(time);
        }
        let mut waiting = vec![xpu];
        while let Some(path) = waiting.pop() {
            if seen.insert(path) {
                // Keys are visited in order, so the first `xpu` of a domain is the lowest.
                if is_xpu(path) {
                    first.insert(path.clone(), xpu.clone());
                }
                waiting.extend(peers[path].iter().map(|(peer, _)| *peer));
            }
        }
    }
    Domains {
        first,
        rate: rates.first().copied().map(Rate::from_bits_per_second),
        latency: latency.map(|time| time.max(LATENCY_MIN)),
    }
}

/// Returns the scale-up domain and NPUs of a device with `nics` cabled NICs.
pub(super) fn server(
    devices: &Devices<'_>,
    device: &str,
    at: Place,
    nics: u64,
    notes: &mut Vec<String>,
) -> Read<Option<fabric::Server>> {
    let xpus = devices.counts(device).xpus;
    if xpus < 2 || nics == 0 {
        return Ok(None);
    }
    if xpus > DOMAIN_MAX || nics > xpus || !xpus.is_multiple_of(nics) {
        notes.push(format!(
            "servers `{device}` have {xpus} xpus and {nics} cabled NICs, and Tenter has a NIC for \
             one NPU or for several: each NIC is a host with an NPU of its own"
        ));
        return Ok(None);
    }
    let mut found = Inner::new();
    inner(
        devices,
        device,
        at,
        &Path::new(),
        &mut Edges::default(),
        &mut found,
    )?;
    let kind = |path| (path, devices.describe(device, path).0);
    let kinds = found
        .iter()
        .flat_map(|(a, b, _)| [kind(a), kind(b)])
        .collect();
    let domains = domains(&kinds, &found);
    let of_nic = xpus / nics;
    // A scenario's domains are blocks of equal size, in the order of NPUs.
    let sizes: Vec<u64> = {
        let firsts: Vec<&Path> = domains.first.values().collect();
        let blocks = firsts.chunk_by(|a, b| a == b);
        blocks.map(|block| block.len() as u64).collect()
    };
    let size = sizes.first().copied().unwrap_or(1);
    let regular = sizes.iter().all(|other| *other == size) && sizes.iter().sum::<u64>() == xpus;
    if size < 2 || !regular || !size.is_multiple_of(of_nic) {
        if of_nic > 1 {
            notes.push(format!(
                "the {of_nic} xpus of a NIC of `{device}` are joined by nothing but PCIe, so each \
                 NIC has one NPU"
            ));
        } else if sizes.iter().any(|size| *size > 1) {
            notes.push(format!(
                "the scale-up domains of `{device}` differ, and are left out"
            ));
        }
        return Ok(None);
    }
    if domains.rate.is_none() {
        notes.push(format!(
            "nothing tells the rate of the scale-up domain of `{device}`, which has the usual one"
        ));
    }
    Ok(Some(fabric::Server {
        npus_per_nic: of_nic as u32,
        npus_per_host: size as u32,
        rate: domains.rate,
        latency: domains.latency,
    }))
}
