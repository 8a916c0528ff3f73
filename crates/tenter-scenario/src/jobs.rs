//! The `jobs` section: what stands in it before it is read, and its binding to hosts.

mod bind;
mod draft;
mod flows;
mod operations;
mod pattern;
mod start;
mod workload;
mod workload_pattern;

use tenter_notation::diagnostics::Problems;
use tenter_notation::tree::{Entry, Node, Value};
use tenter_workload::spec::JOBS_MAX;

pub(crate) use bind::bind;

/// Names the jobs that have no name, and gives permutations without a seed `seeds.arrivals`, or
/// else the `seed`.
///
/// Of a list that is too long only the first job is left, so that no reader goes through all.
pub(crate) fn fill_in(root: &mut Node, seed: Option<u64>, problems: &Problems) {
    let own = root.word("seed").map_or(Some(1), |word| word.parse().ok());
    let apart = root
        .entry("seeds")
        .and_then(|seeds| seeds.node.word("arrivals"));
    let apart = apart.map(|word| word.parse().ok());
    let seed = apart.unwrap_or(seed.or(own));
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
