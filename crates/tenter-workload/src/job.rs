//! Jobs: who takes part, and which collectives they run one after the other.

use tenter_config::Words as _;
use tenter_topology::HostId;
use tenter_units::{ById, Time};

use crate::ids::{JobId, RankId};
use crate::{QueuePairScope, Schedule, Traffic, Transfer, WorkloadError};

/// Time that all ranks of a job compute before they start a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compute {
    /// On average.
    pub mean: Time,
    /// At most so much less or more, each time equally likely; no more than the mean.
    pub spread: Time,
}

impl Compute {
    /// One time; `below` draws a number below its argument, each equally likely.
    pub fn draw(self, below: impl FnOnce(u64) -> u64) -> Time {
        let least = self.mean.saturating_sub(self.spread);
        if self.spread.is_zero() {
            return self.mean;
        }
        let width = self.spread.ps().saturating_mul(2).saturating_add(1);
        least.saturating_add(Time::from_ps(below(width)))
    }
}

/// One collective operation of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveRun {
    /// What the ranks send.
    pub traffic: Traffic,
    /// The size as nccl-tests counts it, in bytes; the largest, where it is drawn each time.
    pub size_bytes: u64,
    /// The least size, where it is drawn each time, every number of bytes equally likely.
    pub drawn_from_bytes: Option<u64>,
    /// What the ranks compute before it.
    pub compute: Compute,
}

/// One job: ranks bound to hosts, and a sequence of collectives with a barrier between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name in every table.
    pub name: String,
    /// The host that each rank runs on. Ranks of the same host have NPUs of their own, which share
    /// its NIC.
    pub hosts: ById<RankId, HostId>,
    /// Whether it is load for others: it is not judged, repeats its sequence for as long as a job
    /// under test runs, and is cut off then.
    pub background: bool,
    /// What it runs, in order; the whole list is repeated `warm_up + iterations` times. A job with
    /// nothing to run never starts.
    pub sequence: Vec<CollectiveRun>,
    /// Repetitions that count.
    pub iterations: u32,
    /// Repetitions before them that are run but not judged.
    pub warm_up: u32,
    /// When it starts: computing, if it does, and then its first collective. From time 0, or from
    /// the end of another job.
    pub start: Time,
    /// The job whose end it waits for, if it does; that one ends by itself, and no jobs wait for
    /// each other.
    pub after: Option<JobId>,
    /// From the end of one collective (its last arrival at any rank) to the start of the next.
    pub gap: Time,
    /// QPs per rank pair (or per chunk and hop); a transfer is split evenly over them.
    pub queue_pairs: u16,
    /// The class of its data packets, 0 to 7; `None` for that of each NIC.
    pub class: Option<u8>,
    /// What a QP is shared by.
    pub queue_pair_scope: QueuePairScope,
}

impl Job {
    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// The hosts between which a transfer goes: that of its sender, and that of its receiver.
    pub fn ends(&self, transfer: &Transfer) -> [HostId; 2] {
        [transfer.sender(), transfer.receiver()].map(|rank| self.hosts[rank])
    }

    /// How many collectives it runs; `None` for as many as others leave it time for.
    pub fn turns(&self) -> Option<u64> {
        let rounds = u64::from(self.warm_up) + u64::from(self.iterations);
        let length = self.sequence.len() as u64;
        (!self.background || length == 0).then_some(rounds * length)
    }

    /// Which ways NCCL chooses for its collectives, of those that run as NCCL chooses: the name of
    /// each, and its ways with the sizes in bytes from which each is taken.
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

    /// One schedule per entry of the sequence, in its order.
    ///
    /// # Errors
    /// Those of [`Traffic::schedule`], of the first entry that has one.
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
