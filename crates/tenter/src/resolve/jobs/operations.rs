//! Operation graphs, bound once their job's ranks are known.

use tenter_sim::plan::SIMULATED_MAX;
use tenter_workload::{CollectiveRun, Compute, Job, Operations, QueuePairScope, Traffic};

use super::draft::Entry;
use crate::resolve::hosts::HostNames;

/// Gives the job its graph, whose rank count must equal the job's.
pub(super) fn bind(
    operations: Operations,
    names: &HostNames<'_>,
    path: &str,
    job: &mut Job,
) -> Option<Vec<Entry>> {
    let (of_file, of_job) = (operations.graph.ranks(), job.ranks());
    if of_file != of_job {
        let message = format!("the file has {of_file} ranks, and the job has {of_job}");
        let help = format!("leave `ranks` out, or give {of_file} of them");
        names.note(&format!("{path}.file"), message, &help);
        return None;
    }
    if job.queue_pair_scope == QueuePairScope::Chunk && !operations.graph.collectives().is_empty() {
        let message = "gives each message its own queue pairs, and the graph has collectives";
        let help = "remove `queue_pair_scope`";
        let job = path.strip_suffix(".workload").unwrap_or(path);
        names.note(&format!("{job}.queue_pair_scope"), message.to_owned(), help);
        return None;
    }
    if operations.computing() > SIMULATED_MAX {
        let message =
            format!("a rank computes for longer than {SIMULATED_MAX}, the longest simulation");
        let help = "give a smaller `compute_scale`";
        names.note(&format!("{path}.compute_scale"), message, help);
        return None;
    }
    let size_bytes = operations.graph.size_bytes();
    let traffic = Traffic::Operations(operations);
    job.sequence.push(CollectiveRun {
        traffic: traffic.clone(),
        size_bytes,
        drawn_from_bytes: None,
        compute: Compute::default(),
    });
    Some(vec![Entry {
        traffic,
        largest_bytes: size_bytes,
        path: path.to_owned(),
    }])
}
