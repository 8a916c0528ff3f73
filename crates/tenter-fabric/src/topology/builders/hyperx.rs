//! `HyperX`: switches with coordinates, each cabled to all that differ in one coordinate alone.
//!
//! Source: Ahn, Binkert, Davis, `McLaren` and Schreiber, "`HyperX`: Topology, Routing, and
//! Packaging of Efficient Large-Scale Networks" (SC 2009), section 3.

use tenter_language::config::{choice, component};
use tenter_language::units::{Budget, Rate, Time};

use super::grid::{GridWiring, check_lists, dimensions};
use super::{COUNTS, DELAYS, RATES};
use crate::topology::shape::{Grid, Joint};
use crate::topology::{SafeClasses, Size, Topology, TopologyError};

/// Shortest paths that packets may take in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridPaths {
    /// Any of them, as the load balancer chooses.
    All,
    /// Only those that correct one coordinate after the other, beginning with the first dimension.
    DimensionOrder,
}

choice!(GridPaths { "all" => All, "dimension-order" => DimensionOrder });

component! {
    /// Switches with coordinates, each two that differ in one coordinate alone cabled to each
    /// other.
    ///
    /// The switch with the coordinates `c1`, `c2`, … is number `c1 + S1 · (c2 + S2 · …)` and called
    /// `switch<c1>-<c2>-…`; host `p` of switch `s` is number `s · hosts_per_switch + p`.
    pub struct Hyperx as "`fabric` with `kind: hyperx`", derive(Clone, Debug, PartialEq) {
        /// Number of coordinates of each dimension; their product is the number of switches.
        sizes: Vec<u32>, in COUNTS;
        /// Host ports of each switch.
        hosts_per_switch: u32, in COUNTS;
        /// Parallel cables between two switches that differ in a coordinate, for each dimension; 1
        /// in all of them if the list is empty.
        links: Vec<u32> = "[]", in COUNTS;
        /// The shortest paths that packets may take. In `dimension-order` pauses do not wait for
        /// each other in a cycle.
        paths: GridPaths = "all";
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables between switches.
        link_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables between switches.
        link_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
    }
}

impl Hyperx {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_lists(&self.sizes, &self.links)?;
        self.wiring().size()
    }

    fn wiring(&self) -> GridWiring<'_> {
        GridWiring {
            grid: Grid {
                dimensions: dimensions(&self.sizes, Joint::Full),
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
        let links: u32 = wiring.grid.dimensions.iter().map(|d| d.longest()).sum();
        let in_order = wiring.grid.in_order;
        let mut topology = wiring.wire(budget)?;
        // Each switch on a path needs a class. A single link is enough with one, since no packet
        // follows another along it.
        topology.safe_classes = SafeClasses {
            shortest: Some(if in_order || links < 2 { 1 } else { links + 1 }),
            detours: Some(if topology.switches() < 3 {
                1
            } else {
                2 * links + 1
            }),
        };
        Ok(topology)
    }
}
