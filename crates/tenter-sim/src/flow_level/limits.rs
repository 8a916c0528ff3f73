//! What flow level cannot say of a plan, and what it says too well.

use tenter_endpoint::NicSpec;
use tenter_flow::FlowRate;
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_plan::Plan;
use tenter_units::Time;

use super::way_delays::WayDelays;

/// The most that a queue pair sends at: what it may have unacknowledged, in each round trip.
pub(super) fn of_windows(nic: &NicSpec, delays: &WayDelays) -> FlowRate {
    let frame = nic.longest_frame_bytes();
    let wire = u64::from(frame + WIRE_OVERHEAD_BYTES);
    let of_packets = nic.window_packets.map(|window| {
        let bytes = u64::from(window) * wire;
        FlowRate::of_bytes(bytes, delays.round_trip(frame))
    });
    let of_messages = nic.outstanding_messages.map(|messages| {
        let packets = nic.cut().packets_per_message();
        let bytes = packets * wire;
        // The acknowledgement comes for the last packet of a message.
        let sending = delays.sending(bytes);
        let round = sending + delays.round_trip(frame);
        FlowRate::of_bytes(bytes * u64::from(messages), round)
    });
    let limits = of_packets.into_iter().chain(of_messages);
    limits.min().unwrap_or(FlowRate::UNLIMITED)
}

/// Why a plan cannot be run at flow level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be simulated at flow level: {remedy}")]
pub struct FlowLevelRefusal {
    what: &'static str,
    remedy: &'static str,
}

/// Something of a plan that flow level leaves out, and what that does to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// A sentence.
    pub text: &'static str,
}

const PACKETS: &str = "set `engine.fidelity: packet`, or leave it out of the scenario";

/// What flow level leaves out of a plan.
///
/// # Errors
/// What it can say nothing about.
pub fn bounds(plan: &Plan) -> Result<Vec<Bound>, FlowLevelRefusal> {
    let runs = || plan.jobs.iter().flat_map(|job| &job.sequence);
    let refused = [
        ("a fabric with optical switches", plan.circuits.is_some()),
        ("a fault", !plan.faults.events.is_empty()),
        ("an impairment", !plan.impairments.is_empty()),
        (
            "a stream without end",
            runs().any(|run| run.traffic.is_endless()),
        ),
        ("PCIe as the limit of NICs", !plan.dma.is_empty()),
        ("a slow receiver", plan.nic.receive_buffer.is_some()),
        (
            "a record of queues (`observe.queue_changes`)",
            plan.queue_changes.is_some(),
        ),
        (
            "a capture of frames (`observe.capture`)",
            plan.capture.is_some(),
        ),
    ];
    if let Some((what, _)) = refused.into_iter().find(|(_, is)| *is) {
        let remedy = PACKETS;
        return Err(FlowLevelRefusal { what, remedy });
    }
    let balancing = &plan.switches.usual.load_balancing;
    let lossless = plan.switches.any_class(|class| class.lossless.is_some());
    let kinds = [
        (
            plan.scheduled.is_none() && !balancing.follows_hash(),
            "packets are spread evenly over all shortest paths, whatever queues there are",
        ),
        (
            plan.scheduled.is_none() && lossless && balancing.follows_hash(),
            "pauses hold back no other flows than those that share the full link; where queue pairs collide this is a lower bound of the time",
        ),
        (
            balancing.detours().is_some(),
            "no packet takes a detour over another region; where shortest paths are full this is an upper bound of the time",
        ),
        (
            plan.nic.reacting().is_some(),
            "congestion control finds the fair rates at once",
        ),
        (
            !lossless && plan.scheduled.is_none() && plan.credit.is_none(),
            "no queue is ever too long, so nothing is dropped and sent again",
        ),
    ];
    let holds = kinds.into_iter().filter(|(holds, _)| *holds);
    Ok(holds.map(|(_, text)| Bound { text }).collect())
}

impl WayDelays {
    /// What bytes take at the slowest link.
    fn sending(&self, bytes: u64) -> Time {
        self.slowest_rate()
            .map_or(Time::ZERO, |rate| rate.time_of_bits(u128::from(bytes) * 8))
    }
}
