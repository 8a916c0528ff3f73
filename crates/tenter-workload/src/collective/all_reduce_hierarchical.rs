//! All-reduce, hierarchical: reduce-scatter within each host, rings across hosts, all-gather within
//! each host.
//!
//! Origin: "Massively Distributed SGD: ImageNet/ResNet-50 Training in a Flash" (Mikami and others,
//! 2018) and NCCL, whose rings enter and leave a host through one NIC per NPU. What moves within a
//! host does so over its scale-up domain, whose time is a formula and not simulated.

use std::ops::RangeInclusive;

use tenter_config::component;
use tenter_units::{Rate, Time};

use super::chunks::Chunks;
use super::ring::Ring;
use super::{CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

component! {
    /// The NPUs of a host and what connects them.
    pub struct ScaleUp as "`endpoint.host.scale_up`" {
        /// NPUs of a host: the NICs of the first `npus_per_host` NPUs are those of the first host,
        /// and so on.
        npus_per_host: u32 = "8", in 2..=1024, from "usual servers";
        /// What an NPU sends into its host, one transfer after the other.
        rate: Rate = "3600Gbps", in RATES, from "NVIDIA H100 data sheet: NVLink with 900 GB/s both ways together";
        /// From the last byte sent within a host to its use at the receiver.
        latency: Time = "1us", in Time::from_ns(50)..=Time::from_us(1_000_000), from "assumed";
    }
}

/// Rates of a scale-up domain.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(1_000_000);

impl ScaleUp {
    /// Eight NPUs with `NVLink` of the fourth generation: 900 GB/s both ways together (NVIDIA H100
    /// data sheet). The latency is assumed.
    const DEFAULT: ScaleUp = ScaleUp {
        npus_per_host: 8,
        rate: Rate::from_gbps(3_600),
        latency: Time::from_us(1),
    };

    /// How long the reduce-scatter within a host takes, or the all-gather: each NPU sends the
    /// others their parts of its buffer, all at once, over a switch that makes nobody wait. Zero
    /// for a single NPU. Saturates at [`Time::MAX`].
    pub(super) fn phase(self, size_bytes: u64) -> Time {
        if self.npus_per_host < 2 {
            return Time::ZERO;
        }
        let npus = u128::from(self.npus_per_host);
        let bytes = (npus - 1) * u128::from(size_bytes).div_ceil(npus);
        self.rate
            .time_of_bits(8 * bytes)
            .saturating_add(self.latency)
    }

    /// Whether two NPUs, by their numbers among all, are of one host.
    pub fn joins(self, a: u32, b: u32) -> bool {
        a / self.npus_per_host == b / self.npus_per_host
    }

    /// Whether the NPUs of two NICs are of one host, where so many NPUs share each NIC.
    pub fn joins_nics(self, npus_per_nic: u32, a: u32, b: u32) -> bool {
        self.joins(a * npus_per_nic, b * npus_per_nic)
    }

    /// How long an NPU is busy with sending so many bytes, rounded up to a picosecond; saturates at
    /// [`Time::MAX`].
    pub fn time_of(self, bytes: u64) -> Time {
        self.rate.time_of_bits(8 * u128::from(bytes))
    }
}

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "all-reduce",
    algorithm: "hierarchical",
    summary: "reduce-scatter within hosts, a ring per NPU across them, all-gather within hosts",
    model_page: "docs/models/collective-all-reduce-hierarchical.md",
    // 2n(n−1) ≤ 2³²−1, with one NPU in each host.
    ranks_max: 46_341,
    // That of all-reduce, whatever the algorithm.
    busbw: Factor::TwiceAllButOwn,
    default: CollectiveKind::AllReduceHierarchical {
        scale_up: ScaleUp::DEFAULT,
    },
};

/// The rings across hosts. Rank h·g + i is NPU i of host h, of g in each host; its ring is that of
/// all NPUs i, over part i of the buffer.
///
/// # Errors
/// A number of ranks that does not fill two hosts or more.
pub(super) fn schedule(
    ranks: u32,
    size_bytes: u64,
    scale_up: ScaleUp,
) -> Result<Ring, WorkloadError> {
    let npus = scale_up.npus_per_host;
    MEMBER.check_hosts(ranks, npus)?;
    Ok(Ring::side_by_side(Chunks::new(size_bytes, ranks), npus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    fn scale_up(npus_per_host: u32) -> ScaleUp {
        ScaleUp {
            npus_per_host,
            rate: Rate::from_gbps(8),
            latency: Time::from_us(3),
        }
    }

    #[test]
    fn two_hosts_of_two_by_hand() {
        let rings = schedule(4, 16, scale_up(2)).unwrap();
        let sent = |id| {
            let t = rings.transfer(id);
            (t.step, t.src, t.dst, t.chunk, t.bytes, t.reduce)
        };
        // NPU 0 of both hosts has chunks 0 and 1, NPU 1 chunks 2 and 3.
        assert_eq!(sent(0), (0, 0, 2, 0, 4, true));
        assert_eq!(sent(1), (0, 1, 3, 2, 4, true));
        assert_eq!(sent(2), (0, 2, 0, 1, 4, true));
        // Host 1 has added up chunk 0 and sends it back.
        assert_eq!(sent(6), (1, 2, 0, 0, 4, false));
        assert_eq!(rings.transfer_count(), 8);
    }

    #[test]
    fn a_phase_by_hand() {
        // Three parts of 250 bytes at a byte a nanosecond, and 3 us.
        assert_eq!(scale_up(4).phase(1_000), Time::from_ns(750 + 3_000));
        assert_eq!(scale_up(1).phase(1_000), Time::ZERO);
        assert_eq!(scale_up(2).phase(u64::MAX), Time::MAX);
    }

    #[test]
    fn hosts_that_are_not_full_are_refused() {
        for (ranks, npus) in [(9, 2), (4, 4), (4, 8), (4, 0)] {
            let refused = schedule(ranks, 1, scale_up(npus));
            assert!(matches!(refused, Err(WorkloadError::HostsNotFull { .. })));
        }
        let refused = schedule(9, 1, scale_up(2)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "all-reduce (hierarchical): 9 ranks do not fill two or more hosts with 2 NPUs each; \
             give another `npus_per_host`, or as many ranks as fill the hosts"
        );
    }
}
