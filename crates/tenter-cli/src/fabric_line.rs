//! A fabric in one line, and what it consists of.

use tenter_plan::Plan;
use tenter_units::Rate;

/// The fabric in one line.
pub(crate) fn describe(plan: &Plan) -> String {
    let topology = &plan.topology;
    let mut rates: Vec<_> = topology.cables.iter().map(|cable| cable.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let gbps = |rate: &Rate| format!("{} Gb/s", rate.bits_per_second() as f64 / 1e9);
    let rates: Vec<String> = rates.iter().map(gbps).collect();
    format!(
        "{}, {} at {}",
        plan.topology_spec.word(),
        parts(plan),
        rates.join(" and "),
    )
}

/// How many NPUs NICs have, to be said of them where it is more than one.
pub(crate) fn shared_by(npus_per_nic: u32) -> String {
    match npus_per_nic {
        1 => String::new(),
        npus => format!(" with {npus} NPUs each"),
    }
}

/// What the fabric consists of.
pub(crate) fn parts(plan: &Plan) -> String {
    let topology = &plan.topology;
    let shared = shared_by(plan.npus_per_nic);
    format!(
        "{}{shared}, {}, {}",
        counted(topology.hosts, "NIC", "NICs"),
        counted(topology.switches(), "switch", "switches"),
        counted(topology.cables.len(), "cable", "cables"),
    )
}

/// A number and what it counts.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
