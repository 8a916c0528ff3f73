//! Arrangements in which paths follow from switch numbers, so that no graph search is needed.

mod dragonfly;
mod grid;

pub(crate) use dragonfly::RouterGroups;
pub(crate) use grid::{Dimension, Grid, Joint};

use crate::topology::ids::SwitchId;

/// Work units charged for one path, or for a cable that may be on it.
const UNITS_PER_PATH: u64 = 4;

/// A fabric's switches in an arrangement where all have hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Switches with coordinates: torus, mesh, `HyperX`.
    Grid(Grid),
    /// Fully connected switch groups, as in a dragonfly.
    Groups(RouterGroups),
}

impl Shape {
    /// Returns the work units for the paths from one switch to all others.
    pub(crate) fn units_of_paths(&self) -> u64 {
        match self {
            Shape::Grid(grid) => u64::from(grid.switches()) * UNITS_PER_PATH,
            Shape::Groups(groups) => groups.looked_at().saturating_mul(UNITS_PER_PATH),
        }
    }

    /// Calls `found` for every other switch, ascending, with the links on the way there and the
    /// neighbours of `from` that begin a shortest path. Neighbours may repeat.
    pub(crate) fn paths(&self, from: SwitchId, found: impl FnMut(SwitchId, u32, &[SwitchId])) {
        match self {
            Shape::Grid(grid) => grid.paths(from, found),
            Shape::Groups(groups) => groups.paths(from, found),
        }
    }

    /// Appends the neighbours of `from` that begin a shortest way into another `region`. They may
    /// repeat.
    pub(crate) fn ways_into_region(&self, from: SwitchId, region: u32, next: &mut Vec<SwitchId>) {
        match self {
            Shape::Grid(grid) => {
                grid.towards(from, SwitchId::new(region), next);
            }
            Shape::Groups(groups) => groups.ways_into_group(from, region, next),
        }
    }
}
