//! The `jobs` section: keys that are filled in before it is read, and its binding to hosts.

mod bind;
mod draft;
mod flows;
mod operations;
mod pattern;
mod start;
mod workload;
mod workload_pattern;

use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::tree::{Entry, Node, Value};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::spec::JOBS_MAX;

use crate::resolve::device_defaults;

pub(crate) use bind::bind;

/// Names jobs without a name, and gives permutations without a seed `seeds.arrivals` or else the
/// scenario's `seed`.
///
/// Cuts a list that is too long to its first job, so that no reader goes through all of it.
pub(crate) fn fill_in(root: &mut Node, seed: Option<u64>, problems: &Problems) {
    let own = root.word("seed").map_or(Some(1), |word| word.parse().ok());
    let apart = root
        .entry("seeds")
        .and_then(|seeds| seeds.node.word("arrivals"));
    let apart = apart.map(|word| word.parse().ok());
    // A seed that is no number stays out: the reader reports it once, at its own place.
    let seed = apart.unwrap_or(seed.or(own));
    let says_npus = says_generation(root);
    let Some(Value::List(jobs)) = root.entry_mut("jobs").map(|jobs| &mut jobs.value) else {
        return;
    };
    if jobs.len() > JOBS_MAX as usize {
        let what = format!("has more than {JOBS_MAX} jobs");
        problems.push_at("jobs", &what, "spread them over several scenarios");
        jobs.truncate(1);
    }
    for (index, job) in jobs.iter_mut().enumerate() {
        job.fill(&[Entry::unplaced("name", Node::plain(format!("job{index}")))]);
        if let Some(Value::Scalar { quoted, .. }) =
            job.entry_mut("name").map(|name| &mut name.value)
        {
            *quoted = false;
        }
        if let Some(workload) = job.entry_mut("workload") {
            fill_algorithms(workload, says_npus);
        }
        if says_npus {
            job.items_mut("collectives").iter_mut().for_each(as_nccl);
        }
        let collectives = job.entry_mut("collectives").map(|list| &mut list.value);
        let (Some(Value::List(collectives)), Some(seed)) = (collectives, seed) else {
            continue;
        };
        for collective in collectives {
            if collective.word("collective") == Some("permutation") {
                collective.fill(&[Entry::unplaced("seed", Node::plain(seed.to_string()))]);
            }
        }
    }
}

/// Returns true if hosts name their NPU generation, so that NCCL's algorithm choice is known.
fn says_generation(root: &Node) -> bool {
    let path = ["endpoint", "host", "scale_up"];
    let domain = path
        .iter()
        .try_fold(root, |node, key| node.entry(key).map(|entry| &entry.node));
    domain.is_some_and(|of| of.word("generation").is_some_and(|word| word != "none"))
}

/// Gives a collective without an algorithm the one that NCCL uses on servers.
fn as_nccl(collective: &mut Node) {
    let name = collective.word("collective").unwrap_or_default();
    if let Some(algorithm) = CollectiveKind::algorithm_of_servers(name) {
        collective.fill(&[Entry::unplaced("algorithm", Node::plain(algorithm))]);
    }
}

/// Recorded workloads that ran on NCCL.
const OF_NCCL: [&str; 4] = ["kineto", "pytorch-et", "flight-recorder", "nccl-log"];
/// Workloads that do not state their collectives' algorithm.
const OF_ANY: [&str; 5] = ["chakra", "simai", "aicb", "training", "inference"];

/// Gives a workload's collectives NCCL's algorithms if it ran on NCCL, or if hosts name their NPU
/// generation.
pub(crate) fn fill_algorithms(workload: &mut Node, says_npus: bool) {
    let kind = workload.word("kind").unwrap_or_default();
    let recorded = OF_NCCL.contains(&kind);
    // NCCL itself ran a recording, whatever NPUs the simulated hosts name.
    let chooses = recorded || says_npus && OF_ANY.contains(&kind);
    if !chooses {
        return;
    }
    let mut names = vec!["all-reduce", "all-gather", "reduce-scatter"];
    if recorded {
        names.push("all-to-all");
    }
    let algorithm = |name: &&str| {
        let algorithm = CollectiveKind::algorithm_of_servers(name)?;
        let key = name.replace('-', "_");
        Some(Entry::unplaced(&key, Node::plain(algorithm)))
    };
    let algorithms: Vec<Entry> = names.iter().filter_map(algorithm).collect();
    if let Some(own) = device_defaults::mapping(workload, "algorithms") {
        own.fill(&algorithms);
    }
}
