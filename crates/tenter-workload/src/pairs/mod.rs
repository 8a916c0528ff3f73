//! Queue pairs of a job, numbered at both ends.
//!
//! Each rank numbers the queue pairs that it sends on (*send slots*, ordered by destination and
//! lane) and those that it receives on (*receive slots*, ordered by source and lane). A simulation
//! keeps its per-flow state in flat arrays under these numbers, and a packet can carry the number
//! by which its receiver knows it.

mod table;
#[cfg(test)]
mod tests;

use tenter_language::units::{Budget, id};

use crate::ids::RankId;
use crate::job::Job;
use crate::{QUEUE_PAIRS_MAX, QueuePairScope, Schedule, Traffic, Transfer, WorkloadError};
use table::{FarEntry, Table, TableBuilder};

id! {
    /// Number of a queue pair among those on which a rank sends.
    pub struct RankSendSlot(u32);
}

id! {
    /// Number of a queue pair among those on which a rank receives.
    pub struct RankReceiveSlot(u32);
}

/// First queue pair from one rank to another on one lane. Adding q to both numbers gives the lane's
/// q-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSlots {
    /// Number at the sender of the lane's first queue pair.
    pub send: RankSendSlot,
    /// Number at the receiver of the lane's first queue pair.
    pub receive: RankReceiveSlot,
}

/// The other end of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd<S> {
    /// Rank at the other end.
    pub rank: RankId,
    /// Slot there: a receive slot if this end sends, a send slot if it receives.
    pub slot: S,
    /// Lane: the channel in the scope of a rank pair, otherwise the chunk.
    pub lane: u32,
    /// Index within the lane's queue pairs, from 0.
    pub queue_pair: u16,
}

/// All queue pairs of a job.
///
/// The table takes at most 16 bytes per (source, destination, lane). It takes none if every rank
/// sends to every other, because numbers then follow by arithmetic.
#[derive(Debug)]
pub struct QueuePairs {
    scope: QueuePairScope,
    per_lane: u16,
    table: Table,
}

impl QueuePairs {
    /// Builds the queue pairs that all collectives of a job need together.
    ///
    /// Two collectives that send between the same ranks on the same lane share queue pairs there.
    ///
    /// # Errors
    /// Those of [`Traffic::schedule`] and of [`QueuePairs::build`].
    pub fn for_job(job: &Job, budget: &Budget) -> Result<QueuePairs, WorkloadError> {
        // A larger size needs at least the destinations of a smaller one, so the largest size per
        // kind is enough. If the size decides about the algorithm, every size counts.
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

    /// Builds the queue pairs that `schedules` over `ranks` ranks need together, `queue_pairs` on
    /// each lane.
    ///
    /// # Errors
    /// No queue pairs at all; a schedule over another rank count; more queue pairs than
    /// [`QUEUE_PAIRS_MAX`]; a table beyond the budget.
    pub(crate) fn build(
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
            // The destinations of one schedule are in order already; sorting is for several.
            if !row.is_sorted_by(|a, b| a < b) {
                row.sort_unstable();
                row.dedup();
            }
            // Refused as soon as it is certain: counting all pairs of a large job takes seconds.
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

    /// Returns the number of ranks in the job.
    #[cfg(test)]
    pub(crate) fn ranks(&self) -> u32 {
        self.table.ranks()
    }

    /// Returns the number of queue pairs on each lane.
    #[cfg(test)]
    pub(crate) fn per_lane(&self) -> u16 {
        self.per_lane
    }

    /// Returns the number of queue pairs that the rank sends on.
    pub fn send_count(&self, rank: RankId) -> usize {
        self.table.sends(rank.number()) as usize * usize::from(self.per_lane)
    }

    /// Lists the queue pairs that the rank sends on.
    pub fn send_slots(&self, rank: RankId) -> impl Iterator<Item = RankSendSlot> + Clone {
        RankSendSlot::new(0).run(self.send_count(rank) as u32)
    }

    /// Returns the number of queue pairs that the rank receives on.
    pub fn receive_count(&self, rank: RankId) -> usize {
        self.table.receives(rank.number()) as usize * usize::from(self.per_lane)
    }

    /// Returns the first queue pair from `src` to `dst` on `lane`; `None` if nothing is ever sent
    /// there.
    pub fn find(&self, src: RankId, dst: RankId, lane: u32) -> Option<FirstSlots> {
        let (send, receive) = self.table.find(src.number(), dst.number(), lane)?;
        let per_lane = u32::from(self.per_lane);
        Some(FirstSlots {
            send: RankSendSlot::new(send * per_lane),
            receive: RankReceiveSlot::new(receive * per_lane),
        })
    }

    /// Returns the first queue pair that carries a transfer; `None` if no schedule given to the
    /// build has it.
    pub fn find_for(&self, transfer: &Transfer) -> Option<FirstSlots> {
        let lane = transfer.way(self.scope).lane;
        self.find(transfer.sender(), transfer.receiver(), lane)
    }

    /// Returns the receiving end of the queue pair in a rank's send slot.
    ///
    /// # Panics
    /// If the rank has no such slot.
    pub fn peer_of(&self, rank: RankId, slot: RankSendSlot) -> FarEnd<RankReceiveSlot> {
        let entry = slot.number() / u32::from(self.per_lane);
        let far = self.table.peer_of(rank.number(), entry);
        self.far_end(far, slot.number(), RankReceiveSlot::new)
    }

    /// Returns the sending end of the queue pair in a rank's receive slot.
    ///
    /// # Panics
    /// If the rank has no such slot.
    pub fn source_of(&self, rank: RankId, slot: RankReceiveSlot) -> FarEnd<RankSendSlot> {
        let entry = slot.number() / u32::from(self.per_lane);
        let far = self.table.source_of(rank.number(), entry);
        self.far_end(far, slot.number(), RankSendSlot::new)
    }

    /// Returns the other end of the queue pair that has `slot` at this end.
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

    /// Returns the memory that the table takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }
}
