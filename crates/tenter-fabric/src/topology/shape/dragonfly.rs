//! Dragonfly arrangement: every two switches in a group are cabled to each other, and every two
//! groups.

use crate::topology::ids::SwitchId;

/// Parameters by which a dragonfly is arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouterGroups {
    pub(crate) count: u32,
    pub(crate) routers_per_group: u32,
    /// Ports on each switch for cables to other groups.
    pub(crate) global_links_per_router: u32,
}

impl RouterGroups {
    /// Counts the cables between any two groups; 0 with a single group.
    fn cables_per_pair(self) -> u32 {
        let ports = self.routers_per_group * self.global_links_per_router;
        ports.checked_div(self.count - 1).unwrap_or(0)
    }

    /// Counts the cables that are visited for the paths from one switch to all others.
    pub(super) fn looked_at(self) -> u64 {
        let switches = u64::from(self.count) * u64::from(self.routers_per_group);
        switches.saturating_mul(u64::from(self.cables_per_pair()).max(1))
    }

    /// Returns the switch in `group` where cable number `copy` to the group `ahead` groups further
    /// on ends.
    fn end(self, group: u32, ahead: u32, copy: u32) -> SwitchId {
        // Each round of `count - 1` ports leads to every other group once.
        let port = ahead - 1 + copy * (self.count - 1);
        SwitchId::new(group * self.routers_per_group + port / self.global_links_per_router)
    }

    /// Iterates over all cables between groups with both ends, every cable once.
    pub(crate) fn all_cables(self) -> impl Iterator<Item = (SwitchId, SwitchId)> {
        let pairs = (0..self.count)
            .flat_map(move |one| (one + 1..self.count).map(move |other| (one, other)));
        pairs.flat_map(move |(one, other)| self.cables(one, other))
    }

    fn group(self, switch: SwitchId) -> u32 {
        switch.number() / self.routers_per_group
    }

    /// Iterates over the cables from one group to another, with both ends.
    fn cables(self, from: u32, to: u32) -> impl Iterator<Item = (SwitchId, SwitchId)> {
        let ahead = (to + self.count - from) % self.count;
        let copies = 0..self.cables_per_pair();
        copies.map(move |copy| {
            let there = self.end(to, self.count - ahead, copy);
            (self.end(from, ahead, copy), there)
        })
    }

    /// See [`Shape::paths`](super::Shape::paths).
    pub(super) fn paths(self, from: SwitchId, mut found: impl FnMut(SwitchId, u32, &[SwitchId])) {
        let own = self.group(from);
        let mut next = Vec::new();
        for group in 0..self.count {
            let first = SwitchId::new(group * self.routers_per_group);
            let all = first.run(self.routers_per_group);
            if group == own {
                all.filter(|&to| to != from)
                    .for_each(|to| found(to, 1, &[to]));
                continue;
            }
            let cables: Vec<(SwitchId, SwitchId)> = self.cables(own, group).collect();
            let mut entries: Vec<SwitchId> = cables.iter().map(|&(_, entry)| entry).collect();
            entries.sort_unstable();
            let is_entry = |to: &SwitchId| entries.binary_search(to).is_ok();
            // Routers at which no cable enters are all reached the same way, so one search serves
            // them.
            let mut others = all.clone().filter(|to| !is_entry(to)).peekable();
            if let Some(&other) = others.peek() {
                let links = nearest_cables(&cables, from, other, &mut next);
                others.for_each(|to| found(to, links, &next));
            }
            for to in all.filter(is_entry) {
                let links = nearest_cables(&cables, from, to, &mut next);
                found(to, links, &next);
            }
        }
    }

    /// See [`Shape::ways_into_region`](super::Shape::ways_into_region).
    pub(super) fn ways_into_group(self, from: SwitchId, to: u32, next: &mut Vec<SwitchId>) {
        let cables = || self.cables(self.group(from), to);
        let own = cables().filter(|(gate, _)| *gate == from);
        next.extend(own.map(|(_, entry)| entry));
        // A router without a cable to the group sends to the routers that have one.
        if next.is_empty() {
            next.extend(cables().map(|(gate, _)| gate));
        }
    }
}

/// Returns the fewest links from `from` to a router in the group behind `cables`, and puts the next
/// routers on such paths into `next`.
fn nearest_cables(
    cables: &[(SwitchId, SwitchId)],
    from: SwitchId,
    to: SwitchId,
    next: &mut Vec<SwitchId>,
) -> u32 {
    next.clear();
    let mut least = u32::MAX;
    for &(gate, entry) in cables {
        let links = u32::from(gate != from) + 1 + u32::from(entry != to);
        if links < least {
            next.clear();
            least = links;
        }
        if links == least {
            next.push(if gate == from { entry } else { gate });
        }
    }
    least
}
