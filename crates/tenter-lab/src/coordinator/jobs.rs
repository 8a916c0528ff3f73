//! Progress of jobs in a trial.

use tenter_sim::plan::Plan;
use tenter_workload::JobId;

/// Stage of a job within its trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Hosts make ready for a collective; listed are those that have not reported ready.
    Preparing(Vec<usize>),
    /// A collective runs; listed are the hosts where it is not complete.
    Running(Vec<usize>),
    /// All of the job's collectives have ended.
    Done,
}

/// A job in a trial.
#[derive(Clone, Debug)]
pub(super) struct JobRun {
    pub(super) job: JobId,
    /// Hosts that have its ranks, sorted.
    pub(super) hosts: Vec<usize>,
    /// Index of the current collective, counted over all iterations.
    pub(super) turn: u32,
    /// Collectives in all iterations together.
    pub(super) turns: u32,
    pub(super) stage: Stage,
    /// Last arrival so far in the current collective, in ps; between collectives, the last one's
    /// end.
    pub(super) last_ps: u64,
}

impl JobRun {
    /// Returns the plan's jobs before they start; `turns` gives each job's collective count.
    pub(super) fn all(plan: &Plan, turns: impl Fn(JobId) -> u32) -> Vec<JobRun> {
        let jobs = (0..).map(JobId::new).zip(&plan.jobs);
        jobs.map(|(job, of)| {
            // An agent answers once for its host, however many ranks of the job are there.
            let mut hosts: Vec<usize> = of.hosts.iter().map(|host| host.index()).collect();
            hosts.sort_unstable();
            hosts.dedup();
            let turns = turns(job);
            JobRun {
                job,
                turn: 0,
                turns,
                stage: if turns == 0 {
                    Stage::Done
                } else {
                    Stage::Preparing(hosts.clone())
                },
                hosts,
                last_ps: 0,
            }
        })
        .collect()
    }

    /// Notes that `host` is ready for collective `turn`, and returns true if all hosts now are.
    pub(super) fn prepared(&mut self, host: usize, turn: u32) -> bool {
        match &mut self.stage {
            Stage::Preparing(hosts) if turn == self.turn => {
                hosts.retain(|other| *other != host);
                hosts.is_empty()
            }
            _ => false,
        }
    }

    /// Notes that collective `turn` is complete at `host`, with its last arrival at `at_ps`, and
    /// returns true if it now is complete everywhere.
    pub(super) fn done(&mut self, host: usize, turn: u32, at_ps: u64) -> bool {
        match &mut self.stage {
            Stage::Running(hosts) if turn == self.turn => {
                hosts.retain(|other| *other != host);
                self.last_ps = self.last_ps.max(at_ps);
                hosts.is_empty()
            }
            _ => false,
        }
    }

    /// Returns the hosts that the job waits for.
    pub(super) fn waits_for(&self) -> &[usize] {
        match &self.stage {
            Stage::Preparing(hosts) | Stage::Running(hosts) => hosts,
            Stage::Done => &[],
        }
    }
}
