//! Puts optical circuit switches into a fabric.

use tenter_language::config::choice;
use tenter_language::units::{Budget, Time};

use super::spread::round_robin;
use super::{OpticalPlace, OpticalPort, OpticalSwitch, Rewiring};
use crate::topology::{
    Cable, CableEnd, FatTree, LeafSpine, NodeId, PortRef, Topology, TopologyError, TopologySpec,
};

/// Tier in which optical circuit switches are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpticalTier {
    /// Above the leaves, in the cables to the switches there: the flexible fat tree. A cable
    /// becomes two fibres with half its delay, and the initial circuits are the tree's cables.
    AboveLeaves,
    /// Instead of spines in a leaf-spine fabric: each spine becomes an optical switch to which the
    /// leaves' cables lead as before. The initial circuits spread over all leaf pairs as evenly as
    /// possible.
    InPlaceOfSpines,
}

/// Rule for which tree cables lead through the same optical switch. A switch takes one cable from
/// each of several pods, all on one level: to the aggregation switch with the same number in its
/// pod, by the same parallel cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpticalCabling {
    /// Leaves with the same number in their pods share a switch on every level, so only fixed leaf
    /// sets can be joined.
    Straight,
    /// Each level has another Latin square over pods and leaves, and begins with another pod, so a
    /// leaf can be joined with different leaves over each cable. If a pod's leaf count is a prime,
    /// or a power of two up to 256, a leaf meets every leaf in another pod on exactly one level
    /// among that many.
    Rotated,
}

choice!(OpticalCabling { "rotated" => Rotated, "straight" => Straight });

/// Optical circuit switches with equal properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpticalSpec {
    /// Tier in which they are placed.
    pub tier: OpticalTier,
    /// Most ports on each, an even number. Optical spines have one port for each cable.
    pub radix: u16,
    /// Light's delay through a switch.
    pub delay: Time,
    /// Rule that deals a tree's cables to switches; optical spines ignore it.
    pub cabling: OpticalCabling,
}

impl OpticalSpec {
    /// Wires a fabric with these switches in it, and checks it.
    ///
    /// # Errors
    /// An error in the fabric, or the reason why these switches cannot be in it.
    pub fn build(&self, fabric: &TopologySpec, budget: &Budget) -> Result<Topology, TopologyError> {
        let refuse = |what: &str| {
            Err(TopologyError::Optical {
                what: what.to_owned(),
            })
        };
        if self.radix < 2 || !self.radix.is_multiple_of(2) {
            return refuse("an optical switch has an even number of ports, 2 at least");
        }
        // Fibres come on top of the fabric's own cables, whose memory is taken when these are
        // built.
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

    /// Builds the flexible fat tree, whose optical switches take `radix / 2` cables each, sorted by
    /// level and place.
    fn flexible(&self, tree: &FatTree, budget: &Budget) -> Result<Topology, TopologyError> {
        let mut topology = TopologySpec::FatTree(tree.clone()).build(budget)?;
        let hosts = topology.hosts as u32;
        let leaves = hosts / tree.hosts_per_leaf;
        let mut uplinks: Vec<_> = (0..)
            .zip(&topology.cables)
            .filter(|(_, cable)| topology.tier(cable.ends[0].node) == Some(0))
            .map(|(number, cable)| {
                let [leaf, agg] = cable.ends.map(|end| topology.switch(end.node).number());
                // Counted within the pod, so that levels mean the same in all pods.
                let agg = (agg - leaves) % tree.aggs_per_pod;
                let pod = leaf / tree.leaves_per_pod;
                // Ports of a leaf to one aggregation switch are consecutive, so the port tells the
                // parallel cable.
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

    /// Returns the place that a leaf's cable has within its level, by which cables are dealt to
    /// switches.
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

    /// Inserts an optical switch into `cables`, with the circuits that leave them unchanged: port
    /// `i` is at the lower end of cable `i`, and joined with the port at its upper end.
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
            // The existing cable becomes the fibre at the lower port; the upper port gets a new
            // one.
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

    /// Registers an optical switch with its ports, so far without circuits.
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

    /// Builds a leaf-spine fabric with optical switches for spines.
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
        // Spines are the last nodes, so no other number changes. Their cables stay as fibres.
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

/// Irreducible polynomials over two elements, with degrees 1 to 8, as bits.
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

/// Returns a leaf's row in a level's Latin square, whose columns are pods: leaf − level · pod. This
/// is computed in the field with as many elements as a pod has leaves if that is a power of two,
/// and otherwise modulo their number, which is a field for primes. In a field, two leaves from
/// different pods share a row on exactly one level.
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

/// Multiplies in the field with 2^`degree` elements.
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
