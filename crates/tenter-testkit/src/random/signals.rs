//! Congestion signals: set in the plan, for nearly half of those that are neither scheduled nor
//! send by credit, and that have a class left for signals.

use tenter_endpoint::NicAddress;
use tenter_fabric::net::{PlaceOfSignals, SignalMode, SignalSpec};
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Returns the highest class that switches have or anything is sent in.
pub(super) fn highest_class(plan: &Plan) -> Option<u8> {
    let of_nics = plan.addresses.iter().map(NicAddress::class);
    let of_jobs = plan.jobs.iter().filter_map(|job| job.class);
    let notification = plan.nic.notification().map(|spec| spec.class);
    let control = plan.nic.control_class().into_iter().chain(notification);
    let used = of_nics.chain(of_jobs).chain(control);
    plan.switches.highest_class(used)
}

/// Adds congestion signals to a plan, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    if plan.scheduled.is_some() || plan.credit.is_some() || !draw.chance(45) {
        return;
    }
    let class = highest_class(plan).map_or(0, |class| class + 1);
    // All eight classes are taken.
    if class > 7 {
        return;
    }
    let frame = u64::from(plan.nic.longest_frame_bytes());
    let threshold_bytes = 1 + draw.below(4 * frame);
    plan.signals = Some(SignalSpec {
        mode: if draw.chance(50) {
            SignalMode::RemotePfc
        } else {
            SignalMode::Nic
        },
        place: if draw.chance(40) {
            PlaceOfSignals::Any
        } else {
            PlaceOfSignals::LastHop
        },
        threshold_bytes,
        target_bytes: draw.below(threshold_bytes),
        class,
        cache_entries: *draw.pick(&[&0, &1, &2, &1_024]),
        renews: draw.chance(50),
    });
    plan.switches.add_class_for_signals(class);
}
