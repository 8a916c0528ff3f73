//! NICs that cannot use their PCIe's full rate.

use std::fmt;
use std::str::FromStr;

use tenter_endpoint::{DmaRates, Pcie};
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Rate, suggestion};
use tenter_workload::Job;
use tenter_workload::spec::HostRef;

use crate::resolve::hosts::HostNames;
use tenter_language::config::{component, parsed};
use tenter_language::notation::diagnostics::quote;

component! {
    /// NICs that cannot use their PCIe to the full.
    pub struct NicImpairment as "`endpoint.nic_impairments[]`", derive(Clone, Debug, PartialEq) {
        either "job", "host";
        /// The job whose NICs are impaired.
        job: Option<String> = absent "all NICs", in 64;
        /// The host (name or number) or stretch of hosts (`16-23`) whose NICs are impaired.
        host: Option<HostRef> = absent "all NICs";
        /// Share of the peak of PCIe for DMA into host memory, `1%` to `100%`: it limits what a NIC
        /// receives.
        dma_write: PeakShare = "100%";
        /// Share of the peak of PCIe for DMA out of host memory, `1%` to `100%`: it limits what a
        /// NIC sends.
        dma_read: PeakShare = "100%";
    }
}

/// A share of PCIe's peak, in parts per million, written as `50%` or `62.5%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakShare(u64);

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
        // With the decimals padded to four, the digits count parts per million.
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

/// The whole peak, in parts per million.
const WHOLE: u64 = 1_000_000;

/// The list's path in a scenario.
const PATH: &str = "endpoint.nic_impairments";

/// Returns each NIC's DMA rates, by host; empty without PCIe.
pub(crate) fn bind(
    pcie: Option<Pcie>,
    impairments: &[NicImpairment],
    jobs: Option<&[Job]>,
    names: &HostNames<'_>,
) -> Option<ById<HostId, DmaRates>> {
    let Some(pcie) = pcie else {
        return Some(ById::default());
    };
    let jobs = jobs?;
    let of_peak = |parts: u64| {
        let bits = u128::from(pcie.peak().bits_per_second()) * u128::from(parts);
        Rate::from_bits_per_second((bits / u128::from(WHOLE)) as u64)
    };
    let whole = DmaRates {
        write: pcie.peak(),
        read: pcie.peak(),
    };
    let mut rates: ById<HostId, DmaRates> = vec![whole; names.count() as usize].into();
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
            hosts.extend(names.all());
        }
        for host in hosts {
            // A later entry replaces an earlier one in both directions.
            rates[host] = DmaRates {
                write: of_peak(impairment.dma_write.0),
                read: of_peak(impairment.dma_read.0),
            };
        }
    }
    Some(rates)
}
