//! Jobs: the participating ranks and the collectives that they run one after the other.

use tenter_fabric::topology::HostId;
use tenter_language::config::Words as _;
use tenter_language::units::{ById, Time};

use crate::ids::{JobId, RankId};
use crate::{QueuePairScope, Schedule, Traffic, Transfer, WorkloadError};

/// Computing time that all ranks take before a collective starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compute {
    /// Mean of the times that are drawn.
    pub mean: Time,
    /// Half-width around the mean, within which times are equally likely; at most the mean.
    pub spread: Time,
}

impl Compute {
    /// Draws one time. `below(n)` returns a number from 0 to n − 1, each equally likely.
    pub fn draw(self, below: impl FnOnce(u64) -> u64) -> Time {
        let least = self.mean.saturating_sub(self.spread);
        if self.spread.is_zero() {
            return self.mean;
        }
        // Both ends are possible, hence one picosecond more than twice the spread.
        let width = self.spread.ps().saturating_mul(2).saturating_add(1);
        least.saturating_add(Time::from_ps(below(width)))
    }
}

/// One collective operation in a job's sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveRun {
    /// Collective, pattern, flows or graph that the ranks carry out.
    pub traffic: Traffic,
    /// Size in bytes, as nccl-tests counts it; the largest size if sizes are drawn.
    pub size_bytes: u64,
    /// Least size in bytes if a size is drawn for each run; all sizes from here to `size_bytes` are
    /// equally likely. `None` for a fixed size.
    pub drawn_from_bytes: Option<u64>,
    /// Computing time before the collective.
    pub compute: Compute,
}

/// A job: ranks bound to hosts, and a sequence of collectives with a barrier between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The job's name in all tables.
    pub name: String,
    /// Each rank's host. Ranks on the same host have separate NPUs, which share its NIC.
    pub hosts: ById<RankId, HostId>,
    /// Set for load that is not measured. A background job repeats its sequence as long as a
    /// measured job runs, and is cut off then.
    pub background: bool,
    /// Collectives in order; the whole list is repeated `warm_up + iterations` times. A job with an
    /// empty list never starts.
    pub sequence: Vec<CollectiveRun>,
    /// Measured repetitions of the sequence.
    pub iterations: u32,
    /// Repetitions before the measured ones; they run, but are left out of the results.
    pub warm_up: u32,
    /// Start time, when the job begins to compute or, without computing time, starts its first
    /// collective. Counts from time 0, or from the end of the job in `after`.
    pub start: Time,
    /// Job whose end this one waits for. That job ends by itself, and no jobs wait for each other.
    pub after: Option<JobId>,
    /// Time from the end of one collective (its last arrival at any rank) to the start of the next.
    pub gap: Time,
    /// QPs per rank pair, or per chunk and hop, by `queue_pair_scope`; a transfer is split evenly
    /// over them.
    pub queue_pairs: u16,
    /// Traffic class of the job's data packets, 0 to 7; `None` leaves each NIC its own default.
    pub class: Option<u8>,
    /// Scope in which transfers share QPs.
    pub queue_pair_scope: QueuePairScope,
}

impl Job {
    /// Returns this job's rank count.
    pub fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Returns the sender's and the receiver's host, in this order.
    pub fn ends(&self, transfer: &Transfer) -> [HostId; 2] {
        [transfer.sender(), transfer.receiver()].map(|rank| self.hosts[rank])
    }

    /// Returns the number of collectives that the job runs. `None` for a background job with
    /// something to run: it goes on until the measured jobs end.
    pub fn turns(&self) -> Option<u64> {
        let rounds = u64::from(self.warm_up) + u64::from(self.iterations);
        let length = self.sequence.len() as u64;
        (!self.background || length == 0).then_some(rounds * length)
    }

    /// Returns what NCCL chooses for those collectives that follow NCCL's choice: the collective's
    /// name, and each algorithm with its protocol and the size in bytes from which it is taken.
    ///
    /// Sizes are visited in sequence order; a run of equal choices is one entry.
    pub fn nccl_choices(&self) -> Vec<(&'static str, Vec<(String, u64)>)> {
        let mut found: Vec<(&str, Vec<(String, u64)>)> = Vec::new();
        for run in &self.sequence {
            let Traffic::Collective { kind, groups } = &run.traffic else {
                continue;
            };
            let ranks = groups.map_or(self.ranks(), |groups| groups.size);
            let Ok(Some(choice)) = kind.nccl_choice(ranks, run.size_bytes) else {
                continue;
            };
            let way = format!("{} {}", choice.algorithm.word(), choice.protocol.word());
            if found.last().is_none_or(|(name, _)| *name != kind.name()) {
                found.push((kind.name(), Vec::new()));
            }
            let ways = found.last_mut().map(|(_, ways)| ways);
            if let Some(ways) = ways.filter(|ways| ways.last().is_none_or(|last| last.0 != way)) {
                ways.push((way, run.size_bytes));
            }
        }
        found
    }

    /// Builds one schedule for each entry in the sequence, in order.
    ///
    /// # Errors
    /// Those of [`Traffic::schedule`], for the first entry that fails.
    pub fn schedules(&self) -> Result<Vec<Box<dyn Schedule>>, WorkloadError> {
        self.sequence
            .iter()
            .map(|run| run.traffic.schedule(self.ranks(), run.size_bytes))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compute_times_are_within_the_spread() {
        let compute = Compute {
            mean: Time::from_us(10),
            spread: Time::from_us(2),
        };
        assert_eq!(compute.draw(|_| 0), Time::from_us(8));
        // 4 us and the picosecond that makes both ends possible.
        assert_eq!(compute.draw(|bound| bound - 1), Time::from_us(12));
        let fixed = Compute {
            spread: Time::ZERO,
            ..compute
        };
        assert_eq!(fixed.draw(|_| unreachable!()), Time::from_us(10));
    }
}
