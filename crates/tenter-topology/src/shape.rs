//! Fabrics whose paths follow from the numbers of their switches, so that nothing is searched for.

mod dragonfly;
mod grid;

pub(crate) use dragonfly::RouterGroups;
pub(crate) use grid::{Dimension, Grid, Joint};

use crate::ids::SwitchId;

/// Units of work of a path, or of a cable that may be on it.
const UNITS_PER_PATH: u64 = 4;

/// The arrangement of the switches of a fabric, all of which have hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Switches with coordinates.
    Grid(Grid),
    /// Groups of switches, as in a dragonfly.
    Groups(RouterGroups),
}

impl Shape {
    /// Units of work of the paths from one switch to all others.
    pub(crate) fn units_of_paths(&self) -> u64 {
        match self {
            Shape::Grid(grid) => u64::from(grid.switches()) * UNITS_PER_PATH,
            Shape::Groups(groups) => groups.looked_at().saturating_mul(UNITS_PER_PATH),
        }
    }

    /// Calls `found` for every switch but one, ascending, with the links from that one to it, and
    /// the switches that it sends to towards it, which may repeat.
    pub(crate) fn paths(&self, from: SwitchId, found: impl FnMut(SwitchId, u32, &[SwitchId])) {
        match self {
            Shape::Grid(grid) => grid.paths(from, found),
            Shape::Groups(groups) => groups.paths(from, found),
        }
    }

    /// Puts the switches that a switch sends to towards a region other than its own into `next`,
    /// which may repeat.
    pub(crate) fn ways_into_region(&self, from: SwitchId, region: u32, next: &mut Vec<SwitchId>) {
        match self {
            Shape::Grid(grid) => {
                grid.towards(from, SwitchId::new(region), next);
            }
            Shape::Groups(groups) => groups.ways_into_group(from, region, next),
        }
    }
}
