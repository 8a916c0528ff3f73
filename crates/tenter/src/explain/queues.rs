//! Rough estimate of packets in queues at the worst moment.

use std::collections::BTreeMap;

use tenter_fabric::net::input_queued::InputQueues;
use tenter_fabric::net::{Limit, UNLIMITED_POOL};
use tenter_fabric::topology::HostId;
use tenter_sim::plan::Plan;
use tenter_workload::{CollectiveRun, Job, WorkloadError};

use crate::explain::traffic;

/// Packet share that waits at the worst moment if each link has one flow on average, measured for
/// random permutations. With λ flows per link it falls with λ^(3/4).
const UNEVEN: f64 = 0.6;
/// Packet share that waits at FIFO inputs behind one whose output is busy: such a switch carries
/// 2 − √2 of evenly spread arrivals (Karol, Hluchyj and Morgan, "Input Versus Output Queueing on a
/// Space-Division Packet Switch", 1987).
const HEAD_OF_LINE: f64 = 0.41;

/// Data in one job that may be under way at once, and the part that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Crowd {
    /// Flows that all start together.
    pub(crate) flows: u64,
    /// Packets in these flows, all together.
    pub(crate) packets: u64,
    /// Packets that wait in switches.
    pub(crate) waiting: u64,
}

/// Payload that one host sends and receives at the start, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    sent: u64,
    received: u64,
}

/// Estimates a collective's peak at its start, from the transfers that wait for nothing.
///
/// A NIC that receives more than its rate while the senders send has a queue as long as the
/// difference. Hashing puts more traffic on some links across the fabric than on others, but less
/// so with more flows per link.
pub(crate) fn crowd(plan: &Plan, job: &Job, run: &CollectiveRun) -> Result<Crowd, WorkloadError> {
    let schedule = run.traffic.schedule(job.ranks(), run.size_bytes)?;
    let mut shares: BTreeMap<HostId, Share> = BTreeMap::new();
    let (mut transfers, mut crossing) = (0_u64, 0_u64);
    let (mut crossing_bytes, mut between_regions) = (0_u64, 0_u64);
    let mut bytes_of_all = 0_u64;
    let window = plan.nic.window_packets.map_or(u64::MAX, |packets| {
        u64::from(packets) * u64::from(plan.nic.mtu_bytes) * u64::from(job.queue_pairs)
    });
    let messages = plan.nic.outstanding_messages.map_or(u64::MAX, |messages| {
        u64::from(messages) * plan.nic.message_bytes * u64::from(job.queue_pairs)
    });
    // Both limits hold, so the smaller one counts.
    let window = window.min(messages);
    let (ranks, each_for) = traffic::ranks_looked_at(&*schedule);
    traffic::initial(&*schedule, &ranks, |schedule, id| {
        let transfer = schedule.transfer(id);
        let [from, to] = job.ends(&transfer);
        let bytes = transfer.bytes.min(window);
        transfers += 1;
        // A sender is busy with all of its bytes, but at most its window is under way to the
        // receiver.
        shares.entry(from).or_default().sent += transfer.bytes;
        shares.entry(to).or_default().received += bytes;
        let leaf = |host| plan.topology.neighbour(host, 0).node;
        if leaf(from) != leaf(to) {
            crossing += 1;
            crossing_bytes += bytes;
        }
        if plan.topology.region(leaf(from)) != plan.topology.region(leaf(to)) {
            between_regions += bytes;
        }
        bytes_of_all += transfer.bytes;
    });
    let all = |part: u64| (part as f64 * each_for) as u64;
    let (transfers, crossing) = (all(transfers), all(crossing));
    let (crossing_bytes, bytes_of_all) = (all(crossing_bytes), all(bytes_of_all));
    for share in shares.values_mut() {
        // Each examined rank has sent all of its own bytes, but received from examined ranks only.
        share.received = all(share.received);
    }
    let sending = longest_sending(plan, &shares);
    let at_hosts = waiting_for_hosts(plan, &shares, sending);
    let uneven = waiting_between(plan, crossing * u64::from(job.queue_pairs), crossing_bytes);
    let narrow = waiting_at_borders(plan, sending, crossing_bytes, all(between_regions));
    // Both estimate the same queues, so the greater one counts, and not their sum.
    let between = uneven.max(narrow);
    let flows = transfers * u64::from(job.queue_pairs);
    let packets = bytes_of_all.div_ceil(u64::from(plan.nic.mtu_bytes).max(1));
    // Each flow has at least one packet.
    let packets = packets.max(flows);
    let bytes_of_one = (bytes_of_all / packets.max(1)).max(1);
    let mut waiting = (at_hosts + between) / bytes_of_one;
    let queues = plan.input_queued.as_ref().map(|spec| spec.queues);
    if waiting > 0 && matches!(queues, Some(InputQueues::Fifo(_))) {
        waiting = waiting.max((packets as f64 * HEAD_OF_LINE) as u64);
    }
    Ok(Crowd {
        flows,
        packets,
        waiting,
    })
}

/// Returns the time in which the busiest host sends its share, in units of 8 s: bytes over bits per
/// second.
fn longest_sending(plan: &Plan, shares: &BTreeMap<HostId, Share>) -> f64 {
    let times = shares
        .iter()
        .map(|(&host, share)| share.sent as f64 / bits_per_second(plan, host));
    times.fold(0.0, f64::max)
}

fn bits_per_second(plan: &Plan, host: HostId) -> f64 {
    plan.topology.line_rate(host).bits_per_second() as f64
}

/// Estimates bytes that wait before the links from leaves upwards, or between regions, because
/// these carry less than the hosts send.
fn waiting_at_borders(plan: &Plan, sending: f64, crossing: u64, between_regions: u64) -> u64 {
    let topology = &plan.topology;
    let leaves = topology.tiers();
    let up = leaves.first().map_or(0, |leaves| leaves.up_bps) as f64;
    let cables = topology.cables.iter();
    let borders = cables.filter(|cable| {
        let [one, other] = cable.ends.map(|end| topology.region(end.node));
        one.is_some() && other.is_some() && one != other
    });
    // A cable carries its rate in both directions.
    let of_borders = borders.map(|cable| 2.0 * cable.rate.bits_per_second() as f64);
    let beyond = |bytes: u64, rate: f64| {
        let carried = (sending * rate) as u64;
        if rate > 0.0 {
            bytes.saturating_sub(carried)
        } else {
            0
        }
    };
    let waiting = beyond(crossing, up).max(beyond(between_regions, of_borders.sum()));
    let limit = port_limit(plan).saturating_mul(2 * topology.cables.len() as u64);
    waiting.min(limit)
}

/// Estimates bytes that wait at the last switch, because a host's link is slower than its senders.
fn waiting_for_hosts(plan: &Plan, shares: &BTreeMap<HostId, Share>, sending: f64) -> u64 {
    let waiting = shares.iter().map(|(&host, share)| {
        let taken = (sending * bits_per_second(plan, host)) as u64;
        share.received.saturating_sub(taken).min(port_limit(plan))
    });
    waiting.sum()
}

/// Estimates bytes that wait between switches, because hashing spreads flows unevenly.
fn waiting_between(plan: &Plan, flows: u64, bytes: u64) -> u64 {
    let topology = &plan.topology;
    let of_switches = topology.cables.iter();
    let links = of_switches
        .filter(|cable| !topology.is_host(cable.ends[0].node))
        .count() as u64;
    if links == 0 || flows == 0 {
        return 0;
    }
    // A flow takes about two links between switches, up and down, and `links` counts cables, which
    // have two links each.
    let on_a_link = (flows as f64 / links as f64).max(1.0);
    let share = UNEVEN / on_a_link.powf(0.75);
    let limit = port_limit(plan).saturating_mul(2 * links);
    ((bytes as f64 * share) as u64).min(limit)
}

/// Returns the most bytes that may wait at one port.
fn port_limit(plan: &Plan) -> u64 {
    let specs = plan.switches.iter();
    let classes = specs.flat_map(|spec| spec.classes.iter().map(move |class| (spec, class)));
    let limits = classes.map(|(spec, class)| {
        let pool = spec.pool_of(class.pool);
        let bytes = match class.limit {
            Limit::Static(bytes) | Limit::AtRate { bytes, .. } => bytes.min(pool),
            // A queue alone may come close to holding the whole pool.
            Limit::Dynamic { .. } | Limit::Levels(_) => pool,
        };
        bytes.min(UNLIMITED_POOL)
    });
    limits.max().unwrap_or(0)
}
