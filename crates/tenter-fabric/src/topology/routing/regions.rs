//! Routes into regions, for packets that take a detour through a region that is neither their
//! source's nor their destination's.

use tenter_language::units::ById;

use super::port_lists::PortList;
use crate::topology::ids::SwitchId;

/// Distance that a cable between regions adds to its one link. It exceeds the links on any path, so
/// shortest paths have the fewest cables between regions.
pub(super) const FAR: u32 = 1 << 16;

/// Egress ports from every switch on the shortest ways into every region.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionRoutes {
    /// Region that each switch belongs to.
    of: ById<SwitchId, u32>,
    count: u32,
    /// True if each switch is a region, so that ways into it are the routes to its hosts.
    pub(super) is_each: bool,
    /// Port list for each switch and region, switch-major; empty if each switch is a region.
    table: Vec<PortList>,
}

impl RegionRoutes {
    /// Creates an empty table for these regions.
    pub(super) fn new(regions: &ById<SwitchId, u32>, is_each: bool) -> RegionRoutes {
        let count = regions.iter().max().map_or(0, |last| last + 1);
        RegionRoutes {
            of: regions.clone(),
            count,
            is_each,
            table: if is_each {
                Vec::new()
            } else {
                vec![PortList::default(); regions.len() * count as usize]
            },
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn of(&self, switch: SwitchId) -> u32 {
        self.of.get(switch.index()).copied().unwrap_or(0)
    }

    pub(super) fn list(&self, switch: SwitchId, region: u32) -> PortList {
        let list = self.table.get(self.place(switch, region));
        list.copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, switch: SwitchId, region: u32, list: PortList) {
        let place = self.place(switch, region);
        self.table[place] = list;
    }

    fn place(&self, switch: SwitchId, region: u32) -> usize {
        switch.index() * self.count as usize + region as usize
    }
}
