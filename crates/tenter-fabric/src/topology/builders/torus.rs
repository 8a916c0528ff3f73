//! Torus and mesh: switches with coordinates, each cabled to the next ones in every dimension.
//!
//! Source: Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection
//! Networks" (IEEE Transactions on Computers, 1987): the k-ary n-cube, its paths in the order of
//! the dimensions, and the change of channels at one cable of each ring.

use tenter_language::config::component;
use tenter_language::units::{Budget, Rate, Time};

use super::grid::{GridWiring, check_lists, dimensions};
use super::{COUNTS, DELAYS, GridPaths, RATES};
use crate::topology::shape::{Dimension, Grid, Joint};
use crate::topology::{NodeId, SafeClasses, Size, Topology, TopologyError};

component! {
    /// Switches with coordinates, each cabled to the next ones in every dimension, and the last of
    /// each dimension to the first.
    ///
    /// The switch with the coordinates `c1`, `c2`, … is number `c1 + S1 · (c2 + S2 · …)` and called
    /// `switch<c1>-<c2>-…`; host `p` of switch `s` is number `s · hosts_per_switch + p`.
    pub struct Torus as "`fabric` with `kind: torus`", derive(Clone, Debug, PartialEq) {
        /// Number of coordinates of each dimension; their product is the number of switches.
        sizes: Vec<u32>, in COUNTS;
        /// Host ports of each switch.
        hosts_per_switch: u32 = "1", in COUNTS;
        /// Parallel cables between neighbours, for each dimension; 1 in all of them if the list is
        /// empty.
        links: Vec<u32> = "[]", in COUNTS;
        /// `true` cables the last switch of each dimension to the first; with `false` the fabric is
        /// a mesh. In a dimension of two the one cable between them is all there is.
        wrap_around: bool = "true";
        /// The shortest paths that packets may take. In `dimension-order`, with enough lossless
        /// classes, pauses do not wait for each other in a cycle.
        paths: GridPaths = "dimension-order", from "Dally and Seitz (1987)";
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables between switches.
        link_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables between switches.
        link_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
    }
}

impl Torus {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_lists(&self.sizes, &self.links)?;
        self.wiring().size()
    }

    fn wiring(&self) -> GridWiring<'_> {
        let joint = if self.wrap_around {
            Joint::Ring
        } else {
            Joint::Line
        };
        GridWiring {
            grid: Grid {
                dimensions: dimensions(&self.sizes, joint),
                in_order: self.paths == GridPaths::DimensionOrder,
            },
            hosts_per_switch: self.hosts_per_switch,
            links: &self.links,
            host_rate: self.host_rate,
            link_rate: self.link_rate,
            host_delay: self.host_delay,
            link_delay: self.link_delay,
        }
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let wiring = self.wiring();
        let grid = wiring.grid.clone();
        let mut topology = wiring.wire(budget)?;
        let rings = grid.dimensions.iter().filter(|d| d.goes_round());
        let turns = grid.dimensions.iter().filter(|d| d.size > 1);
        // With a single dimension every shortest path is in dimension order.
        let is_safe = grid.in_order || turns.count() < 2;
        topology.safe_classes = SafeClasses {
            // A shortest path crosses the dateline of each ring at most once.
            shortest: is_safe.then_some(rings.count() as u32 + 1),
            // Classes change at datelines alone, which does not break the cycles that detours can
            // close.
            detours: None,
        };
        topology.datelines = datelines(&topology, &grid);
        Ok(topology)
    }
}

/// Returns for each cable whether it leads from a ring's last switch to the first.
fn datelines(topology: &Topology, grid: &Grid) -> Vec<bool> {
    let coordinates = |node: NodeId| grid.coordinates(topology.switch(node).number());
    let wraps = |(dimension, (a, b)): (&Dimension, (u32, u32))| {
        // Cabled switches that far apart are the two ends of the ring.
        dimension.goes_round() && a.abs_diff(b) == dimension.size - 1
    };
    let cables = topology.cables.iter();
    let is_dateline = cables.map(|cable| {
        let nodes = cable.ends.map(|end| end.node);
        if nodes.iter().any(|&node| topology.is_host(node)) {
            return false;
        }
        let [one, other] = nodes.map(coordinates);
        let pairs = one.into_iter().zip(other);
        grid.dimensions.iter().zip(pairs).any(wraps)
    });
    is_dateline.collect()
}
