//! PCIe between NICs and host memory, and NICs that cannot use it to the full.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use tenter_endpoint::{DmaRates, PcieSpec};
use tenter_units::{Bytes, Rate};
use tenter_workload::Job;
use tenter_workload::spec::HostRef;

use crate::hosts::HostNames;
use tenter_config::{Reader, Value, component, parsed};
use tenter_notation::decode::{Read, Section, suggestion};
use tenter_notation::diagnostics::quote;

component! {
    /// PCIe between the NIC and host memory.
    pub(crate) struct Pcie as "`endpoint.nic.pcie`" {
        either "generation", "peak";
        /// Generation of PCIe: 2.5, 5, 8, 16, 32 or 64 GT/s a lane, less 8b/10b (1 and 2),
        /// 128b/130b (3 to 5) or what a flit of 256 bytes has beside 236 bytes of packets (6).
        generation: Option<u8> = absent "this, or `peak`", in 1..=6;
        /// Lanes of the link: 1, 2, 4, 8 or 16.
        lanes: Option<u8> = absent "`16` with `generation`", in 1..=16, from "the slot of a NIC for 400 Gb/s";
        /// What the link carries each way, headers of its packets included.
        peak: Option<Rate> = absent "this, or `generation`", in PEAKS;
        /// Payload of a transaction layer packet at most: 128, 256, 512, 1024, 2048 or 4096 bytes.
        max_payload: Bytes = "256B", in PAYLOADS, unless no_power_of_two, from "usual in servers; what RDMA NICs are delivered with";
        /// What such a packet takes beyond its payload: header of 12 or 16 bytes, framing, sequence
        /// number and CRC.
        tlp_overhead: Bytes = "24B", in Bytes::new(0)..=Bytes::new(64), from "PCI Express Base Specification: 20 to 28 bytes";
        check one_peak;
    }
}

fn no_power_of_two(size: Bytes) -> Option<(String, String)> {
    let help = "choose 128, 256, 512, 1024, 2048 or 4096 bytes";
    let wrong = !size.count().is_power_of_two();
    wrong.then(|| ("is no power of two".to_owned(), help.to_owned()))
}

fn one_peak(pcie: &Pcie, reader: &mut dyn Reader) -> bool {
    match (pcie.generation, pcie.peak, pcie.lanes) {
        (None, None, _) => {
            let help = "add `generation: 5`, or `peak: 500Gbps`, for example";
            reader.refuse_all("lacks `generation` or `peak`", help);
            false
        }
        (_, Some(_), Some(_)) => {
            let help = "leave it out, or give `generation` instead of `peak`";
            reader.refuse("lanes", "means nothing where the peak is given", help);
            false
        }
        (_, _, Some(lanes)) if !lanes.is_power_of_two() => {
            let help = "choose 1, 2, 4, 8 or 16";
            reader.refuse("lanes", "is no width that links have", help);
            false
        }
        (Some(_), _, None) => {
            reader.write("lanes", LANES.written());
            true
        }
        _ => true,
    }
}

/// Payloads of transaction layer packets.
const PAYLOADS: RangeInclusive<Bytes> = Bytes::new(128)..=Bytes::new(4_096);
/// Lanes of a link that does not say.
const LANES: u8 = 16;

impl Pcie {
    /// The link by what it carries.
    pub(crate) fn spec(&self) -> PcieSpec {
        let of_lanes = || {
            let generation = self.generation.unwrap_or_default();
            peak(generation.into(), self.lanes.unwrap_or(LANES).into())
        };
        PcieSpec {
            peak: self.peak.unwrap_or_else(of_lanes),
            max_payload_bytes: self.max_payload.count() as u32,
            tlp_overhead_bytes: self.tlp_overhead.count() as u32,
        }
    }
}

component! {
    /// NICs that cannot use their PCIe to the full.
    pub(crate) struct NicImpairment as "`endpoint.nic_impairments[]`", derive(Clone, Debug, PartialEq) {
        either "job", "host";
        /// It is for the NICs that ranks of this job are on.
        job: Option<String> = absent "all NICs", in 64;
        /// It is for the NIC of this host (name or number), or those of a stretch (`16-23`).
        host: Option<HostRef> = absent "all NICs";
        /// What DMA into host memory has of the peak of PCIe, `1%` to `100%`: the limit of what a
        /// NIC receives.
        dma_write: PeakShare = "100%";
        /// What DMA out of host memory has of the peak of PCIe, `1%` to `100%`: the limit of what a
        /// NIC sends.
        dma_read: PeakShare = "100%";
    }
}

/// A share of the peak in parts per million: `50%`, `62.5%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeakShare(u64);

impl FromStr for PeakShare {
    type Err = ();

    fn from_str(word: &str) -> Result<PeakShare, ()> {
        let digits = word.strip_suffix('%').ok_or(())?.trim();
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = !whole.is_empty() && whole.len() <= 3 && rest.len() <= 4;
        if !fits || !plain(whole) || !plain(rest) {
            return Err(());
        }
        let parts: u64 = format!("{whole}{rest:0<4}").parse().map_err(|_| ())?;
        let in_range = (WHOLE / 100..=WHOLE).contains(&parts);
        in_range.then_some(PeakShare(parts)).ok_or(())
    }
}

impl fmt::Display for PeakShare {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:04}%", self.0 / 10_000, self.0 % 10_000)
    }
}

parsed!(PeakShare {
    "text",
    "must be a share of the PCIe peak, not",
    "write for example `50%`; from 1% to 100%, with up to four decimals"
});

/// The slowest link that anything is said of, and the fastest.
const PEAKS: std::ops::RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// Parts per million of the peak.
const WHOLE: u64 = 1_000_000;
/// More entries than a fabric has NICs.
const ENTRIES_MAX: usize = 100_000;

/// Reads `pcie` out of `endpoint.nic`.
pub(crate) fn read(nic: &mut Section<'_>) -> Read<Option<PcieSpec>> {
    let pcie: Option<Pcie> = nic.value("pcie")?;
    Some(pcie.map(|pcie| pcie.spec()))
}

/// What the link of a generation carries.
fn peak(generation: u64, lanes: u64) -> Rate {
    let (transfers, of, out_of) = match generation {
        1 => (2_500_000_000, 8, 10),
        2 => (5_000_000_000, 8, 10),
        3 => (8_000_000_000, 128, 130),
        4 => (16_000_000_000, 128, 130),
        5 => (32_000_000_000, 128, 130),
        _ => (64_000_000_000_u64, 236, 256),
    };
    Rate::from_bits_per_second(transfers * lanes * of / out_of)
}

/// Reads `nic_impairments` out of `endpoint`, whose NICs have such PCIe.
pub(crate) fn read_impairments(
    endpoint: &mut Section<'_>,
    pcie: Option<&PcieSpec>,
) -> Read<Vec<NicImpairment>> {
    let count = endpoint
        .peek("nic_impairments")
        .map_or(0, |node| node.items().len());
    let wrong = if count > ENTRIES_MAX {
        let what = format!("has more than {ENTRIES_MAX} entries");
        Some((what, "name stretches of hosts, or jobs"))
    } else if count > 0 && pcie.is_none() {
        let what = "asks for shares of the PCIe peak, and there is no PCIe".to_owned();
        let help = "say what NICs have, for example `endpoint.nic.pcie: {generation: 5}`";
        Some((what, help))
    } else {
        None
    };
    if let Some((what, help)) = wrong {
        endpoint.problems().push_at(PATH, &what, help);
        endpoint.take("nic_impairments");
        return None;
    }
    endpoint.value("nic_impairments")
}

/// The path of the list.
const PATH: &str = "endpoint.nic_impairments";

/// The DMA rates of each NIC, in the order of the hosts; none without PCIe.
pub(crate) fn bind(
    (pcie, impairments): (Option<PcieSpec>, &[NicImpairment]),
    jobs: Option<&[Job]>,
    names: &HostNames<'_>,
) -> Option<Vec<DmaRates>> {
    let Some(pcie) = pcie else {
        return Some(Vec::new());
    };
    let jobs = jobs?;
    let of_peak = |parts: u64| {
        let bits = u128::from(pcie.peak.bits_per_second()) * u128::from(parts);
        Rate::from_bits_per_second((bits / u128::from(WHOLE)) as u64)
    };
    let whole = DmaRates {
        write: pcie.peak,
        read: pcie.peak,
    };
    let mut rates = vec![whole; names.count() as usize];
    for (index, impairment) in impairments.iter().enumerate() {
        let at = |key: &str| names.place(&format!("{PATH}[{index}].{key}"));
        let mut hosts = Vec::new();
        if let Some(host) = &impairment.host {
            names.expand(host, at("host"), &mut hosts, "")?;
        } else if let Some(name) = &impairment.job {
            let Some(job) = jobs.iter().find(|job| job.name == *name) else {
                let known = jobs.iter().map(|job| job.name.as_str());
                let message = format!("there is no job {}", quote(name));
                names.problem(at("job"), message, Some(suggestion(name, known)));
                return None;
            };
            hosts.extend_from_slice(&job.hosts);
        } else {
            hosts.extend(0..names.count());
        }
        for host in hosts {
            rates[host as usize] = DmaRates {
                write: of_peak(impairment.dma_write.0),
                read: of_peak(impairment.dma_read.0),
            };
        }
    }
    Some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_of_generations_by_hand() {
        // 32 GT/s · 16 · 128/130, 64 GT/s · 16 · 236/256.
        let bits = |generation, lanes| peak(generation, lanes).bits_per_second();
        assert_eq!(bits(5, 16), 504_123_076_923);
        assert_eq!(bits(4, 8), 126_030_769_230);
        assert_eq!(bits(6, 16), 944_000_000_000);
        assert_eq!(bits(1, 1), 2_000_000_000);
    }
}
