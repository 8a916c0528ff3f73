//! The `jobs` section: its list, and what stands in it before it is read.

mod bind;
mod flows;
mod pattern;
mod start;
mod workload;
mod workload_pattern;

use tenter_workload::spec::{JOBS_MAX, JobSpec};

use tenter_config::Value as _;
use tenter_notation::decode::Section;
use tenter_notation::tree::{Entry, Node, Value};

pub(crate) use bind::bind;

/// Names the jobs that have no name, and gives permutations without a seed that of the scenario.
pub(crate) fn fill_in(root: &mut Node, seed: Option<u64>) {
    let own = root.word("seed").map_or(Some(1), |word| word.parse().ok());
    let seed = seed.or(own);
    let Some(Value::List(jobs)) = root.entry_mut("jobs").map(|jobs| &mut jobs.value) else {
        return;
    };
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

/// Reads `jobs` out of the scenario; `None` when any of them could not be read.
pub(crate) fn read(scenario: &mut Section<'_>) -> Option<Vec<JobSpec>> {
    let (what, help) = match scenario.peek("jobs").map(Node::items) {
        Some([])
            if scenario
                .peek("jobs")
                .is_some_and(|jobs| matches!(jobs.value, Value::List(_))) =>
        {
            (
                "is empty: there is nothing to run".to_owned(),
                "list at least one job",
            )
        }
        Some(jobs) if jobs.len() > JOBS_MAX as usize => (
            format!("has more than {JOBS_MAX} jobs"),
            "spread them over several scenarios",
        ),
        _ => return Vec::read(scenario, "jobs", ()),
    };
    scenario.take("jobs")?.problem(&what, help.to_owned());
    None
}
