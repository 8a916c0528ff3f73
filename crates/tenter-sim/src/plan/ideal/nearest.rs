//! The shortest time in which a frame gets from one rank of a job to another, over all paths that
//! switches may choose.

use std::collections::BTreeMap;

use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::net::scheduled::ScheduledSpec;
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Routing, SwitchId};
use tenter_language::units::{ById, Rate, Time};
use tenter_workload::Job;

use crate::plan::trial::Plan;
use crate::plan::unloaded::{Link, link};

/// Most kinds of hosts whose pairs are all examined; with more, a bound replaces the paths between
/// switches.
const ALL_PAIRS_MAX: usize = 256;

/// Hosts on one switch with equal cables.
#[derive(Debug)]
pub struct HostKind {
    /// The first host, and a second one if there is one.
    pub hosts: (HostId, Option<HostId>),
    /// Number of hosts; a host counts as often as it is named.
    pub count: u64,
}

/// Groups hosts by switch, and by their cable's rate and delay; kinds are in the order of their
/// first hosts.
pub fn host_kinds(plan: &Plan, hosts: impl Iterator<Item = HostId>) -> Vec<HostKind> {
    let mut numbers: BTreeMap<(NodeId, Rate, Time), usize> = BTreeMap::new();
    let mut kinds: Vec<HostKind> = Vec::new();
    for host in hosts {
        let cable = plan.topology.cable(host, 0);
        let switch = plan.topology.neighbour(host, 0).node;
        let number = *numbers
            .entry((switch, cable.rate, cable.delay))
            .or_insert(kinds.len());
        match kinds.get_mut(number) {
            Some(kind) => {
                // Several ranks may share a NIC, which must not count as a second host.
                let other = (host != kind.hosts.0).then_some(host);
                kind.hosts.1 = kind.hosts.1.or(other);
                kind.count += 1;
            }
            None => kinds.push(HostKind {
                hosts: (host, None),
                count: 1,
            }),
        }
    }
    kinds
}

/// Returns the shortest time between the nearest two ranks of a job, in ps. It is the time from a
/// frame's end at the sender to its end at the receiver, or from start to start, whichever is
/// shorter.
///
/// A frame without other traffic takes each link's latency, and its wire time on each link whose
/// receiver takes it whole. So the best path follows from the best paths of the next switches.
pub fn least_latency(plan: &Plan, routing: &Routing, job: &Job, frame_bytes: u32) -> u64 {
    let kinds = host_kinds(plan, job.hosts.iter().copied());
    let search = Search {
        plan,
        routing,
        wire_bytes: frame_bytes + WIRE_OVERHEAD_BYTES,
    };
    let least = if kinds.len() <= ALL_PAIRS_MAX {
        search.all_pairs(&kinds)
    } else {
        search.bound(&kinds)
    };
    least.unwrap_or(0)
}

/// The shortest time from each switch to a target, where it is known.
type Best = ById<SwitchId, Option<u64>>;

struct Search<'a> {
    plan: &'a Plan,
    routing: &'a Routing,
    wire_bytes: u32,
}

impl Search<'_> {
    /// Examines every pair of kinds.
    fn all_pairs(&self, kinds: &[HostKind]) -> Option<u64> {
        let mut best: Best = vec![None; self.plan.topology.switches()].into();
        let mut least: Option<u64> = None;
        // Targets are outside, because `best` is about one target.
        for to in kinds {
            best.fill(None);
            for from in kinds {
                let same = std::ptr::eq(from, to);
                let (source, target) = match (same, from.hosts.1) {
                    (false, _) => (from.hosts.0, to.hosts.0),
                    (true, Some(second)) => (second, to.hosts.0),
                    (true, None) => continue,
                };
                if !self.plan.topology.joins(source, target) {
                    continue;
                }
                let time = self.pair(source, target, &mut best);
                least = Some(least.map_or(time, |least| least.min(time)));
            }
        }
        least
    }

    /// Bounds the time from below: hosts on one switch exactly, others by the cheapest up link,
    /// down link and link between switches.
    fn bound(&self, kinds: &[HostKind]) -> Option<u64> {
        let mut best: Best = vec![None; self.plan.topology.switches()].into();
        let pairs = kinds
            .iter()
            .filter_map(|kind| Some((kind.hosts.0, kind.hosts.1?)));
        let near = pairs.map(|(target, source)| {
            best.fill(None);
            self.pair(source, target, &mut best)
        });
        let topology = &self.plan.topology;
        let hosts = kinds.iter().map(|kind| kind.hosts.0);
        let up = hosts.clone().map(|host| self.cost(first_end(host))).min()?;
        let down = hosts.clone().map(|host| self.cost(self.last_end(host)));
        let ends = topology.cables.iter().flat_map(|cable| {
            let [a, b] = cable.ends;
            let inner = !topology.is_host(a.node) && !topology.is_host(b.node);
            inner.then_some([a, b]).into_iter().flatten()
        });
        let between = ends.map(|end| self.cost(end)).min();
        let longest = hosts.map(|host| {
            let end = first_end(host);
            self.duration(&link(self.plan, end), end)
        });
        // As for a pair, less the wire time at one end; taking the longest keeps it a lower bound.
        let far = (up + down.min()? + between?).saturating_sub(longest.max()?);
        Some(near.fold(far, u64::min))
    }

    /// Returns the time for one pair. `best` caches the switches on the way, all for the same
    /// target.
    fn pair(&self, source: HostId, target: HostId, best: &mut Best) -> u64 {
        let [first, last] = [first_end(source), self.last_end(target)];
        let whole = self.cost(first) + self.least_from(self.switch_of(source), target, best);
        let ends = [first, last].map(|end| self.duration(&link(self.plan, end), end));
        // `whole` runs from start to end; less the time at one end it is end to end or start to
        // start.
        whole.saturating_sub(ends[0].max(ends[1]))
    }

    /// Returns the shortest time from a switch to a host.
    fn least_from(&self, switch: SwitchId, target: HostId, best: &mut Best) -> u64 {
        // The rest of a path does not depend on how the switch was reached.
        if let Some(known) = best[switch] {
            return known;
        }
        let topology = &self.plan.topology;
        let node = topology.switch_node(switch);
        let mut least = u64::MAX;
        for &port in self.routing.candidates(switch, target) {
            let peer = topology.neighbour(node, port).node;
            let rest = if peer == target.node() {
                0
            } else {
                self.least_from(topology.switch(peer), target, best)
            };
            least = least.min(self.cost(CableEnd { node, port }).saturating_add(rest));
        }
        best[switch] = Some(least);
        least
    }

    fn switch_of(&self, host: HostId) -> SwitchId {
        let topology = &self.plan.topology;
        topology.switch(topology.neighbour(host, 0).node)
    }

    /// Returns the switch's end of a host's cable.
    fn last_end(&self, host: HostId) -> CableEnd {
        self.plan.topology.neighbour(host, 0)
    }

    /// Returns what a link adds to a frame's time, in ps.
    fn cost(&self, end: CableEnd) -> u64 {
        let link = link(self.plan, end);
        let whole = if link.stores {
            self.duration(&link, end)
        } else {
            0
        };
        link.latency.ps() + whole
    }

    /// Returns the wire time for the unit that the receiver takes whole. Between a scheduled
    /// fabric's switches a packet's cells travel in parallel, so each waits only for itself.
    fn duration(&self, link: &Link, end: CableEnd) -> u64 {
        let topology = &self.plan.topology;
        let peer = topology.neighbour(end.node, end.port).node;
        let at_host = topology.is_host(end.node) || topology.is_host(peer);
        let cells = self.plan.scheduled.as_ref().filter(|_| !at_host);
        let cell = cells.map_or(u32::MAX, ScheduledSpec::shortest_wire_bytes);
        let bytes = self.wire_bytes.min(cell);
        link.rate.serialisation(0).of(bytes, 0).0.ps()
    }
}

fn first_end(host: HostId) -> CableEnd {
    CableEnd {
        node: host.node(),
        port: 0,
    }
}
