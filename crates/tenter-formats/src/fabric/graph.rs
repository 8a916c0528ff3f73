//! A fabric under construction: hosts, switches and cables as a file lists them.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use tenter_fabric::topology::{Explicit, ExplicitLink, ExplicitNode, NodeKind, TopologySpec};
use tenter_language::notation::diagnostics::quote;
use tenter_language::units::{Budget, Rate, Time};

use super::text::{FabricText, Loss, fabric, impairments};
use crate::error::{ImportError, Place};

/// The node at a cable's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A host by its number.
    Host(u32),
    /// A switch by its place among the switches.
    Switch(u32),
}

/// A cable between two nodes.
#[derive(Clone, Debug)]
pub(crate) struct Cable {
    pub(crate) ends: [End; 2],
    pub(crate) rate: Rate,
    /// Propagation delay. If the file has none, the default from [`HOST_DELAY`] or [`SWITCH_DELAY`]
    /// is taken.
    pub(crate) delay: Option<Time>,
    /// Probability that a frame is lost, as the file writes it; `0` for no loss.
    pub(crate) loss: String,
    pub(crate) at: Place,
}

/// A server's scale-up domain, and the NPUs at each NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// NPUs that share a NIC; 1 if each has its own.
    pub(crate) npus_per_nic: u32,
    /// NPUs in the scale-up domain; below 2 there is none.
    pub(crate) npus_per_host: u32,
    pub(crate) rate: Option<Rate>,
    pub(crate) latency: Option<Time>,
}

/// A fabric's hosts, switches and cables, with notes for the user.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    hosts: Vec<(String, Place)>,
    switches: Vec<(String, Place)>,
    cables: Vec<Cable>,
    pub(crate) server: Option<Server>,
    /// True if several hosts stand for one node's links, which may then lie in separate planes.
    pub(crate) has_planes: bool,
    pub(crate) notes: Vec<String>,
}

/// Longest node name in a scenario, in characters.
const NAME_MAX: usize = 64;
/// Longest scenario that Tenter reads, in bytes.
const YAML_MAX: usize = 8 << 20;
/// Guessed delays for cables whose file has none: 5 m at a host and 40 m between switches, the
/// defaults in fabrics that are given by their kind.
const HOST_DELAY: Time = Time::from_ns(25);
const SWITCH_DELAY: Time = Time::from_ns(200);
/// Longest delay, and slowest and fastest rate, for a cable in a scenario.
const DELAY_MAX: Time = Time::from_us(1_000_000);
const RATES: std::ops::RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

fn wrong(at: Place, what: impl Into<String>, remedy: &str) -> ImportError {
    ImportError::new(at, what, remedy)
}

impl Server {
    /// Writes `endpoint.host` as YAML, indented below `endpoint:`.
    pub(crate) fn write(self, out: &mut String) {
        out.push_str("  host:\n");
        if self.npus_per_nic > 1 {
            let _ = writeln!(out, "    npus_per_nic: {}", self.npus_per_nic);
        }
        let _ = write!(out, "    scale_up: {{npus_per_host: {}", self.npus_per_host);
        let rate = self.rate.map(|rate| format!(", rate: {rate}"));
        let latency = self.latency.map(|latency| format!(", latency: {latency}"));
        for key in [rate, latency].into_iter().flatten() {
            out.push_str(&key);
        }
        out.push_str("}\n");
    }
}

impl Graph {
    /// Adds a host and returns it.
    pub(crate) fn host(&mut self, name: String, at: Place) -> End {
        self.hosts.push((name, at));
        End::Host(self.hosts.len() as u32 - 1)
    }

    /// Adds a switch and returns it.
    pub(crate) fn switch(&mut self, name: String, at: Place) -> End {
        self.switches.push((name, at));
        End::Switch(self.switches.len() as u32 - 1)
    }

    pub(crate) fn cable(&mut self, cable: Cable) {
        self.cables.push(cable);
    }

    /// Returns a node's name in the scenario.
    pub(crate) fn name(&self, end: End) -> &str {
        let (name, _) = match end {
            End::Host(host) => &self.hosts[host as usize],
            End::Switch(switch) => &self.switches[switch as usize],
        };
        name
    }

    /// Writes the fabric as YAML below the comment `heading`. Errors that concern the whole file
    /// are placed at `end`.
    pub(crate) fn finish(
        mut self,
        heading: &str,
        end: Place,
        budget: &Budget,
    ) -> Result<FabricText, ImportError> {
        if self.hosts.is_empty() {
            let remedy = "give a fabric with hosts, or say which devices are hosts";
            return Err(wrong(end, "there is no host in it", remedy));
        }
        self.check()?;
        let tiers = self.tiers()?;
        let (explicit, losses) = self.explicit(&tiers);
        // Building the fabric once finds its errors now, and not when the scenario is run.
        let spec = TopologySpec::Explicit(explicit);
        spec.build(budget)
            .map_err(|error| ImportError::of(end, error))?;
        let TopologySpec::Explicit(explicit) = spec else {
            return Err(wrong(end, "it is no list of nodes", "report this"));
        };
        let mut yaml = format!("# {heading}\n");
        fabric(&explicit, &mut yaml);
        impairments(&losses, &mut yaml).map_err(|others| {
            let what = format!("{others} links lose frames otherwise than most do");
            wrong(end, what, "give more of them one chance of loss")
        })?;
        if let Some(server) = self.server {
            yaml.push_str("endpoint:\n");
            server.write(&mut yaml);
        }
        if yaml.len() > YAML_MAX {
            let what = format!("the fabric takes {} bytes as a scenario", yaml.len());
            let remedy = "a scenario has at most 8 MiB: describe it by its `kind`";
            return Err(wrong(end, what, remedy));
        }
        let notes = self.notes;
        Ok(FabricText { yaml, notes })
    }

    /// Refuses names, rates, delays and cables that no scenario may have, with their places.
    fn check(&self) -> Result<(), ImportError> {
        let mut names = HashSet::with_capacity(self.hosts.len() + self.switches.len());
        for (name, at) in self.hosts.iter().chain(&self.switches) {
            let characters = name.chars().count();
            if characters == 0 || characters > NAME_MAX {
                let what = format!("the name {} has {characters} characters", quote(name));
                return Err(wrong(*at, what, "give it 1 to 64"));
            }
            if !names.insert(name.as_str()) {
                let what = format!("two nodes are called {}", quote(name));
                return Err(wrong(*at, what, "rename one of them"));
            }
        }
        let mut cabled = vec![false; self.hosts.len()];
        for cable in &self.cables {
            let [a, b] = cable.ends.map(|end| quote(self.name(end)));
            if !RATES.contains(&cable.rate) {
                let what = format!("a cable has {}", cable.rate);
                return Err(wrong(cable.at, what, "give a rate of 1Mbps to 100Tbps"));
            }
            if cable.delay.is_some_and(|delay| delay > DELAY_MAX) {
                let what = "a cable has a delay of more than a second";
                return Err(wrong(cable.at, what, "give a shorter one"));
            }
            match cable.ends {
                [End::Host(_), End::Host(_)] => {
                    let what = format!("the hosts {a} and {b} are cabled to each other");
                    return Err(wrong(cable.at, what, "put a switch between them"));
                }
                [one, other] if one == other => {
                    let what = format!("a cable goes from {a} to itself");
                    return Err(wrong(cable.at, what, "name two different nodes"));
                }
                ends => {
                    for end in ends {
                        let End::Host(host) = end else { continue };
                        // A host has one port; readers make a host for each port of a NIC.
                        if std::mem::replace(&mut cabled[host as usize], true) {
                            let what =
                                format!("the host {} has several cables", quote(self.name(end)));
                            return Err(wrong(cable.at, what, "give each NIC a host of its own"));
                        }
                    }
                }
            }
        }
        let alone = cabled.iter().zip(&self.hosts).find(|(cabled, _)| !**cabled);
        alone.map_or(Ok(()), |(_, (name, at))| {
            let what = format!("no cable leads to the host {}", quote(name));
            Err(wrong(*at, what, "cable it to a switch, or leave it out"))
        })
    }

    /// Returns a node's index: hosts first, then switches.
    fn index(&self, end: End) -> usize {
        match end {
            End::Host(host) => host as usize,
            End::Switch(switch) => self.hosts.len() + switch as usize,
        }
    }

    /// Computes each switch's tier, its distance from the nearest host; `None` for switches that no
    /// host reaches.
    fn tiers(&mut self) -> Result<Vec<Option<u8>>, ImportError> {
        let nodes = self.hosts.len() + self.switches.len();
        let mut peers: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for cable in &self.cables {
            let [a, b] = cable.ends.map(|end| self.index(end));
            peers[a].push(b as u32);
            peers[b].push(a as u32);
        }
        // If the first host reaches all hosts, any host does.
        let lost = reached(&peers, vec![0]).iter().position(Option::is_none);
        if let Some((name, at)) = lost.and_then(|lost| self.hosts.get(lost)) {
            let what = format!(
                "no cables lead from {} to {}",
                quote(&self.hosts[0].0),
                quote(name)
            );
            let remedy = if self.has_planes {
                "planes without a cable between them are fabrics of their own: give the links of one \
                 plane alone, and the job its part of the bytes"
            } else {
                "cable all hosts into one fabric"
            };
            return Err(wrong(*at, what, remedy));
        }
        let hosts = (0..self.hosts.len() as u32).collect();
        let distances = reached(&peers, hosts);
        let mut tiers = Vec::with_capacity(self.switches.len());
        for (distance, (name, at)) in distances[self.hosts.len()..].iter().zip(&self.switches) {
            let tier = distance.map(|distance| u8::try_from(distance.saturating_sub(1)));
            let tier = tier.transpose().ok().filter(|tier| *tier != Some(u8::MAX));
            tiers.push(tier.ok_or_else(|| {
                let what = format!("{} is more than 254 switches from any host", quote(name));
                wrong(*at, what, "leave it out")
            })?);
        }
        let unused = tiers.iter().filter(|tier| tier.is_none()).count();
        if unused > 0 {
            self.notes.push(format!(
                "{unused} switch(es) that no cable joins with a host are left out"
            ));
        }
        Ok(tiers)
    }

    /// Returns nodes and links as a scenario has them, and the losses on links. Parallel cables
    /// share one loss, because `impairments` name a link by its two nodes.
    fn explicit(&mut self, tiers: &[Option<u8>]) -> (Explicit, Vec<Loss>) {
        let hosts = self.hosts.iter();
        let mut nodes: Vec<ExplicitNode> = hosts
            .map(|(name, _)| ExplicitNode::new(name, NodeKind::Host))
            .collect();
        for ((name, _), tier) in self.switches.iter().zip(tiers) {
            if let Some(tier) = *tier {
                nodes.push(ExplicitNode::new(name, NodeKind::Switch { tier }));
            }
        }
        let mut links: Vec<ExplicitLink> = Vec::new();
        let mut chances: BTreeMap<(String, String), &str> = BTreeMap::new();
        let (mut untold, mut differ) = (0_u64, 0_u64);
        for cable in &self.cables {
            let is_used = |end: End| match end {
                End::Host(_) => true,
                End::Switch(switch) => tiers[switch as usize].is_some(),
            };
            // Both ends are joined with a host, or neither is, so one end decides.
            if !is_used(cable.ends[0]) {
                continue;
            }
            let of_host = cable.ends.iter().any(|end| matches!(end, End::Host(_)));
            untold += u64::from(cable.delay.is_none());
            let usual = if of_host { HOST_DELAY } else { SWITCH_DELAY };
            let [a, b] = cable.ends.map(|end| self.name(end).to_owned());
            let pair = if a <= b {
                (a.clone(), b.clone())
            } else {
                (b.clone(), a.clone())
            };
            let known = *chances.entry(pair).or_insert(&cable.loss);
            differ += u64::from(known != cable.loss);
            let link = ExplicitLink {
                a,
                b,
                rate: cable.rate,
                delay: cable.delay.unwrap_or(usual),
                count: 1,
            };
            match links.last_mut() {
                Some(last) if is_parallel(last, &link) => last.count += 1,
                _ => links.push(link),
            }
        }
        let losses = chances.into_iter().map(|((a, b), chance)| Loss {
            link: format!("{a}-{b}"),
            chance: chance.to_owned(),
        });
        let losses = losses.collect();
        if untold > 0 {
            self.notes.push(format!(
                "{untold} cable(s) of unknown delay have {HOST_DELAY} at a host and {SWITCH_DELAY} between switches"
            ));
        }
        if differ > 0 {
            self.notes.push(format!(
                "{differ} parallel cable(s) lose frames as the first one between the two nodes does"
            ));
        }
        let routes = Vec::new();
        (
            Explicit {
                nodes,
                routes,
                links,
            },
            losses,
        )
    }
}

/// Returns true if `cable` is a further cable in `link`. Files list a bundle's cables one after the
/// other, so only the last link is compared.
fn is_parallel(link: &ExplicitLink, cable: &ExplicitLink) -> bool {
    (&link.a, &link.b, link.rate, link.delay) == (&cable.a, &cable.b, cable.rate, cable.delay)
}

/// Computes each node's distance from the nearest node in `from`; `None` if no path leads there.
pub(crate) fn reached(peers: &[Vec<u32>], from: Vec<u32>) -> Vec<Option<u32>> {
    let mut distances = vec![None; peers.len()];
    for &node in &from {
        distances[node as usize] = Some(0);
    }
    let (mut now, mut distance) = (from, 0_u32);
    while !now.is_empty() {
        distance += 1;
        let mut next = Vec::new();
        for node in now {
            for &peer in &peers[node as usize] {
                let known = &mut distances[peer as usize];
                if known.is_none() {
                    *known = Some(distance);
                    next.push(peer);
                }
            }
        }
        now = next;
    }
    distances
}
