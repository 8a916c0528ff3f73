//! Collectives of NCCL among ranks that share one scale-up domain, with the times of its kernels.
//!
//! ```text
//!   kind + domain + size ──▶ the fastest kernel ──▶ the transfers of the kind, timed as the kernel
//! ```
//!
//! A ring takes a launch, and each of its steps a latency and its bytes over the kernel's rate. All
//! others are one operation whose transfers start after the launch and end together. Bytes are
//! stretched by the domain's rate over the kernel's, so that ports are busy as long as the kernel.

use tenter_language::units::{Rate, Time};

use super::algorithm::Collective as _;
use super::nccl::{self, NcclAlgorithm, NcclChoice, NcclCollective, NcclKeys, NpuGeneration};
use super::{AllGatherRing, AllReduceRing, CollectiveKind, ReduceScatterRing, WireProtocol};
use crate::closed_form::IdealSwitch;
use crate::nccl_kernels::{Kernel, NcclKernels};
use crate::{Destination, QueuePairScope, ScaleUp, Schedule, Transfer, WorkloadError};

/// A collective of NCCL among ranks of one domain whose kernels have times.
#[derive(Clone, Debug, PartialEq)]
pub struct InDomain {
    kind: CollectiveKind,
    domain: ScaleUp,
    kernels: NcclKernels,
}

/// Fewest ranks of an all-reduce for which NCCL takes NVLS.
const NVLS_RANKS_MIN: u32 = 4;

/// Data of one kernel, from which its time and the time of its bytes follow.
#[derive(Clone, Copy)]
struct Work {
    /// Bytes that the busiest rank sends.
    sent: u64,
    /// Time without the bytes that are sent.
    start: Time,
    /// Time of the bytes that are sent.
    moving: Time,
}

impl Work {
    fn time(self) -> Time {
        self.start.saturating_add(self.moving)
    }
}

/// A ring or NVLS, with the latency of each step.
#[derive(Clone, Copy)]
struct Way {
    algorithm: NcclAlgorithm,
    protocol: WireProtocol,
    step: Time,
    steps: u64,
    work: Work,
}

impl Way {
    /// Returns the time without any bytes that are sent.
    fn latency(&self) -> Time {
        let steps = self.step.saturating_mul(self.steps);
        self.work.start.saturating_add(steps)
    }

    fn time(&self) -> Time {
        self.latency().saturating_add(self.work.moving)
    }
}

fn time_of(rate: Rate, bytes: u128) -> Time {
    rate.time_of_bits(8 * bytes)
}

impl InDomain {
    /// Returns true if NCCL has a kernel for the collective and carries it out like this.
    pub(crate) fn covers(kind: &CollectiveKind) -> bool {
        kind.nccl().is_some()
            || matches!(
                kind,
                CollectiveKind::AllToAllParallel(_)
                    | CollectiveKind::BroadcastRing(_)
                    | CollectiveKind::ReduceTree(_)
                    | CollectiveKind::GatherParallel(_)
                    | CollectiveKind::ScatterParallel(_)
                    | CollectiveKind::SendRecv(_)
            )
    }

    /// Gives a collective the times of the domain's kernels; `None` if they have none, or if NCCL
    /// does not carry it out like this.
    pub(crate) fn of(kind: &CollectiveKind, domain: ScaleUp) -> Option<InDomain> {
        let kernels = domain.nccl_kernels.filter(|_| Self::covers(kind))?;
        let kind = match kind {
            CollectiveKind::InDomain(own) => own.kind.clone(),
            kind => kind.clone(),
        };
        Some(InDomain {
            kind,
            domain,
            kernels,
        })
    }

    /// Returns the collective and its algorithm as they are written.
    pub(super) fn kind(&self) -> &CollectiveKind {
        &self.kind
    }

    /// Returns the times of the domain's kernels.
    pub fn kernels(&self) -> &NcclKernels {
        &self.kernels
    }

    /// Returns the fastest ring, or NVLS; `None` for other collectives, and for an algorithm or a
    /// protocol of which the kernels have no time.
    fn way(&self, ranks: u32, bytes: u64) -> Option<Way> {
        let (collective, keys) = self.kind.nccl()?;
        let protocols = [WireProtocol::Ll, WireProtocol::Ll128, WireProtocol::Simple];
        let rings = protocols.map(|protocol| self.ring(collective, protocol, ranks, bytes));
        let nvls = self.nvls(collective, keys, ranks, bytes);
        let is_meant = |way: &Way| {
            keys.only_algorithm.is_none_or(|only| only == way.algorithm)
                && keys.only_protocol.is_none_or(|only| only == way.protocol)
        };
        let ways = rings.into_iter().chain(nvls).filter(is_meant);
        ways.min_by_key(Way::time)
    }

    fn ring(
        &self,
        collective: NcclCollective,
        protocol: WireProtocol,
        ranks: u32,
        bytes: u64,
    ) -> Way {
        let times = match collective {
            NcclCollective::AllReduce => 2,
            NcclCollective::AllGather | NcclCollective::ReduceScatter => 1,
        };
        let steps = times * u64::from(ranks - 1);
        let kernel = self.kernels.ring(protocol, ranks);
        let sent = u128::from(bytes) * u128::from(steps) / u128::from(ranks);
        let own = time_of(self.kernels.copy_rate, u128::from(bytes / u64::from(ranks)));
        Way {
            algorithm: NcclAlgorithm::Ring,
            protocol,
            // No step is faster than the path.
            step: kernel.each.max(self.domain.latency),
            steps,
            work: Work {
                sent: u64::try_from(sent).unwrap_or(u64::MAX),
                start: kernel.start.saturating_add(own),
                moving: time_of(kernel.rate, sent),
            },
        }
    }

    fn nvls(
        &self,
        collective: NcclCollective,
        keys: &NcclKeys,
        ranks: u32,
        bytes: u64,
    ) -> Option<Way> {
        let rate = self.kernels.nvls_rate?;
        let is_there = keys.nvls
            && keys.generation() != NpuGeneration::Ampere
            && collective == NcclCollective::AllReduce
            && ranks >= NVLS_RANKS_MIN;
        let both = self.domain.latency.saturating_mul(2);
        is_there.then(|| Way {
            algorithm: NcclAlgorithm::Nvls,
            protocol: WireProtocol::Simple,
            step: self.domain.latency,
            steps: 2,
            work: Work {
                // A head's own part passes the switch as well.
                sent: bytes.saturating_add(bytes / u64::from(ranks)),
                start: self.kernels.nvls_start.saturating_sub(both),
                moving: time_of(rate, u128::from(bytes)),
            },
        })
    }

    /// Returns what NCCL takes for a size; `None` if the kernels do not say.
    pub(super) fn choose(&self, ranks: u32, bytes: u64) -> Option<NcclChoice> {
        let way = self.way(ranks, bytes)?;
        let us = |time: Time| time.as_ns() / 1e3;
        Some(NcclChoice {
            algorithm: way.algorithm,
            protocol: way.protocol,
            latency_us: us(way.latency()),
            // Bytes per nanosecond are GB/s.
            bandwidth: bytes as f64 / way.work.moving.as_ns().max(1e-3),
            time_us: us(way.time()),
        })
    }

    pub(super) fn schedule(
        &self,
        ranks: u32,
        bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        if self.kind.nccl().is_some() {
            // Trees, and what the kernels have no time for, are as NCCL's model has them.
            let Some(way) = self.way(ranks, bytes) else {
                return self.kind.schedule(ranks, bytes);
            };
            return self.along(&way, ranks, bytes);
        }
        let member = self.kind.member();
        let inner: Box<dyn Schedule> = match &self.kind {
            CollectiveKind::BroadcastRing(own) => {
                member.check_root(own.root, ranks)?;
                Box::new(Chain::from_root(ranks, own.root, bytes))
            }
            CollectiveKind::ReduceTree(own) => {
                member.check_root(own.root, ranks)?;
                Box::new(Chain::to_root(ranks, own.root, bytes))
            }
            kind => kind.schedule(ranks, bytes)?,
        };
        let work = self.at_once(ranks, bytes);
        let start = work.start.saturating_sub(self.domain.latency);
        Ok(self.timed(inner, start, Time::ZERO, work))
    }

    /// Builds a ring or NVLS.
    fn along(&self, way: &Way, ranks: u32, bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let (transfers, latency) = match self.kind.nccl() {
            // The latency of the path, up to the switch and back, is that of both steps.
            _ if way.algorithm == NcclAlgorithm::Nvls => {
                (nccl::through_switch(ranks, bytes), Time::ZERO)
            }
            Some((NcclCollective::AllGather, _)) => {
                (AllGatherRing.schedule(ranks, bytes)?, way.step)
            }
            Some((NcclCollective::ReduceScatter, _)) => {
                (ReduceScatterRing.schedule(ranks, bytes)?, way.step)
            }
            _ => (AllReduceRing.schedule(ranks, bytes)?, way.step),
        };
        Ok(self.timed(transfers, way.work.start, latency, way.work))
    }

    /// Returns the time of a collective whose transfers all start at once, by the faster protocol.
    fn at_once(&self, ranks: u32, bytes: u64) -> Work {
        let others = u64::from(ranks - 1);
        let block = u128::from(bytes.div_ceil(u64::from(ranks)));
        match &self.kind {
            // NCCL's broadcast and reduce are chains along its rings, in many small pieces.
            CollectiveKind::BroadcastRing(_) | CollectiveKind::ReduceTree(_) => {
                let protocols = [WireProtocol::Ll, WireProtocol::Ll128, WireProtocol::Simple];
                let of = |protocol| {
                    let kernel = self.kernels.ring(protocol, ranks);
                    let step = kernel.each.max(self.domain.latency);
                    let start = kernel.start.saturating_add(step.saturating_mul(others));
                    Work {
                        sent: bytes,
                        start,
                        moving: time_of(kernel.rate, u128::from(bytes)),
                    }
                };
                let [a, b, c] = protocols.map(of);
                [b, c].into_iter().fold(a, faster)
            }
            CollectiveKind::SendRecv(_) => self.to_peers(1, u128::from(bytes), ranks, 0),
            CollectiveKind::GatherParallel(_) => {
                let of_root = self.to_peers(others, block, ranks, block);
                // Each rank but the root sends its own block alone.
                Work {
                    sent: block as u64,
                    ..of_root
                }
            }
            _ => self.to_peers(others, block, ranks, block),
        }
    }

    /// Returns the time for sends of `block` bytes to each of `peers` ranks at once, with a copy of
    /// `own` bytes.
    fn to_peers(&self, peers: u64, block: u128, ranks: u32, own: u128) -> Work {
        let launch = |kernel: Kernel| {
            let of_peers = kernel.each.saturating_mul(peers);
            kernel.start.saturating_add(of_peers)
        };
        let sent = u128::from(peers) * block;
        let sent_bytes = u64::try_from(sent).unwrap_or(u64::MAX);
        let ll = self.kernels.all_to_all_ll();
        let whole = launch(ll).saturating_add(time_of(ll.rate, block));
        // LL leaves most of the link idle: its bytes take the domain's time, the rest is a wait.
        let moving = self.domain.time_of(sent_bytes, None);
        let with_ll = Work {
            sent: sent_bytes,
            start: whole.saturating_sub(moving),
            moving,
        };
        let simple = self.kernels.all_to_all_simple(ranks);
        let copy = time_of(self.kernels.all_to_all_copy_rate, own);
        let with_simple = Work {
            sent: sent_bytes,
            start: launch(simple).saturating_add(copy),
            moving: time_of(simple.rate, sent),
        };
        faster(with_ll, with_simple)
    }

    /// Gives transfers the times of a kernel.
    fn timed(
        &self,
        transfers: Box<dyn Schedule>,
        start_up: Time,
        latency: Time,
        work: Work,
    ) -> Box<dyn Schedule> {
        Box::new(Timed {
            transfers,
            start_up,
            latency,
            stretch: (work.moving, self.domain.time_of(work.sent.max(1), None)),
        })
    }

    /// Returns a lower bound.
    pub(super) fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let schedule = self.schedule(switch.ranks, switch.size_bytes);
        schedule.map_or(Time::ZERO, |schedule| nccl::ideal(&*schedule, switch))
    }

    /// Returns the most wire bytes for one buffer byte.
    pub(super) fn wire_times(&self) -> u64 {
        let slowest = self.kernels.slowest().bits_per_second().max(1);
        let stretch = self.domain.rate.bits_per_second() / slowest + 1;
        stretch.max(self.kind.wire_times())
    }
}

fn faster(a: Work, b: Work) -> Work {
    if b.time() < a.time() { b } else { a }
}

/// Transfers with the times of a kernel.
struct Timed {
    transfers: Box<dyn Schedule>,
    start_up: Time,
    /// Latency of each transfer, with that of the path; zero for the path's alone.
    latency: Time,
    /// Time of a rank's bytes by the kernel, and in the domain.
    stretch: (Time, Time),
}

impl Schedule for Timed {
    fn ranks(&self) -> u32 {
        self.transfers.ranks()
    }

    fn transfer_count(&self) -> u32 {
        self.transfers.transfer_count()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let transfer = self.transfers.transfer(id);
        let (by_kernel, in_domain) = self.stretch;
        let wire = u128::from(transfer.bytes) * u128::from(by_kernel.ps());
        let wire = wire.div_ceil(u128::from(in_domain.ps().max(1)));
        Transfer {
            bytes: u64::try_from(wire).unwrap_or(u64::MAX),
            ..transfer
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        self.transfers.initial(rank, out);
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        self.transfers.released_by(id, out);
    }

    fn dependencies(&self, id: u32) -> u32 {
        self.transfers.dependencies(id)
    }

    fn start_up(&self) -> Time {
        self.start_up
    }

    fn latency(&self, _id: u32) -> Time {
        self.latency
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        self.transfers.nth(src, to, scope, nth)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        self.transfers.pairs(rank, scope, out);
    }
}

/// A pipelined chain through all ranks as one operation: each hop carries the whole buffer, and all
/// hops go on at the same time. Transfer ids number the hops from the first rank on; there is one
/// chunk.
struct Chain {
    ranks: u32,
    first: u32,
    bytes: u64,
    reduce: bool,
}

impl Chain {
    fn from_root(ranks: u32, root: u32, bytes: u64) -> Chain {
        Chain {
            ranks,
            first: root,
            bytes,
            reduce: false,
        }
    }

    fn to_root(ranks: u32, root: u32, bytes: u64) -> Chain {
        Chain {
            ranks,
            // The last hop ends at the root.
            first: (root + 1) % ranks,
            bytes,
            reduce: true,
        }
    }

    /// Returns the rank `behind` places behind the first.
    fn rank(&self, behind: u32) -> u32 {
        let ahead = self.ranks - self.first;
        if behind < ahead {
            self.first + behind
        } else {
            behind - ahead
        }
    }

    /// Returns the hop that a rank sends; `None` for the last rank.
    fn hop_of(&self, rank: u32) -> Option<u32> {
        let behind = if rank >= self.first {
            rank - self.first
        } else {
            rank + (self.ranks - self.first)
        };
        (behind + 1 < self.ranks).then_some(behind)
    }
}

impl Schedule for Chain {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.ranks - 1
    }

    fn transfer(&self, id: u32) -> Transfer {
        Transfer {
            src: self.rank(id),
            dst: self.rank(id + 1),
            bytes: self.bytes,
            chunk: 0,
            channel: 0,
            step: 0,
            reduce: self.reduce,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        out.extend(self.hop_of(rank));
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn nth(&self, src: u32, _: Destination, _: QueuePairScope, nth: u32) -> Option<u32> {
        self.hop_of(src).filter(|_| nth == 0)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        out.extend(self.hop_of(rank).map(|hop| Destination {
            dst: self.rank(hop + 1),
            lane: scope.lane(0, 0),
        }));
    }
}
