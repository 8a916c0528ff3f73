//! Closed forms: a collective's time on an ideal switch, against which simulations are tested.

use tenter_language::units::Time;

/// The network behind a closed form: ranks on one switch that never makes any rank wait.
///
/// The forms take chunks and blocks as equally long (sizes divisible by their number) and endpoints
/// without delays. Results are lower bounds for any fabric with ports at that speed. If transfers
/// from different steps share a port, the time depends on how well they fill each other's gaps; the
/// form is then the largest among several lower bounds.
///
/// Notation in all algorithms: S is the size, n the rank count, c(x) the port time for x bytes, c
/// the port time for S/n bytes, L the latency. Exchanges take place between 2ᵏ ranks, with n
/// between 2ᵏ and 2ᵏ⁺¹. The other ranks add c(S) + L before (reduce-scatter), c(S·(n−1)/n) + L
/// after (all-gather), or c(S) + L both before and after (all-reduce); S/2ʲ then stands for 2ᵏ⁻ʲ
/// blocks with S/n bytes, except in all-reduce. Trees and the ring broadcast pass on chunks with x
/// bytes. A binary tree over n ranks is h = 1 + ⌊log₂(n−1)⌋ hops deep, and from 4 ranks on a rank
/// h−1 hops down has f = 2 ranks below it (else 1).
///
/// Times that exceed 64 bits in picoseconds saturate at [`Time::MAX`].
pub struct IdealSwitch<'a> {
    /// Rank count, n in the forms.
    pub ranks: u32,
    /// Size S in bytes, as nccl-tests counts it.
    pub size_bytes: u64,
    /// Port time c(x): time for which a transfer of x bytes occupies a port, with all frames,
    /// preambles and gaps back to back at line rate.
    pub port_time: &'a dyn Fn(u64) -> Time,
    /// Latency L: from the end of the last frame at the sender to its end at the receiver in an
    /// empty network.
    pub latency: Time,
}

impl IdealSwitch<'_> {
    /// Returns n − 1, each rank's peer count.
    pub(crate) fn others(&self) -> u64 {
        u64::from(self.ranks.saturating_sub(1))
    }

    /// Returns n, but at least 1, so that it can divide.
    pub(crate) fn parts(&self) -> u64 {
        u64::from(self.ranks.max(1))
    }

    /// Returns c(S), the port time for the whole size.
    pub(crate) fn whole(&self) -> Time {
        (self.port_time)(self.size_bytes)
    }

    /// Returns c, the port time for one rank's share.
    pub(crate) fn share(&self) -> Time {
        (self.port_time)(self.size_bytes / self.parts())
    }

    /// Returns c(x) + L for a transfer with `bytes`.
    pub(crate) fn hop(&self, bytes: u64) -> Time {
        (self.port_time)(bytes).saturating_add(self.latency)
    }

    /// Returns `count`·(c + L): steps with one share each that wait for each other.
    pub(crate) fn steps(&self, count: u64) -> Time {
        times(self.share().saturating_add(self.latency), count)
    }

    /// Returns `blocks`·c + L: the time in which one port sends or receives that many shares.
    pub(crate) fn one_port(&self, blocks: u64) -> Time {
        times(self.share(), blocks).saturating_add(self.latency)
    }

    /// Returns the port time for `bytes` that are sent in chunks.
    pub(crate) fn all(&self, bytes: u64, chunk_bytes: u64) -> Time {
        let chunk_bytes = chunk_bytes.max(1);
        let full = times((self.port_time)(chunk_bytes), bytes / chunk_bytes);
        // Nothing at all is one empty chunk, which still takes a frame.
        match bytes % chunk_bytes {
            0 if bytes > 0 => full,
            rest => full.saturating_add((self.port_time)(rest)),
        }
    }

    /// Returns h, a binary tree's depth in hops.
    pub(crate) fn height(&self) -> u32 {
        self.ranks.saturating_sub(1).max(1).ilog2() + 1
    }

    /// Returns the time of a pipeline: `hops`·(c(x) + L) until the first chunk reaches the busiest
    /// port, `copies`·c(S) in which that port sends all chunks `copies` times, and L.
    pub(crate) fn pipeline(&self, chunk_bytes: u64, hops: u32, copies: u64) -> Time {
        let first = self.hop(self.size_bytes.min(chunk_bytes.max(1)));
        let all = self.all(self.size_bytes, chunk_bytes);
        times(first, u64::from(hops))
            .saturating_add(times(all, copies))
            .saturating_add(self.latency)
    }

    /// Returns the pipeline time along a binary tree, down or up.
    pub(crate) fn along_a_tree(&self, chunk_bytes: u64) -> Time {
        // From 4 ranks on some rank h − 1 hops down has two children, so its port carries all
        // chunks twice.
        let copies = if self.ranks < 4 { 1 } else { 2 };
        self.pipeline(chunk_bytes, self.height() - 1, copies)
    }
}

/// Returns `count` times a time, saturating at [`Time::MAX`].
pub fn times(time: Time, count: u64) -> Time {
    Time::from_ps(time.ps().saturating_mul(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::*;
    use tenter_language::units::Rate;

    #[test]
    fn formulas_at_eight_ranks() {
        // 80 bytes, 10 for each rank, at 1 us per byte, and a latency of 1 us.
        let time = |kind: CollectiveKind| {
            let port_time = |bytes| Time::from_us(bytes);
            kind.ideal_completion(&IdealSwitch {
                ranks: 8,
                size_bytes: 80,
                port_time: &port_time,
                latency: Time::from_us(1),
            })
        };
        // 7·10 + 1.
        assert_eq!(time(AllToAllParallel.into()), Time::from_us(71));
        for kind in [
            Incast { root: 0 }.into(),
            GatherParallel { root: 0 }.into(),
            ScatterParallel { root: 0 }.into(),
        ] {
            assert_eq!(time(kind), Time::from_us(71));
        }
        // Four hosts of two: 4 blocks to the other NPU, 6 across hosts, 10·10 + 1.
        let pxn = AllToAllPxn {
            npus_per_host: Some(2),
        }
        .into();
        assert_eq!(time(pxn), Time::from_us(101));
        // 14·(10 + 1).
        assert_eq!(time(AllReduceRing.into()), Time::from_us(154));
        // 14·2·5 + 1, and 7·(10 + 1).
        let bidirectional = AllReduceBidirectionalRing.into();
        assert_eq!(time(bidirectional), Time::from_us(141));
        for kind in [
            AllToAllPairwise.into(),
            AllGatherRing.into(),
            ReduceScatterRing.into(),
        ] {
            assert_eq!(time(kind), Time::from_us(77));
        }
        // (40 + 1) + (20 + 1) + (10 + 1), once or twice.
        for kind in [
            AllGatherRecursiveDoubling.into(),
            ReduceScatterRecursiveHalving.into(),
            Hypercube.into(),
        ] {
            assert_eq!(time(kind), Time::from_us(73));
        }
        for distances in [Distances::Halving, Distances::Doubling] {
            let both = AllReduceHalvingDoubling { distances }.into();
            assert_eq!(time(both), Time::from_us(146));
        }
        // Chunks of 20: the busiest port sends four halves of 40, 160 + 1; up and down three hops
        // of 20 + 1 would take 126.
        let chunk_bytes = 20;
        let trees = AllReduceDoubleBinaryTree { chunk_bytes }.into();
        assert_eq!(time(trees), Time::from_us(161));
        // 6·(20 + 1) + 80 + 1; 2·(20 + 1) + 2·80 + 1.
        let root = 0;
        let ring = BroadcastRing { root, chunk_bytes }.into();
        assert_eq!(time(ring), Time::from_us(207));
        let down = BroadcastTree { root, chunk_bytes }.into();
        let up = ReduceTree { root, chunk_bytes }.into();
        assert_eq!(time(down), Time::from_us(203));
        assert_eq!(time(up), Time::from_us(203));
        // 80 + 1, and 7·80 + 1.
        for kind in [Permutation { seed: Some(0) }.into(), SendRecv.into()] {
            assert_eq!(time(kind), Time::from_us(81));
        }
        let parallel = BroadcastParallel { root }.into();
        assert_eq!(time(parallel), Time::from_us(561));
    }

    #[test]
    fn four_hosts_of_two() {
        // 80 bytes as above: 6·(10 + 1) us across hosts, and twice 40 bytes at a byte a nanosecond
        // and 2 us within them.
        let hosts = AllReduceHierarchical {
            npus_per_host: Some(2),
            scale_up_rate: Some(Rate::from_gbps(8)),
            scale_up_latency: Some(Time::from_us(2)),
        };
        let time = CollectiveKind::from(hosts).ideal_completion(&IdealSwitch {
            ranks: 8,
            size_bytes: 80,
            port_time: &|bytes| Time::from_us(bytes),
            latency: Time::from_us(1),
        });
        assert_eq!(time, Time::from_ns(66_000 + 2 * 2_040));
    }

    #[test]
    fn frames_and_goodput_agree() {
        // All-to-all of 8 GiB over 8 ranks at 400G, 20 ps per byte: a block of 1 GiB is 262,144
        // frames of 4,096 bytes of payload in 4,178 on the wire.
        let wire = |bytes: u64| Time::from_ps(bytes / 4_096 * 4_178 * 20);
        let kind = CollectiveKind::AllToAllParallel(AllToAllParallel);
        let ideal = kind.ideal_completion(&IdealSwitch {
            ranks: 8,
            size_bytes: 8 << 30,
            port_time: &wire,
            latency: Time::ZERO,
        });
        // Seven blocks at a goodput of 50 GB/s · 4,096/4,178 = 49.0187 GB/s: 153.333 ms.
        assert_eq!(ideal, Time::from_ps(153_333_268_480));
        let goodput = 50e9 * 4_096.0 / 4_178.0;
        assert!((7.0 * f64::from(1 << 30) / goodput - ideal.as_s()).abs() < 1e-12);
    }
}
