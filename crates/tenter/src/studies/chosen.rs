//! Choice of seeds for studies whose result depends on luck with a hash: only seeds whose paths
//! look as the source shows them are run. Paths follow from addresses and seed, so the choice is
//! made before a run and cannot depend on what is measured.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tenter_fabric::topology::CableEnd;
use tenter_sim::plan::Plan;
use tenter_sim::{HashPath, Options, Simulation, SimulationError};

use crate::studies::leaf::{Leaf, leaves};

/// The key `seeds` in a study that chooses its seeds by conditions on their paths.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenSeeds {
    /// Seeds 1 to `looked_at` are checked against the conditions; the default is `runs`.
    pub looked_at: Option<u64>,
    /// Seeds to run: the first `runs` seeds that meet the conditions.
    pub runs: usize,
    /// Seeds to run in the quick form. If absent, it runs `runs` seeds; with 0 the study has no
    /// quick form.
    pub quick_runs: Option<usize>,
    /// The condition in words, and the place where the source shows it.
    #[serde(default)]
    pub because: String,
    /// Queue pairs on the fullest uplink in the fabric: at least one leaf has an uplink with
    /// exactly this number, and no leaf has one with more.
    pub hottest_uplink: Option<u64>,
    /// Queue pairs on each leaf's fullest uplink, which must have exactly this number.
    pub hottest_uplink_of_each: Option<u64>,
    /// Collisions on each leaf, which must have exactly this number: flows in the same step that
    /// meet on an uplink.
    pub collisions_per_leaf: Option<u64>,
    /// Groups of job names. A group's jobs share links between switches, directly or through other
    /// jobs in the group; jobs from different groups share none.
    pub sharing: Option<Vec<Vec<String>>>,
    /// The variant whose paths decide for all variants, so that all run the same seeds. If absent,
    /// each variant's own paths decide for it.
    pub by: Option<String>,
}

impl ChosenSeeds {
    /// Returns the seeds that are checked against the conditions, in ascending order.
    pub fn candidates(&self) -> std::ops::RangeInclusive<u64> {
        1..=self.looked_at.unwrap_or(self.runs as u64)
    }

    /// Returns true if a plan's paths decide which seeds are run; otherwise the first `runs` are.
    pub fn has_conditions(&self) -> bool {
        let counted = [
            self.hottest_uplink,
            self.hottest_uplink_of_each,
            self.collisions_per_leaf,
        ];
        counted.iter().any(Option::is_some) || self.sharing.is_some()
    }

    /// Returns true if the paths that the plan's hashes give meet all conditions.
    ///
    /// # Errors
    /// Fails if the simulation cannot be built, or its paths cannot be computed.
    pub fn meets(&self, plan: &Plan) -> Result<bool, SimulationError> {
        let simulation = Simulation::new(plan, Options::default())?;
        // If packets are balanced one by one, no hash decides a path, and every seed is as good as
        // any.
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

/// Counts the leaf uplinks that both measured and background jobs use. Returns `None` without
/// background jobs, and if no hash decides the paths.
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

/// Returns true if each group's jobs are connected by shared links between switches, and no link is
/// shared by jobs from two groups.
fn shares_as(groups: &[Vec<String>], plan: &Plan, paths: &[HashPath]) -> bool {
    // Placement decides which jobs share a host's link, the hash which share links between
    // switches: only the latter count.
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
        // The group grows from one job: a job joins as soon as it shares a link with any job that
        // has joined. Jobs that are left over in the end are not connected with the rest.
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

/// Returns the queue-pair count on the leaf's fullest uplink.
fn hottest_uplink(leaf: &Leaf, paths: &[HashPath]) -> u64 {
    // A queue pair has a path for each step of each collective; as a set it counts once.
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

/// Counts collisions on the leaf's uplinks: `n` flows that one collective sends over one uplink in
/// one step are `n` − 1 collisions.
fn collisions(leaf: &Leaf, paths: &[HashPath]) -> u64 {
    let mut flows: BTreeMap<_, u64> = BTreeMap::new();
    for (port, path) in leaving(leaf, paths) {
        let place = (path.job, path.collective, port, path.step);
        *flows.entry(place).or_default() += 1;
    }
    flows.values().map(|flows| flows - 1).sum()
}

/// Returns the flows that leave the leaf for hosts elsewhere, each with its uplink on this leaf.
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
    use crate::resolve::{Format, load};
    use tenter_fabric::topology::{HostId, NodeId};
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
