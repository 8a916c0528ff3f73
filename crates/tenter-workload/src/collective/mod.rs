//! Collective algorithms: one file per member, listed in [`CollectiveKind::MEMBERS`].
//!
//! A member's file holds all of it: its description with origin and defaults, its limits, its bus
//! bandwidth factor and its [`Schedule`].

mod all_reduce_ring;
mod all_to_all_parallel;
mod chunks;
mod incast;
mod permutation;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::fmt;

use crate::did_you_mean::closest;
use crate::{Schedule, WorkloadError};

/// Every collective and algorithm there is.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectiveKind {
    /// All-to-all, all pairs at once, interleaved over the destinations.
    AllToAllParallel,
    /// All-reduce round a ring in one direction: reduce-scatter, then all-gather.
    AllReduceRing,
    /// Each rank sends everything to one other rank; a random derangement.
    Permutation {
        /// Seed of the derangement.
        seed: u64,
    },
    /// All other ranks send to one.
    Incast {
        /// The rank that receives.
        root: u32,
    },
}

/// What is known of a collective algorithm without running it.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveMember {
    /// The collective's name in scenarios and tables.
    pub collective: &'static str,
    /// The algorithm's name, unique within the collective.
    pub algorithm: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Its model page, from the top of the repository.
    pub model_page: &'static str,
    /// The most ranks it can have, so that every transfer has an id of 32 bits.
    pub ranks_max: u32,
    /// The member with its parameters at their defaults.
    pub default: CollectiveKind,
}

impl fmt::Display for CollectiveMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.collective, self.algorithm)
    }
}

impl CollectiveMember {
    /// Refuses what no algorithm can run: a rank alone, nothing to send, more transfers than ids.
    fn check(&self, ranks: u32, size_bytes: u64) -> Result<(), WorkloadError> {
        let collective = self.to_string();
        if ranks < 2 {
            return Err(WorkloadError::TooFewRanks { collective, ranks });
        }
        if size_bytes == 0 {
            return Err(WorkloadError::ZeroSize { collective });
        }
        if ranks > self.ranks_max {
            let ranks_max = self.ranks_max;
            return Err(WorkloadError::TooManyTransfers {
                collective,
                ranks,
                ranks_max,
            });
        }
        Ok(())
    }
}

impl CollectiveKind {
    /// All members, in the order they are listed to users; the first of a collective is its usual
    /// algorithm.
    pub const MEMBERS: [&'static CollectiveMember; 4] = [
        &all_to_all_parallel::MEMBER,
        &all_reduce_ring::MEMBER,
        &permutation::MEMBER,
        &incast::MEMBER,
    ];

    /// The entry of this algorithm in [`CollectiveKind::MEMBERS`].
    pub const fn member(&self) -> &'static CollectiveMember {
        match self {
            CollectiveKind::AllToAllParallel => &all_to_all_parallel::MEMBER,
            CollectiveKind::AllReduceRing => &all_reduce_ring::MEMBER,
            CollectiveKind::Permutation { .. } => &permutation::MEMBER,
            CollectiveKind::Incast { .. } => &incast::MEMBER,
        }
    }

    /// The collective's name, such as `all-to-all`.
    pub const fn name(&self) -> &'static str {
        self.member().collective
    }

    /// The algorithm's name, such as `parallel`.
    pub const fn algorithm(&self) -> &'static str {
        self.member().algorithm
    }

    /// The algorithms of a collective, its usual one first; empty when there is no such collective.
    pub fn algorithms_of(collective: &str) -> impl Iterator<Item = &'static str> {
        Self::MEMBERS
            .into_iter()
            .filter(move |member| member.collective == collective)
            .map(|member| member.algorithm)
    }

    /// The member of these two names, its parameters at their defaults.
    ///
    /// # Errors
    /// A name that is not known, with the known one nearest to it.
    pub fn parse(collective: &str, algorithm: &str) -> Result<CollectiveKind, WorkloadError> {
        let Some(found) = Self::MEMBERS
            .into_iter()
            .find(|m| m.collective == collective)
        else {
            let mut known: Vec<_> = Self::MEMBERS.map(|member| member.collective).to_vec();
            known.dedup();
            return Err(WorkloadError::UnknownCollective {
                given: collective.to_owned(),
                suggestion: closest(collective, known.iter().copied()),
                known: known.join(", "),
            });
        };
        let of_collective = Self::MEMBERS
            .into_iter()
            .filter(|m| m.collective == collective);
        of_collective
            .clone()
            .find(|member| member.algorithm == algorithm)
            .map(|member| member.default.clone())
            .ok_or_else(|| WorkloadError::UnknownAlgorithm {
                collective: found.collective,
                given: algorithm.to_owned(),
                suggestion: closest(algorithm, Self::algorithms_of(collective)),
                known: of_collective
                    .map(|m| m.algorithm)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// The transfers of this algorithm over `ranks` ranks for a size of `size_bytes`, as nccl-tests
    /// counts sizes.
    ///
    /// # Errors
    /// Fewer than 2 ranks, a size of 0, a root that is no rank, or more transfers than ids.
    pub fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        self.member().check(ranks, size_bytes)?;
        Ok(match *self {
            CollectiveKind::AllToAllParallel => Box::new(
                all_to_all_parallel::AllToAllParallel::new(ranks, size_bytes),
            ),
            CollectiveKind::AllReduceRing => {
                Box::new(all_reduce_ring::AllReduceRing::new(ranks, size_bytes))
            }
            CollectiveKind::Permutation { seed } => {
                Box::new(permutation::Permutation::new(ranks, size_bytes, seed))
            }
            CollectiveKind::Incast { root } => {
                Box::new(incast::Incast::new(ranks, size_bytes, root)?)
            }
        })
    }

    /// Bus bandwidth over algorithm bandwidth for `ranks` ranks (at least 2), so that an ideal
    /// fabric reaches the goodput of one port whatever the collective.
    ///
    /// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
    pub fn busbw_factor(&self, ranks: u32) -> f64 {
        match self {
            CollectiveKind::AllToAllParallel => all_to_all_parallel::busbw_factor(ranks),
            CollectiveKind::AllReduceRing => all_reduce_ring::busbw_factor(ranks),
            CollectiveKind::Permutation { .. } => permutation::BUSBW_FACTOR,
            CollectiveKind::Incast { .. } => incast::busbw_factor(ranks),
        }
    }
}
