//! Packets or flows: the choice of `engine.fidelity: auto`.

use std::fmt;

use tenter_explain::{ExplainError, cost_of};
use tenter_plan::{Fidelity, Plan};
use tenter_units::{Budget, Bytes, Time};

const MEGABYTE: u64 = 1_000_000;

/// Chooses the level of a plan that asks for that, by estimates of both levels that are the same on
/// every machine; the reason.
pub(crate) fn choose(plan: &mut Plan, allowed: &Budget) -> Result<Option<String>, ExplainError> {
    let Some(budget) = plan.packet_budget else {
        return Ok(None);
    };
    let packets = Estimate::of(plan, Fidelity::Packet, allowed)?;
    let of_packets = format!("packets are estimated to take {packets}");
    let exceeds = [
        packets.time > budget.wall_time,
        packets.memory > budget.memory,
    ];
    if exceeds == [false, false] {
        return Ok(Some(format!(
            "`engine.fidelity: auto` is packets: {of_packets}"
        )));
    }
    let of_packets = format!(
        "{of_packets}, more than `engine.packets_time: {}` or `packets_memory: {}`",
        budget.wall_time, budget.memory
    );
    let although = format!("`engine.fidelity: auto` is packets, although {of_packets}");
    if let Err(refusal) = tenter_sim::left_out(plan) {
        return Ok(Some(format!("{although}: {refusal}")));
    }
    let flows = Estimate::of(plan, Fidelity::Flow, allowed)?;
    let saves = [flows.time < packets.time, flows.memory < packets.memory];
    // What is too much with packets must be less with flows, or nothing is gained for the error.
    let mut pairs = exceeds.into_iter().zip(saves);
    if pairs.any(|(exceeds, saves)| exceeds && !saves) {
        plan.fidelity = Fidelity::Packet;
        return Ok(Some(format!("{although}: flows would take {flows}")));
    }
    Ok(Some(format!(
        "`engine.fidelity: auto` is flows: {of_packets}, and flows {flows}"
    )))
}

/// What a run is estimated to take at a level.
struct Estimate {
    /// Wall time on one thread.
    time: Time,
    /// Peak memory, rounded up to megabytes.
    memory: Bytes,
}

impl Estimate {
    /// That of a plan, which is at this level then.
    fn of(plan: &mut Plan, level: Fidelity, allowed: &Budget) -> Result<Estimate, ExplainError> {
        plan.fidelity = level;
        let cost = cost_of(plan, allowed)?;
        Ok(Estimate {
            time: Time::from_ps((cost.wall_s * 1e12) as u64),
            memory: Bytes::new(cost.peak_bytes.div_ceil(MEGABYTE) * MEGABYTE),
        })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} and {}", self.time.rounded(), self.memory)
    }
}
