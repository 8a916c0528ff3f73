//! Keys that NCCL's choice depends on, in addition to the size.

use std::ops::RangeInclusive;

use tenter_language::config::{Reader, component};
use tenter_language::units::{Rate, Time};

use super::algorithms::NcclAlgorithm;
use super::constants::{HostCpu, NpuGeneration};
use crate::collective::WireProtocol;

component! {
    /// Servers, NICs and settings that NCCL's choice depends on, beside the size.
    pub struct NcclKeys as "`jobs[].collectives[]` with `algorithm: nccl`" {
        /// NPUs of each server, a node of NCCL; ranks that follow each other share a server. Needed
        /// only where `endpoint.host` has no `scale_up`.
        npus_per_host: Option<u32> = absent "`endpoint.host.scale_up.npus_per_host`", in NPUS;
        /// NICs of each server: as many channels lead from node to node. They divide the NPUs.
        nics_per_host: Option<u32> = absent "the NICs of these NPUs", in NPUS;
        /// Rate of each of these NICs.
        nic_rate: Option<Rate> = absent "that of the slowest NIC of the job", in RATES;
        /// Generation of the NPUs; limits of channels and of protocols depend on it.
        generation: Option<NpuGeneration> = absent "`endpoint.host.scale_up.generation`, or else `hopper`";
        /// Vendor of the servers' processors; the time of network steps and limits of LL across
        /// nodes depend on it.
        host_cpu: HostCpu = "intel";
        /// `true` if the switch of the scale-up domain adds and copies (NVLink SHARP), as that of
        /// `hopper` and `blackwell` can.
        nvls: bool = "true";
        /// Latency that the network plug-in adds to a step over the network; twice as much with
        /// Simple.
        plug_in_latency: Time = "0ns", in Time::ZERO..=Time::from_us(1_000_000);
        /// One algorithm in place of NCCL's choice, as with `NCCL_ALGO`.
        only_algorithm: Option<NcclAlgorithm> = absent "the one with the least time";
        /// One protocol in place of NCCL's choice, as with `NCCL_PROTO`.
        only_protocol: Option<WireProtocol> = absent "the one with the least time";
    }
}

/// Permitted NPU and NIC counts per server.
const NPUS: RangeInclusive<u32> = 1..=1024;
/// Permitted rates of a NIC.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(1_000_000);

/// Refuses a NIC count that does not divide the NPUs of a server.
pub(crate) fn nics_divide(keys: &NcclKeys, reader: &mut dyn Reader) -> bool {
    let (Some(npus), Some(nics)) = (keys.npus_per_host, keys.nics_per_host) else {
        return true;
    };
    let holds = npus.is_multiple_of(nics);
    if !holds {
        let what = format!("is {nics}, which does not divide the {npus} NPUs of a server");
        let remedy = "give a number of NICs that divides `npus_per_host`";
        reader.refuse("nics_per_host", &what, remedy);
    }
    holds
}

impl NcclKeys {
    /// Returns the NPU generation, Hopper if neither the keys nor the hosts say it.
    pub fn generation(&self) -> NpuGeneration {
        self.generation.unwrap_or(NpuGeneration::Hopper)
    }
}
