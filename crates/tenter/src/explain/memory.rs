//! Peak memory for a run.
//!
//! Constants are bytes measured on x86-64 Linux; `docs/explain.md` compares the sums with real
//! runs.

use std::sync::Arc;

use serde::Serialize;
use tenter_language::units::Time;
use tenter_results::{FlowRow, OperationRow, SampleRow};
use tenter_sim::plan::ideal::Ideal;
use tenter_sim::plan::{Fidelity, Plan};
use tenter_workload::flow_workload::FlowWorkload;
use tenter_workload::graph::{Graph, OperationLog};
use tenter_workload::{CollectiveRun, Job, Operations, WorkloadError};

use crate::explain::fabric_memory::fabric_bytes;
use crate::explain::flow_workload::{transfers, waiting};
use crate::explain::ideal::{end_of_all, in_rounds, rounds, starts};
use crate::explain::queues::{Crowd, crowd};
use crate::explain::traffic::ranks_looked_at;

/// Parts of a run's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MemoryParts {
    /// Program code and its own data.
    pub process_bytes: u64,
    /// Nodes, links, routes, their counters, and switch tables.
    pub fabric_bytes: u64,
    /// Queue pairs, each with both of its ends.
    pub queue_pairs_bytes: u64,
    /// Flows under way, and records for all flows.
    pub flows_bytes: u64,
    /// Packets that wait in queues.
    pub packets_bytes: u64,
    /// Rows that wait to be written, and rows for all collectives.
    pub tables_bytes: u64,
    /// Operation graphs, and records of their runs.
    pub operations_bytes: u64,
}

impl MemoryParts {
    /// Returns the sum over all parts.
    pub(crate) fn total(&self) -> u64 {
        let parts = [
            self.fabric_bytes,
            self.queue_pairs_bytes,
            self.flows_bytes,
            self.packets_bytes,
            self.tables_bytes,
            self.operations_bytes,
        ];
        parts
            .into_iter()
            .fold(self.process_bytes, u64::saturating_add)
    }
}

/// Bytes for the program before it has read anything.
const PROCESS: u64 = 12_900_000;
/// Bytes per queue pair, at both ends.
const QUEUE_PAIR: u64 = 160;
/// Bytes per flow that waits to be sent: work request and timer.
const FLOW: u64 = 120;
/// Bytes per flow-level message, sent or waiting: its flow and its places in lists.
const MESSAGE_AS_FLOW: u64 = 168;
/// Bytes per queue pair at flow level.
const QUEUE_PAIR_OF_FLOWS: u64 = 24;
/// Bytes that a port adds at flow level, as a link.
const LINK_OF_FLOWS: u64 = 210;
/// Bytes per finished flow at flow level until its row is made, and the most such flows.
const FLOW_DONE_OF_FLOWS: u64 = 56;
const DONE_OF_FLOWS_MAX: u64 = 1 << 18;
/// Further bytes per finished flow until its row is made: both record halves and their places.
const FLOW_DONE: u64 = 120;
/// Bytes per flow until the trial ends: completion time and ideal ratio.
const FLOW_KEPT: u64 = 16;
/// Bytes per flow workload, however many flows it has: histograms with completion times and
/// slowdowns for each tenth of the sizes, and for all.
const FLOW_HISTOGRAMS: u64 = 6_000_000;
/// Bytes per collective and iteration: its records, and its row in the summary, in its table and in
/// the text written from it.
const TURN: u64 = 3_000;
/// Bytes per packet in a queue, whose ring is half full on average after it has grown.
const PACKET: u64 = 48;
/// Bytes per packet at an input, with its place in arrival order.
const PACKET_AT_INPUT: u64 = 96;
/// Table rows that are kept until they are written together.
const ROW_GROUP: u64 = 65_536;
/// Size of a row group's columns while they are written, in percent of its rows.
const COLUMNS_PERCENT: u64 = 30;
/// Bytes per rank pair in queue-pair tables, unless every rank sends to every other.
const PAIR_ENTRY: u64 = 16;

/// Bytes per operation in Tenter's file format, which is kept beside the trial.
const OPERATION_FILE: u64 = 8;
/// Bytes per operation that a training's or inference's meter keeps.
const OPERATION_METERED: u64 = 12;
/// Bytes per operation for texts in its row.
const OPERATION_TEXT: u64 = 32;

/// Estimates a run's peak memory, in bytes.
///
/// # Errors
/// A collective that its ranks cannot run.
pub fn memory_bytes(plan: &Plan) -> Result<u64, WorkloadError> {
    Ok(memory(plan)?.total())
}

pub(crate) fn memory(plan: &Plan) -> Result<MemoryParts, WorkloadError> {
    let mut parts = MemoryParts {
        process_bytes: PROCESS,
        fabric_bytes: fabric_bytes(plan),
        operations_bytes: operations(plan),
        ..MemoryParts::default()
    };
    let is_of_flows = plan.fidelity == Fidelity::Flow;
    // If planes are chosen by hash, each port has a NIC of its own.
    let nics = u64::from(plan.topology.nic_ports / plan.sprayed_planes());
    if is_of_flows {
        parts.fabric_bytes += 2 * plan.topology.cables.len() as u64 * LINK_OF_FLOWS;
    }
    let (mut all, mut kept, mut turns) = (0_u64, 0_u64, 0_u64);
    let end = end_of_all(plan);
    let starts = starts(plan);
    for (job, &start) in plan.jobs.iter().zip(&starts) {
        let crowd = greatest_crowd(plan, job)?;
        let entries = Entries::of(job)?;
        let [pair, flow] = if is_of_flows {
            [QUEUE_PAIR_OF_FLOWS, MESSAGE_AS_FLOW]
        } else {
            [QUEUE_PAIR * nics, FLOW]
        };
        parts.queue_pairs_bytes += entries.bytes(job.queue_pairs, pair);
        parts.flows_bytes += crowd.flows.saturating_mul(flow);
        if !is_of_flows {
            parts.flows_bytes += done_together(&crowd).saturating_mul(FLOW_DONE);
            let packet = packet_bytes(plan);
            parts.packets_bytes += crowd.waiting.saturating_mul(packet);
        }
        let own_end = Ideal::without_latency(plan, job).end(start);
        let rounds = rounds(plan, job, start, own_end, end);
        let flows = flows(plan, job, rounds)?;
        if job.turns().is_some() {
            turns = turns.saturating_add(in_rounds(job.sequence.len() as u64, rounds));
        }
        all = all.saturating_add(flows);
        if let Some(workload) = flow_workload(job) {
            parts.flows_bytes = parts.flows_bytes.saturating_add(FLOW_HISTOGRAMS);
            let late = waiting(plan, job, workload, flows).saturating_mul(FLOW);
            parts.flows_bytes = parts.flows_bytes.saturating_add(late);
        } else {
            kept = kept.saturating_add(flows);
        }
    }
    if is_of_flows {
        parts.flows_bytes += all.min(DONE_OF_FLOWS_MAX) * FLOW_DONE_OF_FLOWS;
    }
    let kept = kept.saturating_mul(FLOW_KEPT);
    parts.flows_bytes = parts.flows_bytes.saturating_add(kept);
    parts.tables_bytes = table(all, size_of::<FlowRow>() as u64);
    parts.tables_bytes += turns.saturating_mul(TURN);
    if let Some(interval) = plan.sample_interval {
        let ports = 2 * plan.topology.cables.len() as u64;
        let ends = plan
            .jobs
            .iter()
            .zip(&starts)
            // Samples end with the last measured job.
            .filter(|(job, _)| !job.background)
            .map(|(job, &start)| Ideal::without_latency(plan, job).end(start));
        let end = ends.max().unwrap_or_default();
        let end = end.min(plan.time_limit.unwrap_or(Time::MAX));
        let samples = end.ps() / interval.ps().max(1) + 1;
        let rows = samples.saturating_mul(ports);
        parts.tables_bytes += table(rows, size_of::<SampleRow>() as u64);
    }
    Ok(parts)
}

/// Returns the bytes that a packet in a queue takes.
fn packet_bytes(plan: &Plan) -> u64 {
    match plan.input_queued {
        Some(_) => PACKET_AT_INPUT,
        None => PACKET,
    }
}

/// Estimates the bytes for all graphs, each once, and for each job's records.
fn operations(plan: &Plan) -> u64 {
    let recorded = size_of::<OperationLog>() + size_of::<OperationRow>();
    let recorded = recorded as u64 + OPERATION_TEXT;
    let mut graphs: Vec<&Arc<Graph>> = Vec::new();
    let mut bytes = 0_u64;
    for job in &plan.jobs {
        let of_job = job
            .sequence
            .iter()
            .filter_map(|run| run.traffic.operations());
        for Operations { graph, known, .. } in of_job {
            let count = graph.operations();
            let metered = known.as_ref().map_or(0, |_| count * OPERATION_METERED);
            bytes = bytes.saturating_add(metered);
            // Jobs may share a graph, which is in memory once.
            if !graphs.iter().any(|known| Arc::ptr_eq(known, graph)) {
                graphs.push(graph);
                bytes = bytes.saturating_add(graph.memory_bytes() + count * OPERATION_FILE);
            }
            if plan.records_operations {
                let runs = u64::from(job.iterations) + u64::from(job.warm_up);
                let rows = count.saturating_mul(runs);
                bytes = bytes.saturating_add(rows.saturating_mul(recorded));
            }
        }
    }
    bytes
}

/// Returns a job's flow workload, whose flows are forgotten once their rows are written.
fn flow_workload(job: &Job) -> Option<&FlowWorkload> {
    let mut runs = job.sequence.iter();
    runs.find_map(|run| run.traffic.flow_workload())
}

/// Estimates a job's flows over all its rounds.
fn flows(plan: &Plan, job: &Job, rounds: f64) -> Result<u64, WorkloadError> {
    let mut flows = 0_u64;
    // Endless streams leave no records.
    for run in job.sequence.iter().filter(|run| !run.traffic.is_endless()) {
        let schedule = run.traffic.schedule(job.ranks(), run.size_bytes)?;
        // Rings that flow level runs as a whole leave no rows. Small ones that share links run one
        // by one, but that shows only once their paths are known.
        if plan.fidelity == Fidelity::Flow && schedule.rings().is_some() {
            continue;
        }
        let transfers = transfers(plan, None, job, run, &*schedule);
        let once = transfers.saturating_mul(u64::from(job.queue_pairs));
        flows = flows.saturating_add(in_rounds(once, rounds));
    }
    Ok(flows)
}

/// Returns the greatest peak among a job's collectives.
fn greatest_crowd(plan: &Plan, job: &Job) -> Result<Crowd, WorkloadError> {
    let mut greatest = Crowd::default();
    for run in largest_runs(job) {
        let crowd = crowd(plan, job, run)?;
        // Packets are those of the collective with most flows; most may wait in another one.
        if crowd.flows >= greatest.flows {
            greatest.flows = crowd.flows;
            greatest.packets = crowd.packets;
        }
        greatest.waiting = greatest.waiting.max(crowd.waiting);
    }
    Ok(greatest)
}

/// Estimates how many flows in a peak end at about the same time. A NIC serves its queue pairs in
/// turn, so flows with many packets all end in the last round. Flows with one packet end one after
/// another, unless their packets wait in queues together.
fn done_together(crowd: &Crowd) -> u64 {
    let once = u128::from(crowd.flows) * u128::from(crowd.flows);
    let single = (once / u128::from(crowd.packets.max(1))) as u64;
    crowd
        .flows
        .saturating_sub(single.saturating_sub(crowd.waiting))
}

/// Rank pairs that a job uses, counted once per lane.
pub(crate) struct Entries {
    pub(crate) count: u64,
    /// True if every rank sends to every other on one lane: no table is needed then.
    dense: bool,
}

impl Entries {
    pub(crate) fn of(job: &Job) -> Result<Entries, WorkloadError> {
        let mut schedules = Vec::new();
        for run in largest_runs(job) {
            schedules.push(run.traffic.schedule(job.ranks(), run.size_bytes)?);
        }
        let mut entries = Entries {
            count: 0,
            dense: true,
        };
        let most = schedules
            .iter()
            .max_by_key(|schedule| schedule.transfer_count());
        let all = || ((0..job.ranks()).collect(), 1.0);
        let (ranks, each_for) = most.map_or_else(all, |most| ranks_looked_at(&**most));
        let mut row = Vec::new();
        for rank in ranks {
            row.clear();
            for schedule in &schedules {
                schedule.pairs(rank, job.queue_pair_scope, &mut row);
            }
            row.sort_unstable();
            row.dedup();
            // Two lanes to one rank are two entries, and need a table.
            let apart = row.windows(2).all(|pair| pair[0].dst != pair[1].dst);
            entries.dense &= apart && row.len() as u64 == u64::from(job.ranks()) - 1;
            entries.count += row.len() as u64;
        }
        entries.count = (entries.count as f64 * each_for) as u64;
        Ok(entries)
    }

    fn bytes(&self, queue_pairs: u16, of_pair: u64) -> u64 {
        let table = if self.dense { 0 } else { PAIR_ENTRY };
        let each = u64::from(queue_pairs) * of_pair + table;
        self.count.saturating_mul(each)
    }
}

/// Returns the run with the largest size for each kind of collective in a job.
fn largest_runs(job: &Job) -> Vec<&CollectiveRun> {
    let mut largest: Vec<&CollectiveRun> = Vec::new();
    for run in &job.sequence {
        match largest
            .iter_mut()
            .find(|known| known.traffic == run.traffic)
        {
            Some(known) if known.size_bytes >= run.size_bytes => {}
            Some(known) => *known = run,
            None => largest.push(run),
        }
    }
    largest
}

/// Estimates the bytes for rows that wait to be written, and for their columns during the writing.
fn table(rows: u64, row_bytes: u64) -> u64 {
    let kept = rows.min(ROW_GROUP);
    // The list of rows doubles when it is full.
    let room = kept.next_power_of_two() * row_bytes;
    room + kept * row_bytes * COLUMNS_PERCENT / 100
}
