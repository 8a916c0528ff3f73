//! PCIe between NICs and host memory, and NICs that cannot use it to the full.

use tenter_endpoint::{DmaRates, PcieSpec};
use tenter_units::Rate;
use tenter_workload::Job;

use crate::endpoint::Endpoint;
use crate::hosts::{HostNames, HostRef};
use tenter_config::Presence::{Default, Depends};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Field, Read, Section, suggestion};
use tenter_notation::diagnostics::{Location, quote};
use tenter_notation::tree::Node;

const PCIE: KeyTable = KeyTable {
    title: "`endpoint.nic.pcie`",
    keys: &[
        key(
            "generation",
            "1 to 6",
            Depends("this, or `peak`"),
            "Generation of PCIe: 2.5, 5, 8, 16, 32 or 64 GT/s a lane, less 8b/10b (1 and 2), 128b/130b (3 to 5) or what a flit of 256 bytes has beside 236 bytes of packets (6)",
        ),
        key(
            "lanes",
            "1, 2, 4, 8 or 16",
            Depends("`16` with `generation`"),
            "Lanes of the link",
        )
        .from("the slot of a NIC for 400 Gb/s"),
        key(
            "peak",
            "rate",
            Depends("this, or `generation`"),
            "What the link carries each way, headers of its packets included",
        ),
        key(
            "max_payload",
            "size",
            Default("256B"),
            "Payload of a transaction layer packet at most: 128, 256, 512, 1024, 2048 or 4096 bytes",
        )
        .from("usual in servers; what RDMA NICs are delivered with"),
        key(
            "tlp_overhead",
            "size",
            Default("24B"),
            "What such a packet takes beyond its payload, at most 64 bytes: header of 12 or 16 bytes, framing, sequence number and CRC",
        )
        .from("PCI Express Base Specification: 20 to 28 bytes"),
    ],
};

const IMPAIRMENT: KeyTable = KeyTable {
    title: "`endpoint.nic_impairments[]`",
    keys: &[
        key(
            "job",
            "text",
            Depends("all NICs"),
            "It is for the NICs that ranks of this job are on",
        ),
        key(
            "host",
            "text",
            Depends("all NICs"),
            "It is for the NIC of this host (name or number), or those of a stretch (`16-23`)",
        ),
        key(
            "dma_write",
            "text",
            Default("100%"),
            "What DMA into host memory has of the peak of PCIe, `1%` to `100%`: the limit of what a NIC receives",
        ),
        key(
            "dma_read",
            "text",
            Default("100%"),
            "What DMA out of host memory has of the peak of PCIe, `1%` to `100%`: the limit of what a NIC sends",
        ),
    ],
};

/// The tables for the reference.
pub(crate) const TABLES: [&KeyTable; 2] = [&PCIE, &IMPAIRMENT];

/// The slowest link that anything is said of, and the fastest.
const PEAKS: std::ops::RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// Parts per million of the peak.
const WHOLE: u64 = 1_000_000;
/// More entries than a fabric has NICs.
const ENTRIES_MAX: usize = 100_000;

/// An entry of `nic_impairments`; names are looked up when jobs are bound.
pub(crate) struct Impairment {
    whom: Whom,
    at: Option<Location>,
    /// Parts per million of the peak.
    write: u64,
    read: u64,
}

enum Whom {
    All,
    Job(String),
    Host(HostRef),
}

/// Reads `pcie` out of `endpoint.nic`.
pub(crate) fn read(nic: &mut Section<'_>) -> Read<Option<PcieSpec>> {
    let field = nic.take("pcie")?;
    if field.word() == Some("none") {
        return Some(None);
    }
    let mut own = field.section(&PCIE);
    let peak = read_peak(&mut own);
    let max_payload = own.take("max_payload").and_then(|field| {
        let size = field.size(&(128..=4096))?;
        if !size.is_power_of_two() {
            let help = "choose 128, 256, 512, 1024, 2048 or 4096 bytes";
            field.problem("is no power of two", help.to_owned());
            return None;
        }
        Some(size as u32)
    });
    let overhead = own.take("tlp_overhead");
    let overhead = overhead.and_then(|field| field.size(&(0..=64)));
    nic.put("pcie", own.finish());
    Some(Some(PcieSpec {
        peak: peak?,
        max_payload_bytes: max_payload?,
        tlp_overhead_bytes: overhead? as u32,
    }))
}

fn read_peak(own: &mut Section<'_>) -> Option<Rate> {
    let lanes = own.take("lanes");
    let Some(field) = own.take_either("generation", "peak") else {
        let help = "add `generation: 5`, or `peak: 500Gbps`, for example";
        own.problem("lacks `generation` or `peak`", help.to_owned());
        return None;
    };
    if field.path.ends_with("peak") {
        if let Some(lanes) = lanes {
            let help = "leave it out, or give `generation` instead of `peak`";
            lanes.problem("means nothing where the peak is given", help.to_owned());
            return None;
        }
        return field.quantity("a rate", &PEAKS);
    }
    let generation: u64 = field.integer(1..=6)?;
    let lanes = match lanes {
        None => 16,
        Some(field) => {
            let lanes: u64 = field.integer(1..=16)?;
            if !lanes.is_power_of_two() {
                let help = "choose 1, 2, 4, 8 or 16".to_owned();
                field.problem("is no width that links have", help);
                return None;
            }
            lanes
        }
    };
    own.put("lanes", Node::plain(lanes.to_string()));
    Some(peak(generation, lanes))
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
) -> Read<Vec<Impairment>> {
    let field = endpoint.take("nic_impairments")?;
    let count = field.count().unwrap_or(0);
    if count > ENTRIES_MAX {
        let help = "name stretches of hosts, or jobs";
        field.problem(
            &format!("has more than {ENTRIES_MAX} entries"),
            help.to_owned(),
        );
        return None;
    }
    if count > 0 && pcie.is_none() {
        let help = "say what NICs have, for example `endpoint.nic.pcie: {generation: 5}`";
        field.problem(
            "asks for shares of the PCIe peak, and there is no PCIe",
            help.to_owned(),
        );
        return None;
    }
    let (read, node) = field.each(|_, item| read_impairment(item));
    endpoint.put("nic_impairments", node);
    read
}

fn read_impairment(item: Field<'_>) -> (Option<Impairment>, Node) {
    let mut section = item.section(&IMPAIRMENT);
    let own_at = section.at();
    let mut at = own_at;
    let whom = match section.take_either("job", "host") {
        None => Some(Whom::All),
        Some(field) => {
            at = field.at.or(own_at);
            if field.path.ends_with("job") {
                field.text(64).map(Whom::Job)
            } else {
                HostRef::read(&field).map(Whom::Host)
            }
        }
    };
    let write = section.take("dma_write").and_then(|field| share(&field));
    let read = section.take("dma_read").and_then(|field| share(&field));
    let node = section.finish();
    let all = || {
        Some(Impairment {
            whom: whom?,
            at,
            write: write?,
            read: read?,
        })
    };
    (all(), node)
}

/// A share in parts per million: `50%`, `62.5%`.
fn share(field: &Field<'_>) -> Option<u64> {
    let digits = field.word().and_then(|word| word.strip_suffix('%'));
    let share = digits.and_then(|digits| {
        let (whole, rest) = digits.trim().split_once('.').unwrap_or((digits.trim(), ""));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = !whole.is_empty() && whole.len() <= 3 && rest.len() <= 4;
        if !fits || !plain(whole) || !plain(rest) {
            return None;
        }
        let parts: u64 = format!("{whole}{rest:0<4}").parse().ok()?;
        (WHOLE / 100..=WHOLE).contains(&parts).then_some(parts)
    });
    if share.is_none() {
        let what = format!(
            "must be a share of the PCIe peak, not {}",
            field.node.describe()
        );
        let help = "write for example `50%`; from 1% to 100%, with up to four decimals";
        field.problem(&what, help.to_owned());
    }
    share
}

/// The DMA rates of each NIC, in the order of the hosts; none without PCIe.
pub(crate) fn bind(
    endpoint: &Endpoint,
    jobs: Option<&[Job]>,
    names: &HostNames<'_>,
) -> Option<Vec<DmaRates>> {
    let Some(pcie) = &endpoint.nic.pcie else {
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
    for impairment in &endpoint.nic_impairments {
        let mut hosts = Vec::new();
        match &impairment.whom {
            Whom::All => hosts.extend(0..names.count()),
            Whom::Host(host) => names.expand(host, impairment.at, &mut hosts, "")?,
            Whom::Job(name) => {
                let Some(job) = jobs.iter().find(|job| job.name == *name) else {
                    let known = jobs.iter().map(|job| job.name.as_str());
                    let message = format!("there is no job {}", quote(name));
                    names.problem(impairment.at, message, Some(suggestion(name, known)));
                    return None;
                };
                hosts.extend_from_slice(&job.hosts);
            }
        }
        for host in hosts {
            rates[host as usize] = DmaRates {
                write: of_peak(impairment.write),
                read: of_peak(impairment.read),
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
