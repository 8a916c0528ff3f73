//! Scale-up domains: the interconnect between a host's NPUs that bypasses their NICs.

use std::ops::RangeInclusive;

use tenter_fabric::topology::HostId;
use tenter_language::config::component;
use tenter_language::units::{Rate, Time};

use crate::NcclKernels;
use crate::collective::{ExpertKernels, NpuGeneration};

component! {
    /// The NPUs of a host and what connects them.
    pub struct ScaleUp as "`endpoint.host.scale_up`" {
        /// NPUs of a host: the NICs of the first `npus_per_host` NPUs are those of the first host,
        /// and so on.
        npus_per_host: u32 = "8", in 2..=1024, from "usual servers";
        /// Rate at which an NPU sends into its host, one transfer after the other.
        rate: Rate = "3600Gbps", in RATES, from "NVIDIA H100 data sheet: NVLink with 900 GB/s both ways together";
        /// From the last byte sent within a host to its use at the receiver.
        latency: Time = "1us", in Time::from_ns(50)..=Time::from_us(1_000_000), from "assumed";
        /// Generation of the NPUs: with one, collectives have NCCL's choice of algorithms by
        /// default.
        generation: Option<NpuGeneration> = "none", omit default;
        /// Times of NCCL's kernels, for collectives of NCCL among NPUs of one host; `none`: the
        /// tuning model of NCCL and the domain's rate.
        nccl_kernels: Option<NcclKernels> = "none", omit default;
        /// GPU on which the launch and the rates of the kernels were measured that dispatch tokens
        /// to experts and combine results.
        expert_kernels: Option<ExpertKernels> = "none", omit default;
    }
}

/// Permitted rates for a scale-up domain.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(1_000_000);

impl ScaleUp {
    /// Returns true if two NPUs, numbered across all hosts, belong to the same host.
    pub(crate) fn joins(self, a: u32, b: u32) -> bool {
        a / self.npus_per_host == b / self.npus_per_host
    }

    /// Returns true if two NICs' NPUs belong to the same host. `npus_per_nic` NPUs share each NIC.
    pub fn joins_nics(self, npus_per_nic: u32, a: HostId, b: HostId) -> bool {
        self.joins(a.number() * npus_per_nic, b.number() * npus_per_nic)
    }

    /// Returns the time for which an NPU is busy sending `bytes` into its domain at its rate, or at
    /// `pace` if that is less, rounded up to a picosecond; saturates at [`Time::MAX`].
    pub fn time_of(self, bytes: u64, pace: Option<Rate>) -> Time {
        let rate = pace.map_or(self.rate, |pace| pace.min(self.rate));
        rate.time_of_bits(8 * u128::from(bytes))
    }
}
