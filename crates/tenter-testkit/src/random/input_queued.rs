//! Switches whose frames wait at their inputs: set in the plan, for a sixth of those that are
//! neither scheduled nor send by credit.

use tenter_fabric::net::Scheduling;
use tenter_fabric::net::input_queued::{InputQueuedSpec, InputQueues};
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Makes a plan's switches input-queued, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    if plan.scheduled.is_some() || plan.credit.is_some() || !draw.chance(17) {
        return;
    }
    // Watchdogs and weighted classes are refused beside input queues.
    plan.watchdog = None;
    for spec in plan.switches.iter_mut() {
        for class in &mut spec.classes {
            class.scheduling = Scheduling::Strict;
        }
    }
    plan.input_queued = Some(InputQueuedSpec {
        queues: if draw.chance(50) {
            InputQueues::PerOutput
        } else {
            InputQueues::Fifo(draw.within(1..=4) as u8)
        },
        iterations: draw.within(1..=4) as u16,
    });
}
