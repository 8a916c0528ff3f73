//! What the ranks of trainings and inferences have measured, and what they have sent.

use std::collections::BTreeMap;

use tenter_workload::graph::{GraphSchedule, Metered};
use tenter_workload::transformer::{Parallelism, Stream};

use crate::network::{Context, Driver, NodeModel};

/// What ranks have measured, by job and turn, in the order of ranks.
type Ranks<'a> = BTreeMap<(u16, u32), BTreeMap<u32, &'a Metered>>;

/// What all ranks have measured that are done.
pub(super) fn metered<D: Driver>(driver: &D) -> Ranks<'_> {
    let mut ranks = Ranks::new();
    for (_, model) in driver.nodes() {
        if let NodeModel::Host(host) = model {
            for ((job, turn, rank), metered) in &host.operation_logs().metered {
                let of = ranks.entry((*job, *turn)).or_default();
                of.insert(*rank, metered);
            }
        }
    }
    ranks
}

/// Bytes that all ranks send by the labels of their streams: within domains, and over
/// the network.
pub(super) struct Volumes(BTreeMap<u32, [u64; 2]>);

impl Volumes {
    /// Those of the graph of a job.
    pub(super) fn new(context: &Context, job: u16, schedule: &GraphSchedule) -> Volumes {
        let hosts = &context.jobs[usize::from(job)].job.hosts;
        let host = |rank: u32| hosts[rank as usize];
        let is_within = |a: u32, b: u32| context.is_within_domain(host(a), host(b));
        Volumes(schedule.bytes_by_stream(is_within))
    }

    /// Those of a parallelism: within domains, and over the network.
    pub(super) fn of(&self, parallelism: Parallelism) -> [u64; 2] {
        let mut sum = [0; 2];
        for (label, bytes) in &self.0 {
            let own = Stream::of_label(*label).and_then(Stream::parallelism);
            if own == Some(parallelism) {
                sum = [sum[0] + bytes[0], sum[1] + bytes[1]];
            }
        }
        sum
    }
}
