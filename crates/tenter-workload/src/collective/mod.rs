//! Collective algorithms: one file per member, listed in [`CollectiveKind::MEMBERS`].
//!
//! A member's file holds all of it: its description with origin and defaults, its limits, its bus
//! bandwidth factor and its [`Schedule`]. What several members share is a file of its own and no
//! member (`butterfly`, `chunks`, `one_each`, `ring`, `star`, `tree`, `tree_flow`).

mod all_gather_recursive_doubling;
mod all_gather_ring;
mod all_reduce_bidirectional_ring;
mod all_reduce_double_binary_tree;
mod all_reduce_halving_doubling;
mod all_reduce_hierarchical;
mod all_reduce_ring;
mod all_to_all_pairwise;
mod all_to_all_parallel;
mod all_to_all_pxn;
mod broadcast_parallel;
mod broadcast_ring;
mod broadcast_tree;
mod butterfly;
mod chunks;
pub(crate) mod flow_workload;
mod flows;
mod gather_parallel;
mod grouped;
mod hypercube;
mod incast;
mod one_each;
pub(crate) mod pattern;
mod permutation;
mod reduce_scatter_recursive_halving;
mod reduce_scatter_ring;
mod reduce_tree;
mod ring;
mod scatter_parallel;
mod send_recv;
mod star;
#[cfg(test)]
mod tests;
mod tree;
mod tree_flow;
#[cfg(test)]
mod vectors;

use std::fmt;
use std::sync::Arc;

use tenter_units::Time;

use crate::did_you_mean::closest;
use crate::{Schedule, WorkloadError};

pub use all_reduce_halving_doubling::Distances;
pub use all_reduce_hierarchical::ScaleUp;
use flow_workload::{FlowSchedule, FlowWorkload};
pub use flows::Flow;
pub use grouped::Groups;
use pattern::PatternSchedule;

/// The bytes of a chunk where an algorithm passes on one chunk after the other and nothing else is
/// said.
///
/// Source: NCCL's default buffer of 4 MiB (`NCCL_BUFFSIZE`), which it uses in 8 slots.
const CHUNK_BYTES: u64 = 512 << 10;

/// Every collective and algorithm there is.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectiveKind {
    /// All-to-all, all pairs at once, interleaved over the destinations.
    AllToAllParallel,
    /// All-to-all, one destination after the other.
    AllToAllPairwise,
    /// All-to-all over rails: gathered within hosts, then one transfer for each rail and host.
    AllToAllPxn {
        /// NPUs of each host, at least 1; ranks that follow each other share a host.
        npus_per_host: u32,
    },
    /// All-reduce round a ring in one direction: reduce-scatter, then all-gather.
    AllReduceRing,
    /// All-reduce round two rings in opposite directions, each with half of the buffer.
    AllReduceBidirectionalRing,
    /// All-reduce by recursive halving, then recursive doubling.
    AllReduceHalvingDoubling {
        /// Who exchanges the most.
        distances: Distances,
    },
    /// All-reduce up and down two binary trees, each with half of the buffer.
    AllReduceDoubleBinaryTree {
        /// Bytes of a chunk; the last one may be shorter.
        chunk_bytes: u64,
    },
    /// All-reduce within hosts, round rings across them, and within hosts again.
    AllReduceHierarchical {
        /// The hosts.
        scale_up: ScaleUp,
    },
    /// All-gather round a ring.
    AllGatherRing,
    /// All-gather in log₂ n exchanges, each of twice as many bytes as the one before.
    AllGatherRecursiveDoubling,
    /// Reduce-scatter round a ring.
    ReduceScatterRing,
    /// Reduce-scatter in log₂ n exchanges, each of half as many bytes as the one before.
    ReduceScatterRecursiveHalving,
    /// One rank sends the same message to every other, all at once.
    BroadcastParallel {
        /// The rank that sends.
        root: u32,
    },
    /// A message goes chunk by chunk from rank to rank, round a ring that the root opens.
    BroadcastRing {
        /// The rank that sends.
        root: u32,
        /// Bytes of a chunk; the last one may be shorter.
        chunk_bytes: u64,
    },
    /// A message goes chunk by chunk down a binary tree.
    BroadcastTree {
        /// The rank that sends.
        root: u32,
        /// Bytes of a chunk; the last one may be shorter.
        chunk_bytes: u64,
    },
    /// Sums go chunk by chunk up a binary tree.
    ReduceTree {
        /// The rank that receives.
        root: u32,
        /// Bytes of a chunk; the last one may be shorter.
        chunk_bytes: u64,
    },
    /// All ranks send their share to one, all at once.
    GatherParallel {
        /// The rank that receives.
        root: u32,
    },
    /// One rank sends every other its share, all at once.
    ScatterParallel {
        /// The rank that sends.
        root: u32,
    },
    /// Each rank sends everything to the next one.
    SendRecv,
    /// All-gather along the edges of a hypercube, as nccl-tests has it.
    Hypercube,
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
    /// A collective that each of several groups of ranks runs by itself; no member of its own.
    Grouped {
        /// The groups.
        groups: Groups,
        /// What each of them runs.
        kind: Box<CollectiveKind>,
    },
    /// Streams that never end; no collective, and not listed among them.
    Flows {
        /// The streams.
        flows: Vec<Flow>,
    },
    /// Flows with sizes by a distribution; no collective, and not listed among them.
    FlowWorkload {
        /// Who sends which flows to whom.
        workload: Arc<FlowWorkload>,
    },
    /// A step of a parallel application; no collective, and not listed among them.
    Pattern {
        /// Its transfers.
        schedule: PatternSchedule,
    },
}

/// What algorithm bandwidth is multiplied with to get bus bandwidth, as a function of the number
/// of ranks n.
///
/// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// 1: every byte of the size crosses the busiest port once.
    One,
    /// (n−1)/n: a rank's own share stays where it is.
    AllButOwn,
    /// 2(n−1)/n: every share crosses each rank's port twice, but for its own.
    TwiceAllButOwn,
}

impl Factor {
    /// Its value for `ranks` ranks, at least 1.
    pub fn of(self, ranks: u32) -> f64 {
        let all_but_own = f64::from(ranks - 1) / f64::from(ranks);
        match self {
            Factor::One => 1.0,
            Factor::AllButOwn => all_but_own,
            Factor::TwiceAllButOwn => 2.0 * all_but_own,
        }
    }
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
    /// Bus bandwidth over algorithm bandwidth.
    pub busbw: Factor,
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

    /// Refuses a number of ranks that does not fill two hosts or more.
    fn check_hosts(&self, ranks: u32, npus_per_host: u32) -> Result<(), WorkloadError> {
        let full = npus_per_host > 0 && ranks.is_multiple_of(npus_per_host);
        if full && ranks / npus_per_host >= 2 {
            return Ok(());
        }
        Err(WorkloadError::HostsNotFull {
            collective: self.to_string(),
            ranks,
            npus_per_host,
        })
    }

    /// Refuses a root that is no rank.
    fn check_root(&self, root: u32, ranks: u32) -> Result<(), WorkloadError> {
        if root < ranks {
            return Ok(());
        }
        let collective = self.to_string();
        Err(WorkloadError::RootOutOfRange {
            collective,
            root,
            ranks,
        })
    }
}

impl CollectiveKind {
    /// All members, in the order they are listed to users; the first of a collective is its usual
    /// algorithm.
    pub const MEMBERS: [&'static CollectiveMember; 22] = [
        &all_to_all_parallel::MEMBER,
        &all_to_all_pairwise::MEMBER,
        &all_to_all_pxn::MEMBER,
        &all_reduce_ring::MEMBER,
        &all_reduce_bidirectional_ring::MEMBER,
        &all_reduce_halving_doubling::MEMBER,
        &all_reduce_double_binary_tree::MEMBER,
        &all_reduce_hierarchical::MEMBER,
        &all_gather_ring::MEMBER,
        &all_gather_recursive_doubling::MEMBER,
        &reduce_scatter_ring::MEMBER,
        &reduce_scatter_recursive_halving::MEMBER,
        &broadcast_parallel::MEMBER,
        &broadcast_ring::MEMBER,
        &broadcast_tree::MEMBER,
        &reduce_tree::MEMBER,
        &gather_parallel::MEMBER,
        &scatter_parallel::MEMBER,
        &send_recv::MEMBER,
        &hypercube::MEMBER,
        &permutation::MEMBER,
        &incast::MEMBER,
    ];

    /// Whether it goes on for ever, so that nothing of it is ever complete.
    pub const fn is_endless(&self) -> bool {
        matches!(self, CollectiveKind::Flows { .. })
    }

    /// The flows, where it is a workload of flows with sizes by a distribution.
    pub fn flow_workload(&self) -> Option<&FlowWorkload> {
        match self {
            CollectiveKind::FlowWorkload { workload } => Some(workload),
            _ => None,
        }
    }

    /// The step of an application, where it is one.
    pub fn pattern(&self) -> Option<&PatternSchedule> {
        match self {
            CollectiveKind::Pattern { schedule } => Some(schedule),
            _ => None,
        }
    }

    /// What is known of this algorithm, an entry of [`CollectiveKind::MEMBERS`] unless it is a
    /// workload of flows or a pattern.
    pub fn member(&self) -> &'static CollectiveMember {
        match self {
            CollectiveKind::AllToAllParallel => &all_to_all_parallel::MEMBER,
            CollectiveKind::AllToAllPairwise => &all_to_all_pairwise::MEMBER,
            CollectiveKind::AllToAllPxn { .. } => &all_to_all_pxn::MEMBER,
            CollectiveKind::AllReduceRing => &all_reduce_ring::MEMBER,
            CollectiveKind::AllReduceBidirectionalRing => &all_reduce_bidirectional_ring::MEMBER,
            CollectiveKind::AllReduceHalvingDoubling { .. } => &all_reduce_halving_doubling::MEMBER,
            CollectiveKind::AllReduceDoubleBinaryTree { .. } => {
                &all_reduce_double_binary_tree::MEMBER
            }
            CollectiveKind::AllReduceHierarchical { .. } => &all_reduce_hierarchical::MEMBER,
            CollectiveKind::AllGatherRing => &all_gather_ring::MEMBER,
            CollectiveKind::AllGatherRecursiveDoubling => &all_gather_recursive_doubling::MEMBER,
            CollectiveKind::ReduceScatterRing => &reduce_scatter_ring::MEMBER,
            CollectiveKind::ReduceScatterRecursiveHalving => {
                &reduce_scatter_recursive_halving::MEMBER
            }
            CollectiveKind::BroadcastParallel { .. } => &broadcast_parallel::MEMBER,
            CollectiveKind::BroadcastRing { .. } => &broadcast_ring::MEMBER,
            CollectiveKind::BroadcastTree { .. } => &broadcast_tree::MEMBER,
            CollectiveKind::ReduceTree { .. } => &reduce_tree::MEMBER,
            CollectiveKind::GatherParallel { .. } => &gather_parallel::MEMBER,
            CollectiveKind::ScatterParallel { .. } => &scatter_parallel::MEMBER,
            CollectiveKind::SendRecv => &send_recv::MEMBER,
            CollectiveKind::Hypercube => &hypercube::MEMBER,
            CollectiveKind::Permutation { .. } => &permutation::MEMBER,
            CollectiveKind::Incast { .. } => &incast::MEMBER,
            CollectiveKind::Grouped { kind, .. } => kind.member(),
            CollectiveKind::Flows { .. } => &flows::MEMBER,
            CollectiveKind::FlowWorkload { workload } if workload.is_open() => {
                &flow_workload::OPEN_LOOP
            }
            CollectiveKind::FlowWorkload { .. } => &flow_workload::CLOSED_LOOP,
            CollectiveKind::Pattern { schedule } => schedule.member(),
        }
    }

    /// The collective's name, such as `all-to-all`.
    pub fn name(&self) -> &'static str {
        self.member().collective
    }

    /// The algorithm's name, such as `parallel`.
    pub fn algorithm(&self) -> &'static str {
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

    /// The root, where the collective has one.
    pub const fn root_mut(&mut self) -> Option<&mut u32> {
        match self {
            CollectiveKind::BroadcastParallel { root }
            | CollectiveKind::BroadcastRing { root, .. }
            | CollectiveKind::BroadcastTree { root, .. }
            | CollectiveKind::ReduceTree { root, .. }
            | CollectiveKind::GatherParallel { root }
            | CollectiveKind::ScatterParallel { root }
            | CollectiveKind::Incast { root } => Some(root),
            _ => None,
        }
    }

    /// The bytes of a chunk, where the algorithm passes on one chunk after the other.
    pub const fn chunk_bytes(&self) -> Option<u64> {
        match self {
            CollectiveKind::AllReduceDoubleBinaryTree { chunk_bytes }
            | CollectiveKind::BroadcastRing { chunk_bytes, .. }
            | CollectiveKind::BroadcastTree { chunk_bytes, .. }
            | CollectiveKind::ReduceTree { chunk_bytes, .. } => Some(*chunk_bytes),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub const fn chunk_bytes_mut(&mut self) -> Option<&mut u64> {
        match self {
            CollectiveKind::AllReduceDoubleBinaryTree { chunk_bytes }
            | CollectiveKind::BroadcastRing { chunk_bytes, .. }
            | CollectiveKind::BroadcastTree { chunk_bytes, .. }
            | CollectiveKind::ReduceTree { chunk_bytes, .. } => Some(chunk_bytes),
            _ => None,
        }
    }

    /// The order of distances, where the algorithm may have either.
    pub const fn distances_mut(&mut self) -> Option<&mut Distances> {
        match self {
            CollectiveKind::AllReduceHalvingDoubling { distances } => Some(distances),
            _ => None,
        }
    }

    /// The number of NPUs in a host, where the algorithm tells hosts apart.
    pub const fn npus_per_host_mut(&mut self) -> Option<&mut u32> {
        match self {
            CollectiveKind::AllToAllPxn { npus_per_host } => Some(npus_per_host),
            CollectiveKind::AllReduceHierarchical { scale_up } => Some(&mut scale_up.npus_per_host),
            _ => None,
        }
    }

    /// The NPUs of a host, where a formula says how long something passes between them.
    pub const fn scale_up_mut(&mut self) -> Option<&mut ScaleUp> {
        match self {
            CollectiveKind::AllReduceHierarchical { scale_up } => Some(scale_up),
            _ => None,
        }
    }

    /// What passes within the hosts before the first transfer can be sent, and once more after the
    /// last has arrived; zero for all algorithms that do not tell hosts apart.
    pub fn within_hosts(&self, size_bytes: u64) -> Time {
        match self {
            CollectiveKind::AllReduceHierarchical { scale_up } => scale_up.phase(size_bytes),
            CollectiveKind::Grouped { kind, .. } => kind.within_hosts(size_bytes),
            _ => Time::ZERO,
        }
    }

    /// What each group of ranks runs; itself, where there are no groups.
    pub fn of_group(&self) -> &CollectiveKind {
        match self {
            CollectiveKind::Grouped { kind, .. } => kind,
            _ => self,
        }
    }

    /// How many ranks run it together, of so many that run it in all.
    pub fn ranks_together(&self, ranks: u32) -> u32 {
        match self {
            CollectiveKind::Grouped { groups, .. } => groups.size,
            _ => ranks,
        }
    }

    /// The transfers of this algorithm over `ranks` ranks for a size of `size_bytes`, as nccl-tests
    /// counts sizes.
    ///
    /// # Errors
    /// Fewer than 2 ranks, a size of 0, a number of ranks that does not suit the algorithm, a root
    /// that is no rank, or more transfers than ids.
    pub fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        if let CollectiveKind::Grouped { groups, kind } = self {
            let collective = kind.member().to_string();
            groups.count(&collective, ranks)?;
            let of_one = kind.schedule(groups.size, size_bytes)?;
            let grouped = grouped::Grouped::new(*groups, (&collective, ranks), of_one)?;
            return Ok(Box::new(grouped));
        }
        self.member().check(ranks, size_bytes)?;
        if let CollectiveKind::FlowWorkload { workload } = self {
            return Ok(Box::new(FlowSchedule::new(ranks, workload)));
        }
        if let CollectiveKind::Pattern { schedule } = self {
            let found = schedule.ranks();
            if found != ranks {
                return Err(WorkloadError::RanksDisagree { ranks, found });
            }
            return Ok(Box::new(schedule.clone()));
        }
        self.of_all(ranks, size_bytes)
    }

    fn of_all(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        Ok(match *self {
            CollectiveKind::AllToAllParallel => Box::new(
                all_to_all_parallel::AllToAllParallel::new(ranks, size_bytes),
            ),
            CollectiveKind::AllToAllPairwise => Box::new(
                all_to_all_pairwise::AllToAllPairwise::new(ranks, size_bytes),
            ),
            CollectiveKind::AllToAllPxn { npus_per_host } => {
                Box::new(all_to_all_pxn::schedule(ranks, size_bytes, npus_per_host)?)
            }
            CollectiveKind::AllReduceRing => Box::new(all_reduce_ring::schedule(ranks, size_bytes)),
            CollectiveKind::AllReduceBidirectionalRing => Box::new(
                all_reduce_bidirectional_ring::AllReduceBidirectionalRing::new(ranks, size_bytes),
            ),
            CollectiveKind::AllReduceHalvingDoubling { distances } => Box::new(
                all_reduce_halving_doubling::schedule(ranks, size_bytes, distances),
            ),
            CollectiveKind::AllReduceDoubleBinaryTree { chunk_bytes } => Box::new(
                all_reduce_double_binary_tree::AllReduceDoubleBinaryTree::new(
                    ranks,
                    size_bytes,
                    chunk_bytes,
                )?,
            ),
            CollectiveKind::AllReduceHierarchical { scale_up } => Box::new(
                all_reduce_hierarchical::schedule(ranks, size_bytes, scale_up)?,
            ),
            CollectiveKind::AllGatherRing => Box::new(all_gather_ring::schedule(ranks, size_bytes)),
            CollectiveKind::AllGatherRecursiveDoubling => {
                Box::new(all_gather_recursive_doubling::schedule(ranks, size_bytes))
            }
            CollectiveKind::ReduceScatterRing => {
                Box::new(reduce_scatter_ring::schedule(ranks, size_bytes))
            }
            CollectiveKind::ReduceScatterRecursiveHalving => Box::new(
                reduce_scatter_recursive_halving::schedule(ranks, size_bytes),
            ),
            CollectiveKind::BroadcastParallel { root } => {
                Box::new(broadcast_parallel::schedule(ranks, size_bytes, root)?)
            }
            CollectiveKind::BroadcastRing { root, chunk_bytes } => Box::new(
                broadcast_ring::schedule(ranks, size_bytes, root, chunk_bytes)?,
            ),
            CollectiveKind::BroadcastTree { root, chunk_bytes } => Box::new(
                broadcast_tree::schedule(ranks, size_bytes, root, chunk_bytes)?,
            ),
            CollectiveKind::ReduceTree { root, chunk_bytes } => {
                Box::new(reduce_tree::schedule(ranks, size_bytes, root, chunk_bytes)?)
            }
            CollectiveKind::GatherParallel { root } => {
                Box::new(gather_parallel::schedule(ranks, size_bytes, root)?)
            }
            CollectiveKind::ScatterParallel { root } => {
                Box::new(scatter_parallel::schedule(ranks, size_bytes, root)?)
            }
            CollectiveKind::SendRecv => Box::new(send_recv::schedule(ranks, size_bytes)),
            CollectiveKind::Hypercube => Box::new(hypercube::schedule(ranks, size_bytes)?),
            CollectiveKind::Permutation { seed } => {
                Box::new(permutation::schedule(ranks, size_bytes, seed))
            }
            CollectiveKind::Incast { root } => Box::new(incast::schedule(ranks, size_bytes, root)?),
            CollectiveKind::Grouped { .. }
            | CollectiveKind::FlowWorkload { .. }
            | CollectiveKind::Pattern { .. } => self.schedule(ranks, size_bytes)?,
            CollectiveKind::Flows { ref flows } => {
                Box::new(flows::Flows::new(ranks, size_bytes, flows))
            }
        })
    }

    /// Algorithm bandwidth over size per time, for `ranks` ranks (at least 2): 1, but for the
    /// hypercube, of which nccl-tests leaves out the block that a rank has already.
    ///
    /// Source: the `*GetBw` functions of NVIDIA/nccl-tests.
    pub fn algbw_factor(&self, ranks: u32) -> f64 {
        let factor = match self.of_group() {
            CollectiveKind::Hypercube => Factor::AllButOwn,
            _ => Factor::One,
        };
        factor.of(self.ranks_together(ranks))
    }

    /// Bus bandwidth over algorithm bandwidth for `ranks` ranks (at least 2), so that an ideal
    /// fabric reaches the goodput of one port whatever the collective.
    ///
    /// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
    pub fn busbw_factor(&self, ranks: u32) -> f64 {
        self.member().busbw.of(self.ranks_together(ranks))
    }
}
