//! Matchings: the ports that optical switches connect, for a demand between pods.
//!
//! Source: "Bandwidth Steering in HPC Using Silicon Nanophotonics" (G. Michelogiannakis and others,
//! SC19): one optical switch after the other gets a matching with the greatest weight between its
//! ports, and weights fall as a pair of pods gets more circuits. The best choice over all switches
//! is NP-complete. The weight T/(1 + L), for a pair with demand T that has L circuits already, is
//! assumed; the source names none.
//!
//! A pair's circuits are then worth T·(1 + 1/2 + … + 1/L). If no pod has two ports on one switch,
//! each switch adds the most that it can, so the sum is at least half the best possible one (M.
//! Fisher, G. Nemhauser, L. Wolsey, "An analysis of approximations for maximizing submodular set
//! functions II", 1978).

use std::convert::Infallible;

use rustworkx_core::max_weight_matching::max_weight_matching;
use rustworkx_core::petgraph::graph::UnGraph;

use std::collections::BTreeMap;

/// Traffic between pods, per time or in all, in any unit. Both directions are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    pods: u32,
    /// Traffic by the lower and the higher pod; pairs without traffic are left out.
    pairs: BTreeMap<(u32, u32), u64>,
}

/// Largest demand of a pair; larger ones are cut to it, so that weights stay exact.
pub(crate) const DEMAND_MAX: u64 = 1 << 52;

impl Demand {
    /// Sums sends, given as source, destination and amount in any order, among `pods` pods. Traffic
    /// within a pod is left out.
    ///
    /// # Panics
    /// A pod that is out of range, which is the caller's mistake.
    pub fn of(pods: u32, sends: impl IntoIterator<Item = (u32, u32, u64)>) -> Demand {
        let mut pairs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (src, dst, amount) in sends {
            assert!(src < pods && dst < pods, "demands are between pods");
            if src != dst && amount > 0 {
                let pair = pairs.entry((src.min(dst), src.max(dst))).or_default();
                *pair = pair.saturating_add(amount).min(DEMAND_MAX);
            }
        }
        Demand { pods, pairs }
    }

    /// Returns the traffic between two pods.
    pub(crate) fn between(&self, a: u32, b: u32) -> u64 {
        let pair = (a.min(b), a.max(b));
        self.pairs.get(&pair).copied().unwrap_or(0)
    }

    /// Returns the traffic that each pod sends and receives.
    fn of_pods(&self) -> Vec<u64> {
        let mut sums = vec![0_u64; self.pods as usize];
        for (&(a, b), &amount) in &self.pairs {
            for pod in [a, b] {
                sums[pod as usize] = sums[pod as usize].saturating_add(amount);
            }
        }
        sums
    }
}

/// Rules by which uplinks stay in the tree. Each circuit costs the tree bandwidth: it takes one
/// uplink from both its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Least load for a circuit, in thousandths of the load that an uplink would carry if the pod's
    /// demand were spread over all its uplinks. At 1,000 no uplink is worse used than before; 0
    /// sets every circuit with traffic.
    pub least_share: u32,
    /// Uplinks at each pod that stay in the tree in any case. Without any, a pod reaches only those
    /// with which it has circuits.
    pub keep: u32,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            least_share: 1_000,
            keep: 1,
        }
    }
}

/// Chooses circuits on optical switches; `switches` has the pod at each port. Returns for each
/// switch the port pairs to connect, the lower port first, ascending. All other ports stay in the
/// tree.
///
/// For k switches with r ports the time is O(k·r⁴). A fixed hash over switch and ports breaks ties.
///
/// # Panics
/// A pod that is out of range, or a switch with more than 128 ports. Either is the caller's
/// mistake.
pub fn steer(demand: &Demand, switches: &[Vec<u32>], policy: Policy) -> Vec<Vec<(u16, u16)>> {
    // With more ports the tie bits of a matching could add up to a unit of weight.
    let small = switches.iter().all(|ports| ports.len() <= PORTS_MAX);
    assert!(small, "weights are exact for {PORTS_MAX} ports");
    let mut uplinks = vec![0_u32; demand.pods as usize];
    for &pod in switches.iter().flatten() {
        uplinks[pod as usize] += 1;
    }
    let mut state = State {
        demand,
        policy,
        demand_of: demand.of_pods(),
        free: uplinks
            .iter()
            .map(|all| all.saturating_sub(policy.keep))
            .collect(),
        uplinks,
        circuits: BTreeMap::new(),
    };
    let switches = (0..).zip(switches);
    switches
        .map(|(index, ports)| state.decide(index, ports))
        .collect()
}

/// Progress from one switch to the next.
struct State<'d> {
    demand: &'d Demand,
    policy: Policy,
    /// Traffic that each pod sends and receives.
    demand_of: Vec<u64>,
    /// Uplinks of each pod to optical switches.
    uplinks: Vec<u32>,
    /// Uplinks at each pod that may still become circuits.
    free: Vec<u32>,
    /// Circuits that each pod pair has already.
    circuits: BTreeMap<(u32, u32), u32>,
}

/// Factor on weights. It is divisible by 1 to 16, so weights are exact for as many circuits between
/// two pods.
const SCALE: i128 = 720_720;
/// Most ports on a switch, for which sums of weights are exact.
pub(crate) const PORTS_MAX: usize = 128;
/// Bits that break ties. A matching on 128 ports has 64 edges, whose tie bits together are less
/// than one unit of weight.
const TIE_BITS: u32 = 44;

impl State<'_> {
    /// Chooses the circuits on the next switch.
    fn decide(&mut self, index: u32, ports: &[u32]) -> Vec<(u16, u16)> {
        let mut graph: UnGraph<u16, i128> = UnGraph::default();
        let mut offered: BTreeMap<u32, u32> = BTreeMap::new();
        let mut nodes = Vec::new();
        for (port, &pod) in (0..).zip(ports) {
            let count = offered.entry(pod).or_default();
            *count += 1;
            // A pod offers only as many ports as may still become circuits.
            if *count <= self.free[pod as usize] {
                nodes.push((port, pod, graph.add_node(port)));
            }
        }
        for (place, &(a, pod, node)) in nodes.iter().enumerate() {
            for &(b, other, peer) in &nodes[place + 1..] {
                let tie = tie(index, a, b);
                if let Some(weight) = self.weight(pod, other) {
                    // Six bits more hold the sum over the 64 edges of a matching.
                    graph.add_edge(node, peer, (weight << (TIE_BITS + 6)) + tie);
                }
            }
        }
        let weight = |edge: rustworkx_core::petgraph::graph::EdgeReference<'_, i128>| {
            Ok::<i128, Infallible>(*edge.weight())
        };
        // Greatest weight, even if more pairs could be joined with less.
        let Ok(found) = max_weight_matching(&graph, false, weight, false);
        let port_of = |node: usize| nodes[node].0;
        let mut pairs: Vec<(u16, u16)> = found
            .into_iter()
            .map(|(a, b)| (port_of(a).min(port_of(b)), port_of(a).max(port_of(b))))
            .collect();
        pairs.sort_unstable();
        for &(a, b) in &pairs {
            let [a, b] = [a, b].map(|port| ports[usize::from(port)]);
            *self.circuits.entry((a.min(b), a.max(b))).or_default() += 1;
            for pod in [a, b] {
                self.free[pod as usize] -= 1;
            }
        }
        pairs
    }

    /// Returns what one more circuit between two pods is worth; `None` if it would hurt one of
    /// them.
    fn weight(&self, a: u32, b: u32) -> Option<i128> {
        let amount = i128::from(self.demand.between(a, b));
        if a == b || amount == 0 {
            return None;
        }
        let known = self.circuits.get(&(a.min(b), a.max(b)));
        let parts = i128::from(known.copied().unwrap_or(0)) + 1;
        let hurts = |pod: u32| {
            let share = i128::from(self.demand_of[pod as usize]) * parts;
            // amount / parts against demand / uplinks · least_share / 1,000, without division.
            let carried = amount * i128::from(self.uplinks[pod as usize]) * 1_000;
            carried < share * i128::from(self.policy.least_share)
        };
        (!hurts(a) && !hurts(b)).then(|| amount * SCALE / parts)
    }
}

/// Returns the tie-breaker for an edge: the finaliser of `SplitMix64`, so that sums over different
/// edges are not equal either.
fn tie(switch: u32, a: u16, b: u16) -> i128 {
    let edge = u64::from(switch) << 32 | u64::from(a) << 16 | u64::from(b);
    let mut z = edge.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    i128::from((z ^ (z >> 31)) >> (64 - TIE_BITS))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Policy = Policy {
        least_share: 0,
        keep: 0,
    };

    #[test]
    fn the_heaviest_matching_and_not_the_heaviest_pair() {
        // A chain 0 -5- 1 -6- 2 -5- 3: the two outer pairs have more than the one in the middle.
        let demand = Demand::of(4, [(0, 1, 5), (1, 2, 6), (3, 2, 5)]);
        let switches = [vec![0, 1, 2, 3]];
        assert_eq!(steer(&demand, &switches, ALL), [[(0, 1), (2, 3)]]);
    }

    #[test]
    fn a_triangle_is_no_bipartite_graph() {
        let demand = Demand::of(3, [(0, 1, 3), (1, 2, 4), (2, 0, 5)]);
        assert_eq!(steer(&demand, &[vec![0, 1, 2]], ALL), [[(0, 2)]]);
    }

    #[test]
    fn a_pair_with_circuits_counts_less() {
        // Pods 0 and 1 send each other 10, 0 and 2 send 6: 10, then 6 against 5, then 5 against 3.
        let demand = Demand::of(3, [(0, 1, 10), (0, 2, 6)]);
        let switches = [vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2]];
        let chosen = steer(&demand, &switches, ALL);
        assert_eq!(chosen, [[(0, 1)], [(0, 2)], [(0, 1)]]);
    }

    #[test]
    fn circuits_stop_where_they_hurt() {
        // Three uplinks each. Pods 0 and 1 send each other 90 of the 120 that each has: an uplink
        // in the tree would carry 40. 90 and 45 are more, 30 is less.
        let demand = Demand::of(4, [(0, 1, 90), (0, 2, 30), (1, 3, 30)]);
        let switches = [vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![0, 1, 2, 3]];
        let policy = Policy {
            least_share: 1_000,
            keep: 0,
        };
        let chosen = steer(&demand, &switches, policy);
        // The tree then has the 30 on one uplink instead of 120 on three.
        assert_eq!(chosen, [vec![(0, 1)], vec![(0, 1)], vec![]]);
        // One uplink stays in any case, two if asked for.
        let keep = |keep| {
            let policy = Policy {
                least_share: 0,
                keep,
            };
            steer(&demand, &switches, policy).concat().len()
        };
        assert_eq!((keep(3), keep(2)), (0, 1));
    }

    #[test]
    fn several_ports_of_a_pod_are_matched_with_others() {
        let demand = Demand::of(3, [(0, 1, 8), (0, 2, 7), (0, 0, 99)]);
        let chosen = steer(&demand, &[vec![0, 0, 1, 2]], ALL);
        let mut peers: Vec<u16> = chosen[0].iter().map(|&(_, b)| b).collect();
        peers.sort_unstable();
        assert_eq!(peers, [2, 3], "{chosen:?}");
    }

    /// T·(1 + 1/2 + … + 1/L) of all pairs, in units of [`SCALE`].
    fn worth(demand: &Demand, switches: &[Vec<u32>], chosen: &[Vec<(u16, u16)>]) -> i128 {
        let mut circuits: BTreeMap<(u32, u32), i128> = BTreeMap::new();
        let mut sum = 0;
        for (ports, pairs) in switches.iter().zip(chosen) {
            for &(a, b) in pairs {
                let [a, b] = [a, b].map(|port| ports[usize::from(port)]);
                let count = circuits.entry((a.min(b), a.max(b))).or_default();
                *count += 1;
                sum += i128::from(demand.between(a, b)) * SCALE / *count;
            }
        }
        sum
    }

    /// All matchings between some ports.
    fn matchings(ports: &[u16]) -> Vec<Vec<(u16, u16)>> {
        let Some((&first, rest)) = ports.split_first() else {
            return vec![Vec::new()];
        };
        let mut all = matchings(rest);
        for &other in rest {
            let left: Vec<u16> = rest.iter().copied().filter(|&port| port != other).collect();
            for mut matching in matchings(&left) {
                matching.insert(0, (first, other));
                all.push(matching);
            }
        }
        all
    }

    /// The best worth over all choices of all switches.
    fn best(demand: &Demand, switches: &[Vec<u32>], chosen: &mut Vec<Vec<(u16, u16)>>) -> i128 {
        if chosen.len() == switches.len() {
            return worth(demand, switches, chosen);
        }
        let ports: Vec<u16> = (0..switches[chosen.len()].len() as u16).collect();
        let mut most = 0;
        for matching in matchings(&ports) {
            chosen.push(matching);
            most = most.max(best(demand, switches, chosen));
            chosen.pop();
        }
        most
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// One switch is decided exactly, and several are worth at least half of the best choice.
        #[test]
        fn at_least_half_of_the_best(
            amounts in proptest::collection::vec(0_u64..20, 15),
            switches in proptest::collection::vec(
                proptest::sample::subsequence((0..6_u32).collect::<Vec<_>>(), 2..=6),
                1..=2,
            ),
        ) {
            let pairs = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
            let demand = Demand::of(6, pairs.zip(amounts).map(|((a, b), t)| (a, b, t)));
            let chosen = steer(&demand, &switches, ALL);
            let mut used = Vec::new();
            for pairs in &chosen {
                used.clear();
                used.extend(pairs.iter().flat_map(|&(a, b)| [a, b]));
                used.sort_unstable();
                prop_assert!(used.is_sorted_by(|a, b| a < b), "a port is used once");
            }
            let found = worth(&demand, &switches, &chosen);
            let most = best(&demand, &switches, &mut Vec::new());
            prop_assert!(2 * found >= most, "{found} of {most}");
            if switches.len() == 1 {
                prop_assert_eq!(found, most);
            }
            prop_assert_eq!(chosen, steer(&demand, &switches, ALL), "the same again");
        }
    }
}
