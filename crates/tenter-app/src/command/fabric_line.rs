//! Counts in messages, and a fabric in one line.

pub(crate) use tenter::{describe_fabric as describe, fabric_parts as parts};

/// Returns a suffix with the NPU count per NIC, if it is above 1.
pub(crate) fn shared_by(npus_per_nic: u32) -> String {
    match npus_per_nic {
        1 => String::new(),
        npus => format!(" with {npus} NPUs each"),
    }
}

/// Formats a count with its noun in singular or plural.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
