//! NICs that choose a source port for each packet, most of them by news about earlier packets.
//!
//! This is set in the plan, with its own random stream, so that everything else stays as without
//! it.

use std::sync::Arc;

use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_endpoint::{AckPolicy, Entropy, EntropyKind};
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Gives a plan's NICs such a choice, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let any_order = matches!(plan.nic.loss_recovery, LossRecovery::SelectiveRepeat(_));
    // A NIC that takes packets in any order can always spread them.
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
    // Texts refuse kinds that learn with fewer acknowledgements, but the rules hold all the same.
    if draw.chance(75) {
        plan.nic.acknowledge = AckPolicy::EveryPackets(1);
    }
}
