//! How senders recover from congestion.

use serde::Serialize;
use tenter_endpoint::congestion_control::CongestionControl;
use tenter_plan::Plan;
use tenter_topology::HostId;

/// What one notification does to a flow under DCQCN that has its line alone, if no other follows;
/// bytes that it sends may bring it back earlier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecoveryFacts {
    /// The share of the line to which its rate falls, in percent.
    pub cut_to_percent: f64,
    /// From the notification until it is back at nine tenths of the line, in ns.
    pub nine_tenths_after_ns: f64,
    /// Until it is back at the line, in ns.
    pub line_after_ns: f64,
}

pub(crate) fn recovery_facts(plan: &Plan) -> Option<RecoveryFacts> {
    let Some(CongestionControl::Dcqcn(control)) = plan.nic.reacting() else {
        return None;
    };
    let cut = control.recovery(plan.topology.line_rate(HostId::new(0)))?;
    Some(RecoveryFacts {
        cut_to_percent: cut.share * 100.0,
        nine_tenths_after_ns: cut.nearly_after.as_ns(),
        line_after_ns: cut.line_after.as_ns(),
    })
}
