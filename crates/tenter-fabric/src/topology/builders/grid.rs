//! Wiring for grids: switches with coordinates, in tori and `HyperX` fabrics.

use tenter_language::units::{Budget, Rate, Time};

use super::{check_counts, check_rates};
use crate::topology::shape::{Dimension, Grid, Shape};
use crate::topology::size::Counts;
use crate::topology::wiring::{Wiring, product};
use crate::topology::{NodeId, Size, Topology, TopologyError};

/// Most dimensions, more than any machine has.
const DIMENSIONS_MAX: usize = 16;

const SIZE_PARAMETERS: &str = "`sizes`, `hosts_per_switch` or `links`";

/// Switches in a grid with their hosts and cables.
pub(super) struct GridWiring<'a> {
    pub(super) grid: Grid,
    pub(super) hosts_per_switch: u32,
    /// Parallel cables in each dimension; empty if there is one in each.
    pub(super) links: &'a [u32],
    pub(super) host_rate: Rate,
    pub(super) link_rate: Rate,
    pub(super) host_delay: Time,
    pub(super) link_delay: Time,
}

/// Refuses size and cable lists that make no grid.
pub(super) fn check_lists(sizes: &[u32], links: &[u32]) -> Result<(), TopologyError> {
    let wrong = |parameter, what: String, remedy: String| {
        Err(TopologyError::Parameter {
            parameter,
            what,
            remedy,
        })
    };
    if sizes.is_empty() || sizes.len() > DIMENSIONS_MAX {
        let what = format!("has {} dimensions", sizes.len());
        let remedy = format!("give 1 to {DIMENSIONS_MAX} sizes, for example `[4, 4]`");
        return wrong("sizes", what, remedy);
    }
    if !links.is_empty() && links.len() != sizes.len() {
        let what = format!("has {} counts for {} dimensions", links.len(), sizes.len());
        let remedy = "give one for each dimension, or leave it out".to_owned();
        return wrong("links", what, remedy);
    }
    for (parameter, counts) in [("sizes", sizes), ("links", links)] {
        let counts: Vec<(&str, u32)> = counts.iter().map(|&count| (parameter, count)).collect();
        check_counts(&counts)?;
    }
    Ok(())
}

impl GridWiring<'_> {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[("hosts_per_switch", self.hosts_per_switch)])?;
        check_rates(&[("host_rate", self.host_rate), ("link_rate", self.link_rate)])?;
        let sizes: Vec<u32> = self.grid.dimensions.iter().map(|d| d.size).collect();
        let switches = product(&sizes);
        let hosts = switches.saturating_mul(u128::from(self.hosts_per_switch));
        let dimensions = self.grid.dimensions.iter().enumerate();
        let cables = dimensions.fold(hosts, |sum, (place, dimension)| {
            let rows = switches / u128::from(dimension.size);
            let of_row = dimension
                .joints()
                .saturating_mul(self.links_in(place).into());
            sum.saturating_add(rows.saturating_mul(of_row))
        });
        Counts {
            hosts,
            switches,
            leaves: switches,
            cables,
            // Each switch is a region, which needs no table of its own.
            regions: 0,
        }
        .size(SIZE_PARAMETERS)
    }

    pub(super) fn wire(self, budget: &Budget) -> Result<Topology, TopologyError> {
        let switches = self.grid.switches();
        let hosts = switches * self.hosts_per_switch;
        let mut wiring = Wiring::default();
        wiring.hosts(hosts);
        for switch in 0..switches {
            let at = self.grid.coordinates(switch);
            let at: Vec<String> = at.iter().map(u32::to_string).collect();
            wiring.switch(format!("switch{}", at.join("-")), 0);
        }
        let first = NodeId::new(hosts);
        wiring.connect_hosts(
            first,
            self.hosts_per_switch,
            self.host_rate,
            self.host_delay,
        );
        for switch in 0..switches {
            self.cables_of(switch, hosts, &mut wiring);
        }
        let mut topology = wiring.finish(budget)?;
        topology.regions = (0..switches).collect();
        topology.shape = Some(Shape::Grid(self.grid));
        Ok(topology)
    }

    fn links_in(&self, dimension: usize) -> u32 {
        self.links.get(dimension).copied().unwrap_or(1)
    }

    /// Lays the cables from a switch to neighbours with higher numbers.
    fn cables_of(&self, switch: u32, hosts: u32, wiring: &mut Wiring) {
        let mut stride = 1;
        let at = self.grid.coordinates(switch);
        for (place, (dimension, at)) in self.grid.dimensions.iter().zip(at).enumerate() {
            let beside = dimension.beside(at).into_iter();
            // Each cable is laid once, from its lower end.
            for other in beside.filter(|&other| other > at) {
                let ends = [switch, switch + (other - at) * stride];
                let [a, b] = ends.map(|end| NodeId::new(hosts + end));
                let count = self.links_in(place);
                wiring.connect(a, b, count, self.link_rate, self.link_delay);
            }
            stride *= dimension.size;
        }
    }
}

/// Makes dimensions with these sizes, all cabled the same way.
pub(super) fn dimensions(sizes: &[u32], joint: crate::topology::shape::Joint) -> Vec<Dimension> {
    let sizes = sizes.iter();
    sizes.map(|&size| Dimension { size, joint }).collect()
}
