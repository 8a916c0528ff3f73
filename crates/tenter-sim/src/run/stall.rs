//! Explains who waits for whom when a run ends with work undone.

use std::fmt::Write;

use tenter_fabric::topology::HostId;
use tenter_language::units::{Bytes, Instant};
use tenter_results::{Stop, StopKind};
use tenter_workload::JobId;
use tenter_workload::graph::GraphSchedule;

use crate::network::{Context, Driver, Host, NodeModel};

use super::broken::Broken;

/// Most lines that explain a stalled job; the others are only counted.
const LINES: usize = 8;

/// Explains for each job that is not done why: queue pairs that gave up, faults that remain, and
/// ranks with what they wait for. If the user `stopped` the run, ranks only lack time.
pub(super) fn explain<D: Driver>(
    driver: &D,
    broken: &Broken,
    stopped: Option<&Stop>,
) -> Vec<Option<String>> {
    let jobs = driver.context().jobs.ids();
    let parts = broken_parts(driver.context(), broken);
    let by_user = stopped.filter(|stop| stop.by == StopKind::User);
    let explain = |job| match by_user {
        Some(stop) => interrupted(driver, job, &stop.why),
        None => explain_job(driver, job, &parts),
    };
    jobs.map(explain).collect()
}

/// Explains a job whose run the user stopped.
fn interrupted<D: Driver>(driver: &D, job: JobId, why: &str) -> Option<String> {
    let context = driver.context();
    let plan = &context.jobs[job].job;
    let missing = context.progress.missing(job);
    if missing == 0 {
        return awaited(context, job);
    }
    (!plan.background).then(|| match plan.turns() {
        Some(_) if context.jobs[job].has_operations() => {
            format!("{why}; its operations were not all done")
        }
        Some(_) if driver.runs_rings(job) => format!("{why}; its rings were not done"),
        Some(_) => format!("{why}; {missing} transfers of the collective had not arrived"),
        None => why.to_owned(),
    })
}

/// Lists the faults that have not been repaired.
fn broken_parts(context: &Context, broken: &Broken) -> Vec<String> {
    let link = |(cable, since): (u32, Instant)| {
        let [a, b] = context.topology().cables[cable as usize].ends;
        let (a, b) = (
            context.topology().port_name(a.node, a.port),
            context.topology().port_name(b.node, b.port),
        );
        format!(
            "the link {a} to {b} is down since {}",
            since.since_start().rounded()
        )
    };
    let storm = |host: &HostId| format!("{} pauses its leaf", name(context, *host));
    let links = broken.links().into_iter().map(link);
    links.chain(broken.storms.iter().map(storm)).collect()
}

fn explain_job<D: Driver>(driver: &D, job: JobId, broken: &[String]) -> Option<String> {
    let context = driver.context();
    let missing = context.progress.missing(job);
    if missing == 0 {
        return awaited(context, job);
    }
    let endless = context.jobs[job].is_endless();
    let has_operations = context.jobs[job].has_operations();
    let mut lines = failed_queue_pairs(driver, job);
    // A background load is always cut off in the midst of its work.
    if context.jobs[job].job.background && lines.is_empty() {
        return None;
    }
    lines.extend_from_slice(broken);
    lines.extend(waiting_ranks(driver, job));
    let (operations, others) = waiting_operations(driver, job);
    lines.extend(operations);
    let omitted = lines.len().saturating_sub(LINES) + others;
    lines.truncate(LINES);
    let mut text = match missing {
        _ if endless => "a stream has come to a stop".to_owned(),
        _ if has_operations => "its operations are not all done".to_owned(),
        _ if driver.runs_rings(job) => "its rings are not done".to_owned(),
        1 => "1 transfer has not arrived".to_owned(),
        _ => format!("{missing} transfers have not arrived"),
    };
    for line in lines {
        let _ = write!(text, "; {line}");
    }
    if omitted > 0 {
        let _ = write!(text, "; and {omitted} more");
    }
    Some(text)
}

/// Names the job for whose end a measured job still waits.
fn awaited(context: &Context, job: JobId) -> Option<String> {
    let plan = &context.jobs[job];
    let waits = plan.has_turn(0) && !plan.job.background && context.progress.start(job).is_none();
    let before = plan.job.after.filter(|_| waits)?;
    let name = &context.jobs[before].job.name;
    Some(format!("it waits for the end of job `{name}`"))
}

fn host<D: Driver>(driver: &D, on: HostId) -> Option<&Host> {
    match driver.node(on) {
        NodeModel::Host(host) => Some(host),
        NodeModel::Switch(_) => None,
    }
}

/// Returns true if a queue pair of the job gave up, so that the job will never be done.
pub(super) fn has_failed<D: Driver>(driver: &D, job: JobId) -> bool {
    !failed_queue_pairs(driver, job).is_empty()
}

/// Returns true if nothing of a job can go on: none of its packets is under way or will be sent,
/// and none of its timers runs. Packets that need a link that is down do not count.
///
/// The sender of a packet under way waits for its acknowledgement and repeats it, so asking the
/// senders covers all packets. Links are assumed to stay down: the caller excludes repairs to come,
/// and neither circuits nor load balancers bring a host's link back.
pub(super) fn stands_still<D: Driver>(driver: &D, job: JobId, broken: &Broken) -> bool {
    let context = driver.context();
    let is_none = context.progress.missing(job) == 0 || !context.has_packets();
    if is_none || broken.is_more_to_come {
        return false;
    }
    let dark = ports_down(context, broken);
    let plan = &context.jobs[job];
    plan.job.hosts.numbered().all(|(rank, &on)| {
        let Some(host) = host(driver, on) else {
            return true;
        };
        let base = plan.places[rank].send_base;
        let mut slots = base.run(plan.pairs.send_count(rank) as u32);
        let is_up = |port| dark.binary_search(&(on, port)).is_err();
        !slots.any(|slot| host.nic().goes_on(slot, &is_up)) && !host.has_timers_of(context, job)
    })
}

/// Returns the hosts and ports whose links are down, sorted.
fn ports_down(context: &Context, broken: &Broken) -> Vec<(HostId, u16)> {
    let topology = context.topology();
    let ends = broken.links().into_iter();
    let ends = ends.flat_map(|(cable, _)| topology.cables[cable as usize].ends);
    let ports = ends.filter_map(|end| Some((topology.host(end.node)?, end.port)));
    let mut ports: Vec<(HostId, u16)> = ports.collect();
    ports.sort_unstable();
    ports
}

fn failed_queue_pairs<D: Driver>(driver: &D, job: JobId) -> Vec<String> {
    let context = driver.context();
    let plan = &context.jobs[job];
    let mut lines = Vec::new();
    for (rank, &on) in plan.job.hosts.numbered() {
        let Some(host) = host(driver, on) else {
            continue;
        };
        // A NIC has queue pairs of other ranks and jobs, too: only the slots of this rank count.
        let place = plan.places[rank];
        let end = place.send_base.after(plan.pairs.send_count(rank) as u32);
        let slots = place.send_base..end;
        for error in host
            .nic()
            .errors()
            .into_iter()
            .filter(|error| slots.contains(&error.slot))
        {
            let peer = plan.pairs.peer_of(rank, place.own_send_slot(error.slot));
            lines.push(format!(
                "the queue pair {} of rank {rank} ({}) to rank {} ({}) gave up at {} after {} retries",
                peer.queue_pair,
                name(context, on),
                peer.rank,
                name(context, error.destination),
                error.at.since_start().rounded(),
                context.nic.retry_count,
            ));
        }
    }
    lines
}

fn name(context: &Context, host: HostId) -> &str {
    context.topology().name(host)
}

/// Lists the first receives in an operation graph that wait for messages, and returns the number of
/// others.
fn waiting_operations<D: Driver>(driver: &D, job: JobId) -> (Vec<String>, usize) {
    let context = driver.context();
    let (mut lines, mut others) = (Vec::new(), 0);
    if !context.jobs[job].has_operations() {
        return (lines, others);
    }
    let Some(schedule) = GraphSchedule::of(driver.fabric(0).schedules.of(job)) else {
        return (lines, others);
    };
    for (rank, &on) in context.jobs[job].job.hosts.numbered() {
        let number = context.number_of(on, job, rank);
        let run = host(driver, on).zip(number);
        let Some(run) = run.and_then(|(host, number)| host.operations_of(number)) else {
            continue;
        };
        let waiting = run.waiting(schedule);
        // The limit is one for all ranks together.
        let told = waiting.len().min(LINES - lines.len());
        others += waiting.len() - told;
        for (operation, peer, tag) in &waiting[..told] {
            let peer = peer.map_or_else(|| "any rank".to_owned(), |peer| format!("rank {peer}"));
            let tag = tag.map_or_else(|| "any tag".to_owned(), |tag| format!("tag {tag}"));
            let left = run.left();
            lines.push(format!(
                "rank {rank} waits in operation {operation} for a message of {peer} with {tag}, \
                 and {left} of its operations are not done"
            ));
        }
    }
    (lines, others)
}

/// Lists requests that were posted but never acknowledged: their receivers wait for the senders.
fn waiting_ranks<D: Driver>(driver: &D, job: JobId) -> Vec<String> {
    let context = driver.context();
    let plan = &context.jobs[job];
    let mut lines = Vec::new();
    if !context.has_packets() {
        return lines;
    }
    for (rank, &on) in plan.job.hosts.numbered() {
        let Some(host) = host(driver, on) else {
            continue;
        };
        let place = plan.places[rank];
        for slot in plan.pairs.send_slots(rank) {
            let left = host.nic().unfinished(place.send_slot(slot));
            let Some(oldest) = left.first() else { continue };
            let peer = plan.pairs.peer_of(rank, slot);
            lines.push(format!(
                "rank {} waits for {} that rank {rank} posted at {}",
                peer.rank,
                Bytes::new(oldest.bytes),
                oldest.posted.since_start().rounded(),
            ));
        }
    }
    lines
}
