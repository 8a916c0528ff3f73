//! All-reduce, hierarchical: reduce-scatter within each host, rings across hosts, all-gather within
//! each host.
//!
//! Origin: "Massively Distributed SGD: ImageNet/ResNet-50 Training in a Flash" (Mikami and others,
//! 2018) and NCCL, whose rings enter and leave a host through one NIC per NPU. Data within a host
//! move over its scale-up domain; a formula gives their time, and they are not simulated.

use std::ops::RangeInclusive;

use tenter_language::config::component;
use tenter_language::units::{Rate, Time};

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::limits::COUNTS;
use super::member::{CollectiveMember, Factor};
use super::ring::Ring;
use crate::closed_form::{IdealSwitch, times};
use crate::{ScaleUp, Schedule, WorkloadError};

/// Permitted rates of a scale-up domain.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(1_000_000);

component! {
    /// All-reduce within hosts, round rings across them, and within hosts again.
    pub struct AllReduceHierarchical as "`jobs[].collectives[]` with `collective: all-reduce` and `algorithm: hierarchical`" {
        /// NPUs of each host; ranks that follow each other share a host. Needed only where
        /// `endpoint.host` has no `scale_up`.
        npus_per_host: Option<u32> = absent "`endpoint.host.scale_up.npus_per_host`", in COUNTS;
        /// Rate at which an NPU sends and receives within its host, each way.
        scale_up_rate: Option<Rate> = absent "`endpoint.host.scale_up.rate`", in RATES;
        /// From the last byte sent within a host to its use at the receiver.
        scale_up_latency: Option<Time> = absent "`endpoint.host.scale_up.latency`", in Time::ZERO..=Time::from_us(1_000_000);
    }
}

impl Collective for AllReduceHierarchical {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-reduce",
        algorithm: "hierarchical",
        summary: "reduce-scatter within hosts, a ring per NPU across them, all-gather within hosts",
        model_page: "docs/models/collective-all-reduce-hierarchical.md",
        // Beyond 32-bit ids the rings run at flow level only, as a unit.
        ranks_max: 1 << 20,
        // The factor of all-reduce, whatever the algorithm.
        busbw: Factor::TwiceAllButOwn,
    };

    /// Builds the rings across hosts. With g NPUs per host, rank h·g + i is NPU i on host h. All
    /// NPUs i form one ring, which carries part i of the buffer.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let npus = Self::MEMBER.known_npus(self.npus_per_host)?;
        Self::MEMBER.check_hosts(ranks, npus)?;
        let chunks = Chunks::new(size_bytes, ranks);
        Ok(Box::new(Ring::side_by_side(chunks, npus)))
    }

    /// Takes 2(N−1)·(c + L) + 2·w with N hosts of g NPUs: the ring across hosts, and w before and
    /// after it. w is (g−1)·S/g at the rate of the scale-up domain, plus its latency.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let hosts = switch.ranks / self.npus_per_host.unwrap_or(1).max(1);
        let within = times(self.within_hosts(switch.size_bytes), 2);
        let steps = switch.steps(2 * u64::from(hosts.saturating_sub(1)));
        steps.saturating_add(within)
    }

    /// Returns the time for the reduce-scatter within a host; the all-gather takes equally long.
    ///
    /// Each NPU sends the others their parts of its buffer, all at once, over a switch that makes
    /// no NPU wait. Zero for a single NPU; saturates at [`Time::MAX`].
    fn within_hosts(&self, size_bytes: u64) -> Time {
        let npus = u128::from(self.npus_per_host.unwrap_or(1));
        if npus < 2 {
            return Time::ZERO;
        }
        let usual = ScaleUp::default();
        let bytes = (npus - 1) * u128::from(size_bytes).div_ceil(npus);
        let time = self.scale_up_rate.unwrap_or(usual.rate);
        let latency = self.scale_up_latency.unwrap_or(usual.latency);
        time.time_of_bits(8 * bytes).saturating_add(latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts_of(npus_per_host: u32) -> AllReduceHierarchical {
        AllReduceHierarchical {
            npus_per_host: Some(npus_per_host),
            scale_up_rate: Some(Rate::from_gbps(8)),
            scale_up_latency: Some(Time::from_us(3)),
        }
    }

    #[test]
    fn two_hosts_of_two_by_hand() {
        let rings = hosts_of(2).schedule(4, 16).unwrap();
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
        assert_eq!(hosts_of(4).within_hosts(1_000), Time::from_ns(750 + 3_000));
        assert_eq!(hosts_of(1).within_hosts(1_000), Time::ZERO);
        assert_eq!(hosts_of(2).within_hosts(u64::MAX), Time::MAX);
    }

    #[test]
    fn hosts_that_are_not_full_are_refused() {
        for (ranks, npus) in [(9, 2), (4, 4), (4, 8), (4, 0)] {
            let refused = hosts_of(npus).schedule(ranks, 1);
            assert!(matches!(refused, Err(WorkloadError::HostsNotFull { .. })));
        }
        let refused = hosts_of(2).schedule(9, 1).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "all-reduce (hierarchical): 9 ranks do not fill two or more hosts with 2 NPUs each; \
             give another `npus_per_host`, or as many ranks as fill the hosts"
        );
    }
}
