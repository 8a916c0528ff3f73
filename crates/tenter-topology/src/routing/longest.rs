//! How many switches paths pass at most.

use std::collections::BTreeSet;

use super::{PATH_MAX, Routing};
use crate::topology::Topology;

impl Routing {
    /// Switches on the longest path between two hosts, without detours.
    pub fn longest_path(&self) -> u32 {
        u32::from(self.distances.iter().copied().max().unwrap_or(0))
    }

    /// Switches on the longest detour between two hosts, by a region that is neither one's; `None`
    /// where the topology has no such regions.
    ///
    /// `topology` is the one the routes were built for.
    pub fn longest_detour(&self, topology: &Topology) -> Option<u32> {
        if self.regions() < 3 {
            return None;
        }
        let mut longest = None;
        // Of several sources of a region each enters another by one of few switches.
        let mut onward = vec![None; topology.switches()];
        let leaders = self.leaders();
        for &source in &leaders {
            let from = self.attachment(source);
            for region in (0..self.regions()).filter(|region| *region != self.region(from)) {
                let (before, entries) = self.ways_into(topology, from, region);
                for entry in entries {
                    let place = &mut onward[entry as usize];
                    let rest =
                        *place.get_or_insert_with(|| self.farthest(topology, entry, &leaders));
                    longest = longest.max(Some(before + rest));
                }
            }
        }
        longest
    }

    /// Switches before a region on the shortest ways into it, and those at which the ways end.
    fn ways_into(&self, topology: &Topology, from: u32, region: u32) -> (u32, BTreeSet<u32>) {
        let mut here = BTreeSet::from([from]);
        for before in 1..u32::from(PATH_MAX) {
            let behind = |&switch: &u32| {
                let ports = self.into_region(switch, region).iter();
                ports.map(move |&port| switch_behind(topology, switch, port))
            };
            let next: BTreeSet<u32> = here.iter().flat_map(behind).collect();
            let (entries, others) = next
                .into_iter()
                .partition(|&switch| self.region(switch) == region);
            // All ways are equally long, so they all end here.
            if !BTreeSet::is_empty(&entries) {
                return (before, entries);
            }
            here = others;
        }
        (0, BTreeSet::new())
    }

    /// Switches from one of them on to the farthest host of another region.
    fn farthest(&self, topology: &Topology, from: u32, leaders: &[u32]) -> u32 {
        let others = leaders
            .iter()
            .filter(|host| self.region(self.attachment(**host)) != self.region(from));
        let switches_to = |&host: &u32| {
            let (mut switch, mut switches) = (from, 1);
            while switch != self.attachment(host) && switches < u32::from(PATH_MAX) {
                let Some(&port) = self.candidates(switch, host).first() else {
                    return 0;
                };
                switch = switch_behind(topology, switch, port);
                switches += 1;
            }
            switches
        };
        others.map(switches_to).max().unwrap_or(0)
    }
}

/// The switch behind a port of another one, both counted among the switches.
fn switch_behind(topology: &Topology, switch: u32, port: u16) -> u32 {
    let hosts = topology.hosts as u32;
    topology.neighbour(hosts + switch, port).node - hosts
}
