//! Source ports over which NICs spread a queue pair's or connection's packets.

use serde::Serialize;

use tenter_sim::plan::Plan;

/// Choice between source ports at the NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntropyFacts {
    /// Kind of choice: `random`, `oblivious`, `bitmap`, `reps` or `mixed`.
    pub kind: &'static str,
    /// Source ports for each queue pair or connection.
    pub values: u64,
    /// True if senders learn from their packets' outcome.
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
