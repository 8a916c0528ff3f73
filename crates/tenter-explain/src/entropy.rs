//! How NICs spread the packets of a queue pair, or of a connection, over source ports.

use serde::Serialize;

use tenter_plan::Plan;

/// How NICs choose source ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntropyFacts {
    /// The word of the choice: `random`, `oblivious`, `bitmap`, `reps` or `mixed`.
    pub kind: &'static str,
    /// Source ports of a queue pair or connection.
    pub values: u64,
    /// Whether senders go by what becomes of their packets.
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
