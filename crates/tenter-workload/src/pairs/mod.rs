//! The queue pairs of a job, numbered from both ends.
//!
//! Each rank numbers the queue pairs it sends on (*send slots*, in order of destination and lane)
//! and those it receives on (*receive slots*, in order of source and lane). A simulation keeps
//! per-flow state in flat arrays under these numbers, and a packet can carry the number its
//! receiver knows it by.

mod table;
#[cfg(test)]
mod tests;

use tenter_units::{Budget, id};

use crate::ids::RankId;
use crate::job::Job;
use crate::{QUEUE_PAIRS_MAX, QueuePairScope, Schedule, Traffic, Transfer, WorkloadError};
use table::{FarEntry, Table, TableBuilder};

id! {
    /// The number of a queue pair among those by which a rank sends.
    pub struct RankSendSlot(u32);
}

id! {
    /// The number of a queue pair among those by which a rank receives.
    pub struct RankReceiveSlot(u32);
}

/// The first of the queue pairs from one rank to another on one lane; the q-th has q added to both
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSlots {
    /// Its number at the sender.
    pub send: RankSendSlot,
    /// Its number at the receiver.
    pub receive: RankReceiveSlot,
}

/// What is at the other end of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd<S> {
    /// The rank there.
    pub rank: RankId,
    /// The slot the queue pair has there: a receive slot seen from the sender, a send slot seen
    /// from the receiver.
    pub slot: S,
    /// The lane: the channel in the scope of a rank pair, else the chunk.
    pub lane: u32,
    /// Which of the lane's queue pairs it is, from 0.
    pub queue_pair: u16,
}

/// All queue pairs of a job: a table of at most 16 bytes per (source, destination, lane), and none
/// at all when every rank sends to every other, where numbers are arithmetic.
#[derive(Debug)]
pub struct QueuePairs {
    scope: QueuePairScope,
    per_lane: u16,
    table: Table,
}

impl QueuePairs {
    /// The queue pairs all collectives of a job need together.
    ///
    /// Two collectives that send between the same ranks on the same lane share the queue pairs
    /// there.
    ///
    /// # Errors
    /// Those of [`Traffic::schedule`] and of [`QueuePairs::build`].
    pub fn for_job(job: &Job, budget: &Budget) -> Result<QueuePairs, WorkloadError> {
        // A larger size needs at least the pairs of a smaller one, so one schedule per kind does,
        // but where the algorithm depends on the size.
        let mut largest: Vec<(&Traffic, u64)> = Vec::new();
        let mut schedules = Vec::new();
        for run in &job.sequence {
            if run.traffic.depends_on_size() {
                let is_drawn = run.drawn_from_bytes.is_some();
                let traffic = &run.traffic;
                let of_sizes = traffic.schedules_of_sizes(job.ranks(), run.size_bytes, is_drawn)?;
                schedules.extend(of_sizes);
                continue;
            }
            match largest
                .iter_mut()
                .find(|(traffic, _)| **traffic == run.traffic)
            {
                Some((_, size)) => *size = run.size_bytes.max(*size),
                None => largest.push((&run.traffic, run.size_bytes)),
            }
        }
        for (kind, size) in largest {
            schedules.push(kind.schedule(job.ranks(), size)?);
        }
        let schedules: Vec<&dyn Schedule> = schedules.iter().map(|schedule| &**schedule).collect();
        QueuePairs::build(
            job.ranks(),
            &schedules,
            job.queue_pair_scope,
            job.queue_pairs,
            budget,
        )
    }

    /// The queue pairs that `schedules` over `ranks` ranks need together, `queue_pairs` of them per
    /// lane.
    ///
    /// # Errors
    /// No queue pairs at all, a schedule over another number of ranks, more queue pairs than
    /// [`QUEUE_PAIRS_MAX`], or a table beyond the budget.
    pub fn build(
        ranks: u32,
        schedules: &[&dyn Schedule],
        scope: QueuePairScope,
        queue_pairs: u16,
        budget: &Budget,
    ) -> Result<QueuePairs, WorkloadError> {
        if queue_pairs == 0 {
            return Err(WorkloadError::ZeroQueuePairs);
        }
        if let Some(other) = schedules.iter().find(|schedule| schedule.ranks() != ranks) {
            return Err(WorkloadError::RanksDisagree {
                ranks,
                found: other.ranks(),
            });
        }
        let mut builder = TableBuilder::new(ranks);
        let mut row = Vec::new();
        let mut entries = 0;
        for rank in 0..ranks {
            row.clear();
            for schedule in schedules {
                schedule.pairs(rank, scope, &mut row);
            }
            if !row.is_sorted_by(|a, b| a < b) {
                row.sort_unstable();
                row.dedup();
            }
            // Refused as soon as it is certain: to count all pairs of a large job takes seconds.
            entries += row.len() as u64;
            if entries * u64::from(queue_pairs) > QUEUE_PAIRS_MAX {
                return Err(WorkloadError::TooManyQueuePairs);
            }
            budget.work(row.len() as u64)?;
            builder.push_row(&row);
            budget.may_take(builder.finished_bytes())?;
        }
        let table = builder.finish();
        Ok(QueuePairs {
            scope,
            per_lane: queue_pairs,
            table,
        })
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.table.ranks()
    }

    /// How many queue pairs each lane has.
    pub fn per_lane(&self) -> u16 {
        self.per_lane
    }

    /// How many queue pairs the rank sends on.
    pub fn send_count(&self, rank: RankId) -> usize {
        self.table.sends(rank.number()) as usize * usize::from(self.per_lane)
    }

    /// The queue pairs that the rank sends on.
    pub fn send_slots(&self, rank: RankId) -> impl Iterator<Item = RankSendSlot> + Clone {
        RankSendSlot::new(0).run(self.send_count(rank) as u32)
    }

    /// How many queue pairs the rank receives on.
    pub fn receive_count(&self, rank: RankId) -> usize {
        self.table.receives(rank.number()) as usize * usize::from(self.per_lane)
    }

    /// The first queue pair from `src` to `dst` on `lane`, or none when nothing is ever sent there.
    pub fn find(&self, src: RankId, dst: RankId, lane: u32) -> Option<FirstSlots> {
        let (send, receive) = self.table.find(src.number(), dst.number(), lane)?;
        let per_lane = u32::from(self.per_lane);
        Some(FirstSlots {
            send: RankSendSlot::new(send * per_lane),
            receive: RankReceiveSlot::new(receive * per_lane),
        })
    }

    /// The first queue pair a transfer is sent on, or none when no schedule given to the build has
    /// it.
    pub fn find_for(&self, transfer: &Transfer) -> Option<FirstSlots> {
        let lane = transfer.way(self.scope).lane;
        self.find(transfer.sender(), transfer.receiver(), lane)
    }

    /// Where the queue pair in a rank's send slot leads.
    ///
    /// # Panics
    /// When the rank has no such slot.
    pub fn peer_of(&self, rank: RankId, slot: RankSendSlot) -> FarEnd<RankReceiveSlot> {
        let entry = slot.number() / u32::from(self.per_lane);
        let far = self.table.peer_of(rank.number(), entry);
        self.far_end(far, slot.number(), RankReceiveSlot::new)
    }

    /// Where the queue pair in a rank's receive slot comes from.
    ///
    /// # Panics
    /// When the rank has no such slot.
    pub fn source_of(&self, rank: RankId, slot: RankReceiveSlot) -> FarEnd<RankSendSlot> {
        let entry = slot.number() / u32::from(self.per_lane);
        let far = self.table.source_of(rank.number(), entry);
        self.far_end(far, slot.number(), RankSendSlot::new)
    }

    /// The queue pair that has a slot at this end, at the other one.
    fn far_end<S>(&self, far: FarEntry, slot: u32, numbered: impl Fn(u32) -> S) -> FarEnd<S> {
        let per_lane = u32::from(self.per_lane);
        let queue_pair = slot % per_lane;
        FarEnd {
            rank: RankId::new(far.rank),
            slot: numbered(far.entry * per_lane + queue_pair),
            lane: far.lane,
            queue_pair: queue_pair as u16,
        }
    }

    /// The memory the table takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }
}
