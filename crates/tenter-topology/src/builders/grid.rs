//! Wiring of switches with coordinates, which tori and `HyperX` fabrics share.

use tenter_units::{Rate, Time};

use super::{check_counts, check_rates};
use crate::shape::{Dimension, Grid, Shape};
use crate::wiring::{Wiring, check_size, product};
use crate::{NodeId, Topology, TopologyError};

/// More dimensions than any machine has.
const DIMENSIONS_MAX: usize = 16;

const SIZE_PARAMETERS: &str = "`sizes`, `hosts_per_switch` or `links`";

/// Switches with coordinates, their hosts and their cables.
pub(super) struct GridWiring<'a> {
    pub(super) grid: Grid,
    pub(super) hosts_per_switch: u32,
    /// Parallel cables in each dimension; none where there is one.
    pub(super) links: &'a [u32],
    pub(super) host_rate: Rate,
    pub(super) link_rate: Rate,
    pub(super) host_delay: Time,
    pub(super) link_delay: Time,
}

/// Refuses counts, lists and rates that make no grid.
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
    pub(super) fn wire(self) -> Result<Topology, TopologyError> {
        check_counts(&[("hosts_per_switch", self.hosts_per_switch)])?;
        check_rates(&[("host_rate", self.host_rate), ("link_rate", self.link_rate)])?;
        let sizes: Vec<u32> = self.grid.dimensions.iter().map(|d| d.size).collect();
        let switches = product(&sizes);
        let hosts = switches.saturating_mul(u128::from(self.hosts_per_switch));
        check_size(hosts, hosts, SIZE_PARAMETERS)?;
        let dimensions = self.grid.dimensions.iter().enumerate();
        // No coordinate has more neighbours than its first one has, or the second one of a line.
        let degrees = dimensions.map(|(place, dimension)| {
            let beside = dimension.beside(u32::from(dimension.size > 2)).len();
            beside as u128 * u128::from(self.links_in(place))
        });
        let degree: u128 = degrees.sum();
        let cables = switches.saturating_mul(degree) / 2;
        check_size(hosts, hosts.saturating_add(cables), SIZE_PARAMETERS)?;
        let (hosts, switches) = (hosts as u32, self.grid.switches());
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
        let mut topology = wiring.finish()?;
        topology.regions = (0..switches).collect();
        topology.shape = Some(Shape::Grid(self.grid));
        Ok(topology)
    }

    fn links_in(&self, dimension: usize) -> u32 {
        self.links.get(dimension).copied().unwrap_or(1)
    }

    /// The cables of a switch to those with higher numbers.
    fn cables_of(&self, switch: u32, hosts: u32, wiring: &mut Wiring) {
        let mut stride = 1;
        let at = self.grid.coordinates(switch);
        for (place, (dimension, at)) in self.grid.dimensions.iter().zip(at).enumerate() {
            let beside = dimension.beside(at).into_iter();
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

/// The dimensions of some sizes, all with the same cables.
pub(super) fn dimensions(sizes: &[u32], joint: crate::shape::Joint) -> Vec<Dimension> {
    let sizes = sizes.iter();
    sizes.map(|&size| Dimension { size, joint }).collect()
}
