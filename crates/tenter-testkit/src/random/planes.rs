//! Small scenarios on multi-plane fabrics, with NICs of any transport.

use tenter_endpoint::PlaneChoice;
use tenter_sim::plan::{Fault, Plan};

use super::draw::Draw;
use super::{RandomScenario, congestion, fabric, faults, flow_control, input_queued};
use super::{text_on, ultra_ethernet};

/// Makes a scenario on 2 to 8 planes from a seed; the same seed gives the same scenario.
///
/// Jobs, flow control, congestion control and faults are as in
/// [`random_scenario`](super::random_scenario). NICs choose planes by packet or by hash, whether or
/// not they need packets in order, and in four of ten scenarios have the Ultra Ethernet transport.
///
/// # Panics
/// Panics if the scenario is refused, which is a defect in this crate.
pub fn random_planes(seed: u64) -> RandomScenario {
    let mut draw = Draw::new(seed);
    let fabric = fabric::write_planes(&mut draw);
    let text = text_on(&fabric, &mut draw);
    RandomScenario::made(seed, "planes", text, |plan| {
        let mut draw = Draw::new(!seed);
        let choices = [PlaneChoice::Spray, PlaneChoice::Spray, PlaneChoice::Hash];
        plan.nic.planes = Some(choices[draw.below(3) as usize]);
        if draw.chance(40) {
            ultra_ethernet::adopt(plan, &mut draw);
        } else {
            flow_control::change(plan, &mut draw);
            congestion::change(plan, &mut draw);
            input_queued::change(plan, &mut Draw::new(seed.rotate_left(56)));
        }
        faults::change(plan, &mut draw);
        leave_out(plan);
    })
}

/// Removes settings that several planes do not support: receive buffers, telemetry, pause storms.
fn leave_out(plan: &mut Plan) {
    plan.nic.receive_buffer = None;
    if plan.nic.telemetry_bytes() > 0 {
        plan.nic.congestion_control = None;
    }
    let events = &mut plan.faults.events;
    events.retain(|event| !matches!(event.fault, Fault::StormBegins(_) | Fault::StormEnds(_)));
}
