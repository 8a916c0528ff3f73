//! Conversion of a fabric into a topology file.

use std::fmt::Write as _;

use tenter_fabric::topology::{Cable, CableEnd, Topology};
use tenter_language::units::{Rate, Time};

use crate::fabric::MULTI_PLANE;

/// Returns the probability that a frame leaving by a port is lost, in units of 2⁻⁶⁴.
pub type Loss<'a> = dyn Fn(CableEnd) -> u64 + 'a;

/// Writes a file in HPCC's dialect, with notes for the user. Hosts are 0 to n − 1 and switches
/// follow, all with their numbers in the fabric, which flow files use too.
///
/// # Errors
/// A sentence about circuits, which the format does not have.
pub fn write(topology: &Topology, loss: &Loss<'_>) -> Result<(String, Vec<String>), String> {
    if !topology.optics.is_empty() {
        return Err(
            "the fabric has circuits that change, which a list of links cannot say; leave \
                    `fabric.circuits` out"
                .to_owned(),
        );
    }
    if topology.nic_ports > 1 {
        return Err(MULTI_PLANE.to_owned());
    }
    let (nodes, switches) = (topology.nodes.len(), topology.switches());
    let mut text = format!("{nodes} {switches} {}\n", topology.cables.len());
    let numbers: Vec<String> = topology
        .switch_nodes()
        .map(|node| node.to_string())
        .collect();
    let _ = writeln!(text, "{}", numbers.join(" "));
    let (mut fine, mut one_way) = (0_u64, 0_u64);
    for Cable { ends, rate, delay } in &topology.cables {
        let chances = ends.map(loss);
        one_way += u64::from(chances[0] != chances[1]);
        // A link of the format loses frames alike in both directions.
        let chance = decimal(chances[0].max(chances[1]));
        // ns-3's clock counts nanoseconds unless a script sets another resolution.
        fine += u64::from(delay.ps() % 1_000 > 0);
        let [a, b] = ends.map(|end| end.node);
        let _ = writeln!(text, "{a} {b} {} {} {chance}", in_ns3(*rate), in_ns(*delay));
    }
    let mut notes = Vec::new();
    if fine > 0 {
        notes.push(format!(
            "{fine} delay(s) have parts of a nanosecond, which ns-3 cuts off at its usual resolution"
        ));
    }
    if one_way > 0 {
        notes.push(format!(
            "{one_way} cable(s) lose frames of one direction, and in ns-3 of both"
        ));
    }
    Ok((text, notes))
}

/// Writes a rate in the largest unit of ns-3 that keeps it whole.
fn in_ns3(rate: Rate) -> String {
    let bits = rate.bits_per_second();
    match bits {
        _ if bits.is_multiple_of(1_000_000_000) => format!("{}Gbps", bits / 1_000_000_000),
        _ if bits.is_multiple_of(1_000_000) => format!("{}Mbps", bits / 1_000_000),
        _ => format!("{bits}bps"),
    }
}

/// Writes a time in nanoseconds, exactly.
fn in_ns(time: Time) -> String {
    let (whole, parts) = (time.ps() / 1_000, time.ps() % 1_000);
    match parts {
        0 => format!("{whole}ns"),
        _ => format!("{whole}.{parts:03}ns"),
    }
}

/// Writes a multiple of 2⁻⁶⁴ with fifteen digits, which hide rounding errors.
fn decimal(parts: u64) -> String {
    let chance = parts as f64 / 2_f64.powi(64);
    let rounded: Result<f64, _> = format!("{chance:.14e}").parse();
    rounded.unwrap_or(chance).to_string()
}
