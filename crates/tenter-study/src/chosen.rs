//! Which seeds are run, where the luck of the hash decides: those whose paths are as a source shows
//! them, which is known before a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tenter_plan::Plan;
use tenter_sim::{HashPath, Options, Simulation, SimulationError};
use tenter_topology::CableEnd;

use crate::leaf::{Leaf, leaves};

/// Which seeds are run: those that meet conditions, which are known before a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenSeeds {
    /// Seeds 1 to this are looked at, 1 to `runs` without.
    pub looked_at: Option<u64>,
    /// Of those that meet the conditions, the first `runs` are run.
    pub runs: usize,
    /// As many in a quick run, which has all seeds without this; with zero there is none.
    pub quick_runs: Option<usize>,
    /// The condition in words, and where the source shows it.
    #[serde(default)]
    pub because: String,
    /// On each leaf, the uplink with the most queue pairs has at most so many, and on at least one
    /// exactly so many.
    pub hottest_uplink: Option<u64>,
    /// On each leaf, the uplink with the most queue pairs has exactly so many.
    pub hottest_uplink_of_each: Option<u64>,
    /// On each leaf, flows of the same step meet on an uplink so many times.
    pub collisions_per_leaf: Option<u64>,
    /// Names of jobs in groups: those of a group share a link between switches, directly or by
    /// way of others of the group, and those of different groups share none.
    pub sharing: Option<Vec<Vec<String>>>,
    /// The variant whose paths must meet the conditions, for all variants alike; each variant's own
    /// where this is missing.
    pub by: Option<String>,
}

impl ChosenSeeds {
    /// The seeds that may be run, in their order.
    pub fn candidates(&self) -> std::ops::RangeInclusive<u64> {
        1..=self.looked_at.unwrap_or(self.runs as u64)
    }

    /// Whether which seeds are run depends on the paths of a plan.
    pub fn has_conditions(&self) -> bool {
        let counted = [
            self.hottest_uplink,
            self.hottest_uplink_of_each,
            self.collisions_per_leaf,
        ];
        counted.iter().any(Option::is_some) || self.sharing.is_some()
    }

    /// Whether the paths of a plan meet the conditions.
    ///
    /// # Errors
    /// Those of building a simulation.
    pub fn meets(&self, plan: &Plan) -> Result<bool, SimulationError> {
        let simulation = Simulation::new(plan, Options::default())?;
        // Where packets are balanced one by one no hash decides.
        let Some(paths) = simulation.hash_paths()? else {
            return Ok(true);
        };
        let leaves = leaves(&plan.topology);
        let all_are = |of: fn(&Leaf, &[HashPath]) -> u64, wanted: Option<u64>| {
            wanted.is_none_or(|wanted| leaves.iter().all(|leaf| of(leaf, &paths) == wanted))
        };
        let each = all_are(hottest_uplink, self.hottest_uplink_of_each);
        let collisions = all_are(collisions, self.collisions_per_leaf);
        let hottest = self.hottest_uplink.is_none_or(|wanted| {
            let most = leaves.iter().map(|leaf| hottest_uplink(leaf, &paths));
            most.max() == Some(wanted)
        });
        let shared = self.sharing.as_ref();
        let shared = shared.is_none_or(|groups| shares_as(groups, plan, &paths));
        Ok(hottest && each && collisions && shared)
    }
}

/// How many uplinks of leaves jobs under test and background jobs both use; `None` where there are
/// no background jobs, or where no hash decides.
pub(crate) fn shared_uplinks(plan: &Plan) -> Option<u64> {
    if plan.jobs.iter().all(|job| !job.background) {
        return None;
    }
    let simulation = Simulation::new(plan, Options::default()).ok()?;
    let paths = simulation.hash_paths().ok()??;
    let users = |leaf: &Leaf, background: bool| -> BTreeSet<u16> {
        let paths = leaving(leaf, &paths);
        let own = paths.filter(|(_, path)| plan.jobs[path.job.index()].background == background);
        own.map(|(port, _)| port).collect()
    };
    let shared = |leaf: &Leaf| users(leaf, false).intersection(&users(leaf, true)).count() as u64;
    Some(leaves(&plan.topology).iter().map(shared).sum())
}

/// Whether jobs share links between switches with those of their own group, and with no others.
fn shares_as(groups: &[Vec<String>], plan: &Plan, paths: &[HashPath]) -> bool {
    let is_trunk = |end: &CableEnd| {
        let peer = plan.topology.neighbour(end.node, end.port).node;
        !plan.topology.is_host(peer)
    };
    let links = |job: &String| -> BTreeSet<CableEnd> {
        let own = paths
            .iter()
            .filter(|path| plan.jobs[path.job.index()].name == *job);
        own.flat_map(|path| path.ports.iter().copied().filter(is_trunk))
            .collect()
    };
    let mut seen: BTreeSet<CableEnd> = BTreeSet::new();
    for group in groups {
        let mut waiting: Vec<_> = group.iter().map(links).collect();
        let mut together = waiting.pop().unwrap_or_default();
        while let Some(next) = waiting.iter().position(|own| !own.is_disjoint(&together)) {
            together.extend(waiting.swap_remove(next));
        }
        if !waiting.is_empty() || !seen.is_disjoint(&together) {
            return false;
        }
        seen.extend(together);
    }
    true
}

/// The most queue pairs on one uplink of a leaf.
fn hottest_uplink(leaf: &Leaf, paths: &[HashPath]) -> u64 {
    let mut pairs: BTreeMap<u16, BTreeSet<_>> = BTreeMap::new();
    for (port, path) in leaving(leaf, paths) {
        let pair = (path.job, path.from, path.to, path.queue_pair);
        pairs.entry(port).or_default().insert(pair);
    }
    pairs
        .values()
        .map(|pairs| pairs.len() as u64)
        .max()
        .unwrap_or(0)
}

/// How often flows of the same step of a collective meet on an uplink of a leaf: of several that
/// meet, each beyond the first counts.
fn collisions(leaf: &Leaf, paths: &[HashPath]) -> u64 {
    let mut flows: BTreeMap<_, u64> = BTreeMap::new();
    for (port, path) in leaving(leaf, paths) {
        let place = (path.job, path.collective, port, path.step);
        *flows.entry(place).or_default() += 1;
    }
    flows.values().map(|flows| flows - 1).sum()
}

/// The flows that leave a leaf, each with its uplink.
fn leaving<'a>(leaf: &'a Leaf, paths: &'a [HashPath]) -> impl Iterator<Item = (u16, &'a HashPath)> {
    let paths = paths
        .iter()
        .filter(|path| leaf.is_left_by(path.from, path.to));
    paths.filter_map(|path| {
        let mut ports = path.ports.iter();
        let end = ports.find(|end| end.node == leaf.node)?;
        Some((end.port, path))
    })
}

#[cfg(test)]
mod tests {
    use tenter_scenario::{Format, load};
    use tenter_topology::{HostId, NodeId};
    use tenter_workload::JobId;

    use super::*;

    fn leaf() -> Leaf {
        Leaf {
            name: "leaf0".to_owned(),
            node: NodeId::new(4),
            hosts: HostId::new(0).run(2).collect(),
            uplinks: vec![2, 3],
        }
    }

    fn end(node: u32, port: u16) -> CableEnd {
        let node = NodeId::new(node);
        CableEnd { node, port }
    }

    fn path(to: u32, pair: u16, step: u32, port: u16) -> HashPath {
        HashPath {
            job: JobId::new(0),
            collective: 0,
            step,
            from: HostId::new(0),
            to: HostId::new(to),
            queue_pair: (0, pair),
            ports: vec![end(4, port), end(7, 1)],
        }
    }

    #[test]
    fn a_queue_pair_counts_once_on_its_uplink() {
        let paths = [
            path(2, 0, 0, 2),
            path(2, 0, 1, 2),
            path(2, 1, 0, 2),
            path(3, 0, 0, 3),
        ];
        assert_eq!(hottest_uplink(&leaf(), &paths), 2);
        assert_eq!(hottest_uplink(&leaf(), &[]), 0);
    }

    #[test]
    fn jobs_share_links_within_their_groups_only() {
        let text = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 3, spines: 2}
jobs:
  - {name: a, ranks: [0, 3], collectives: [{collective: gather, size: 1MiB}]}
  - {name: b, ranks: [1, 4], collectives: [{collective: gather, size: 1MiB}]}
  - {name: c, ranks: [2, 5], collectives: [{collective: gather, size: 1MiB}]}
";
        let loaded = load(text, "x.yaml", Format::Yaml, &[], None).expect("it holds");
        // Leaves are nodes 6 and 7, spines 8 and 9; port 3 of a leaf leads to the first spine.
        let over = |job: u16, spine: u16| HashPath {
            job: JobId::new(job),
            ports: vec![end(6, 3 + spine), end(8 + u32::from(spine), 1), end(7, job)],
            ..path(u32::from(job) + 3, 0, 0, 0)
        };
        let groups = |names: &[&[&str]]| -> Vec<Vec<String>> {
            let group = |names: &&[&str]| names.iter().map(|&name| name.to_owned()).collect();
            names.iter().map(group).collect()
        };
        let shares =
            |paths: &[HashPath], names: &[&[&str]]| shares_as(&groups(names), &loaded.plan, paths);
        let paths = [over(0, 0), over(1, 1), over(2, 1)];
        assert!(shares(&paths, &[&["a"], &["b", "c"]]));
        assert!(!shares(&paths, &[&["a"], &["b"], &["c"]]));
        assert!(!shares(&paths, &[&["a", "b"], &["c"]]));
        assert!(!shares(&paths, &[&["a", "b", "c"]]));
    }

    #[test]
    fn flows_meet_in_the_same_step_alone() {
        let apart = [path(2, 0, 0, 2), path(3, 0, 1, 2), path(3, 1, 0, 3)];
        assert_eq!(collisions(&leaf(), &apart), 0);
        let meeting = [path(2, 0, 0, 2), path(3, 0, 0, 2), path(3, 1, 0, 2)];
        assert_eq!(collisions(&leaf(), &meeting), 2);
        // What stays below the leaf meets nobody on its uplinks.
        let staying = [path(1, 0, 0, 2), path(1, 1, 0, 2)];
        assert_eq!(collisions(&leaf(), &staying), 0);
    }
}
