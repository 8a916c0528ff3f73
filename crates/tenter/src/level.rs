//! Chooses packet or flow level for `engine.fidelity: auto`.

use std::fmt;

use crate::explain::{ExplainError, cost_of};
use tenter_language::units::{Budget, Bytes, Time};
use tenter_sim::plan::{Fidelity, Plan};

const MEGABYTE: u64 = 1_000_000;

/// Chooses the level if the scenario leaves the choice to the program, and returns the reason as a
/// sentence. The estimates do not depend on this machine, so every machine chooses alike.
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
    // Flow level would refuse the run; a long run with packets is better than none.
    if let Err(refusal) = tenter_sim::left_out(plan) {
        return Ok(Some(format!("{although}: {refusal}")));
    }
    let flows = Estimate::of(plan, Fidelity::Flow, allowed)?;
    let saves = [flows.time < packets.time, flows.memory < packets.memory];
    // A resource that packets exceed must be less with flows, or the error of flow level buys
    // nothing.
    let mut pairs = exceeds.into_iter().zip(saves);
    if pairs.any(|(exceeds, saves)| exceeds && !saves) {
        plan.fidelity = Fidelity::Packet;
        return Ok(Some(format!("{although}: flows would take {flows}")));
    }
    // The last estimate has left the plan at flow level.
    Ok(Some(format!(
        "`engine.fidelity: auto` is flows: {of_packets}, and flows {flows}"
    )))
}

/// Estimated cost of a run at one level.
struct Estimate {
    /// Wall time on one thread.
    time: Time,
    /// Peak memory, rounded up to whole megabytes (10⁶ bytes).
    memory: Bytes,
}

impl Estimate {
    /// Estimates `plan` at `level`, and leaves the plan at that level.
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
