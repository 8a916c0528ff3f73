//! Source ports over which NICs spread packets of a queue pair or connection.

use serde::Serialize;

use tenter_plan::Plan;

/// Choice of source ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntropyFacts {
    /// Kind of choice: `random`, `oblivious`, `bitmap`, `reps` or `mixed`.
    pub kind: &'static str,
    /// Source ports of each queue pair or connection.
    pub values: u64,
    /// True if senders learn from the outcome of their packets.
    pub learns: bool,
}

pub(crate) fn entropy_facts(plan: &Plan) -> Option<EntropyFacts> {
    let entropy = plan.port_changes.entropy.as_ref()?;
    Some(EntropyFacts {
        kind: entropy.kind().word(),
        values: entropy.differences().len() as u64,
        learns: entropy.kind().learns(),
    })
}
