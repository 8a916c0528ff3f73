//! Longest paths, counted in switches.

use super::{PATH_MAX, Routing};
use tenter_language::units::ById;

use crate::topology::graph::Topology;
use crate::topology::ids::{HostId, SwitchId};

impl Routing {
    /// Counts the switches on the longest path between two hosts, static routes included and
    /// detours excluded.
    pub fn longest_path(&self) -> u32 {
        u32::from(self.distances.iter().copied().max().unwrap_or(0))
    }

    /// Counts the switches on the longest detour: a shortest way into a region that is neither
    /// host's, and the path on from there. `None` if there are fewer than three regions.
    ///
    /// `topology` must be the one for which the routes were built.
    pub fn longest_detour(&self, topology: &Topology) -> Option<u32> {
        if self.regions() < 3 {
            return None;
        }
        if self.regions.is_each {
            return self.longest_by_a_switch();
        }
        let leaders = self.leaders();
        let mut group_at: ById<SwitchId, Option<usize>> = vec![None; topology.switches()].into();
        for (group, &leader) in leaders.iter().enumerate() {
            group_at[self.attachment(leader)] = Some(group);
        }
        let mut detours = Detours {
            routing: self,
            topology,
            leaders: &leaders,
            group_at,
            onward: vec![None; topology.switches()].into(),
        };
        let regions = 0..self.regions();
        regions.filter_map(|region| detours.by(region)).max()
    }
}

impl Routing {
    /// Returns the longest detour if each switch is a region.
    fn longest_by_a_switch(&self) -> Option<u32> {
        let by = |region: usize| {
            let others = (0..self.groups).filter(|&other| other != region);
            let longest = |place: fn(usize, usize, usize) -> usize| {
                let places = others
                    .clone()
                    .map(|other| place(self.groups, region, other));
                places.map(|place| u32::from(self.distances[place])).max()
            };
            let there = longest(|groups, region, from| from * groups + region)?;
            let onward = longest(|groups, region, to| region * groups + to)?;
            // The region's switch is on both halves.
            Some(there + onward - 1)
        };
        (0..self.groups).filter_map(by).max()
    }
}

/// For each switch, the switches from there by a region to the farthest host behind it, if
/// computed; 0 if there is no way.
type Known = ById<SwitchId, Option<u32>>;

/// Search for the longest detour. Each switch is evaluated once for each region.
struct Detours<'r> {
    routing: &'r Routing,
    topology: &'r Topology,
    /// First host in each group.
    leaders: &'r [HostId],
    /// Group at each switch that has hosts.
    group_at: ById<SwitchId, Option<usize>>,
    /// For each switch, the switches on the longest path from there to a host in another region, if
    /// computed.
    onward: ById<SwitchId, Option<u32>>,
}

impl Detours<'_> {
    /// Returns the longest detour by `region`.
    fn by(&mut self, region: u32) -> Option<u32> {
        let mut known: Known = vec![None; self.topology.switches()].into();
        let sources = self.leaders.iter();
        let sources = sources.map(|&leader| self.routing.attachment(leader));
        let outside = sources.filter(|&source| self.routing.region(source) != region);
        outside
            .filter_map(|source| self.from(source, region, &mut known, PATH_MAX))
            .max()
    }

    /// Returns the switches from `switch` by a region to the farthest host behind it. At most
    /// `most` steps are followed.
    fn from(&mut self, switch: SwitchId, region: u32, known: &mut Known, most: u8) -> Option<u32> {
        // A recorded 0 means that there is no way.
        if let Some(known) = known[switch] {
            return Some(known).filter(|&switches| switches > 0);
        }
        let left = most.checked_sub(1)?;
        let mut longest = None;
        for &port in self.routing.into_region(switch, region) {
            let next = self.topology.switch_behind(switch, port);
            let rest = if self.routing.region(next) == region {
                Some(self.onward(next))
            } else {
                self.from(next, region, known, left)
            };
            longest = longest.max(rest.map(|rest| rest + 1));
        }
        known[switch] = Some(longest.unwrap_or(0));
        longest
    }

    /// Returns the switches on the longest path from `entry` to a host in another region.
    fn onward(&mut self, entry: SwitchId) -> u32 {
        if let Some(known) = self.onward[entry] {
            return known;
        }
        let routing = self.routing;
        let at = self.group_at[entry];
        let others = self.leaders.iter().enumerate().filter(|(_, host)| {
            routing.region(routing.attachment(**host)) != routing.region(entry)
        });
        let switches = others.map(|(group, &host)| match at {
            Some(own) => u32::from(routing.distances[own * routing.groups + group]),
            None => self.walked(entry, host),
        });
        let farthest = switches.max().unwrap_or(0);
        self.onward[entry] = Some(farthest);
        farthest
    }

    /// Follows the first candidate from a switch without hosts to `host`, and counts the switches.
    fn walked(&self, from: SwitchId, host: HostId) -> u32 {
        let (mut switch, mut switches) = (from, 1);
        while switch != self.routing.attachment(host) && switches < u32::from(PATH_MAX) {
            let Some(&port) = self.routing.candidates(switch, host).first() else {
                return 0;
            };
            switch = self.topology.switch_behind(switch, port);
            switches += 1;
        }
        switches
    }
}
