//! Packets or flows: the choice of `engine.fidelity: auto`.

use tenter_explain::{ExplainError, cost_of};
use tenter_plan::{Fidelity, PacketBudget, Plan};
use tenter_units::{Bytes, Time};

const MEGABYTE: u64 = 1_000_000;

/// Chooses the level of a plan that asks for that, by estimates that are the same on every machine;
/// the reason.
pub(crate) fn choose(plan: &mut Plan) -> Result<Option<String>, ExplainError> {
    let Some(budget) = plan.packet_budget else {
        return Ok(None);
    };
    let refusal = tenter_sim::left_out(plan).err();
    plan.fidelity = Fidelity::Packet;
    let cost = cost_of(plan)?;
    let wall_time = Time::from_ps((cost.wall_s * 1e12) as u64);
    let memory = Bytes::new(cost.peak_bytes.div_ceil(MEGABYTE) * MEGABYTE);
    let PacketBudget {
        wall_time: time_allowed,
        memory: memory_allowed,
    } = budget;
    let cost = format!(
        "packets are estimated to take {} and {memory}",
        wall_time.rounded()
    );
    if wall_time <= time_allowed && memory <= memory_allowed {
        return Ok(Some(format!("`engine.fidelity: auto` is packets: {cost}")));
    }
    let cost = format!(
        "{cost}, more than `engine.packets_time: {time_allowed}` or `packets_memory: {memory_allowed}`"
    );
    Ok(Some(if let Some(refusal) = refusal {
        format!("`engine.fidelity: auto` is packets, although {cost}: {refusal}")
    } else {
        plan.fidelity = Fidelity::Flow;
        format!("`engine.fidelity: auto` is flows: {cost}")
    }))
}
