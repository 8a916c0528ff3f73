//! Recovery from congestion at the sender.

use serde::Serialize;
use tenter_endpoint::congestion_control::CongestionControl;
use tenter_fabric::topology::HostId;
use tenter_sim::plan::Plan;

/// Effect that one notification has on a DCQCN flow alone on its line, if no other follows. Bytes
/// that the flow sends may raise its rate earlier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecoveryFacts {
    /// Rate after the cut, in percent of the line.
    pub cut_to_percent: f64,
    /// Time from the notification until nine tenths of the line rate are back, in ns.
    pub nine_tenths_after_ns: f64,
    /// Time from the notification until the full line rate is back, in ns.
    pub line_after_ns: f64,
}

pub(crate) fn recovery_facts(plan: &Plan) -> Option<RecoveryFacts> {
    let Some(CongestionControl::Dcqcn(control)) = plan.nic.reacting() else {
        return None;
    };
    // The first host's line stands for all.
    let cut = control.recovery(plan.topology.line_rate(HostId::new(0)))?;
    Some(RecoveryFacts {
        cut_to_percent: cut.share * 100.0,
        nine_tenths_after_ns: cut.nearly_after.as_ns(),
        line_after_ns: cut.line_after.as_ns(),
    })
}
