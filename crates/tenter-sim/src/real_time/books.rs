//! Books for a trial on real hosts: the rows of a simulated trial, made from what hosts measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use tenter_fabric::net::Switch;
use tenter_language::units::{Instant, Time};
use tenter_results::{
    Counts, EngineKind, FlowRow, NoteCode, Notes, PortRow, QueueRow, Stop, Totals,
};
use tenter_workload::{JobId, Schedule};

use crate::error::SimulationError;
use crate::network::{
    Context, Driver, FlowKey, NodeModel, PartitionRecords, Unwatched, WindowedDriver, build,
};
use crate::results::{self, FlowTable, HashPath, Ideals, Outcome};

use super::port_counts::{PortCounts, class_rows, fill_port, fill_switch, on_wire};
use super::records::{HalfReceived, HalfSent, HostRecords};

/// Counters that a host's endpoint keeps over a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounts {
    /// Data frames sent, and their frame bytes.
    pub sent_data: (u64, u64),
    /// Control packets sent (acknowledgements, NAKs, CNPs), and their frame bytes.
    pub sent_control: (u64, u64),
    /// Frames of any kind that arrived and were processed, and their frame bytes.
    pub received: (u64, u64),
    /// Data frames accepted, and their frame bytes.
    pub accepted: (u64, u64),
    /// Data frames sent more than once, counted per repetition.
    pub retransmitted: u64,
    /// Acknowledgements sent by this host.
    pub acknowledgements: u64,
    /// NAKs sent by this host.
    pub naks: u64,
    /// Times that a queue pair resent data because no answer came.
    pub timeouts: u64,
    /// Data frames that arrived with an ECN mark.
    pub marked: u64,
    /// CNPs sent, and CNPs received.
    pub notifications: (u64, u64),
    /// Data frames accepted before one that had been sent earlier.
    pub out_of_order: u64,
    /// Data frames that the receiver discarded behind a gap.
    pub discarded: u64,
    /// Data frames that the receiver discarded because it had accepted them before.
    pub duplicates: u64,
}

/// End of a trial on real hosts, with everything that was measured.
#[derive(Debug)]
pub struct RealEnd<'a> {
    /// Instant at which the trial ended.
    pub ended: Instant,
    /// Reason for an early end.
    pub stopped: Option<Stop>,
    /// For each job, the reason why it did not finish; `None` if it did.
    pub failures: Vec<Option<String>>,
    /// Counters from each host, in the topology's order; `None` for a host that was lost.
    pub hosts: &'a [Option<HostCounts>],
    /// Counters from the ports that could be read.
    pub ports: &'a [PortCounts],
    /// Notes for readers of the results.
    pub notes: Notes,
}

/// Books for a trial on real hosts. They join the halves of flows that sender and receiver report,
/// and fill the tables.
pub struct RealBooks {
    /// A built simulation that never runs. It knows which node is which, and the result tables are
    /// shaped by it.
    driver: WindowedDriver<Unwatched>,
    context: Arc<Context>,
    ideals: Ideals,
    name: String,
    flow_table: FlowTable,
    /// Halves whose other half has not arrived yet.
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
    /// Creates empty books for a plan.
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

    /// Returns the number of collectives that a job runs, warm-up included. 0 if it cannot be told.
    pub fn turns(&self, job: JobId) -> u32 {
        let turns = self.context.jobs[job].job.turns().unwrap_or(0);
        u32::try_from(turns).unwrap_or(u32::MAX)
    }

    /// Returns the pause before a collective: from the previous collective's end, or for the first
    /// one from the trial's start.
    pub fn pause_before(&self, job: JobId, turn: u32) -> Time {
        let plan = &self.context.jobs[job];
        let gap = if turn == 0 {
            plan.job.start
        } else {
            plan.job.gap
        };
        gap.saturating_add(plan.compute(turn))
    }

    /// Returns the paths that switches' hashes give the transfers; `None` if anything else decides
    /// too.
    ///
    /// # Errors
    /// If a collective cannot be run by its ranks.
    pub fn hash_paths(&self) -> Result<Option<Vec<HashPath>>, SimulationError> {
        Ok(results::transfers(&self.driver)?)
    }

    /// Starts a job's collective in the books.
    ///
    /// # Errors
    /// If the collective cannot be run by its ranks.
    pub fn begin(&mut self, job: JobId, turn: u32, at: Instant) -> Result<(), SimulationError> {
        let schedule: Arc<dyn Schedule> = self.context.jobs[job].schedule(turn)?;
        if turn == 0 {
            self.context.progress.set_start(job, at);
        }
        self.flow_table.begin(&self.context, job, at, schedule);
        Ok(())
    }

    /// Ends a job's collective whose last arrival at any rank was at `last_arrival`, and returns
    /// its end. The time within hosts, which a lab does not measure, is added.
    pub fn end(&mut self, job: JobId, turn: u32, last_arrival: Instant) -> Instant {
        let within = self.context.jobs[job].within_hosts(turn);
        let end = last_arrival.saturating_add(within);
        self.flow_table.end(job, turn as usize, end);
        end
    }

    /// Takes a host's records for collectives that have begun, and appends the flow rows that are
    /// now complete. Returns the number of records that fit no flow of the plan; these are ignored,
    /// since the hosts are other machines and may be wrong.
    pub fn take(&mut self, records: &HostRecords, rows: &mut Vec<FlowRow>) -> u64 {
        let mut refused = 0;
        let mut ready = PartitionRecords::new(&self.context.jobs);
        // Sender and receiver report independently, so either half may come first.
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
        // Rows only go into a list, which cannot fail.
        let kept: Result<(), std::convert::Infallible> =
            self.flow_table.book(&self.context, |new| {
                rows.extend_from_slice(new);
                Ok(())
            });
        kept.unwrap_or_else(|never| match never {});
        refused
    }

    /// Returns true if a flow belongs to a collective that has begun.
    fn knows(&self, key: FlowKey, turn: u32) -> bool {
        let known = self.context.jobs.get(key.job.index());
        known.is_some_and(|plan| {
            let tallies = &self.flow_table.tallies[key.job];
            let tally = tallies.get(turn as usize);
            key.queue_pair < plan.job.queue_pairs
                && tally.is_some_and(|tally| key.transfer < tally.schedule.transfer_count())
        })
    }

    /// Returns the number of flows for which only one half is known.
    pub fn halves_left(&self) -> usize {
        self.sent.len() + self.received.len()
    }

    /// Returns the tables that a simulated trial would have.
    pub fn finish(self, mut end: RealEnd<'_>) -> Outcome {
        let trial = results::Trial {
            name: &self.name,
            threads: 1,
            stopped: end.stopped.take(),
            ended: end.ended,
            ideals: &self.ideals,
            power: None,
            left_out: &[],
            jumps_refused: None,
            stalls: std::mem::take(&mut end.failures),
        };
        let mut outcome =
            results::outcome(&self.driver, &self.flow_table, Counts::default(), trial);
        let span = results::active_span(&self.context, end.ended);
        // These rows come from the simulation that never ran.
        outcome.counts.queues.clear();
        count_ports(&mut outcome.counts, &end, span);
        self.add_plans(&mut outcome.counts.queues);
        for row in &mut outcome.counts.switches {
            fill_switch(row, &outcome.counts.ports);
        }
        let summary = &mut outcome.summary;
        summary.complete &= summary.stopped.is_none();
        // Nothing was simulated, so the notes on the simulation do not apply.
        summary.notes.retain(|note| note.code == NoteCode::Stopped);
        summary.notes.extend(end.notes.0);
        summary.engine.engine = EngineKind::Lab;
        let frames = |row: &PortRow| row.tx_frames;
        summary.engine.packet_hops = outcome.counts.ports.iter().map(frames).sum();
        summary.totals = totals(summary.totals.flows, end.hosts, &outcome.counts);
        outcome
    }

    /// Replaces the counters of ports in a finished trial's tables, and updates the totals.
    pub fn replace(&self, counts: &mut Counts, totals: &mut Totals, ports: &[PortCounts]) {
        // The tables do not keep the span, so it is recovered from a port with traffic.
        let span = counts.ports.iter().find_map(span_of).unwrap_or_default();
        for row in &mut counts.ports {
            let mut find = ports.iter();
            let is_it = |of: &&PortCounts| (of.node, of.port) == (row.node, row.port);
            let Some(port) = find.find(is_it) else {
                continue;
            };
            fill_port(row, Some(port));
            use_span(row, span);
            let is_of_port = |of: &QueueRow| (of.node, of.port) == (row.node, row.port);
            counts.queues.retain(|of| !is_of_port(of));
            counts.queues.extend(class_rows(row, port));
        }
        counts
            .queues
            .sort_by_key(|row| (row.node, row.port, row.class));
        self.add_plans(&mut counts.queues);
        for row in &mut counts.switches {
            fill_switch(row, &counts.ports);
        }
        add_ports(totals, counts);
    }

    /// Adds the scenario's settings for classes to the measured rows.
    fn add_plans(&self, rows: &mut [QueueRow]) {
        for (node, model) in self.driver.nodes() {
            let own = rows.iter_mut().filter(|row| row.node == node.number());
            if let NodeModel::Switch(switch) = model {
                own.for_each(|row| add_plan(row, switch));
            }
        }
    }
}

/// Returns the span over which a port's utilisation was computed, in s.
fn span_of(row: &PortRow) -> Option<f64> {
    let bits = on_wire(row.tx_frames, row.tx_bytes) as f64 * 8.0;
    (row.utilisation > 0.0).then(|| bits / (row.rate_gbps * 1e9) / row.utilisation)
}

/// Sets a port's utilisation over a span in s.
fn use_span(row: &mut PortRow, span_s: f64) {
    let bits = on_wire(row.tx_frames, row.tx_bytes) as f64 * 8.0;
    // Without a span the utilisation is unknown; 0 keeps it finite.
    row.utilisation = 0.0;
    if span_s > 0.0 {
        row.utilisation = bits / (row.rate_gbps * 1e9) / span_s;
    }
}

fn add(ready: &mut PartitionRecords, received: &HalfReceived, sent: &HalfSent) {
    ready.delivered.push(received.half());
    // Most flows have no marks, and a record is kept only for those that do.
    if received.marks() != tenter_endpoint::Marks::default() {
        ready
            .marked
            .push((received.key(), received.turn, received.marks()));
    }
    ready.acknowledged.push(sent.half());
}

/// Fills the rows of ports and their classes with what was measured.
fn count_ports(counts: &mut Counts, end: &RealEnd<'_>, span: Time) {
    for row in &mut counts.ports {
        let mut find = end.ports.iter();
        let port = find.find(|of| (of.node, of.port) == (row.node, row.port));
        fill_port(row, port);
        if let Some(port) = port {
            counts.queues.extend(class_rows(row, port));
        }
        let host = end.hosts.get(row.node as usize).and_then(Option::as_ref);
        if let Some(host) = host {
            fill_host(row, host);
        }
        use_span(row, span.as_s());
    }
}

/// Fills a host's port with what its endpoint counted.
fn fill_host(row: &mut PortRow, host: &HostCounts) {
    let wire = |(frames, bytes): (u64, u64)| on_wire(frames, bytes);
    row.tx_frames = host.sent_data.0 + host.sent_control.0;
    row.tx_bytes = host.sent_data.1 + host.sent_control.1;
    row.tx_data_wire_bytes = wire(host.sent_data);
    row.tx_control_wire_bytes = wire(host.sent_control);
    (row.rx_frames, row.rx_bytes) = host.received;
    (row.tx_cnp_frames, row.rx_cnp_frames) = host.notifications;
    (row.rx_discarded_frames, row.rx_duplicate_frames) = (host.discarded, host.duplicates);
    for column in [
        "tx_frames",
        "tx_bytes",
        "tx_data_wire_bytes",
        "tx_control_wire_bytes",
        "rx_frames",
        "rx_bytes",
        "tx_cnp_frames",
        "rx_cnp_frames",
        "rx_discarded_frames",
        "rx_duplicate_frames",
        "utilisation",
    ] {
        // The host's own endpoint counts these, so they are known even if the port was not read.
        row.unread.remove(column);
    }
}

/// Adds the scenario's settings for a class to its measured row.
fn add_plan(row: &mut QueueRow, switch: &Switch) {
    let mut classes = switch.classes().iter();
    if let Some(index) = classes.position(|&class| u16::from(class) == row.class) {
        row.lossless = switch.is_lossless(index);
        // Headroom does not change in a trial, so any instant gives the planned value.
        let ingress = switch.ingress(row.port, index, Instant::START);
        row.headroom_bytes = ingress.headroom_bytes;
    }
}

/// Returns the totals over all hosts, and over the ports that were read.
fn totals(flows: u64, hosts: &[Option<HostCounts>], counts: &Counts) -> Totals {
    let mut totals = Totals {
        flows,
        ..Totals::default()
    };
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
        totals.discarded_frames += host.discarded;
        totals.duplicate_frames += host.duplicates;
    }
    totals.take_share_of_marks();
    add_ports(&mut totals, counts);
    totals
}

/// Sets the totals over ports, as far as these were read.
fn add_ports(totals: &mut Totals, counts: &Counts) {
    let sum = |bytes: fn(&PortRow) -> u64| counts.ports.iter().map(bytes).sum::<u64>();
    totals.dropped_frames = sum(|port| port.dropped_frames);
    totals.dropped_bytes = sum(|port| port.dropped_bytes);
    totals.marked_frames = sum(|port| port.marked_frames);
    totals.xoff_frames = sum(|port| port.tx_xoff_frames);
    let control = sum(|port| port.tx_control_wire_bytes);
    totals.wire_bytes = sum(|port| port.tx_data_wire_bytes) + control;
    if totals.wire_bytes > 0 {
        totals.control_wire = 100.0 * control as f64 / totals.wire_bytes as f64;
    }
}
