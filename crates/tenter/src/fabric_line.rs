//! Describes a fabric in one line.

use tenter_language::units::Rate;

use crate::Plan;

impl Plan {
    /// Describes the fabric in one line: its kind, its parts, and its cable rates.
    pub fn fabric_in_one_line(&self) -> String {
        describe_fabric(self.resolved())
    }
}

/// Describes a plan's fabric in one line, for instance
/// `leaf-spine, 64 NICs, 12 switches, 128 cables at 400 Gb/s`.
pub fn describe_fabric(plan: &tenter_sim::plan::Plan) -> String {
    let cables = plan.topology.cables.iter();
    let mut rates: Vec<_> = cables.map(|cable| cable.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let gbps = |rate: &Rate| format!("{} Gb/s", rate.as_gbps());
    let rates: Vec<String> = rates.iter().map(gbps).collect();
    format!(
        "{}, {} at {}",
        plan.topology_spec.word(),
        fabric_parts(plan),
        rates.join(" and "),
    )
}

/// Counts the fabric's parts: `64 NICs, 12 switches, 128 cables`, with the NPUs behind each NIC if
/// there are several.
pub fn fabric_parts(plan: &tenter_sim::plan::Plan) -> String {
    let topology = &plan.topology;
    let shared = match plan.npus_per_nic {
        1 => String::new(),
        npus => format!(" with {npus} NPUs each"),
    };
    format!(
        "{}{shared}, {}, {}",
        counted(topology.hosts, "NIC", "NICs"),
        counted(topology.switches(), "switch", "switches"),
        counted(topology.cables.len(), "cable", "cables"),
    )
}

/// Formats a count with its noun in singular or plural.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
