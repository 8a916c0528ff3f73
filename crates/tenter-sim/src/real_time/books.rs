//! The books of a trial on real hosts: the rows of a simulated trial, from what hosts have
//! measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_plan::Plan;
use tenter_record::{Counts, EngineKind, FlowRow, PortRow, Stop, Totals};
use tenter_units::{Instant, Time};
use tenter_workload::{JobId, Schedule};

use crate::error::SimulationError;
use crate::network::{Context, FlowKey, PartitionRecords, Unwatched, WindowedDriver, build};
use crate::results::{self, FlowTable, HashPath, Ideals, Outcome};

use super::records::{HalfReceived, HalfSent, HostRecords};

/// What a host has counted over a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounts {
    /// Data frames sent, and their frame bytes.
    pub sent_data: (u64, u64),
    /// The same of acknowledgements and notifications.
    pub sent_control: (u64, u64),
    /// Frames of any kind that arrived and were taken, and their frame bytes.
    pub received: (u64, u64),
    /// Data frames accepted, and their frame bytes.
    pub accepted: (u64, u64),
    /// Data frames sent again.
    pub retransmitted: u64,
    /// Acknowledgements sent.
    pub acknowledgements: u64,
    /// NAKs sent.
    pub naks: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Data frames that arrived marked.
    pub marked: u64,
    /// Congestion notifications sent, and received.
    pub notifications: (u64, u64),
    /// Data frames accepted before one that had been sent earlier.
    pub out_of_order: u64,
    /// Data frames dropped by the receiver: out of sequence or duplicate.
    pub discarded: u64,
}

/// What a port of a switch, or of a host as the operating system sees it, has counted over a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortCounts {
    /// The node, in the order of the topology.
    pub node: u32,
    /// The port.
    pub port: u16,
    /// Frames and frame bytes sent.
    pub tx: (u64, u64),
    /// Frames and frame bytes received.
    pub rx: (u64, u64),
    /// Frames dropped at its queue.
    pub dropped_frames: u64,
}

/// How a trial on real hosts ended.
#[derive(Debug)]
pub struct RealEnd<'a> {
    /// The instant.
    pub ended: Instant,
    /// Why it ended early, if it did.
    pub stopped: Option<Stop>,
    /// For each job why it is not done, if it is not.
    pub failures: Vec<Option<String>>,
    /// Of each host, in the order of the topology; `None` of one that was lost.
    pub hosts: &'a [Option<HostCounts>],
    /// Of the ports that could be read.
    pub ports: &'a [PortCounts],
    /// What a reader of the numbers must know, each a sentence.
    pub warnings: Vec<String>,
}

/// The books of a trial on real hosts.
pub struct RealBooks {
    /// Never runs: it knows who is where.
    driver: WindowedDriver<Unwatched>,
    context: Arc<Context>,
    ideals: Ideals,
    name: String,
    flow_table: FlowTable,
    /// Halves whose other half is still to come.
    sent: BTreeMap<(FlowKey, u32), HalfSent>,
    received: BTreeMap<(FlowKey, u32), HalfReceived>,
}

impl std::fmt::Debug for RealBooks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RealBooks")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl RealBooks {
    /// Empty books for a plan.
    ///
    /// # Errors
    /// As [`build`].
    pub fn new(plan: &Plan) -> Result<RealBooks, SimulationError> {
        let driver = build(plan, 1, |_| Unwatched)?;
        let context = Arc::clone(&driver.parts[0].nodes.context);
        Ok(RealBooks {
            ideals: Ideals::new(plan, &context),
            flow_table: FlowTable::new(&context)?,
            name: plan.name.clone(),
            driver,
            context,
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
        })
    }

    /// How many collectives a job runs, warm-up included.
    pub fn turns(&self, job: JobId) -> u32 {
        let turns = self.context.jobs[job].job.turns().unwrap_or(0);
        u32::try_from(turns).unwrap_or(u32::MAX)
    }

    /// From the end of the collective before, or the start of the job, to the start of one.
    pub fn pause_before(&self, job: JobId, turn: u32) -> Time {
        let plan = &self.context.jobs[job];
        let gap = if turn == 0 {
            plan.job.start
        } else {
            plan.job.gap
        };
        gap.saturating_add(plan.compute(turn))
    }

    /// The paths that the hash of switches gives the transfers, where it alone decides.
    ///
    /// # Errors
    /// When a collective cannot be run by its ranks.
    pub fn hash_paths(&self) -> Result<Option<Vec<HashPath>>, SimulationError> {
        Ok(results::transfers(&self.driver)?)
    }

    /// A collective of a job starts.
    ///
    /// # Errors
    /// When it cannot be run by its ranks.
    pub fn begin(&mut self, job: JobId, turn: u32, at: Instant) -> Result<(), SimulationError> {
        let schedule: Arc<dyn Schedule> = self.context.jobs[job].schedule(turn)?;
        if turn == 0 {
            self.context.progress.set_start(job, at);
        }
        self.flow_table.begin(&self.context, job, at, schedule);
        Ok(())
    }

    /// A collective of a job has ended, with its last arrival at any rank.
    pub fn end(&mut self, job: JobId, turn: u32, last_arrival: Instant) -> Instant {
        let within = self.context.jobs[job].within_hosts(turn);
        let end = last_arrival.saturating_add(within);
        self.flow_table.end(job, turn as usize, end);
        end
    }

    /// Takes what a host has recorded, of collectives that have begun; appends the rows that are
    /// complete.
    ///
    /// Records that fit no flow of the plan are left out and counted in the answer: hosts are other
    /// machines.
    pub fn take(&mut self, records: &HostRecords, rows: &mut Vec<FlowRow>) -> u64 {
        let mut refused = 0;
        let mut ready = PartitionRecords::new(&self.context.jobs);
        for half in &records.received {
            if !self.knows(half.key(), half.turn) {
                refused += 1;
            } else if let Some(sent) = self.sent.remove(&(half.key(), half.turn)) {
                add(&mut ready, half, &sent);
            } else {
                self.received.insert((half.key(), half.turn), *half);
            }
        }
        for half in &records.sent {
            if !self.knows(half.key(), half.turn) {
                refused += 1;
            } else if let Some(received) = self.received.remove(&(half.key(), half.turn)) {
                add(&mut ready, &received, half);
            } else {
                self.sent.insert((half.key(), half.turn), *half);
            }
        }
        self.flow_table.take_delivered(&self.context, &mut ready);
        self.flow_table.take_acknowledged(&mut ready);
        let kept: Result<(), std::convert::Infallible> =
            self.flow_table.book(&self.context, |new| {
                rows.extend_from_slice(new);
                Ok(())
            });
        kept.unwrap_or_else(|never| match never {});
        refused
    }

    /// Whether a flow is one of a collective that has begun.
    fn knows(&self, key: FlowKey, turn: u32) -> bool {
        let known = self.context.jobs.get(key.job.index());
        known.is_some_and(|plan| {
            let tallies = &self.flow_table.tallies[key.job];
            let tally = tallies.get(turn as usize);
            key.queue_pair < plan.job.queue_pairs
                && tally.is_some_and(|tally| key.transfer < tally.schedule.transfer_count())
        })
    }

    /// The flows of which only one half is known.
    pub fn halves_left(&self) -> usize {
        self.sent.len() + self.received.len()
    }

    /// The tables of the trial.
    pub fn finish(self, end: RealEnd<'_>) -> Outcome {
        let trial = results::Trial {
            name: &self.name,
            threads: 1,
            stopped: end.stopped,
            ended: end.ended,
            ideals: &self.ideals,
            power: None,
            left_out: &[],
            jumps_refused: None,
            stalls: end.failures,
        };
        let mut outcome =
            results::outcome(&self.driver, &self.flow_table, Counts::default(), trial);
        let span = results::active_span(&self.context, end.ended);
        count_ports(&mut outcome.counts.ports, end.hosts, end.ports, span);
        for row in &mut outcome.counts.switches {
            let of = end.ports.iter().filter(|port| port.node == row.node);
            row.dropped_frames = of.map(|port| port.dropped_frames).sum();
        }
        let summary = &mut outcome.summary;
        summary.complete &= summary.stopped.is_none();
        summary.warnings = end.warnings;
        summary.engine.engine = EngineKind::Lab;
        let frames = |row: &PortRow| row.tx_frames;
        summary.engine.packet_hops = outcome.counts.ports.iter().map(frames).sum();
        summary.totals = totals(summary.totals.flows, end.hosts, &outcome.counts);
        outcome
    }
}

fn add(ready: &mut PartitionRecords, received: &HalfReceived, sent: &HalfSent) {
    ready.delivered.push(received.half());
    if received.marks() != tenter_endpoint::Marks::default() {
        ready
            .marked
            .push((received.key(), received.turn, received.marks()));
    }
    ready.acknowledged.push(sent.half());
}

/// Puts what was measured into the rows of ports.
fn count_ports(
    rows: &mut [PortRow],
    hosts: &[Option<HostCounts>],
    ports: &[PortCounts],
    span: Time,
) {
    let wire = |(frames, bytes): (u64, u64)| bytes + frames * u64::from(WIRE_OVERHEAD_BYTES);
    for row in rows.iter_mut() {
        let host = hosts.get(row.node as usize).and_then(Option::as_ref);
        let mut find = ports.iter();
        let port = find.find(|of| (of.node, of.port) == (row.node, row.port));
        if let Some(port) = port {
            (row.tx_frames, row.tx_bytes) = port.tx;
            (row.rx_frames, row.rx_bytes) = port.rx;
            row.dropped_frames = port.dropped_frames;
            row.tx_data_wire_bytes = wire(port.tx);
        }
        if let Some(host) = host {
            row.tx_frames = host.sent_data.0 + host.sent_control.0;
            row.tx_bytes = host.sent_data.1 + host.sent_control.1;
            row.tx_data_wire_bytes = wire(host.sent_data);
            row.tx_control_wire_bytes = wire(host.sent_control);
            (row.rx_frames, row.rx_bytes) = host.received;
            (row.tx_cnp_frames, row.rx_cnp_frames) = host.notifications;
        }
        if !span.is_zero() {
            let bits = wire((row.tx_frames, row.tx_bytes)) as f64 * 8.0;
            row.utilisation = bits / (row.rate_gbps * 1e9) / span.as_s();
        }
    }
}

/// Sums over all hosts, and over the ports of which there are counts.
fn totals(flows: u64, hosts: &[Option<HostCounts>], counts: &Counts) -> Totals {
    let mut totals = Totals {
        flows,
        ..Totals::default()
    };
    let mut arrived = 0;
    for host in hosts.iter().flatten() {
        totals.tx_frames += host.sent_data.0;
        totals.tx_bytes += host.sent_data.1;
        totals.rx_frames += host.accepted.0;
        totals.rx_bytes += host.accepted.1;
        totals.retransmitted_frames += host.retransmitted;
        totals.acknowledgement_frames += host.acknowledgements;
        totals.nak_frames += host.naks;
        totals.timeouts += host.timeouts;
        totals.rx_marked_frames += host.marked;
        totals.cnp_frames += host.notifications.0;
        totals.out_of_order_frames += host.out_of_order;
        arrived += host.accepted.0 + host.discarded;
    }
    if arrived > 0 {
        totals.rx_marked = 100.0 * totals.rx_marked_frames as f64 / arrived as f64;
    }
    let sum = |bytes: fn(&PortRow) -> u64| counts.ports.iter().map(bytes).sum::<u64>();
    totals.dropped_frames = sum(|port| port.dropped_frames);
    let control = sum(|port| port.tx_control_wire_bytes);
    totals.wire_bytes = sum(|port| port.tx_data_wire_bytes) + control;
    if totals.wire_bytes > 0 {
        totals.control_wire = 100.0 * control as f64 / totals.wire_bytes as f64;
    }
    totals
}
