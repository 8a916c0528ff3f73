//! How many switches paths pass at most.

use super::{PATH_MAX, Routing};
use tenter_units::ById;

use crate::ids::{HostId, SwitchId};
use crate::topology::Topology;

impl Routing {
    /// Switches on the longest path between two hosts, static routes included, without detours.
    pub fn longest_path(&self) -> u32 {
        u32::from(self.distances.iter().copied().max().unwrap_or(0))
    }

    /// Switches on the longest detour between two hosts: a shortest way into a region that is
    /// neither one's, and the path on from there; `None` where the topology has no such regions.
    ///
    /// `topology` is the one the routes were built for.
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
    /// Switches on the longest detour where each switch is a region.
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
            Some(there + onward - 1)
        };
        (0..self.groups).filter_map(by).max()
    }
}

/// Switches from each one on to the farthest host behind a region, 0 without a way, where known.
type Known = ById<SwitchId, Option<u32>>;

/// Detours, while the longest one is looked for: each switch is asked once for each region.
struct Detours<'r> {
    routing: &'r Routing,
    topology: &'r Topology,
    /// A host of each group of hosts that are at one switch.
    leaders: &'r [HostId],
    /// The group at each switch, where there is one.
    group_at: ById<SwitchId, Option<usize>>,
    /// Switches from each one on to the farthest host of another region, where that was asked.
    onward: ById<SwitchId, Option<u32>>,
}

impl Detours<'_> {
    /// Switches on the longest detour by a region.
    fn by(&mut self, region: u32) -> Option<u32> {
        let mut known: Known = vec![None; self.topology.switches()].into();
        let sources = self.leaders.iter();
        let sources = sources.map(|&leader| self.routing.attachment(leader));
        let outside = sources.filter(|&source| self.routing.region(source) != region);
        outside
            .filter_map(|source| self.from(source, region, &mut known, PATH_MAX))
            .max()
    }

    /// Switches from one of them on, by a region, to the farthest host behind it; at most so many
    /// of them are followed.
    fn from(&mut self, switch: SwitchId, region: u32, known: &mut Known, most: u8) -> Option<u32> {
        // Of one without a way there it is known that it passes none.
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

    /// Switches from one of them on to the farthest host of another region.
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

    /// Switches from one without hosts on to a host.
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
