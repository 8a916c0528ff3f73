//! Where the jobs of a trial stand.

use tenter_plan::Plan;
use tenter_workload::JobId;

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Hosts make ready for a collective: those that have not said that they are.
    Preparing(Vec<usize>),
    /// It runs: hosts that are not done.
    Running(Vec<usize>),
    /// All collectives have ended.
    Done,
}

/// A job of a trial.
#[derive(Clone, Debug)]
pub(super) struct JobRun {
    pub(super) job: JobId,
    /// The hosts on which it has ranks.
    pub(super) hosts: Vec<usize>,
    pub(super) turn: u32,
    pub(super) turns: u32,
    pub(super) stage: Stage,
    /// The last arrival of the collective so far, in ps.
    pub(super) last_ps: u64,
}

impl JobRun {
    /// The jobs of a plan before they have begun.
    pub(super) fn all(plan: &Plan, turns: impl Fn(JobId) -> u32) -> Vec<JobRun> {
        let jobs = (0..).map(JobId::new).zip(&plan.jobs);
        jobs.map(|(job, of)| {
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

    /// A host is ready for a collective; whether all are.
    pub(super) fn prepared(&mut self, host: usize, turn: u32) -> bool {
        match &mut self.stage {
            Stage::Preparing(hosts) if turn == self.turn => {
                hosts.retain(|other| *other != host);
                hosts.is_empty()
            }
            _ => false,
        }
    }

    /// A collective is done at a host, which had its last arrival at an instant; whether it is at
    /// all.
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

    /// The hosts that are waited for.
    pub(super) fn waits_for(&self) -> &[usize] {
        match &self.stage {
            Stage::Preparing(hosts) | Stage::Running(hosts) => hosts,
            Stage::Done => &[],
        }
    }
}
