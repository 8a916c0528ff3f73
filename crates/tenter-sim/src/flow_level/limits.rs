//! Features of a plan that flow level cannot simulate, and those that it simulates with a known
//! bias.

use crate::fluid::FlowRate;
use crate::plan::{Fault, Plan, SteeringDemand};
use tenter_endpoint::NicSpec;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::net::load_balancing::LoadBalancing;
use tenter_language::units::Time;

use super::way_delays::WayDelays;

/// Returns the rate to which the NIC's windows limit a queue pair: the bytes that may be
/// unacknowledged, in each round trip.
pub(super) fn of_windows(nic: &NicSpec, delays: &WayDelays) -> FlowRate {
    let frame = nic.longest_frame_bytes();
    let wire = u64::from(frame + WIRE_OVERHEAD_BYTES);
    let round_trip = delays.round_trip(frame);
    // One acknowledgement frees the window of all packets that it covers at once. On average half
    // of them have arrived before and take up window in vain.
    let unused = (nic.first_acknowledgement() - 1) / 2;
    let repeated = match &nic.loss_recovery {
        LossRecovery::SelectiveRepeat(repeat) => Some(repeat.window),
        _ => None,
    };
    let windows = nic.window_packets.into_iter().chain(repeated);
    let of_packets = windows.min().map(|window| {
        let packets = u64::from(window).saturating_sub(unused).max(1);
        FlowRate::of_bytes(packets.saturating_mul(wire), round_trip)
    });
    let of_messages = nic.outstanding_messages.map(|messages| {
        let bytes = nic.cut().packets_per_message() * wire;
        // The acknowledgement answers the last packet of a message, so the others are sent before
        // the round trip begins.
        let rest = bytes - wire;
        let round = delays.sending(rest) + round_trip;
        FlowRate::of_bytes(bytes.saturating_mul(u64::from(messages)), round)
    });
    let limits = of_packets.into_iter().chain(of_messages);
    limits.min().unwrap_or(FlowRate::UNLIMITED)
}

/// The reason why a plan cannot run at flow level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be simulated at flow level: {remedy}")]
pub struct FlowLevelRefusal {
    what: &'static str,
    remedy: &'static str,
}

/// Something that flow level leaves out of a plan, and how that biases the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Sentence that follows "at flow level" in the note.
    pub text: &'static str,
}

const PACKETS: &str = "set `engine.fidelity: packet`, or leave it out of the scenario";

const TOLERANCE: &str = "links carry up to `engine.tolerance` more or less than they can: the rates of flows are the max–min fair ones of links that are so much faster or slower";

/// Lists what flow level leaves out of a plan.
///
/// # Errors
/// If the plan has something that flow level cannot simulate at all.
pub fn left_out(plan: &Plan) -> Result<Vec<LeftOut>, FlowLevelRefusal> {
    let runs = || plan.jobs.iter().flat_map(|job| &job.sequence);
    let faults = || plan.faults.events.iter();
    let circuits = plan.circuits.as_ref();
    let steering = circuits.and_then(|of| of.steering.as_ref());
    let refused = [
        (
            "a pause storm",
            faults().any(|event| matches!(event.fault, Fault::StormBegins(_))),
        ),
        (
            "steering by counters",
            steering.is_some_and(|of| of.demand == SteeringDemand::Counters),
        ),
        ("a multi-plane fabric", plan.topology.nic_ports > 1),
        ("an impairment", !plan.impairments.is_empty()),
        (
            "a stream without end",
            runs().any(|run| run.traffic.is_endless()),
        ),
        (
            "the set-up of connections (`endpoint.nic.connection_set_up`)",
            plan.nic.connection_set_up,
        ),
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
    let found = of_ways(plan).into_iter().chain(of_queues(plan));
    let found = found.chain([(plan.tolerance > 0, TOLERANCE)]);
    let found = found.chain([(
        circuits.is_some() || faults().next().is_some(),
        "nothing is lost when a link goes down: flows over it wait for other routes, and go on without the timeouts of lost packets",
    )]);
    let holds = found.filter(|(holds, _)| *holds);
    Ok(holds.map(|(_, text)| LeftOut { text }).collect())
}

/// Note for sprayed packets whose links are drawn.
pub(super) const DRAWN: &str = "the links of sprayed packets are drawn for each message, whatever queues there are, so the time may be off either way";

/// Notes on how paths are chosen, each with true if it applies.
fn of_ways(plan: &Plan) -> [(bool, &'static str); 4] {
    let any = |is: fn(&LoadBalancing) -> bool| {
        let mut switches = plan.switches.iter();
        plan.scheduled.is_none() && switches.any(|spec| is(&spec.load_balancing))
    };
    let varies = plan.port_changes.entropy.is_some();
    [
        (
            any(|balancing| balancing.reorders() && balancing.detours().is_none()),
            DRAWN,
        ),
        (
            any(|balancing| !balancing.keeps_ways() && !balancing.reorders()) || varies,
            "flows are spread evenly over all shortest paths, whatever queues there are: a lower bound of the time",
        ),
        (
            any(|balancing| balancing.detours().is_some()),
            "no packet takes a detour over another region: where shortest paths are full, the time may be several times too long",
        ),
        (
            any(LoadBalancing::keeps_ways) && plan.is_lossless(),
            "pauses hold back no other flows than those that share the full link: where queue pairs collide, a lower bound of the time",
        ),
    ]
}

/// Note for queues that grow without holding anybody back.
const OPEN_QUEUES: &str = "queues hold whatever comes to them and drop nothing; of queues that a message passes one after the other the longest wait counts";

/// Note for lossy queues if flows share links.
const NO_QUEUES: &str = "no frame waits behind others or is dropped: flows share full links evenly, where in a queue they have shares by their arrivals";

/// Replaces the note on open queues: in this trial flows share links after all.
pub(super) fn note_no_queues(found: &mut [LeftOut]) {
    for left_out in found {
        if left_out.text == OPEN_QUEUES {
            left_out.text = NO_QUEUES;
        }
    }
}

/// Notes on queues and on reactions to them, each with true if it applies.
fn of_queues(plan: &Plan) -> [(bool, &'static str); 7] {
    let is_lossy = !plan.is_lossless() && plan.scheduled.is_none() && plan.credit.is_none();
    let are_open = plan.queues_are_open();
    [
        (
            plan.input_queued.is_some(),
            "no frame waits behind one to another output: a lower bound of the time",
        ),
        (
            plan.nic.reacting().is_some() || plan.nic.ultra_ethernet().is_some(),
            "congestion control finds the fair rates at once: a lower bound of the time",
        ),
        (
            plan.nic.receive_buffer.is_some() || !plan.dma.is_empty(),
            "a host that is slower than its wire slows its senders at once: it drops nothing, and pauses nobody else",
        ),
        (
            plan.signals.is_some(),
            "switches send no congestion signals, as there are no queues",
        ),
        (
            plan.has_several_classes(),
            "all traffic classes have the same weight, whatever their scheduling",
        ),
        (are_open, OPEN_QUEUES),
        (is_lossy && !are_open, NO_QUEUES),
    ]
}

impl WayDelays {
    /// Returns the time that `bytes` take on the slowest link.
    fn sending(&self, bytes: u64) -> Time {
        self.slowest_rate()
            .map_or(Time::ZERO, |rate| rate.time_of_bits(u128::from(bytes) * 8))
    }
}
