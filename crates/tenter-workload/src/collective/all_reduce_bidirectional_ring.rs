//! All-reduce, bidirectional ring: two rings in opposite directions, each with half the buffer.
//!
//! Origin: all-reduce, bidirectional ring, in "AI Fabric Test Methodology" (Keysight); the ring
//! itself as in "Bandwidth optimal all-reduce algorithms for clusters of workstations" (Patarasuk,
//! Yuan, 2009). It has no parameters; the rings follow the order of the ranks.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::member::{CollectiveMember, Factor};
use crate::closed_form::{IdealSwitch, times};
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

component! {
    /// All-reduce round two rings in opposite directions, each with half of the buffer.
    pub struct AllReduceBidirectionalRing;
}

impl Collective for AllReduceBidirectionalRing {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-reduce",
        algorithm: "bidirectional-ring",
        summary: "two rings in opposite directions, each with half of the buffer",
        model_page: "docs/models/collective-all-reduce-bidirectional-ring.md",
        // 4n(n−1) transfers must not exceed 2³²−1 ids.
        ranks_max: 32_768,
        // The factor of all-reduce, whatever the algorithm.
        busbw: Factor::TwiceAllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        Ok(Box::new(Rings::new(ranks, size_bytes)))
    }

    /// Takes at least 4(n−1)·c(S/2n) + L, because each port sends 4(n−1) chunks, and at least
    /// 2(n−1)·(c(S/2n) + L), because each step waits for the arrival from the previous one.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let half = switch.size_bytes / switch.parts() / 2;
        let port = times((switch.port_time)(half), 4 * switch.others());
        let steps = times(switch.hop(half), 2 * switch.others());
        port.saturating_add(switch.latency).max(steps)
    }
}

/// Direction of a ring: up to the next rank, or down to the previous one. Each direction is a
/// channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Way {
    const BOTH: [Way; 2] = [Way::Up, Way::Down];

    fn channel(self) -> u32 {
        match self {
            Way::Up => 0,
            Way::Down => 1,
        }
    }
}

/// The schedule. Transfer id = (2 · step + way) · n + source, with way 0 for up and 1 for down.
///
/// Chunks 0 to n−1 travel on the upward ring, n to 2n−1 on the downward ring. In step s rank r
/// sends chunk (r − s) mod n upwards and chunk n + (r + s) mod n downwards.
struct Rings {
    chunks: Chunks,
    ranks: u32,
}

impl Rings {
    fn new(ranks: u32, size_bytes: u64) -> Rings {
        Rings {
            chunks: Chunks::new(size_bytes, 2 * ranks),
            ranks,
        }
    }

    fn steps(&self) -> u32 {
        2 * (self.ranks - 1)
    }

    fn id(&self, step: u32, way: Way, src: u32) -> u32 {
        (2 * step + way.channel()) * self.ranks + src
    }

    /// Splits an id into step, way and source.
    fn parts(&self, id: u32) -> (u32, Way, u32) {
        let (row, src) = (id / self.ranks, id % self.ranks);
        (row / 2, Way::BOTH[(row % 2) as usize], src)
    }

    fn next(&self, rank: u32, way: Way) -> u32 {
        match way {
            Way::Up if rank + 1 == self.ranks => 0,
            Way::Up => rank + 1,
            Way::Down if rank == 0 => self.ranks - 1,
            Way::Down => rank - 1,
        }
    }

    fn chunk(&self, rank: u32, way: Way, step: u32) -> u32 {
        match way {
            // 2n keeps the difference positive: steps go up to 2n − 3.
            Way::Up => (rank + 2 * self.ranks - step) % self.ranks,
            Way::Down => self.ranks + (rank + step) % self.ranks,
        }
    }

    /// Returns the direction in which a chunk travels, and the step in which `rank` first sends it.
    fn first_step(&self, rank: u32, chunk: u32) -> (Way, u32) {
        if chunk < self.ranks {
            (Way::Up, (rank + self.ranks - chunk) % self.ranks)
        } else {
            (Way::Down, (chunk - rank) % self.ranks)
        }
    }
}

impl Schedule for Rings {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        2 * self.steps() * self.ranks
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (step, way, src) = self.parts(id);
        let chunk = self.chunk(src, way, step);
        Transfer {
            src,
            dst: self.next(src, way),
            bytes: self.chunks.bytes(chunk),
            chunk,
            channel: way.channel(),
            step,
            reduce: step < self.ranks - 1,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        out.extend(Way::BOTH.map(|way| self.id(0, way, rank)));
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (step, way, src) = self.parts(id);
        if step + 1 < self.steps() {
            out.push(self.id(step + 1, way, self.next(src, way)));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        u32::from(id >= 2 * self.ranks)
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let (way, step) = match scope {
            QueuePairScope::RankPair => (Way::BOTH[to.lane as usize], nth),
            QueuePairScope::Chunk => {
                let (way, first) = self.first_step(src, to.lane);
                (way, first + nth * self.ranks)
            }
        };
        (step < self.steps()).then(|| self.id(step, way, src))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let mut ways = Way::BOTH.map(|way| (self.next(rank, way), way.channel()));
        ways.sort_unstable();
        for (dst, channel) in ways {
            // Reduce-scatter and all-gather together send every chunk over every hop.
            let lanes = match scope {
                QueuePairScope::RankPair => channel..channel + 1,
                QueuePairScope::Chunk => channel * self.ranks..(channel + 1) * self.ranks,
            };
            out.extend(lanes.map(|lane| Destination { dst, lane }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ranks_by_hand() {
        let rings = Rings::new(3, 12);
        let sent = |id| {
            let t = rings.transfer(id);
            (t.step, t.src, t.dst, t.chunk, t.bytes, t.reduce)
        };
        assert_eq!(sent(0), (0, 0, 1, 0, 2, true));
        assert_eq!(sent(3), (0, 0, 2, 3, 2, true));
        assert_eq!(sent(4), (0, 1, 0, 4, 2, true));
        // Rank 2 got chunk 3 from rank 0 and passes it down to rank 1, where it is complete.
        assert_eq!(sent(11), (1, 2, 1, 3, 2, true));
        // From there it goes round once more.
        assert_eq!(sent(16), (2, 1, 0, 3, 2, false));
        assert_eq!(rings.transfer_count(), 24);
    }

    #[test]
    fn of_two_ranks_each_ring_has_its_own_channel() {
        let rings = Rings::new(2, 12);
        let mut ways = Vec::new();
        rings.pairs(1, QueuePairScope::RankPair, &mut ways);
        let expected = [0, 1].map(|lane| Destination { dst: 0, lane });
        assert_eq!(ways, expected);
        let second = expected.map(|to| rings.nth(1, to, QueuePairScope::RankPair, 1));
        assert_eq!(second, [Some(5), Some(7)]);
    }
}
