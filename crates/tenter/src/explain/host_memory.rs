//! PCIe to host memory: DMA payload rates, and the NICs that it slows down.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::HostId;
use tenter_language::units::Rate;
use tenter_sim::plan::Plan;

/// PCIe at all NICs, grouped by their share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PcieFacts {
    /// Rate that the link carries in transaction layer packets, each way.
    pub peak_gbps: f64,
    /// Most payload in a transaction layer packet.
    pub max_payload_bytes: u32,
    /// Bytes beside the payload in such a packet.
    pub tlp_overhead_bytes: u32,
    /// NIC groups, those with the least share first.
    pub nics: Vec<DmaFacts>,
}

/// NICs with the same line rate and PCIe shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DmaFacts {
    /// Number of NICs in this group.
    pub count: u64,
    /// Name of one NIC in the group.
    pub example: String,
    /// Payload rate on the line in full packets.
    pub line_payload_gbps: f64,
    /// DMA into host memory, which limits what the NIC receives.
    pub write: DirectionFacts,
    /// DMA from host memory, which limits what the NIC sends.
    pub read: DirectionFacts,
}

/// DMA in one direction, seen from the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DirectionFacts {
    /// Rate on the PCIe link, packet overhead included.
    pub link_gbps: f64,
    /// Payload rate in full packets.
    pub payload_gbps: f64,
    /// Share of the line's payload rate that DMA keeps up with, in percent, at most 100.
    pub line_percent: f64,
    /// True if the line is faster than DMA for some payload size.
    pub limits: bool,
}

/// Returns the PCIe facts; `None` if PCIe is not modelled.
pub(crate) fn pcie_facts(plan: &Plan) -> Option<PcieFacts> {
    let pcie = plan.nic.pcie?;
    let mtu = plan.nic.mtu_bytes;
    let headers = plan.nic.header_bytes() + WIRE_OVERHEAD_BYTES;
    // Sorted by rates, which puts the slowest NICs first.
    let mut kinds: BTreeMap<(Rate, Rate, Rate), (u64, HostId)> = BTreeMap::new();
    for (host, rates) in plan.dma.numbered() {
        let line = plan.topology.line_rate(host);
        let kind = kinds.entry((rates.write, rates.read, line));
        kind.or_insert((0, host)).0 += 1;
    }
    let facts = |((write, read, line), (count, host)): ((Rate, Rate, Rate), (u64, HostId))| {
        let of_line = line.as_gbps() * f64::from(mtu) / f64::from(mtu + headers);
        let direction = |rate: Rate| {
            let payload = pcie.payload_rate(rate, mtu).as_gbps();
            DirectionFacts {
                link_gbps: rate.as_gbps(),
                payload_gbps: payload,
                line_percent: (100.0 * payload / of_line).min(100.0),
                limits: !plan.nic.dma_keeps_up(rate, line),
            }
        };
        DmaFacts {
            count,
            example: plan.topology.name(host).to_owned(),
            line_payload_gbps: of_line,
            write: direction(write),
            read: direction(read),
        }
    };
    Some(PcieFacts {
        peak_gbps: pcie.peak().as_gbps(),
        max_payload_bytes: pcie.max_payload_bytes,
        tlp_overhead_bytes: pcie.tlp_overhead_bytes,
        nics: kinds.into_iter().map(facts).collect(),
    })
}

/// Returns true if any NIC's line can be faster than its DMA.
pub(crate) fn limits_any(plan: &Plan) -> bool {
    plan.dma.numbered().any(|(host, rates)| {
        let line = plan.topology.line_rate(host);
        let slow = |rate| !plan.nic.dma_keeps_up(rate, line);
        slow(rates.write) || slow(rates.read)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Format, load};

    #[test]
    fn rates_by_hand() {
        let text = "
fabric: {kind: single-switch, hosts: 4}
endpoint:
  nic: {pcie: {peak: 500Gbps}}
  nic_impairments: [{host: 2-3, dma_write: 50%}]
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
";
        let loaded = load(text, "x.yaml", Format::Yaml, &[], None).expect("it holds");
        assert!(limits_any(&loaded.plan));
        let facts = pcie_facts(&loaded.plan).expect("there is PCIe");
        let [slow, whole] = facts.nics.as_slice() else {
            panic!("two kinds of NICs: {facts:?}");
        };
        assert_eq!((slow.count, whole.count), (2, 2));
        assert_eq!(
            (slow.example.as_str(), whole.example.as_str()),
            ("host2", "host0")
        );
        // 250 · 4096/4480 and 400 · 4096/4178 Gb/s.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(near(slow.write.payload_gbps, 228.571_428_571));
        assert!(near(slow.line_payload_gbps, 392.149_353_758));
        assert!(near(slow.write.line_percent, 58.286_830_357));
        assert!(slow.write.limits && !slow.read.limits && !whole.write.limits);
        assert!(near(whole.write.line_percent, 100.0));
    }
}
