//! Steps in parallel applications as transfers, phase after phase.
//!
//! Each phase is a communication matrix. A rank sends its part in a phase when everything that it
//! receives in the phases before has arrived. Each application's phases are in the files beside
//! this one.

use std::sync::Arc;

use tenter_engine::Draws;
use tenter_language::units::Time;

use super::{CommunicationMatrix, PatternError, PatternKind};
use crate::collective::CollectiveMember;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// One step of a pattern over a number of ranks.
///
/// The table is stored once and shared: 24 bytes for each transfer. Transfer ids go phase by phase,
/// then by source. Each rank posts to higher ranks first, so that few ranks send to the same one at
/// a time. Chunk and id are the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternSchedule(Arc<Table>);

#[derive(Debug, PartialEq, Eq)]
struct Table {
    kind: PatternKind,
    step: u32,
    ranks: u32,
    phases: Vec<Phase>,
    /// Source, destination and bytes, by id.
    sends: Vec<(u32, u32, u64)>,
    /// Ids ordered by source, destination and id (`by_way`); a rank's ids begin at `of_rank[rank]`.
    by_way: Vec<u32>,
    of_rank: Vec<u32>,
}

/// Sends and waits in a phase, by rank.
#[derive(Debug, PartialEq, Eq)]
struct Phase {
    /// Each rank's first id, followed by the next phase's first id.
    first: Vec<u32>,
    /// Transfers that each rank receives in this phase and all before it.
    received: Vec<u32>,
    /// First phase whose arrivals each rank counts before it sends in this phase. Arrivals in
    /// earlier phases follow from these, so counting them would be wasted.
    since: Vec<u32>,
}

impl Phase {
    fn sends(&self, rank: u32) -> std::ops::Range<u32> {
        self.first[rank as usize]..self.first[rank as usize + 1]
    }

    fn ids(&self) -> std::ops::Range<u32> {
        self.first[0]..self.first[self.first.len() - 1]
    }
}

impl PatternSchedule {
    /// Builds step `step`, counted from 0, over `ranks` ranks; `draws` provides the randomness.
    ///
    /// # Errors
    /// Those of [`PatternKind::phases`]; more transfers than a table may hold.
    pub fn new(
        kind: PatternKind,
        draws: Draws,
        ranks: u32,
        step: u32,
    ) -> Result<Self, PatternError> {
        let matrices = kind.phases(draws, ranks, step)?;
        let count: usize = matrices.iter().map(CommunicationMatrix::pairs).sum();
        if count > CommunicationMatrix::ENTRIES_MAX {
            let pattern = kind.member().algorithm;
            return Err(PatternError::TooManyPairs { pattern, ranks });
        }
        let (mut sends, mut phases) = (Vec::with_capacity(count), Vec::new());
        let mut received = vec![0; ranks as usize];
        for matrix in &matrices {
            let mut first = Vec::with_capacity(ranks as usize + 1);
            for src in 0..ranks {
                first.push(sends.len() as u32);
                let row = matrix.row(src);
                // Higher ranks first, then the lower ones, both ascending.
                let (lower, higher) = row.split_at(row.partition_point(|(dst, _)| *dst < src));
                sends.extend(
                    higher
                        .iter()
                        .chain(lower)
                        .map(|&(dst, bytes)| (src, dst, bytes)),
                );
                for (dst, _) in row {
                    received[*dst as usize] += 1;
                }
            }
            first.push(sends.len() as u32);
            phases.push(Phase {
                first,
                received: received.clone(),
                since: vec![0; ranks as usize],
            });
        }
        let (by_way, of_rank) = by_way(ranks, &sends);
        let mut table = Table {
            kind,
            step,
            ranks,
            phases,
            sends,
            by_way,
            of_rank,
        };
        table.shorten_waits();
        Ok(PatternSchedule(Arc::new(table)))
    }

    /// Returns the pattern that this step belongs to.
    pub fn kind(&self) -> &PatternKind {
        &self.0.kind
    }

    /// Returns the number of phases in this step.
    pub fn phases(&self) -> usize {
        self.0.phases.len()
    }

    pub(crate) fn member(&self) -> &'static CollectiveMember {
        self.0.kind.member()
    }

    /// Returns the most bytes that any rank sends or receives in the step.
    pub fn busiest_bytes(&self) -> u64 {
        let mut ports = vec![[0_u64; 2]; self.0.ranks as usize];
        for &(src, dst, bytes) in &self.0.sends {
            for (side, rank) in [src, dst].into_iter().enumerate() {
                let port = &mut ports[rank as usize][side];
                *port = port.saturating_add(bytes);
            }
        }
        ports.into_iter().flatten().max().unwrap_or(0)
    }

    /// Returns the sum over all phases.
    pub fn matrix(&self) -> CommunicationMatrix {
        CommunicationMatrix::of(self.0.ranks, self.0.sends.clone())
    }

    /// Returns a lower bound for the step, if a port takes `port_time` for a transfer and each hop
    /// has a `latency`.
    ///
    /// A phase ends at a rank when its latest sender has sent to it, and when its port has received
    /// everything since the first of them began.
    pub(crate) fn ideal_time(&self, port_time: &dyn Fn(u64) -> Time, latency: Time) -> Time {
        let table = &*self.0;
        let mut ready = vec![Time::ZERO; table.ranks as usize];
        let mut sent = ready.clone();
        let mut end = Time::ZERO;
        let mut known = (u64::MAX, Time::ZERO);
        for phase in &table.phases {
            let mut next = ready.clone();
            let mut began = vec![Time::MAX; table.ranks as usize];
            let mut taken = vec![Time::ZERO; table.ranks as usize];
            for id in phase.ids() {
                let (src, dst, bytes) = table.sends[id as usize];
                let (src, dst) = (src as usize, dst as usize);
                // Neighbours in a row mostly have equal bytes, and `port_time` counts frames: the
                // last result is kept.
                if known.0 != bytes {
                    known = (bytes, port_time(bytes));
                }
                let time = known.1;
                let alone = ready[src].saturating_add(time).saturating_add(latency);
                next[dst] = next[dst].max(alone);
                began[dst] = began[dst].min(ready[src]);
                taken[dst] = taken[dst].saturating_add(time);
                sent[src] = sent[src].max(ready[src]).saturating_add(time);
            }
            for rank in 0..table.ranks as usize {
                if began[rank] < Time::MAX {
                    let whole = began[rank].saturating_add(taken[rank]);
                    next[rank] = next[rank].max(whole.saturating_add(latency));
                    end = end.max(next[rank]);
                }
            }
            ready = next;
        }
        let ports = sent.into_iter().max().unwrap_or_default();
        end.max(ports.saturating_add(latency))
    }
}

impl Table {
    /// Returns the phase that a transfer belongs to.
    fn phase_of(&self, id: u32) -> usize {
        let begins = |phase: &Phase| phase.first[0] <= id;
        self.phases.partition_point(begins) - 1
    }

    /// Returns the transfers that a rank receives in all phases before `phase`.
    fn received_before(&self, phase: usize, rank: u32) -> u32 {
        let last = phase.checked_sub(1);
        last.map_or(0, |last| self.phases[last].received[rank as usize])
    }

    /// Returns the ids that a rank sends, ordered by destination.
    fn ways(&self, rank: u32) -> &[u32] {
        let [begin, end] = [0, 1].map(|next| self.of_rank[rank as usize + next] as usize);
        &self.by_way[begin..end]
    }

    /// Leaves out arrivals that follow from others, so that each arrival releases few transfers.
    ///
    /// An arrival from rank s shows that s has received everything in the phases before, including
    /// what this rank sent it there. And this rank sent that only after everything in the phases
    /// before that had arrived here. So a rank counts arrivals only from the last phase on in which
    /// it sent something to a rank that it has since heard from.
    fn shorten_waits(&mut self) {
        let mut since = vec![0; self.ranks as usize];
        for index in 0..self.phases.len() {
            self.phases[index].since.clone_from(&since);
            for id in self.phases[index].ids() {
                let (src, dst, _) = self.sends[id as usize];
                let own = &mut since[dst as usize];
                let before = |&other: &u32| {
                    let (_, to, _) = self.sends[other as usize];
                    (to, other) < (src, self.phases[index].first[0])
                };
                // The last transfer to `src` in an earlier phase.
                let ways = self.ways(dst);
                let end = ways.partition_point(before);
                let last = end.checked_sub(1).map(|place| ways[place]);
                let last = last.filter(|&other| self.sends[other as usize].1 == src);
                if let Some(last) = last {
                    *own = (*own).max(self.phase_of(last) as u32);
                }
            }
        }
    }
}

/// Orders all ids by source, destination and id, and finds where each rank's ids begin.
fn by_way(ranks: u32, sends: &[(u32, u32, u64)]) -> (Vec<u32>, Vec<u32>) {
    let mut ids: Vec<u32> = (0..sends.len() as u32).collect();
    ids.sort_unstable_by_key(|&id| {
        let (src, dst, _) = sends[id as usize];
        (src, dst, id)
    });
    let mut of_rank = vec![0; ranks as usize + 1];
    for (src, _, _) in sends {
        of_rank[*src as usize + 1] += 1;
    }
    for rank in 0..ranks as usize {
        of_rank[rank + 1] += of_rank[rank];
    }
    (ids, of_rank)
}

impl Schedule for PatternSchedule {
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.0.sends.len() as u32
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (src, dst, bytes) = self.0.sends[id as usize];
        Transfer {
            src,
            dst,
            bytes,
            chunk: id,
            channel: 0,
            step: self.0.phase_of(id) as u32,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        for (index, phase) in self.0.phases.iter().enumerate() {
            // As soon as a rank has something to wait for, its later phases are not initial.
            if self.0.received_before(index, rank) > 0 {
                return;
            }
            out.extend(phase.sends(rank));
        }
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (_, dst, _) = self.0.sends[id as usize];
        let arrived = self.0.phase_of(id);
        for phase in &self.0.phases[arrived + 1..] {
            if phase.since[dst as usize] as usize > arrived {
                return;
            }
            out.extend(phase.sends(dst));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        let (src, _, _) = self.0.sends[id as usize];
        let phase = self.0.phase_of(id);
        let since = self.0.phases[phase].since[src as usize] as usize;
        self.0.received_before(phase, src) - self.0.received_before(since, src)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        for &id in self.0.ways(rank) {
            let way = self.transfer(id).way(scope);
            if out[start..].last() != Some(&way) {
                out.push(way);
            }
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let ways = self.0.ways(src);
        let destination = |id: u32| self.0.sends[id as usize].1;
        let found = match scope {
            QueuePairScope::RankPair => {
                let first = ways.partition_point(|&id| destination(id) < to.dst);
                ways.get(first + nth as usize).copied()
            }
            QueuePairScope::Chunk => (nth == 0).then_some(to.lane),
        };
        found.filter(|&id| {
            let send = self.0.sends.get(id as usize);
            send.is_some_and(|&(from, dst, _)| (from, dst) == (src, to.dst))
        })
    }
}

#[cfg(test)]
mod tests;
