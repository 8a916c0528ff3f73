//! The shortest time in which one node affects another.

use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_net::scheduled::ScheduledSpec;
use tenter_plan::Plan;
use tenter_plan::unloaded::link;
use tenter_units::Time;

use crate::credit::shortest_update;

/// The shortest time in which a frame, or a flow-control packet, gets from one node to the next.
pub(crate) fn lookahead(plan: &Plan) -> Time {
    let topology = &plan.topology;
    let ends = topology.cables.iter().flat_map(|cable| cable.ends);
    let times = ends.map(|end| {
        let link = link(plan, end);
        let spec = plan.scheduled.as_ref();
        let cell = spec.map_or(u32::MAX, ScheduledSpec::shortest_wire_bytes);
        let smallest = (64 + WIRE_OVERHEAD_BYTES).min(cell);
        let stored = link.rate.serialisation(0).of(smallest, 0).0;
        link.latency + if link.stores { stored } else { Time::ZERO }
    });
    let update = plan.credit.as_ref().map(|spec| shortest_update(spec, plan));
    times.chain(update).min().unwrap_or_default()
}
