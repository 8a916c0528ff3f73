//! A fabric in one line.

use tenter_units::Rate;

use crate::Plan;

impl Plan {
    /// The fabric in one line: its kind, what it consists of, and the rates of its cables.
    pub fn fabric_in_one_line(&self) -> String {
        describe_fabric(self.resolved())
    }
}

/// The fabric of a plan in one line: its kind, what it consists of, and the rates of its cables.
pub fn describe_fabric(plan: &tenter_plan::Plan) -> String {
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

/// What the fabric of a plan consists of: `64 NICs, 12 switches, 128 cables`.
pub fn fabric_parts(plan: &tenter_plan::Plan) -> String {
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

/// A number and what it counts.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
