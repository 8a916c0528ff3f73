//! Packet counts for a collective, and the links that its packets cross.

use num_integer::gcd;
use tenter_endpoint::{AckPolicy, MessageCut};
use tenter_fabric::topology::Routing;
use tenter_sim::plan::Plan;
use tenter_workload::{CollectiveRun, Job, Schedule, WorkloadError, split};

use crate::explain::flow_workload::transfers;

/// Packets in one collective, once for each link they cross, without losses and pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) transfers: u64,
    pub(crate) data_hops: f64,
    pub(crate) control_hops: f64,
    /// Links that a transfer's packets cross, on average.
    pub(crate) links: f64,
    /// True if every transfer was counted.
    pub(crate) exact: bool,
}

/// Packets in one transfer; a collective's transfers have few sizes.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    bytes: u64,
    packets: u64,
    acknowledgements: f64,
    /// Cells or cell bundles beyond one for each packet.
    cut: f64,
}

/// Counts a collective's packets. Beyond `most` transfers only that many are counted, evenly
/// spread.
pub(crate) fn traffic(
    plan: &Plan,
    routing: &Routing,
    job: &Job,
    run: &CollectiveRun,
    most: u64,
) -> Result<Traffic, WorkloadError> {
    let schedule = run.traffic.schedule(job.ranks(), run.size_bytes)?;
    let transfers = transfers(plan, Some(routing), job, run, &*schedule);
    if transfers == 0 {
        return Ok(Traffic {
            exact: true,
            ..Traffic::default()
        });
    }
    let looked_at = transfers.min(most.max(1));
    let mut sum = Traffic {
        transfers,
        // Sizes of flows are known, but the number that fits the duration is an estimate.
        exact: looked_at == transfers && run.traffic.flow_workload().is_none(),
        ..Traffic::default()
    };
    let mut last: Option<Load> = None;
    let flows = schedule.flow_workload();
    for number in 0..looked_at {
        let id = flows.and_then(|flows| flows.typical(golden(number), number as u32));
        let id = id.unwrap_or_else(|| {
            if looked_at == transfers {
                number as u32
            } else {
                spread(number, transfers)
            }
        });
        let transfer = schedule.transfer(id);
        // Successive transfers mostly have the same size.
        let known = last.filter(|load| load.bytes == transfer.bytes);
        let load = known.unwrap_or_else(|| load(plan, job, transfer.bytes));
        last = Some(load);
        let [from, to] = job.ends(&transfer);
        // A scale-up domain carries these past the fabric.
        if plan.is_within_domain(from, to) {
            continue;
        }
        let links = f64::from(routing.distance(from, to) + 1);
        // A packet that stays at its leaf is not cut into cells.
        let cut = if links > 2.0 { load.cut } else { 0.0 };
        sum.data_hops += links * load.packets as f64 + (links - 2.0) * cut;
        sum.control_hops += links * load.acknowledgements;
        sum.links += links;
    }
    let scale = transfers as f64 / looked_at as f64;
    sum.data_hops *= scale;
    sum.control_hops *= scale;
    sum.links /= looked_at as f64;
    Ok(sum)
}

/// Returns the `number`-th id in an even spread below `count`.
fn spread(number: u64, count: u64) -> u32 {
    ((u128::from(golden(number)) * u128::from(count)) >> 64) as u32
}

/// Returns the `number`-th place in an even spread over 2⁶⁴. Multiples of the golden ratio leave
/// neither a large gap nor a pattern.
fn golden(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Counts a transfer's packets and acknowledgements over all its job's queue pairs, each of which
/// sends at least one packet.
fn load(plan: &Plan, job: &Job, bytes: u64) -> Load {
    let cut = plan.nic.cut();
    let mut load = Load {
        bytes,
        ..Load::default()
    };
    // The first queue pairs have a byte more, so there are two sizes at most.
    let pairs = job.queue_pairs;
    let longer = (bytes % u64::from(pairs)) as u16;
    for (index, count) in [(0, longer), (longer, pairs - longer)] {
        if count > 0 {
            let share = split::share(bytes, pairs, index);
            let packets = cut.packets(share);
            let answers = acknowledgements(plan, cut, share, packets);
            load.packets += u64::from(count) * packets;
            load.cut += f64::from(count) * cells_beyond(plan, cut, share, packets);
            load.acknowledgements += f64::from(count) * answers;
        }
    }
    load
}

/// Returns how many cells a scheduled fabric cuts a request's packets into, beyond one for each.
fn cells_beyond(plan: &Plan, cut: MessageCut, bytes: u64, packets: u64) -> f64 {
    let Some(spec) = &plan.scheduled else {
        return 0.0;
    };
    let of = |packet| spec.cells(cut.frame_bytes(bytes, packet, packet + 1) as u16) - 1;
    // All packets of a message but the first and the last are alike.
    let message = |first: u64, count: u64| match count {
        0 => 0.0,
        1 => f64::from(of(first)),
        _ => {
            let ends = f64::from(of(first)) + f64::from(of(first + count - 1));
            ends + (count - 2) as f64 * f64::from(of(first + 1))
        }
    };
    let long = cut.packets_per_message();
    let (full, rest) = (packets / long, packets % long);
    message(0, long.min(packets)) * full as f64 + message(full * long, rest)
}

/// Returns the mean acknowledgement count for a request with `packets` packets: one for each
/// message's last packet, and one every few packets. The latter are counted over all requests on a
/// queue pair, hence a mean.
fn acknowledgements(plan: &Plan, cut: MessageCut, bytes: u64, packets: u64) -> f64 {
    let messages = split::messages(bytes, plan.nic.message_bytes).count;
    match plan.nic.acknowledge {
        AckPolicy::PerMessage => messages as f64,
        AckPolicy::EveryPackets(every) => {
            let (every, per_message) = (u64::from(every), cut.packets_per_message());
            // Ends of messages at which the packet count asks for an acknowledgement anyway.
            let full = packets / per_message;
            let distance = (every / gcd(every, per_message)).saturating_mul(per_message);
            let ragged = u64::from(!packets.is_multiple_of(per_message));
            let both = (full * per_message) as f64 / distance as f64 + ragged as f64 / every as f64;
            packets as f64 / every as f64 + messages as f64 - both
        }
    }
}

/// Transfer count up to which all transfers are examined; beyond it some ranks stand for all.
const ONE_BY_ONE: u64 = 8 << 20;
/// Number of ranks that stand for all.
const RANKS_LOOKED_AT: u32 = 64;

/// Returns the ranks whose transfers are examined, and how many ranks each stands for.
pub(crate) fn ranks_looked_at(schedule: &dyn Schedule) -> (Vec<u32>, f64) {
    let ranks = schedule.ranks();
    if u64::from(schedule.transfer_count()) <= ONE_BY_ONE {
        return ((0..ranks).collect(), 1.0);
    }
    let count = ranks.min(RANKS_LOOKED_AT);
    let spread = (0..u64::from(count)).map(|number| spread(number, u64::from(ranks)));
    (spread.collect(), f64::from(ranks) / f64::from(count))
}

/// Calls `each` for those transfers of `ranks` that wait for nothing, and may all be under way at
/// once.
pub(crate) fn initial(
    schedule: &dyn Schedule,
    ranks: &[u32],
    mut each: impl FnMut(&dyn Schedule, u32),
) {
    let mut ids = Vec::new();
    for &rank in ranks {
        ids.clear();
        schedule.initial(rank, &mut ids);
        for &id in &ids {
            each(schedule, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_ids_are_even() {
        let mut hits = [0; 10];
        for number in 0..1_000 {
            hits[spread(number, 1_000_000) as usize / 100_000] += 1;
        }
        assert!(
            hits.iter().all(|hits| (95..=105).contains(hits)),
            "{hits:?}"
        );
    }
}
