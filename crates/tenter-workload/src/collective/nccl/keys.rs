//! What NCCL's choice depends on beside the size.

use std::ops::RangeInclusive;

use tenter_config::{Reader, component};
use tenter_units::{Rate, Time};

use super::algorithms::NcclAlgorithm;
use super::constants::{HostCpu, NpuGeneration};
use crate::collective::WireProtocol;

component! {
    /// What NCCL's choice depends on beside the size.
    pub struct NcclKeys as "`jobs[].collectives[]` with `algorithm: nccl`" {
        /// NPUs of each server, a node of NCCL; ranks that follow each other share a server.
        npus_per_host: u32 = "8", in NPUS, from "usual servers";
        /// NICs of each server: as many channels lead from node to node. They divide the NPUs.
        nics_per_host: u32 = "8", in NPUS, from "usual servers";
        /// Rate of each of these NICs.
        nic_rate: Rate = "400Gbps", in RATES, from "usual servers";
        /// What the NPUs are; limits of channels and of protocols depend on it.
        generation: NpuGeneration = "hopper";
        /// Whose processors the servers have; limits of LL across nodes depend on it.
        host_cpu: HostCpu = "intel";
        /// Whether the switch of the scale-up domain adds and copies (NVLink SHARP), as that of
        /// `hopper` and `blackwell` can.
        nvls: bool = "true";
        /// What the network plug-in adds to a step over the network; twice as much with Simple.
        plug_in_latency: Time = "0ns", in Time::ZERO..=Time::from_us(1_000_000);
        /// One algorithm in place of NCCL's choice, as with `NCCL_ALGO`.
        only_algorithm: Option<NcclAlgorithm> = absent "the one with the least time";
        /// One protocol in place of NCCL's choice, as with `NCCL_PROTO`.
        only_protocol: Option<WireProtocol> = absent "the one with the least time";
    }
}

/// NPUs of a server.
const NPUS: RangeInclusive<u32> = 1..=1024;
/// Rates of a NIC.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

/// Refuses NICs that do not divide the NPUs of a server.
pub(crate) fn nics_divide(keys: &NcclKeys, reader: &mut dyn Reader) -> bool {
    let holds = keys.npus_per_host.is_multiple_of(keys.nics_per_host);
    if !holds {
        let what = format!(
            "is {}, which does not divide the {} NPUs of a server",
            keys.nics_per_host, keys.npus_per_host
        );
        let remedy = "give a number of NICs that divides `npus_per_host`";
        reader.refuse("nics_per_host", &what, remedy);
    }
    holds
}
