//! NICs that choose source ports packet by packet, most of them by what becomes of their packets:
//! set in the plan, with draws of their own, so that all else is drawn as without them.

use std::sync::Arc;

use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_endpoint::{AckPolicy, Entropy, EntropyKind};
use tenter_plan::Plan;

use super::draw::Draw;

/// Changes a plan, or not.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let any_order = matches!(plan.nic.loss_recovery, LossRecovery::SelectiveRepeat(_));
    let chance = match plan.port_changes.entropy {
        Some(_) => 75,
        None if any_order => 25,
        None => 0,
    };
    if !draw.chance(chance) {
        return;
    }
    let kinds = [
        EntropyKind::Oblivious,
        EntropyKind::Bitmap,
        EntropyKind::Reps,
        EntropyKind::Mixed,
    ];
    let kind = kinds[draw.below(kinds.len() as u64) as usize];
    let balancing = &plan.switches.usual.load_balancing;
    let differences = balancing.source_port_differences(2 << draw.below(6));
    let entropy = Entropy::new(kind, 1, differences);
    plan.port_changes.entropy = Some(Arc::new(entropy));
    // No text has fewer answers, but the rules hold all the same.
    if draw.chance(75) {
        plan.nic.acknowledge = AckPolicy::EveryPackets(1);
    }
}
