//! The circuits of a fabric for a traffic demand.
//!
//! The [matching](crate::matching) finds the pairs of leaves that are worth a circuit, and not how
//! many circuits are worth their cost to the tree. So it is called for several numbers of them, and
//! the effect of each answer is estimated with its routes: the busiest link decides, and of equals
//! the shorter way. If circuits do not spill, all traffic of a pair with circuits passes them, so
//! pairs that would get too few for their traffic are left to the tree.

mod greedy;

use std::collections::{BTreeMap, BTreeSet};

use tenter_topology::{NodeId, OpticalPlace, Rewiring, Topology};

use crate::loads::{Estimate, estimate};
use crate::matching::{PORTS_MAX, Policy, steer};
use crate::scenes::{Links, Scenes};
use crate::traffic::Traffic;

pub use greedy::choose_greedily;

/// The most numbers of circuits for each leaf that are tried.
const NUMBERS_MAX: u32 = 8;
/// The most repetitions of one question without the pairs that have too few circuits.
const ROUNDS_MAX: u32 = 8;
/// The most repetitions of all questions, each time for a better answer than the best so far.
const PASSES_MAX: u32 = 3;
/// The share of an uplink's mean load that a circuit must carry, in thousandths: for circuits that
/// are worth it by themselves, and for all circuits with traffic.
const LEAST_SHARES: [u32; 2] = [1_000, 0];

/// A fabric with the chosen circuits.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The fabric with them.
    pub topology: Topology,
    /// Their estimate.
    pub estimate: Estimate,
}

/// Whether optical switches are small enough to be steered.
pub fn can_steer(topology: &Topology) -> bool {
    let mut switches = topology.optics.switches().iter();
    switches.all(|of| of.ports.len() <= PORTS_MAX)
}

/// Chooses circuits for a traffic. Ports that get none keep the one that they have in `home`, if
/// the other end does as well. If nothing is better than `home`, that is the choice.
///
/// # Panics
/// When a switch has more ports than [`can_steer`] allows, or `home` does not join all hosts, which
/// is the caller's mistake.
pub fn choose(home: &Topology, scenes: &Scenes, spills: bool) -> Choice {
    let known = estimate(home, scenes, spills);
    let mut best = Choice {
        topology: home.clone(),
        estimate: known.expect("the fabric joins its hosts"),
    };
    let search = Chooser::new(home, scenes, spills);
    // If no pair is left out, answers do not depend on the best so far.
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

/// A question to the matching.
#[derive(Clone, Debug)]
struct Question {
    policy: Policy,
    /// Optical switches at the beginning of the order that keep their circuits.
    kept: usize,
    /// Pairs of leaves that get no circuit.
    left_out: BTreeSet<(u32, u32)>,
}

/// The inputs that do not change while circuits are chosen.
struct Chooser<'a> {
    home: &'a Topology,
    scenes: &'a Scenes,
    spills: bool,
    /// By optical switch: the ports to leaves, each with its leaf.
    ports: Vec<Vec<(u16, u32)>>,
    /// The order in which optical switches are asked.
    order: Vec<usize>,
    /// The leaves, by node.
    leaf_of: BTreeMap<NodeId, u32>,
    /// By scene, the time of the busiest NIC.
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

    /// All questions, from few circuits to many.
    fn questions(&self) -> Vec<Question> {
        let has_tree = self.home.optics.has_tree();
        let mut uplinks: BTreeMap<u32, u32> = BTreeMap::new();
        for &(_, leaf) in self.ports.iter().flatten() {
            *uplinks.entry(leaf).or_default() += 1;
        }
        let most = uplinks.into_values().max().unwrap_or(0);
        let most = if has_tree {
            most.saturating_sub(1)
        } else {
            self.order.len() as u32
        };
        let step = most.div_ceil(NUMBERS_MAX).max(1);
        let numbers = (1..=most).rev().step_by(step as usize);
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.reverse();
        let question = |number: u32, least_share: u32| Question {
            policy: Policy {
                least_share,
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

    /// Takes the answer to a question for the best if it is.
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
        if topology.unreached().is_some() {
            return;
        }
        if let Some(estimate) = estimate(&topology, self.scenes, self.spills)
            && estimate < best.estimate
        {
            *best = Choice { topology, estimate };
        }
    }

    /// The fabric with the circuits that answer a question.
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

    /// In place of spines, a port that has lost its circuit may still be of use to another one.
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

    /// Whether pairs with too few circuits are left to the tree: not if these spill, nor if leaves
    /// forward traffic of others.
    fn leaves_out(&self) -> bool {
        !self.spills && self.home.optics.has_tree()
    }

    /// The pairs of leaves whose circuits would take as long for their traffic as the busiest link
    /// of the best answer so far, and longer than any NIC.
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

/// The order in which optical switches are asked: those that follow each other are far apart, so
/// that circuits take from all parts of the tree alike. It is that of the multiples of the golden
/// section.
fn spread_order(switches: usize) -> Vec<usize> {
    let common = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let section = (switches * 618 / 1_000).max(1);
    let strides = section..=switches.max(1);
    let stride = strides.into_iter().find(|&of| common(of, switches) == 1);
    let stride = stride.unwrap_or(1);
    (0..switches)
        .map(|place| place * stride % switches)
        .collect()
}

/// The changes from one set of circuits to another.
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
