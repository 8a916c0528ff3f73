//! Ways into regions: for packets that do not take the shortest path, but go by a region that is
//! neither their source's nor their destination's.

use tenter_units::ById;

use super::port_lists::PortList;
use crate::ids::SwitchId;

/// What a cable between regions adds to a distance beside its one link: more than any path has
/// links. So shortest paths are those with the fewest cables between regions.
pub(super) const FAR: u32 = 1 << 16;

/// For every switch and region the egress ports on the shortest ways into it.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionRoutes {
    /// The region of each switch.
    of: ById<SwitchId, u32>,
    count: u32,
    /// Whether each switch is a region, so that the ways there are the routes to its hosts.
    pub(super) is_each: bool,
    /// Per switch and region, switch-major; empty where each switch is one.
    table: Vec<PortList>,
}

impl RegionRoutes {
    /// Without any ways yet.
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
