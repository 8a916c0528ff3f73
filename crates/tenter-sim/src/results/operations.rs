//! Tables for operations, for how ranks spent their time, and for critical paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};
use tenter_results::{CriticalShareRow, OperationRow, RankTimeRow};
use tenter_workload::JobId;
use tenter_workload::graph::{Graph, GraphSchedule, Operation, OperationLog};

use crate::network::{Driver, NodeModel};

use super::critical_path::{At, Logged, Part};
use super::flow_table::FlowTable;
use super::inference;
use super::iteration_id::IterationId;
use super::metered::Iteration;
use super::outcome::Outcome;
use super::training;

/// The ranks' logs by job and instance, then by rank.
type Logs<'a> = BTreeMap<(JobId, u32), BTreeMap<u32, &'a [OperationLog]>>;

/// Makes the rows from what all ranks have logged.
pub(crate) fn collect<D: Driver>(
    driver: &D,
    flow_table: &FlowTable,
    metered: &[Iteration<'_>],
    outcome: &mut Outcome,
) {
    let context = driver.context();
    if !context.records_operations {
        return;
    }
    for ((job, turn), ranks) in logs(driver, flow_table) {
        let plan = &context.jobs[job];
        let tally = &flow_table.tallies[job][turn as usize];
        let Some(schedule) = GraphSchedule::of(&*tally.schedule) else {
            continue;
        };
        let graph = schedule.graph();
        let of = IterationId {
            job,
            iteration: plan.turn(turn).iteration,
        };
        let whole: Vec<&[OperationLog]> = ranks.values().copied().collect();
        let mut path = Vec::new();
        if let Some(end) = tally.end.filter(|_| whole.len() == graph.ranks() as usize) {
            path = Logged::new(
                graph,
                schedule.timing(),
                &whole,
                tally.start,
                &tally.arrivals,
            )
            .path();
            let hosts = &plan.job.hosts;
            let mut times = RankTimes::of(graph, &whole, tally.start, end, &path);
            if let Some(metered) = metered.iter().find(|metered| metered.of == of) {
                expose_as_metered(&mut times, metered);
            }
            let rows = (0..).zip(&times).zip(hosts);
            let rows = rows.map(|((rank, times), &host)| times.row(of, rank, host));
            outcome.counts.rank_times.extend(rows);
            let rows = (0..)
                .zip(&path)
                .map(|(part, on_path)| on_path.row(of, part));
            outcome.counts.critical_path.extend(rows);
            let shares = shares(of, &plan.job.name, &times, &path);
            outcome.summary.critical_shares.push(CriticalShareRow {
                whole: end - tally.start,
                ..shares
            });
        }
        // A message is on the path with both of its operations.
        let critical: BTreeSet<At> = path.iter().flat_map(operations_of).collect();
        for (rank, log) in ranks {
            for (place, entry) in (0..).zip(log) {
                let mut row = row(graph, rank, place, entry);
                (row.job, row.iteration) = (of.job_number(), of.iteration);
                row.critical = critical.contains(&At { rank, place });
                outcome.counts.operations.push(row);
            }
        }
    }
}

/// Replaces the exposed communication of training and inference by what their ranks have measured:
/// there a receive that waits for a message which has not been sent is a bubble.
fn expose_as_metered(ranks: &mut [RankTimes], metered: &Iteration<'_>) {
    let is_training = metered.operations.step().is_some();
    for (&rank, of) in &metered.ranks {
        let times = &mut ranks[rank as usize];
        let exposed = if is_training {
            training::exposed_communication(of).into_iter().sum()
        } else {
            inference::exposed_communication(of)
        };
        let waiting = times.exposed + times.idle;
        // The sum of both stays what the log says.
        times.exposed = exposed.min(waiting);
        times.idle = waiting - times.exposed;
    }
}

/// Sums the path's segments by kind, and the ranks' exposed communication.
fn shares(of: IterationId, name: &str, ranks: &[RankTimes], path: &[Part]) -> CriticalShareRow {
    let of_kind = |kind: &str| {
        let parts = path.iter().filter(|part| part.kind == kind);
        parts.map(|part| part.to - part.from).sum()
    };
    let sum: u128 = ranks
        .iter()
        .map(|times| u128::from(times.exposed.ps()))
        .sum();
    let mean = sum / ranks.len().max(1) as u128;
    // Of ranks that are equally long exposed the first one is named: `max_by_key` takes the last,
    // hence the reversed number.
    let worst = (0..)
        .zip(ranks)
        .max_by_key(|&(rank, times)| (times.exposed, Reverse(rank)));
    let (rank, most) = worst.map_or((0, Time::ZERO), |(rank, times)| (rank, times.exposed));
    CriticalShareRow {
        job: of.job_number(),
        job_name: name.to_owned(),
        iteration: of.iteration,
        whole: Time::ZERO,
        compute: of_kind("compute"),
        message: of_kind("message"),
        collective: of_kind("collective"),
        acknowledgement: of_kind("acknowledgement"),
        overhead: of_kind("overhead"),
        exposed_mean: Time::from_ps(mean as u64),
        exposed_max: most,
        exposed_max_rank: rank,
    }
}

/// Returns the operations to which a path's segment belongs.
fn operations_of(part: &Part) -> impl Iterator<Item = At> {
    std::iter::once(part.at).chain(part.sender)
}

fn logs<'d, D: Driver>(driver: &'d D, flow_table: &FlowTable) -> Logs<'d> {
    let context = driver.context();
    let mut logs = Logs::new();
    for (_, model) in driver.nodes() {
        let NodeModel::Host(host) = model else {
            continue;
        };
        let of = host.operation_logs();
        for log in &of.logs {
            let ranks = logs.entry((log.job, log.turn)).or_default();
            ranks.insert(log.rank.number(), &log.operations);
        }
        // Logs of operations that the trial's end has cut off.
        for (number, run) in of.all() {
            let here = context.ranks_on(host.nic().host())[usize::from(number)];
            let Some(log) = run.log() else { continue };
            let begun = flow_table.tallies[here.job].len();
            // It is the instance that began last: an earlier one would be done.
            if let Some(turn) = (begun as u32).checked_sub(1) {
                let ranks = logs.entry((here.job, turn)).or_default();
                ranks.insert(here.rank.number(), log);
            }
        }
    }
    logs
}

fn known(stored: u32) -> Option<u32> {
    (stored != OperationLog::NONE).then_some(stored)
}

fn time(stored: Instant) -> Option<Time> {
    (!stored.is_never()).then(|| stored.since_start())
}

fn row(graph: &Graph, rank: u32, place: u32, log: &OperationLog) -> OperationRow {
    let (operation, stream) = graph.operation(rank, place);
    let measured = graph.measured(rank, place);
    let mut row = OperationRow {
        rank,
        operation: place,
        stream,
        ready: time(log.ready),
        started: time(log.started),
        matched: time(log.matched),
        done: time(log.done),
        released_by: known(log.released_by),
        behind: known(log.behind),
        measured_start: measured.and_then(|of| of.start),
        measured_time: measured.map(|of| of.took),
        ..OperationRow::default()
    };
    let kind = match operation {
        Operation::Compute { .. } => "compute",
        Operation::Wait { .. } => "wait",
        Operation::Send { peer, bytes, tag } => {
            (row.peer, row.bytes, row.tag) = (Some(peer), bytes, Some(tag));
            row.transfer = graph.transfer_of(rank, place);
            "send"
        }
        Operation::Receive { peer, bytes, tag } => {
            // A receive from any rank gets its peer from the message that it took.
            (row.peer, row.bytes, row.tag) = (known(log.sender.0).or(peer), bytes, tag);
            row.sent_by = known(log.sender.1);
            "receive"
        }
        Operation::Collective { which } => {
            row.bytes = graph.collectives().get(which).2;
            "collective"
        }
    };
    kind.clone_into(&mut row.kind);
    row
}

/// The ways in which a rank spent its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RankTimes {
    end: Instant,
    computing: Time,
    communicating: Time,
    exposed: Time,
    idle: Time,
    critical: Time,
}

impl RankTimes {
    fn of(
        graph: &Graph,
        logs: &[&[OperationLog]],
        start: Instant,
        end: Instant,
        path: &[Part],
    ) -> Vec<RankTimes> {
        let of_rank =
            |(rank, log): (u32, &&[OperationLog])| RankTimes::of_rank(graph, rank, log, start, end);
        let mut times: Vec<RankTimes> = (0..).zip(logs).map(of_rank).collect();
        for part in path {
            times[part.at.rank as usize].critical += part.to - part.from;
        }
        times
    }

    /// Walks over the starts and ends in a rank's log in time order.
    fn of_rank(
        graph: &Graph,
        rank: u32,
        log: &[OperationLog],
        start: Instant,
        end: Instant,
    ) -> RankTimes {
        let mut times = RankTimes {
            end: start,
            ..RankTimes::default()
        };
        // Operation starts (+1) and ends (−1), with true for computing. At equal times ends sort
        // first within a kind, which is harmless: no time passes in between.
        let mut changes: Vec<(Instant, bool, i32)> = Vec::with_capacity(2 * log.len());
        for (place, entry) in (0..).zip(log) {
            times.end = times.end.max(entry.done);
            let operation = graph.operation(rank, place).0;
            let waits = matches!(operation, Operation::Wait { .. });
            if entry.started < entry.done && !waits {
                let computes = matches!(operation, Operation::Compute { .. });
                changes.extend([(entry.started, computes, 1), (entry.done, computes, -1)]);
            }
        }
        changes.sort_unstable();
        let (mut computes, mut communicates, mut now) = (0, 0, start);
        for (at, of_computing, change) in changes {
            let passed = at - now;
            times.computing += if computes > 0 { passed } else { Time::ZERO };
            times.communicating += if communicates > 0 { passed } else { Time::ZERO };
            match (computes > 0, communicates > 0) {
                (false, true) => times.exposed += passed,
                (false, false) => times.idle += passed,
                (true, _) => {}
            }
            now = at;
            if of_computing {
                computes += change;
            } else {
                communicates += change;
            }
        }
        times.idle += end.saturating_since(now);
        times
    }

    fn row(&self, of: IterationId, rank: u32, host: HostId) -> RankTimeRow {
        RankTimeRow {
            job: of.job_number(),
            iteration: of.iteration,
            rank,
            host: host.number(),
            end: self.end.since_start(),
            computing: self.computing,
            communicating: self.communicating,
            exposed: self.exposed,
            idle: self.idle,
            critical: self.critical,
        }
    }
}
