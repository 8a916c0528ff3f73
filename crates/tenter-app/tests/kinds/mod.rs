//! Scenarios of all kinds of trial.

/// Small scenarios of all kinds of trial: trainings, inferences, loads of flows, graphs,
/// collectives beside each other, and fabrics of other kinds.
pub(crate) const KINDS: [&str; 10] = [
    "training-small",
    "inference-small",
    "flow-workload",
    "operations",
    "eight-tenants",
    "incast",
    "scheduled-fabric",
    "optical-spines",
    "pause-storm",
    "background-flows",
];
