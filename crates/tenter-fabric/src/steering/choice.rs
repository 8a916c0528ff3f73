//! Choice of circuits for a traffic demand.
//!
//! The [matching](crate::steering::matching) finds the leaf pairs that are worth a circuit, but not
//! how many circuits are worth their cost to the tree. It is therefore called for several numbers
//! of circuits, and each answer is estimated along its routes: the busiest link decides, and
//! between equals the shorter way. If circuits do not spill, all traffic between leaves with
//! circuits takes these, so pairs that would get too few for their traffic are left to the tree.

mod greedy;

use std::collections::{BTreeMap, BTreeSet};

use crate::topology::{NodeId, OpticalPlace, Rewiring, Topology};

use crate::steering::loads::{Estimate, estimate};
use crate::steering::matching::{PORTS_MAX, Policy, steer};
use crate::steering::scenes::{Links, Scenes};
use crate::steering::traffic::Traffic;

pub use greedy::choose_greedily;

/// Most numbers of circuits for each leaf that are tried.
const NUMBERS_MAX: u32 = 8;
/// Most repetitions of a question, each without the pairs that got too few circuits.
const ROUNDS_MAX: u32 = 8;
/// Most repetitions of all questions, each in search of a better answer than the best so far.
const PASSES_MAX: u32 = 3;
/// Shares of an uplink's mean load that a circuit must carry, in thousandths. The first admits
/// circuits that are worth it by themselves, the second all circuits with traffic.
const LEAST_SHARES: [u32; 2] = [1_000, 0];

/// A fabric with the chosen circuits.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Fabric in which the circuits are set.
    pub topology: Topology,
    /// Estimate for the traffic over these circuits.
    pub estimate: Estimate,
}

/// Returns true if all optical switches are small enough for the matching.
pub fn can_steer(topology: &Topology) -> bool {
    let mut switches = topology.optics.switches().iter();
    switches.all(|of| of.ports.len() <= PORTS_MAX)
}

/// Chooses circuits for the traffic in `scenes`. Ports that get no new circuit keep the one they
/// have in `home`, provided that the other end keeps it, too. If nothing is better than `home`,
/// that is the choice.
///
/// # Panics
/// A switch with more ports than [`can_steer`] allows, or a `home` that does not join all hosts.
/// Either is the caller's mistake.
pub fn choose(home: &Topology, scenes: &Scenes, spills: bool) -> Choice {
    let known = estimate(home, scenes, spills);
    let mut best = Choice {
        topology: home.clone(),
        estimate: known.expect("the fabric joins its hosts"),
    };
    let search = Chooser::new(home, scenes, spills);
    // If no pair is left out, answers do not depend on the best one so far, so a second pass is
    // useless.
    let passes = if search.leaves_out() { PASSES_MAX } else { 1 };
    for _ in 0..passes {
        let before = best.estimate;
        for question in search.questions() {
            search.consider(question, &mut best);
        }
        if best.estimate == before {
            break;
        }
    }
    best
}

/// One question to the matching.
#[derive(Clone, Debug)]
struct Question {
    policy: Policy,
    /// Optical switches at the beginning of the order that keep their circuits.
    kept: usize,
    /// Leaf pairs that get no circuit.
    left_out: BTreeSet<(u32, u32)>,
}

/// Inputs that stay the same while circuits are chosen.
struct Chooser<'a> {
    home: &'a Topology,
    scenes: &'a Scenes,
    spills: bool,
    /// Ports to leaves on each optical switch, each with its leaf.
    ports: Vec<Vec<(u16, u32)>>,
    /// Order in which optical switches are asked.
    order: Vec<usize>,
    /// Number of each leaf, by its node.
    leaf_of: BTreeMap<NodeId, u32>,
    /// Time that the busiest NIC needs in each scene.
    nics: Vec<u128>,
}

impl<'a> Chooser<'a> {
    fn new(home: &'a Topology, scenes: &'a Scenes, spills: bool) -> Chooser<'a> {
        let none = Traffic::new(home);
        let leaf_of: BTreeMap<NodeId, u32> = home
            .host_ids()
            .map(|host| (home.neighbour(host, 0).node, none.leaf_of(host)))
            .collect();
        let ports = home.optics.switches().iter().map(|switch| {
            let ports = (0..).zip(&switch.ports);
            let leaves = ports.filter_map(|(port, of)| {
                let leaf = leaf_of.get(&of.device.node)?;
                Some((port, *leaf))
            });
            leaves.collect()
        });
        Chooser {
            home,
            scenes,
            spills,
            ports: ports.collect(),
            order: spread_order(home.optics.switches().len()),
            leaf_of,
            nics: scenes.iter().map(|of| of.busiest_nic(home)).collect(),
        }
    }

    /// Lists all questions, from few circuits to many.
    fn questions(&self) -> Vec<Question> {
        let has_tree = self.home.optics.has_tree();
        let mut uplinks: BTreeMap<u32, u32> = BTreeMap::new();
        for &(_, leaf) in self.ports.iter().flatten() {
            *uplinks.entry(leaf).or_default() += 1;
        }
        let most = uplinks.into_values().max().unwrap_or(0);
        let most = if has_tree {
            // One uplink at least stays in the tree.
            most.saturating_sub(1)
        } else {
            self.order.len() as u32
        };
        // Counted from the largest number down, so that this one is always tried.
        let step = most.div_ceil(NUMBERS_MAX).max(1);
        let numbers = (1..=most).rev().step_by(step as usize);
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.reverse();
        let question = |number: u32, least_share: u32| Question {
            policy: Policy {
                least_share,
                // In a tree fewer circuits mean more uplinks kept; in place of spines fewer
                // switches asked.
                keep: if has_tree { most + 1 - number } else { 0 },
            },
            kept: if has_tree {
                0
            } else {
                (most - number) as usize
            },
            left_out: BTreeSet::new(),
        };
        let numbers = numbers.into_iter();
        numbers
            .flat_map(|number| LEAST_SHARES.map(|share| question(number, share)))
            .collect()
    }

    /// Asks one question, and keeps its answer if it is the best so far.
    fn consider(&self, mut question: Question, best: &mut Choice) {
        let mut topology = self.answer(&question);
        for _ in 0..ROUNDS_MAX {
            let overloaded = self.overloaded(&topology, best.estimate.busiest);
            if overloaded.is_empty() {
                break;
            }
            question.left_out.extend(overloaded);
            topology = self.answer(&question);
        }
        // Circuits that cut a switch off are refused, however good their estimate.
        if topology.unreached().is_some() {
            return;
        }
        if let Some(estimate) = estimate(&topology, self.scenes, self.spills)
            && estimate < best.estimate
        {
            *best = Choice { topology, estimate };
        }
    }

    /// Returns the fabric with the circuits that answer a question.
    fn answer(&self, question: &Question) -> Topology {
        let steered = &self.order[question.kept..];
        let leaves = |&switch: &usize| self.ports[switch].iter().map(|(_, leaf)| *leaf).collect();
        let leaves: Vec<Vec<u32>> = steered.iter().map(leaves).collect();
        let demand = self.scenes.demand(&question.left_out);
        let chosen = steer(&demand, &leaves, question.policy);
        let mut topology = self.home.clone();
        for (&switch, pairs) in steered.iter().zip(chosen) {
            let number = |place: u16| self.ports[switch][usize::from(place)].0;
            let pairs = pairs.iter().map(|&(a, b)| (number(a), number(b)));
            topology.rewire(&Rewiring {
                switch: switch as u32,
                pairs: pairs.collect(),
                dark: Vec::new(),
            });
        }
        self.join_left_over(&mut topology, steered);
        topology
    }

    /// Joins ports that have lost their circuit with each other, in place of spines. In a tree no
    /// leaf's port is left over: it has a circuit to another leaf, or its link to the tree.
    fn join_left_over(&self, topology: &mut Topology, steered: &[usize]) {
        if topology.optics.has_tree() {
            return;
        }
        for &switch in steered {
            let at = |port: u16| OpticalPlace {
                switch: switch as u32,
                port,
            };
            let mut dark: Vec<(u16, u32)> = self.ports[switch].clone();
            dark.retain(|(port, _)| topology.circuit(at(*port)).is_none());
            let mut pairs = Vec::new();
            while let Some((port, leaf)) = dark.pop() {
                // A circuit from a leaf to itself would carry nothing.
                if let Some(other) = dark.iter().position(|(_, other)| *other != leaf) {
                    pairs.push((dark.remove(other).0, port));
                }
            }
            topology.rewire(&Rewiring {
                switch: switch as u32,
                pairs,
                dark: Vec::new(),
            });
        }
    }

    /// Returns true if pairs with too few circuits are left to the tree. This is not needed if
    /// circuits spill, nor if leaves forward the traffic of others.
    fn leaves_out(&self) -> bool {
        !self.spills && self.home.optics.has_tree()
    }

    /// Lists the leaf pairs whose circuits would need as long for their traffic as the busiest link
    /// in the best answer so far, and longer than any NIC.
    fn overloaded(&self, topology: &Topology, busiest: u128) -> BTreeSet<(u32, u32)> {
        let mut circuits: BTreeMap<(u32, u32), Links> = BTreeMap::new();
        if !self.leaves_out() {
            return BTreeSet::new();
        }
        for ends in topology.direct_circuits() {
            let [one, other] = ends.map(|end| self.leaf_of[&end.node]);
            let rate = topology.cable(ends[0].node, ends[0].port).rate;
            let none = Links { count: 0, rate };
            let pair = (one.min(other), one.max(other));
            circuits.entry(pair).or_insert(none).count += 1;
        }
        let nic: u128 = self.nics.iter().sum();
        let overloaded = circuits.iter().filter(|&(&(a, b), links)| {
            let time = self.scenes.time_of_pair(&self.nics, a, b, *links);
            time > nic && time >= busiest
        });
        overloaded.map(|(pair, _)| *pair).collect()
    }
}

/// Returns the order in which optical switches are asked. It follows multiples of the golden
/// section, so that successive switches are far apart and circuits take from all parts of the tree
/// alike.
fn spread_order(switches: usize) -> Vec<usize> {
    let common = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // The first stride from there on that shares no factor with the count visits every switch.
    let section = (switches * 618 / 1_000).max(1);
    let strides = section..=switches.max(1);
    let stride = strides.into_iter().find(|&of| common(of, switches) == 1);
    let stride = stride.unwrap_or(1);
    (0..switches)
        .map(|place| place * stride % switches)
        .collect()
}

/// Returns the changes that lead from one set of circuits to another.
pub fn rewirings(from: &Topology, to: &Topology) -> Vec<Rewiring> {
    let switches = (0_u32..).zip(from.optics.switches());
    let rewirings = switches.map(|(switch, of)| {
        let mut rewiring = Rewiring {
            switch,
            ..Rewiring::default()
        };
        for port in 0..of.ports.len() as u16 {
            let place = OpticalPlace { switch, port };
            match (from.circuit(place), to.circuit(place)) {
                (old, new) if old == new => {}
                (_, None) => rewiring.dark.push(port),
                // Each pair once, from its lower port.
                (_, Some(peer)) if port < peer => rewiring.pairs.push((port, peer)),
                _ => {}
            }
        }
        rewiring
    });
    let changes = |of: &Rewiring| !of.pairs.is_empty() || !of.dark.is_empty();
    rewirings.filter(changes).collect()
}

#[cfg(test)]
#[path = "choice/tests.rs"]
mod tests;
