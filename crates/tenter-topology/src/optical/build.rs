//! Placement of optical circuit switches in a fabric.

use tenter_config::choice;
use tenter_units::{Budget, Time};

use super::spread::round_robin;
use super::{OpticalPlace, OpticalPort, OpticalSwitch, Rewiring};
use crate::{
    Cable, CableEnd, FatTree, LeafSpine, NodeId, PortRef, Topology, TopologyError, TopologySpec,
};

/// The place of the optical circuit switches in a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpticalTier {
    /// In the cables between leaves and the switches above them: the flexible fat tree. A cable of
    /// the tree becomes two fibres of half its delay, and the initial circuits are the cables of
    /// the tree.
    AboveLeaves,
    /// In place of the spines of a leaf-spine fabric: each spine becomes an optical switch to which
    /// the cables of the leaves lead as before. The initial circuits spread over all pairs of
    /// leaves as evenly as possible.
    InPlaceOfSpines,
}

/// The cables of a tree that lead through one optical switch. Each takes one cable of each of
/// several pods: those to the aggregation switch of one number in its pod, and of one number among
/// the parallel cables to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpticalCabling {
    /// The cables of the leaves of one number in their pods: only fixed sets of leaves can be
    /// joined.
    Straight,
    /// Each level of cables, that is those to one aggregation switch and one of the parallel ones,
    /// has another Latin square of pods and leaves, and another pod first. So a leaf can be joined
    /// with others over each of its cables: where the leaves of a pod are a prime or a power of two
    /// up to 256, with every leaf of another pod over one in that number of levels.
    Rotated,
}

choice!(OpticalCabling { "rotated" => Rotated, "straight" => Straight });

/// Optical circuit switches, all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpticalSpec {
    /// Where they are.
    pub tier: OpticalTier,
    /// The most ports of each, even; those in place of spines have one for each cable.
    pub radix: u16,
    /// Delay of light through one.
    pub delay: Time,
    /// The cables of a tree that share one; those in place of spines have the cables of a spine.
    pub cabling: OpticalCabling,
}

impl OpticalSpec {
    /// Wires a fabric with these switches in it, and checks it.
    ///
    /// # Errors
    /// An error of the fabric, or the reason why these switches cannot be in it.
    pub fn build(&self, fabric: &TopologySpec, budget: &Budget) -> Result<Topology, TopologyError> {
        let refuse = |what: &str| {
            Err(TopologyError::Optical {
                what: what.to_owned(),
            })
        };
        if self.radix < 2 || !self.radix.is_multiple_of(2) {
            return refuse("an optical switch has an even number of ports, 2 at least");
        }
        // Beside the cables of the fabric, whose own memory is taken when it is built.
        fabric.size()?.take_fibres(budget)?;
        match (self.tier, fabric) {
            (OpticalTier::AboveLeaves, TopologySpec::FatTree(tree)) => self.flexible(tree, budget),
            (OpticalTier::InPlaceOfSpines, TopologySpec::LeafSpine(spec)) => {
                self.spines(spec, budget)
            }
            _ => refuse(
                "optical switches are above the leaves of a fat tree or in place of the spines of a leaf-spine fabric; choose one of these kinds",
            ),
        }
    }

    /// The flexible fat tree. An optical switch takes cables of as many pods as it has ports for.
    fn flexible(&self, tree: &FatTree, budget: &Budget) -> Result<Topology, TopologyError> {
        let mut topology = TopologySpec::FatTree(tree.clone()).build(budget)?;
        let hosts = topology.hosts as u32;
        let leaves = hosts / tree.hosts_per_leaf;
        let mut uplinks: Vec<_> = (0..)
            .zip(&topology.cables)
            .filter(|(_, cable)| topology.tier(cable.ends[0].node) == Some(0))
            .map(|(number, cable)| {
                let [leaf, agg] = cable.ends.map(|end| topology.switch(end.node).number());
                let agg = (agg - leaves) % tree.aggs_per_pod;
                let pod = leaf / tree.leaves_per_pod;
                // Parallel cables are next to each other.
                let parallel = u32::from(cable.ends[0].port) % tree.links_per_leaf_agg;
                let level = agg * tree.links_per_leaf_agg + parallel;
                let place = self.place(tree, level, pod, leaf % tree.leaves_per_pod);
                ((level, place), number)
            })
            .collect();
        uplinks.sort_unstable();
        topology.optics.has_tree = true;
        let of_switch = usize::from(self.radix / 2);
        for (switch, uplinks) in (0..).zip(uplinks.chunks(of_switch)) {
            let cables: Vec<u32> = uplinks.iter().map(|(_, cable)| *cable).collect();
            self.insert(&mut topology, switch, &cables);
        }
        Ok(topology)
    }

    /// The place of the cable of a leaf among those of one level: aggregation switch and parallel
    /// cable.
    fn place(&self, tree: &FatTree, level: u32, pod: u32, leaf: u32) -> (u32, u32) {
        match self.cabling {
            OpticalCabling::Straight => (leaf, pod),
            OpticalCabling::Rotated => {
                let pods = tree.core.as_ref().map_or(1, |core| core.pods);
                let moved = latin_square(tree.leaves_per_pod, level, pod, leaf);
                let first = (u64::from(pod) + u64::from(level)) % u64::from(pods);
                (moved, first as u32)
            }
        }
    }

    /// Puts an optical switch into cables, with the circuits that keep them unchanged: port `i` is
    /// at the lower end of cable `i`, and joined with the one at its upper end.
    fn insert(&self, topology: &mut Topology, switch: u32, cables: &[u32]) {
        let halves = |cable: &Cable| {
            let lower = Time::from_ps(cable.delay.ps() / 2);
            (lower, cable.delay.saturating_sub(lower))
        };
        let of = |&cable: &u32| topology.cables[cable as usize];
        let lower = cables.iter().map(of).map(|cable| OpticalPort {
            device: cable.ends[0],
            fibre: halves(&cable).0,
        });
        let upper = cables.iter().map(of).map(|cable| OpticalPort {
            device: cable.ends[1],
            fibre: halves(&cable).1,
        });
        let ports: Vec<OpticalPort> = lower.chain(upper).collect();
        for &cable in cables {
            let of = topology.cables[cable as usize];
            let upper = of.ends[1];
            let own = topology.cables.len() as u32;
            topology.cables.push(Cable {
                ends: [upper, of.ends[0]],
                ..of
            });
            topology.nodes[upper.node].ports[usize::from(upper.port)] =
                PortRef { cable: own, end: 0 };
        }
        self.add(topology, switch, ports);
        let count = cables.len() as u16;
        topology.rewire(&Rewiring {
            switch,
            pairs: (0..count).map(|port| (port, count + port)).collect(),
            dark: Vec::new(),
        });
    }

    fn add(&self, topology: &mut Topology, switch: u32, ports: Vec<OpticalPort>) {
        for (port, of) in (0..).zip(&ports) {
            let place = OpticalPlace { switch, port };
            topology.optics.places.insert(of.device, place);
        }
        topology.optics.switches.push(OpticalSwitch {
            name: format!("ocs{switch}"),
            ports,
            delay: self.delay,
        });
    }

    /// A leaf-spine fabric with optical switches in place of its spines.
    fn spines(&self, spec: &LeafSpine, budget: &Budget) -> Result<Topology, TopologyError> {
        if !spec.overrides.is_empty() {
            return Err(TopologyError::Optical {
                what: "optical switches in place of spines need all pairs of leaf and spine alike; leave out `overrides`".to_owned(),
            });
        }
        let ports = spec.leaves.saturating_mul(spec.links_per_pair);
        if ports > u32::from(self.radix) {
            return Err(TopologyError::Optical {
                what: format!(
                    "each optical switch needs {ports} ports, one for each cable of a leaf to it, and has {}; take fewer leaves, fewer parallel cables, or a greater radix",
                    self.radix
                ),
            });
        }
        let mut topology = TopologySpec::LeafSpine(spec.clone()).build(budget)?;
        let first_spine = NodeId::new(topology.nodes.len() as u32 - spec.spines);
        topology.nodes.truncate(first_spine.index());
        for switch in 0..spec.spines {
            let spine = first_spine.after(switch);
            let fibres: Vec<CableEnd> = topology
                .cables
                .iter()
                .filter(|cable| cable.ends[1].node == spine)
                .map(|cable| cable.ends[0])
                .collect();
            let ports = fibres.iter().map(|&device| OpticalPort {
                device,
                fibre: spec.fabric_delay,
            });
            self.add(&mut topology, switch, ports.collect());
            for port in 0..fibres.len() as u16 {
                topology.darken(OpticalPlace { switch, port });
            }
            let parallel = |number: u32| {
                let round = switch * spec.links_per_pair + number;
                let port = move |leaf: u32| (leaf * spec.links_per_pair + number) as u16;
                let pairs = round_robin(spec.leaves, round).into_iter();
                pairs.map(move |(a, b)| (port(a), port(b)))
            };
            topology.rewire(&Rewiring {
                switch,
                pairs: (0..spec.links_per_pair).flat_map(parallel).collect(),
                dark: Vec::new(),
            });
        }
        topology.hosts_reachable().map_err(|_| {
            let what = "the circuits to begin with do not join all leaves; take more spines, or more `links_per_pair`";
            TopologyError::Optical {
                what: what.to_owned(),
            }
        })?;
        Ok(topology)
    }
}

/// Irreducible polynomials over two elements, of degree 1 to 8.
const IRREDUCIBLE: [u32; 8] = [
    0b11,
    0b111,
    0b1011,
    0b1_0011,
    0b10_0101,
    0b100_0011,
    0b1000_0011,
    0b1_0001_1011,
];

/// The row of a leaf in the Latin square of a level, where pods are columns: leaf − level · pod, in
/// the field of as many elements as a pod has leaves where that is a power of two, and else modulo
/// their number, which is a field for primes. In a field two leaves of different pods are in one
/// row on exactly one level.
fn latin_square(leaves: u32, level: u32, pod: u32, leaf: u32) -> u32 {
    let degree = leaves.trailing_zeros();
    if leaves.is_power_of_two() && (1..=IRREDUCIBLE.len() as u32).contains(&degree) {
        let polynomial = IRREDUCIBLE[degree as usize - 1];
        return leaf ^ product(level % leaves, pod % leaves, polynomial, degree);
    }
    let leaves = u64::from(leaves);
    let moved = u64::from(level) * u64::from(pod) % leaves;
    ((u64::from(leaf) + leaves - moved) % leaves) as u32
}

/// The product in a field of two to the power of `degree` elements.
fn product(a: u32, b: u32, polynomial: u32, degree: u32) -> u32 {
    let mut a = a;
    let mut sum = 0;
    for bit in 0..degree {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        a <<= 1;
        if a >> degree == 1 {
            a ^= polynomial;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::latin_square;

    #[test]
    fn leaves_of_different_pods_meet_on_one_level() {
        for leaves in [2, 3, 4, 5, 7, 8, 16, 64, 256] {
            for (pods, ones) in [((0, 1), (1, 0)), ((0, leaves - 1), (0, leaves / 2))] {
                let row = |level, pod, leaf| latin_square(leaves, level, pod, leaf);
                let meet = |level: &u32| row(*level, pods.0, ones.0) == row(*level, pods.1, ones.1);
                assert_eq!((0..leaves).filter(meet).count(), 1, "{leaves} leaves");
            }
        }
    }

    #[test]
    fn every_row_has_each_leaf_of_a_pod_once() {
        for leaves in [1, 2, 6, 8, 12, 32, 300] {
            let mut rows: Vec<u32> = (0..leaves)
                .map(|leaf| latin_square(leaves, 5, 3, leaf))
                .collect();
            rows.sort_unstable();
            assert_eq!(rows, (0..leaves).collect::<Vec<_>>());
        }
    }
}
