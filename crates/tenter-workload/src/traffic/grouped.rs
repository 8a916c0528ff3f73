//! A collective that several rank groups run separately, all at the same time.
//!
//! Origin: the process groups in training frameworks, with tensor parallelism in groups of
//! consecutive ranks and data parallelism across them, as in "Efficient Large-Scale Language Model
//! Training on GPU Clusters Using Megatron-LM" (Narayanan and others, 2021).

use tenter_language::config::component;

use tenter_language::units::{Rate, Time};

use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

component! {
    /// Which ranks are a group: `size` of them, `stride` apart.
    pub struct Groups as "`jobs[].collectives[].groups`" {
        /// Number of ranks in each group.
        size: u32, in 2..=u32::MAX;
        /// From a rank of a group to the next: with 1 a group are ranks that follow each other;
        /// with 8 ranks 0, 8, 16, … are one, ranks 1, 9, 17, … the next.
        stride: u32 = "1", in 1..=u32::MAX;
    }
}

impl Groups {
    /// Returns how many groups `ranks` ranks form.
    ///
    /// # Errors
    /// A rank count that is no multiple of `size · stride`.
    pub fn count(self, collective: &str, ranks: u32) -> Result<u32, WorkloadError> {
        let block = self
            .size
            .checked_mul(self.stride)
            .filter(|&block| block > 0);
        match block {
            Some(block) if self.size >= 2 && ranks.is_multiple_of(block) && ranks > 0 => {
                Ok(ranks / self.size)
            }
            _ => Err(WorkloadError::GroupsNotFull {
                collective: collective.to_owned(),
                ranks,
                size: self.size,
                stride: self.stride,
            }),
        }
    }

    /// Lists a group's ranks, in ascending order.
    pub fn ranks_of(self, group: u32) -> impl Iterator<Item = u32> {
        (0..self.size).map(move |number| self.rank(group, number))
    }

    /// Returns a rank's group, and its number in the group.
    fn place(self, rank: u32) -> (u32, u32) {
        let block = rank / (self.size * self.stride);
        let within = rank % (self.size * self.stride);
        (
            block * self.stride + within % self.stride,
            within / self.stride,
        )
    }

    /// Returns the rank with a number in a group, the inverse of [`Self::place`].
    fn rank(self, group: u32, number: u32) -> u32 {
        let block = group / self.stride;
        block * self.size * self.stride + number * self.stride + group % self.stride
    }
}

/// The schedule for all groups. Ids count group by group: group g starts at g times one group's
/// transfers.
pub(super) struct Grouped {
    groups: Groups,
    count: u32,
    of_one: Box<dyn Schedule>,
}

impl Grouped {
    pub(super) fn new(
        groups: Groups,
        collective: &str,
        ranks: u32,
        of_one: Box<dyn Schedule>,
    ) -> Result<Grouped, WorkloadError> {
        let count = groups.count(collective, ranks)?;
        // The collective has checked the ids of one group; all groups together need more.
        if count.checked_mul(of_one.transfer_count()).is_none() {
            return Err(WorkloadError::TooManyTransfers {
                collective: collective.to_owned(),
                ranks,
                ranks_max: u32::MAX / of_one.transfer_count().max(1) * groups.size,
            });
        }
        Ok(Grouped {
            groups,
            count,
            of_one,
        })
    }

    /// Splits an id into the group and the id within the group.
    fn split(&self, id: u32) -> (u32, u32) {
        let each = self.of_one.transfer_count();
        (id / each, id % each)
    }

    /// Turns ids within a group, from `start` on, into ids over all groups.
    fn raise(&self, group: u32, start: usize, out: &mut [u32]) {
        for id in &mut out[start..] {
            *id += group * self.of_one.transfer_count();
        }
    }
}

impl Schedule for Grouped {
    fn ranks(&self) -> u32 {
        self.count * self.groups.size
    }

    fn transfer_count(&self) -> u32 {
        self.count * self.of_one.transfer_count()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (group, id) = self.split(id);
        let transfer = self.of_one.transfer(id);
        Transfer {
            src: self.groups.rank(group, transfer.src),
            dst: self.groups.rank(group, transfer.dst),
            ..transfer
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let (group, number) = self.groups.place(rank);
        let start = out.len();
        self.of_one.initial(number, out);
        self.raise(group, start, out);
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (group, id) = self.split(id);
        let start = out.len();
        self.of_one.released_by(id, out);
        self.raise(group, start, out);
    }

    fn dependencies(&self, id: u32) -> u32 {
        self.of_one.dependencies(self.split(id).1)
    }

    fn start_up(&self) -> Time {
        self.of_one.start_up()
    }

    fn latency(&self, id: u32) -> Time {
        self.of_one.latency(self.split(id).1)
    }

    fn pace(&self, id: u32) -> Option<Rate> {
        self.of_one.pace(self.split(id).1)
    }

    fn followed_by(&self, id: u32) -> Option<(u32, Time)> {
        let (group, id) = self.split(id);
        let (next, wait) = self.of_one.followed_by(id)?;
        Some((next + group * self.of_one.transfer_count(), wait))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let (group, number) = self.groups.place(rank);
        let start = out.len();
        self.of_one.pairs(number, scope, out);
        // Within a group, ranks and numbers ascend together, so the order remains.
        for destination in &mut out[start..] {
            destination.dst = self.groups.rank(group, destination.dst);
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let (group, number) = self.groups.place(src);
        // Both ends are numbers within the job; the group's schedule counts within the group.
        let (_, dst) = self.groups.place(to.dst);
        let id = self
            .of_one
            .nth(number, Destination { dst, ..to }, scope, nth)?;
        Some(id + group * self.of_one.transfer_count())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Traffic;
    use crate::collective::tests::members;
    use crate::collective::{AllReduceRing, CollectiveKind};

    fn ring(size: u32, stride: u32) -> Traffic {
        Traffic::Collective {
            kind: AllReduceRing.into(),
            groups: Some(Groups { size, stride }),
        }
    }

    #[test]
    fn groups_by_hand() {
        // Twelve ranks in groups of three, two apart: {0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}.
        let groups = Groups { size: 3, stride: 2 };
        let members = |group: u32| [0, 1, 2].map(|number| groups.rank(group, number));
        assert_eq!(members(0), [0, 2, 4]);
        assert_eq!(members(3), [7, 9, 11]);
        assert_eq!(groups.place(9), (3, 1));
        let schedule = ring(3, 2).schedule(12, 300).expect("they are full");
        // Each group has 2 · 2 steps of three transfers.
        assert_eq!((schedule.ranks(), schedule.transfer_count()), (12, 48));
        let first = schedule.transfer(36);
        assert_eq!((first.src, first.dst, first.bytes), (7, 9, 100));
        let mut ids = Vec::new();
        schedule.initial(7, &mut ids);
        assert_eq!(ids, [36]);
    }

    #[test]
    fn groups_that_are_not_full_are_refused() {
        for (ranks, size, stride) in [(12, 5, 1), (12, 4, 2), (12, 1, 1), (12, 2, 0), (12, 24, 1)] {
            let refused = ring(size, stride).schedule(ranks, 300).err();
            let refused = refused.expect("they are not full");
            assert!(matches!(refused, WorkloadError::GroupsNotFull { .. }));
        }
        assert_eq!(
            ring(4, 2)
                .schedule(12, 300)
                .err()
                .expect("not full")
                .to_string(),
            "all-reduce (ring): 12 ranks do not fill groups of 4 that are 2 apart; \
             give a `size` and a `stride` whose product divides the number of ranks"
        );
    }

    proptest! {
        /// A rank sends and waits for in its group exactly as it would alone.
        #[test]
        fn each_group_is_the_collective_by_itself(
            member in 0..CollectiveKind::MEMBERS.len(),
            stride in 1_u32..4,
            blocks in 1_u32..4,
            bytes in 1_u64..10_000,
        ) {
            let kind = members().swap_remove(member);
            let groups = Groups { size: 16, stride };
            let ranks = 16 * stride * blocks;
            let alone = kind.schedule(16, bytes).expect("sixteen suit all");
            let grouped = Traffic::Collective { kind, groups: Some(groups) };
            let all = grouped.schedule(ranks, bytes).expect("they are full");
            for rank in 0..ranks {
                let (group, number) = groups.place(rank);
                prop_assert_eq!(groups.rank(group, number), rank);
                let base = group * alone.transfer_count();
                let (mut here, mut there) = (Vec::new(), Vec::new());
                all.initial(rank, &mut here);
                alone.initial(number, &mut there);
                prop_assert!(here.iter().map(|id| id - base).eq(there.iter().copied()));
                for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
                    let mut ways = Vec::new();
                    all.pairs(rank, scope, &mut ways);
                    prop_assert!(ways.is_sorted_by(|a, b| a < b));
                    for way in ways {
                        let id = all.nth(rank, way, scope, 0).expect("there is one");
                        let transfer = all.transfer(id);
                        prop_assert_eq!((transfer.src, transfer.way(scope)), (rank, way));
                    }
                }
            }
            for id in (0..all.transfer_count()).step_by(5) {
                let (group, inner) = (id / alone.transfer_count(), id % alone.transfer_count());
                prop_assert_eq!(all.dependencies(id), alone.dependencies(inner));
                let (mut here, mut there) = (Vec::new(), Vec::new());
                all.released_by(id, &mut here);
                alone.released_by(inner, &mut there);
                let base = group * alone.transfer_count();
                prop_assert!(here.iter().map(|id| id - base).eq(there.iter().copied()));
                let transfer = all.transfer(id);
                prop_assert_eq!(groups.place(transfer.src).0, group);
                prop_assert_eq!(groups.place(transfer.dst).0, group);
            }
        }
    }
}
