//! All-to-all, PXN: a block for an NPU on another host is first handed, within the sending host, to
//! the NPU whose NIC is on the destination's rail.
//!
//! Origin: PXN ("PCI × `NVLink`") in NCCL 2.12 (*Doubling all2all Performance with NVIDIA
//! Collective Communication Library 2.12*, NVIDIA, 2022), which also combines the messages that all
//! NPUs on a host have for one destination. AI Fabric Test Methodology (Keysight) names it as an
//! all-to-all algorithm.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::limits::COUNTS;
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

component! {
    /// All-to-all over rails: gathered within hosts, then one transfer for each rail and host.
    pub struct AllToAllPxn as "`jobs[].collectives[]` with `collective: all-to-all` and `algorithm: pxn`" {
        /// NPUs of each host; ranks that follow each other share a host.
        npus_per_host: Option<u32> = absent "`endpoint.host.scale_up.npus_per_host`", in COUNTS;
    }
}

impl Collective for AllToAllPxn {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-to-all",
        algorithm: "pxn",
        summary: "blocks are gathered within hosts and leave by the NIC on the destination's rail",
        model_page: "docs/models/collective-all-to-all-pxn.md",
        // n·(n−h) + n·(h−1) = n(n−1) transfers with h hosts must not exceed 2³²−1 ids.
        ranks_max: 65_536,
        // Each rank keeps its own block.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let transfers = Transfers::new(
            ranks,
            size_bytes,
            Self::MEMBER.known_npus(self.npus_per_host)?,
        )?;
        Ok(Box::new(transfers))
    }

    /// Takes at least (2n−N−g)·c + L: each port sends (g−1)·N and (N−1)·g blocks, with g NPUs on
    /// each of N hosts. Without a scale-up domain, blocks within a host pass the ports too.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let npus = u64::from(self.npus_per_host.unwrap_or(1).max(1));
        let hosts = switch.parts() / npus;
        switch.one_port((npus - 1) * hosts + hosts.saturating_sub(1) * npus)
    }

    fn hands_over(&self) -> Option<u32> {
        self.npus_per_host
    }
}

/// The schedule. With g NPUs on each of h hosts, rank a·g + i is NPU i on host a.
///
/// The first n·(g−1)·h transfers hand blocks over within hosts, ordered by source, then by
/// receiving NPU, then by turn. Turn t covers destinations on host a + 1 + t, so the last of the h
/// turns covers the host itself. The other n·(h−1) transfers go along the rails, ordered by source,
/// then by turn. Transfer id and chunk are the same number.
struct Transfers {
    /// Blocks in each rank's send buffer, one for each rank.
    blocks: Chunks,
    npus: u32,
}

/// Coordinates of a transfer in the schedule.
enum Place {
    /// Handover within a host: source, the receiving NPU's place on the host, turn.
    Handed(u32, u32, u32),
    /// Transfer along a rail: source, turn.
    Sent(u32, u32),
}

impl Transfers {
    /// Builds the schedule over hosts with `npus` NPUs each.
    ///
    /// # Errors
    /// A rank count that does not fill two or more hosts.
    fn new(ranks: u32, size_bytes: u64, npus: u32) -> Result<Transfers, WorkloadError> {
        AllToAllPxn::MEMBER.check_hosts(ranks, npus)?;
        let blocks = Chunks::new(size_bytes, ranks);
        Ok(Transfers { blocks, npus })
    }

    fn hosts(&self) -> u32 {
        self.ranks() / self.npus
    }

    /// Returns the number of handovers within hosts.
    fn handed(&self) -> u32 {
        self.ranks() * (self.npus - 1) * self.hosts()
    }

    fn place(&self, id: u32) -> Place {
        let (hosts, others) = (self.hosts(), self.npus - 1);
        if let Some(id) = id.checked_sub(self.handed()) {
            return Place::Sent(id / (hosts - 1), id % (hosts - 1));
        }
        let (pair, turn) = (id / hosts, id % hosts);
        let (src, other) = (pair / others, pair % others);
        let own = src % self.npus;
        Place::Handed(src, other + u32::from(other >= own), turn)
    }

    fn handed_id(&self, src: u32, npu: u32, turn: u32) -> u32 {
        let other = npu - u32::from(npu > src % self.npus);
        (src * (self.npus - 1) + other) * self.hosts() + turn
    }

    fn sent_id(&self, src: u32, turn: u32) -> u32 {
        self.handed() + src * (self.hosts() - 1) + turn
    }

    /// Returns the destination host in the given turn for rank `src`.
    fn host_of(&self, src: u32, turn: u32) -> u32 {
        (src / self.npus + 1 + turn) % self.hosts()
    }

    /// Returns the turn in which rank `src` covers `host`; the inverse of [`Self::host_of`].
    fn turn_of(&self, src: u32, host: u32) -> u32 {
        (host + self.hosts() - src / self.npus - 1) % self.hosts()
    }

    fn in_host_of(&self, src: u32, npu: u32) -> u32 {
        src / self.npus * self.npus + npu
    }
}

impl Schedule for Transfers {
    fn ranks(&self) -> u32 {
        self.blocks.count()
    }

    fn transfer_count(&self) -> u32 {
        self.handed() + self.ranks() * (self.hosts() - 1)
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (src, dst, bytes, step) = match self.place(id) {
            Place::Handed(src, npu, turn) => {
                let whose = self.host_of(src, turn) * self.npus + npu;
                (src, self.in_host_of(src, npu), self.blocks.bytes(whose), 0)
            }
            Place::Sent(src, turn) => {
                let dst = self.host_of(src, turn) * self.npus + src % self.npus;
                // Each NPU on the host contributes its block for `dst`; these are equally long.
                let bytes = self.blocks.bytes(dst) * u64::from(self.npus);
                (src, dst, bytes, 1)
            }
        };
        Transfer {
            src,
            dst,
            bytes,
            chunk: id,
            channel: 0,
            step,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let own = rank % self.npus;
        let rails = self.hosts() - 1;
        if self.npus == 1 {
            // Without other NPUs nothing is handed over, so transfers along the rails wait for
            // nothing.
            out.extend((0..rails).map(|turn| self.sent_id(rank, turn)));
            return;
        }
        for turn in 0..self.hosts() {
            // Destinations rotate as in the parallel all-to-all. Turn by turn, so that the first
            // transfers along the rails need not wait for all handovers.
            let others = (own + 1..self.npus).chain(0..own);
            out.extend(others.map(|npu| self.handed_id(rank, npu, turn)));
        }
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        if let Place::Handed(src, npu, turn) = self.place(id)
            // The last turn stays on the host and goes no further.
            && turn + 1 < self.hosts()
        {
            out.push(self.sent_id(self.in_host_of(src, npu), turn));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        match self.place(id) {
            Place::Handed(..) => 0,
            Place::Sent(..) => self.npus - 1,
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let (host, npu) = (to.dst / self.npus, to.dst % self.npus);
        if host != src / self.npus {
            return (nth == 0).then(|| self.sent_id(src, self.turn_of(src, host)));
        }
        match scope {
            QueuePairScope::RankPair => (nth < self.hosts()).then(|| self.handed_id(src, npu, nth)),
            // The lane is the chunk, and the chunk is the id.
            QueuePairScope::Chunk => (nth == 0).then_some(to.lane),
        }
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let (host, own) = (rank / self.npus, rank % self.npus);
        for other in 0..self.hosts() {
            if other != host {
                let id = self.sent_id(rank, self.turn_of(rank, other));
                out.push(Destination {
                    dst: other * self.npus + own,
                    lane: scope.lane(0, id),
                });
                continue;
            }
            for npu in (0..own).chain(own + 1..self.npus) {
                let lanes = match scope {
                    QueuePairScope::RankPair => 1,
                    QueuePairScope::Chunk => self.hosts(),
                };
                out.extend((0..lanes).map(|turn| Destination {
                    dst: self.in_host_of(rank, npu),
                    lane: scope.lane(0, self.handed_id(rank, npu, turn)),
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hosts_of_two_by_hand() {
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes for ranks 0, 1, 2 and 3.
        let schedule = Transfers::new(4, 10, 2).unwrap();
        let sent = |id| {
            let t = schedule.transfer(id);
            (t.step, t.src, t.dst, t.bytes)
        };
        // Rank 0 hands rank 1 what is for rank 3, then what is for rank 1 itself.
        assert_eq!((sent(0), sent(1)), ((0, 0, 1, 3), (0, 0, 1, 3)));
        // Rank 3 hands rank 2 what is for rank 0, then what is for rank 2 itself.
        assert_eq!((sent(6), sent(7)), ((0, 3, 2, 2), (0, 3, 2, 2)));
        // Along the rails go two blocks each.
        assert_eq!((sent(8), sent(9)), ((1, 0, 2, 4), (1, 1, 3, 6)));
        assert_eq!((sent(10), sent(11)), ((1, 2, 0, 4), (1, 3, 1, 6)));
        assert_eq!(schedule.transfer_count(), 12);
    }

    #[test]
    fn a_rail_is_used_when_all_npus_have_handed_over() {
        let schedule = Transfers::new(12, 120, 4).unwrap();
        let mut waits = vec![0; schedule.transfer_count() as usize];
        for id in 0..schedule.transfer_count() {
            let mut released = Vec::new();
            schedule.released_by(id, &mut released);
            for next in released {
                assert_eq!(schedule.transfer(next).src, schedule.transfer(id).dst);
                waits[next as usize] += 1;
            }
        }
        for (id, found) in (0..).zip(waits) {
            assert_eq!(schedule.dependencies(id), found, "transfer {id}");
        }
    }

    #[test]
    fn one_npu_in_each_host_needs_nobody() {
        let schedule = Transfers::new(3, 9, 1).unwrap();
        let mut first = Vec::new();
        schedule.initial(2, &mut first);
        let posted: Vec<_> = first.iter().map(|&id| schedule.transfer(id).dst).collect();
        assert_eq!(posted, [0, 1]);
        assert_eq!(schedule.transfer_count(), 6);
    }
}
