//! A job while it is bound to hosts: its traffic and its workload.

use tenter_sim::plan::SIMULATED_MAX;
use tenter_workload::spec::WorkloadSpec;
use tenter_workload::{Job, Traffic};

/// Traffic that a job sends at once, its largest size, and the path where it was written.
pub(super) struct Entry {
    pub(super) traffic: Traffic,
    pub(super) largest_bytes: u64,
    pub(super) path: String,
}

/// The flow workload at a path, and the seed for its draws.
#[derive(Clone, Copy)]
pub(super) struct Workload<'a> {
    pub(super) spec: &'a WorkloadSpec,
    pub(super) path: &'a str,
    pub(super) seed: u64,
}

/// Returns the job's collective count if the last one would start after the longest simulation,
/// even if none took any time.
pub(super) fn starts_too_late(job: &Job) -> Option<u64> {
    let turns = job.turns()?;
    // Counts times picoseconds may exceed 64 bits.
    let gaps = u128::from(turns.saturating_sub(1)) * u128::from(job.gap.ps());
    let compute = job.sequence.iter().map(|run| run.compute);
    let compute = compute.map(|compute| u128::from(compute.mean.ps() + compute.spread.ps()));
    let rounds = u128::from(job.warm_up) + u128::from(job.iterations);
    let computing = compute.sum::<u128>() * rounds;
    let last = u128::from(job.start.ps()) + gaps + computing;
    (last > u128::from(SIMULATED_MAX.ps())).then_some(turns)
}
