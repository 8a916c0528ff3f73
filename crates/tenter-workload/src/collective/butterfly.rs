//! Exchanges between ranks whose numbers differ in one bit: recursive halving, recursive doubling,
//! and the two in sequence.
//!
//! With p = 2ᵏ the greatest power of two up to the rank count n, p ranks take part in the
//! exchanges, the *participants*. Each of the other n − p ranks, the *extras*, hands its data to a
//! neighbour beforehand (fold) and receives its result afterwards (unfold).

use tenter_language::config::choice;
use tenter_language::units::Time;

use super::chunks::Chunks;
use crate::closed_form::{IdealSwitch, times};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// Distance between the ranks of an exchange while vectors are halved. On the way back the same
/// exchanges come in reverse order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distances {
    /// The largest exchange is between ranks n/2 apart, the next n/4, the smallest 1.
    #[default]
    Halving,
    /// The largest exchange is between neighbours, the next between ranks 2 apart, the smallest
    /// n/2.
    Doubling,
}

choice!(Distances {
    "halving" => Halving,
    "doubling" => Doubling,
});

/// Exchanges of a collective: halving, doubling, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchanges {
    /// Each exchange adds up half as much as the one before: a reduce-scatter.
    Halving,
    /// Each exchange passes on twice as much as the one before: an all-gather.
    Doubling,
    /// Halving and then doubling, an all-reduce. The distances apply to the halving.
    Both(Distances),
}

impl Exchanges {
    /// Returns the completion time on an ideal switch. Exchanges between 2ᵏ ranks follow each
    /// other; an extra adds its fold and its unfold.
    pub(super) fn ideal(self, switch: &IdealSwitch<'_>) -> Time {
        let levels = switch.ranks.max(1).ilog2();
        let participants = 1_u64 << levels;
        let (size, block) = (switch.size_bytes, switch.size_bytes / switch.parts());
        let part = match self {
            Exchanges::Both(_) => size / participants,
            Exchanges::Halving | Exchanges::Doubling => block,
        };
        let once = (0..levels).fold(Time::ZERO, |sum, level| {
            sum.saturating_add(switch.hop(part << level))
        });
        let extra = u64::from(u64::from(switch.ranks) > participants);
        match self {
            Exchanges::Both(_) => times(once, 2).saturating_add(times(switch.hop(size), 2 * extra)),
            Exchanges::Halving => once.saturating_add(times(switch.hop(size), extra)),
            Exchanges::Doubling => once.saturating_add(times(switch.hop(size - block), extra)),
        }
    }
}

/// Kind and coordinates of a transfer; the p participants are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// From a participant's extra to the participant.
    Fold(u32),
    /// Exchange number and the participant that sends.
    Exchange(u32, u32),
    /// From a participant to its extra.
    Unfold(u32),
}

/// Returns the rank of a participant's extra, which comes right after the participant.
fn extra_of(participant: u32) -> u32 {
    2 * participant + 1
}

/// The schedule. Ids number the folds, then the exchanges in order and by sender, then the unfolds.
///
/// Halving at level l, from 0 to k−1, splits the segment that a participant holds; the participant
/// keeps one half and sends the other. So level l has 2ˡ segments, each p/2ˡ parts long. Doubling
/// goes through the levels backwards. Chunks are numbered 2ˡ − 1 + segment, the whole buffer being
/// 0. After those come the block of each extra, then for each extra everything but its block.
///
/// An exchange waits for everything that arrives before it: the fold and all earlier exchanges.
pub(super) struct Butterfly {
    ranks: u32,
    exchanges: Exchanges,
    /// Number k of levels: log₂ p.
    levels: u32,
    /// Parts that segments consist of: one per rank, or one per participant in an all-reduce, where
    /// no rank ends with a part of its own.
    parts: Chunks,
}

impl Butterfly {
    pub(super) fn new(ranks: u32, size_bytes: u64, exchanges: Exchanges) -> Butterfly {
        let levels = ranks.ilog2();
        let parts = match exchanges {
            Exchanges::Both(_) => 1 << levels,
            Exchanges::Halving | Exchanges::Doubling => ranks,
        };
        Butterfly {
            ranks,
            exchanges,
            levels,
            parts: Chunks::new(size_bytes, parts),
        }
    }

    fn participants(&self) -> u32 {
        1 << self.levels
    }

    fn extras(&self) -> u32 {
        self.ranks - self.participants()
    }

    /// Returns how many exchanges follow each other.
    fn steps(&self) -> u32 {
        match self.exchanges {
            Exchanges::Both(_) => 2 * self.levels,
            Exchanges::Halving | Exchanges::Doubling => self.levels,
        }
    }

    /// Returns the rank of a participant. A participant with an extra comes right before it.
    fn rank_of(&self, participant: u32) -> u32 {
        participant + participant.min(self.extras())
    }

    /// Returns the participant that `rank` is, or whose extra it is.
    fn participant(&self, rank: u32) -> u32 {
        if rank < 2 * self.extras() {
            rank / 2
        } else {
            rank - self.extras()
        }
    }

    fn is_extra(&self, rank: u32) -> bool {
        // The extras are the odd ranks at the start; behind them every rank is a participant.
        rank < 2 * self.extras() && rank % 2 == 1
    }

    /// Returns the level of an exchange, and true if it halves.
    fn level(&self, step: u32) -> (u32, bool) {
        match self.exchanges {
            Exchanges::Halving => (step, true),
            Exchanges::Both(_) if step < self.levels => (step, true),
            Exchanges::Both(_) => (2 * self.levels - 1 - step, false),
            Exchanges::Doubling => (self.levels - 1 - step, false),
        }
    }

    /// Returns true if distances grow with the level, so that the largest exchange is between
    /// neighbours.
    ///
    /// If each rank must start or end with its own block, level 0 has to decide about the upper
    /// half of the participants. An all-reduce is free to use either order.
    fn near_first(&self) -> bool {
        self.exchanges == Exchanges::Both(Distances::Doubling)
    }

    /// Returns the distance between the two participants of an exchange.
    fn distance(&self, level: u32) -> u32 {
        if self.near_first() {
            1 << level
        } else {
            1 << (self.levels - 1 - level)
        }
    }

    /// Returns the segment that a participant holds at a level: its bits for the earlier levels,
    /// the first one highest.
    fn segment(&self, participant: u32, level: u32) -> u32 {
        if level == 0 {
            0
        } else if self.near_first() {
            // Here level l decides about bit l; the first decision must become the highest bit.
            participant.reverse_bits() >> (u32::BITS - level)
        } else {
            participant >> (self.levels - level)
        }
    }

    /// Returns a segment's length in bytes.
    fn segment_bytes(&self, segment: u32, level: u32) -> u64 {
        let first = |segment: u32| {
            let participant = segment << (self.levels - level);
            match self.exchanges {
                Exchanges::Both(_) => participant,
                Exchanges::Halving | Exchanges::Doubling => self.rank_of(participant),
            }
        };
        self.parts.offset(first(segment + 1)) - self.parts.offset(first(segment))
    }

    fn part(&self, id: u32) -> Part {
        let (extras, participants) = (self.extras(), self.participants());
        if id < extras {
            return Part::Fold(id);
        }
        let (step, participant) = ((id - extras) / participants, (id - extras) % participants);
        if step < self.steps() {
            Part::Exchange(step, participant)
        } else {
            Part::Unfold(participant)
        }
    }

    fn id(&self, part: Part) -> u32 {
        match part {
            Part::Fold(participant) => participant,
            Part::Exchange(step, participant) => {
                self.extras() + step * self.participants() + participant
            }
            Part::Unfold(participant) => self.id(Part::Exchange(self.steps(), participant)),
        }
    }

    fn exchange(&self, step: u32, participant: u32) -> Transfer {
        let (level, halving) = self.level(step);
        let partner = participant ^ self.distance(level);
        // Halving hands over the partner's half; doubling hands over the sender's own segment.
        let holder = if halving { partner } else { participant };
        let segment = self.segment(holder, level + 1);
        Transfer {
            src: self.rank_of(participant),
            dst: self.rank_of(partner),
            bytes: self.segment_bytes(segment, level + 1),
            chunk: (2 << level) - 1 + segment,
            channel: 0,
            // The folds are step 0 if there are any.
            step: step + u32::from(self.extras() > 0),
            reduce: halving,
        }
    }

    /// Returns bytes and chunk of the whole buffer, which passes between a participant and its
    /// extra.
    fn all(&self) -> (u64, u32) {
        (self.parts.total(), 0)
    }

    fn block(&self, participant: u32) -> (u64, u32) {
        let bytes = self.parts.bytes(extra_of(participant));
        (bytes, 2 * self.participants() - 1 + participant)
    }

    fn all_but_block(&self, participant: u32) -> (u64, u32) {
        let (block, chunk) = self.block(participant);
        (self.parts.total() - block, chunk + self.extras())
    }

    fn fold(&self, participant: u32) -> Transfer {
        let reduce = self.exchanges != Exchanges::Doubling;
        let (bytes, chunk) = if reduce {
            self.all()
        } else {
            self.block(participant)
        };
        Transfer {
            src: extra_of(participant),
            dst: self.rank_of(participant),
            bytes,
            chunk,
            channel: 0,
            step: 0,
            reduce,
        }
    }

    fn unfold(&self, participant: u32) -> Transfer {
        let (bytes, chunk) = match self.exchanges {
            Exchanges::Both(_) => self.all(),
            Exchanges::Halving => self.block(participant),
            Exchanges::Doubling => self.all_but_block(participant),
        };
        Transfer {
            src: self.rank_of(participant),
            dst: extra_of(participant),
            bytes,
            chunk,
            channel: 0,
            step: self.steps() + 1,
            reduce: false,
        }
    }

    /// Lists the ids that a participant sends from exchange `step` on.
    fn sent_from(&self, step: u32, participant: u32) -> impl Iterator<Item = u32> {
        let unfold = (participant < self.extras()).then(|| self.id(Part::Unfold(participant)));
        (step..self.steps())
            .map(move |step| self.id(Part::Exchange(step, participant)))
            .chain(unfold)
    }

    /// Lists the ids that a rank sends, in ascending order.
    fn sent_by(&self, rank: u32) -> impl Iterator<Item = u32> {
        let participant = self.participant(rank);
        let extra = self.is_extra(rank);
        let fold = extra.then(|| self.id(Part::Fold(participant)));
        let others = (!extra).then(|| self.sent_from(0, participant));
        fold.into_iter().chain(others.into_iter().flatten())
    }
}

impl Schedule for Butterfly {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        2 * self.extras() + self.steps() * self.participants()
    }

    fn transfer(&self, id: u32) -> Transfer {
        match self.part(id) {
            Part::Fold(participant) => self.fold(participant),
            Part::Exchange(step, participant) => self.exchange(step, participant),
            Part::Unfold(participant) => self.unfold(participant),
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let participant = self.participant(rank);
        if self.is_extra(rank) {
            out.push(self.id(Part::Fold(participant)));
        } else if participant >= self.extras() {
            out.push(self.id(Part::Exchange(0, participant)));
        }
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        match self.part(id) {
            Part::Fold(participant) => out.extend(self.sent_from(0, participant)),
            Part::Exchange(step, participant) => {
                let (level, _) = self.level(step);
                let receiver = participant ^ self.distance(level);
                out.extend(self.sent_from(step + 1, receiver));
            }
            Part::Unfold(_) => {}
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        match self.part(id) {
            Part::Fold(_) => 0,
            Part::Exchange(step, participant) => step + u32::from(participant < self.extras()),
            Part::Unfold(_) => self.steps() + 1,
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        // A rank sends at most 2k + 1 transfers, so a search is cheap.
        let on_the_way = |id: &u32| self.transfer(*id).way(scope) == to;
        self.sent_by(src).filter(on_the_way).nth(nth as usize)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let ways = self.sent_by(rank).map(|id| self.transfer(id).way(scope));
        let mut ways: Vec<_> = ways.collect();
        // An all-reduce meets the same participants in both halves.
        ways.sort_unstable();
        ways.dedup();
        out.append(&mut ways);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source, destination, bytes, chunk and whether it is added, of every transfer.
    fn sent(ranks: u32, size: u64, exchanges: Exchanges) -> Vec<(u32, u32, u64, u32, bool)> {
        let butterfly = Butterfly::new(ranks, size, exchanges);
        (0..butterfly.transfer_count())
            .map(|id| butterfly.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes, t.chunk, t.reduce))
            .collect()
    }

    #[test]
    fn four_ranks_by_hand() {
        // Halves of 8 bytes are chunks 1 and 2, quarters chunks 3 to 6. Neighbours exchange halves
        // first: even ranks keep the lower one.
        let expected = [
            (0, 1, 4, 2, true),
            (1, 0, 4, 1, true),
            (2, 3, 4, 2, true),
            (3, 2, 4, 1, true),
            // Then quarters across: ranks 0 and 1 keep the lower one of their half.
            (0, 2, 2, 4, true),
            (1, 3, 2, 6, true),
            (2, 0, 2, 3, true),
            (3, 1, 2, 5, true),
            // And back.
            (0, 2, 2, 3, false),
            (1, 3, 2, 5, false),
            (2, 0, 2, 4, false),
            (3, 1, 2, 6, false),
            (0, 1, 4, 1, false),
            (1, 0, 4, 2, false),
            (2, 3, 4, 1, false),
            (3, 2, 4, 2, false),
        ];
        assert_eq!(sent(4, 8, Exchanges::Both(Distances::Doubling)), expected);
    }

    #[test]
    fn four_ranks_from_afar_by_hand() {
        // Ranks two apart exchange halves first: ranks 0 and 1 keep the lower one.
        let expected = [
            (0, 2, 4, 2, true),
            (1, 3, 4, 2, true),
            (2, 0, 4, 1, true),
            (3, 1, 4, 1, true),
            // Then neighbours quarters: rank r ends with quarter r, chunk 3 + r.
            (0, 1, 2, 4, true),
            (1, 0, 2, 3, true),
            (2, 3, 2, 6, true),
            (3, 2, 2, 5, true),
            // And back.
            (0, 1, 2, 3, false),
            (1, 0, 2, 4, false),
            (2, 3, 2, 5, false),
            (3, 2, 2, 6, false),
            (0, 2, 4, 1, false),
            (1, 3, 4, 1, false),
            (2, 0, 4, 2, false),
            (3, 1, 4, 2, false),
        ];
        assert_eq!(sent(4, 8, Exchanges::Both(Distances::Halving)), expected);
    }

    #[test]
    fn three_ranks_by_hand() {
        // Blocks of 2 bytes. Rank 1 is the extra of rank 0; ranks 0 and 2 take part, and rank 0's
        // half is blocks 0 and 1 (chunk 1), rank 2's is block 2 (chunk 2).
        let halving = [
            (1, 0, 6, 0, true),
            (0, 2, 2, 2, true),
            (2, 0, 4, 1, true),
            (0, 1, 2, 3, false),
        ];
        assert_eq!(sent(3, 6, Exchanges::Halving), halving);
        let doubling = [
            (1, 0, 2, 3, false),
            (0, 2, 4, 1, false),
            (2, 0, 2, 2, false),
            (0, 1, 4, 4, false),
        ];
        assert_eq!(sent(3, 6, Exchanges::Doubling), doubling);
    }

    #[test]
    fn what_waits_for_what() {
        let butterfly = Butterfly::new(3, 6, Exchanges::Both(Distances::Halving));
        let waits: Vec<_> = (0..butterfly.transfer_count())
            .map(|id| butterfly.dependencies(id))
            .collect();
        // The fold; the halving of ranks 0 and 2; the doubling; the unfold.
        assert_eq!(waits, [0, 1, 0, 2, 1, 3]);
        let mut released = Vec::new();
        butterfly.released_by(0, &mut released);
        assert_eq!(released, [1, 3, 5]);
    }
}
