//! The run's flow table: joins each flow's two halves, and keeps statistics per collective.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_endpoint::{HeldByRate, Marks};
use tenter_fabric::net::SENT_UNIT_PS;
use tenter_language::units::{ById, Instant, Time};
use tenter_results::{Digest, FlowRow};
use tenter_workload::graph::GraphSchedule;
use tenter_workload::{FullMesh, JobId, Schedule, Transfer, WorkloadError, split};

use crate::flow_level::RingsTaken;
use crate::network::{
    AcknowledgedHalf, CompleteFlow, Context, DeliveredHalf, FlowKey, PartitionRecords, QueuePairId,
};

use super::flow_tally::FlowTally;
use super::ideal_ratio;

/// Statistics for one collective instance.
pub(crate) struct Tally {
    pub(crate) schedule: Arc<dyn Schedule>,
    /// Each flow's time on a full mesh; dropped once all flows are in the table.
    mesh: Option<FullMesh>,
    /// True if a scale-up domain carries some transfers.
    pub(crate) is_carried: bool,
    /// Time that all flows together take on a full mesh.
    pub(crate) ideal: Time,
    /// For each flow with payload the ratio of its completion time to its time on a full mesh.
    pub(crate) ideal_ratios: Vec<f64>,
    /// Time at which the collective began.
    pub(crate) start: Instant,
    pub(crate) end: Option<Instant>,
    /// Each flow's completion time, in the order in which flows entered the table.
    pub(crate) completion_times: Vec<Time>,
    /// Frames that the flows in the table have sent. Flows under way do not count, so the
    /// difference to `accepted_frames` is exactly what was lost or discarded.
    pub(crate) sent_frames: u64,
    /// Frames that were accepted from these flows.
    pub(crate) accepted_frames: u64,
    /// Sum over these frames' latencies, in units that last [`SENT_UNIT_PS`] ps.
    latency_sum: u128,
    /// True if no frame was under way for longer than its send time can express.
    latency_is_known: bool,
    pub(crate) retransmitted_frames: u64,
    /// Data frames that arrived marked.
    pub(crate) marked_frames: u64,
    /// Congestion notifications sent for them.
    pub(crate) notifications: u64,
    /// Frame bytes that the flows in the table have sent.
    pub(crate) sent_bytes: u64,
    /// Frame bytes that were accepted from these flows.
    pub(crate) accepted_bytes: u64,
    /// Payload in these flows, whether or not all of it has arrived.
    pub(crate) payload_bytes: u64,
    /// Flow count in the collective.
    flows: usize,
    /// Each transfer's arrival time, if the graph's operations are recorded; otherwise empty.
    pub(crate) arrivals: Vec<Instant>,
    /// Results from rings that ran as a whole and have ended, which have no flows.
    pub(crate) rings: Option<Box<RingsTaken>>,
    /// Results from rings that run as a whole.
    running_rings: Option<Box<RingsTaken>>,
    /// Statistics by size, for flow workloads.
    pub(crate) flow_work: Option<Box<FlowTally>>,
    /// For each flow (transfer × queue pairs + queue pair), its receiver half's index in
    /// [`FlowTable::waiting`].
    places: Vec<u32>,
}

impl Tally {
    /// Makes empty statistics for a collective that begins at `start`.
    fn new(schedule: Arc<dyn Schedule>, start: Instant) -> Tally {
        Tally {
            schedule,
            rings: None,
            running_rings: None,
            flow_work: None,
            ideal: Time::ZERO,
            mesh: None,
            is_carried: false,
            ideal_ratios: Vec::new(),
            start,
            end: None,
            completion_times: Vec::new(),
            sent_frames: 0,
            accepted_frames: 0,
            latency_sum: 0,
            latency_is_known: true,
            retransmitted_frames: 0,
            marked_frames: 0,
            notifications: 0,
            sent_bytes: 0,
            accepted_bytes: 0,
            payload_bytes: 0,
            flows: 0,
            arrivals: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Returns the mean latency of the accepted frames, rounded down to a picosecond; `None` if
    /// there are none, or if any latency is unknown.
    pub(crate) fn latency_avg(&self) -> Option<Time> {
        let sum = self.latency_sum * u128::from(SENT_UNIT_PS);
        let mean = sum.checked_div(u128::from(self.accepted_frames))?;
        self.latency_is_known.then(|| Time::from_ps(mean as u64))
    }
}

/// The flow table, with everything that is known about flows.
pub(crate) struct FlowTable {
    /// Statistics by job and instance, as far as instances have begun.
    pub(crate) tallies: ById<JobId, Vec<Tally>>,
    /// Each job's frame bytes that were accepted in complete flows.
    pub(crate) received_bytes: ById<JobId, u64>,
    /// Receivers' halves whose acknowledgement is under way, and unused entries.
    waiting: Vec<DeliveredHalf>,
    /// Indices at which entries are unused.
    free: Vec<u32>,
    /// Congestion marks on these flows, if they have any, by key and instance.
    marks: BTreeMap<(FlowKey, u32), Marks>,
    /// Durations for which flows were held by their rates, if they were.
    held: BTreeMap<(FlowKey, u32), HeldByRate>,
    /// Senders' halves for complete flows that are not yet in rows.
    acknowledged: Vec<AcknowledgedHalf>,
    /// Complete flows at flow level that are not yet in rows.
    complete: Vec<CompleteFlow>,
    /// Scratch memory: complete flows in row order.
    order: Vec<Complete>,
    /// Scratch memory: rows on their way to the sink.
    rows: Vec<FlowRow>,
    /// Digest over all rows so far.
    pub(crate) digest: Digest,
    /// Flows that have a row.
    flows_booked: u64,
    /// Measured jobs' flows that have arrived.
    judged_flows_done: u64,
    /// Measured jobs' flows in the whole trial, as far as their number is known.
    flows_total: u64,
    /// Latest event that concerns a flow.
    last_event: Instant,
}

/// A complete flow's two halves, by their places.
#[derive(Clone, Copy, Debug)]
struct Complete {
    /// Arrival time at which the last byte came.
    received: Instant,
    /// Index that the receiver's half has in [`FlowTable::waiting`].
    place: u32,
    /// Index that the sender's half has in [`FlowTable::acknowledged`].
    index: u32,
}

/// Rows that are made before the sink takes them, few enough to stay in the cache.
const ROWS_AT_ONCE: usize = 128;

impl FlowTable {
    /// Makes an empty table.
    ///
    /// # Errors
    /// If a collective cannot be run by its ranks.
    pub(crate) fn new(context: &Context) -> Result<FlowTable, WorkloadError> {
        let mut flows_total = 0;
        for plan in context.jobs.iter().filter(|plan| !plan.job.background) {
            let rounds = u64::from(plan.job.warm_up) + u64::from(plan.job.iterations);
            for schedule in plan.job.schedules()? {
                // A workload that is limited by time has no known number of flows.
                let timed = plan.flow_workload();
                if timed.is_some_and(|workload| workload.flows.is_none()) {
                    continue;
                }
                flows_total += schedule.transfers() * u64::from(plan.job.queue_pairs) * rounds;
            }
        }
        Ok(FlowTable {
            tallies: context.jobs.iter().map(|_| Vec::new()).collect(),
            received_bytes: vec![0; context.jobs.len()].into(),
            waiting: Vec::new(),
            free: Vec::new(),
            marks: BTreeMap::new(),
            held: BTreeMap::new(),
            acknowledged: Vec::new(),
            complete: Vec::new(),
            order: Vec::new(),
            rows: Vec::new(),
            digest: Digest::new(),
            flows_booked: 0,
            judged_flows_done: 0,
            flows_total,
            last_event: Instant::START,
        })
    }

    /// Begins statistics for a collective.
    pub(crate) fn begin(
        &mut self,
        context: &Context,
        job: JobId,
        at: Instant,
        schedule: Arc<dyn Schedule>,
    ) {
        let flow_work = schedule.flow_workload();
        // Flow workloads have too many flows for lists by flow.
        let flow_work = flow_work.map(|flows| Box::new(FlowTally::new(&flows.workload().sizes)));
        let queue_pairs = usize::from(context.jobs[job].job.queue_pairs);
        let carried = Cell::new(false);
        let (mesh, flows) = if flow_work.is_some() {
            (None, 0)
        } else {
            let is_carried = |transfer: &Transfer| {
                let is_carried = context.is_carried(job, transfer);
                carried.set(carried.get() || is_carried);
                is_carried
            };
            let mesh = FullMesh::new(&*schedule, &context.nics_of(job), is_carried);
            let flows = schedule.transfer_count() as usize * queue_pairs;
            (Some(mesh), flows)
        };
        let is_recorded = context.records_operations && GraphSchedule::of(&*schedule).is_some();
        let recorded = if is_recorded {
            schedule.transfer_count() as usize
        } else {
            0
        };
        self.tallies[job].push(Tally {
            flow_work,
            arrivals: vec![Instant::START; recorded],
            ideal: mesh.as_ref().map(FullMesh::whole).unwrap_or_default(),
            mesh,
            is_carried: carried.get(),
            // Allocated once, because the number of flows is known.
            ideal_ratios: Vec::with_capacity(flows),
            completion_times: Vec::with_capacity(flows),
            flows,
            // At flow level no entry is ever read, so the zeroed pages take no memory.
            places: vec![0; flows],
            ..Tally::new(schedule, at)
        });
    }

    /// Begins statistics for rings that run as a whole, whose flows have no rows.
    pub(crate) fn begin_rings(
        &mut self,
        job: JobId,
        at: Instant,
        schedule: Arc<dyn Schedule>,
        taken: RingsTaken,
    ) {
        self.tallies[job].push(Tally {
            ideal: taken.mesh,
            latency_is_known: false,
            running_rings: Some(Box::new(taken)),
            ..Tally::new(schedule, at)
        });
    }

    /// Replaces the statistics of a job's rings that are about to end.
    pub(crate) fn set_rings(&mut self, job: JobId, taken: RingsTaken) {
        if let Some(tally) = self.tallies[job].last_mut() {
            tally.running_rings = Some(Box::new(taken));
        }
    }

    /// Returns true if every flow that the job ever posted is in the table.
    pub(crate) fn is_settled(&self, job: JobId) -> bool {
        let mut tallies = self.tallies[job].iter();
        tallies.all(|tally| match tally.flow_work {
            Some(_) => tally.end.is_some(),
            None => tally.running_rings.is_none() && tally.completion_times.len() == tally.flows,
        })
    }

    /// Ends a collective's statistics at instant `at`.
    pub(crate) fn end(&mut self, job: JobId, turn: usize, at: Instant) {
        let tally = &mut self.tallies[job][turn];
        tally.end = Some(at);
        self.last_event = self.last_event.max(at);
        if let Some(taken) = tally.running_rings.take() {
            // Flows of rings have no rows, so their sums enter the statistics here.
            tally.sent_frames = taken.frames;
            tally.accepted_frames = taken.frames;
            tally.sent_bytes = taken.frame_bytes;
            tally.accepted_bytes = taken.frame_bytes;
            tally.payload_bytes = taken.payload;
            self.last_event = self.last_event.max(taken.acknowledged);
            self.received_bytes[job] += taken.frame_bytes;
            self.flows_booked += taken.flows();
            if taken.is_judged {
                self.judged_flows_done += taken.flows();
            }
            tally.rings = Some(taken);
        }
    }

    /// Takes one partition's receiver records.
    pub(crate) fn take_delivered(
        &mut self,
        context: &Context,
        partition_records: &mut PartitionRecords,
    ) {
        for (sum, bytes) in self
            .received_bytes
            .iter_mut()
            .zip(&mut partition_records.endless)
        {
            *sum += bytes.as_mut().map_or(0, std::mem::take);
        }
        for (job, arrived) in partition_records.arrived.numbered_mut() {
            let arrived = std::mem::take(arrived);
            self.last_event = self.last_event.max(arrived.last);
            self.received_bytes[job] += arrived.bytes;
            if !context.jobs[job].job.background {
                self.judged_flows_done += arrived.flows;
            }
        }
        for half in partition_records.delivered.drain(..) {
            self.last_event = self.last_event.max(half.at);
            let tally = &mut self.tallies[half.key.job][half.turn as usize];
            self.received_bytes[half.key.job] += half.bytes;
            let judged = !context.jobs[half.key.job].job.background;
            self.judged_flows_done += u64::from(judged);
            // Reused entries keep the table as large as the number of flows under way.
            let place = self.free.pop().unwrap_or(self.waiting.len() as u32);
            if place as usize == self.waiting.len() {
                self.waiting.push(half);
            } else {
                self.waiting[place as usize] = half;
            }
            match &mut tally.flow_work {
                Some(flows) => {
                    flows.places.insert(half.key.transfer, place);
                }
                None => tally.places[context.flow_index(half.key)] = place,
            }
        }
        let marked = partition_records.marked.drain(..);
        self.marks
            .extend(marked.map(|(key, turn, marks)| ((key, turn), marks)));
    }

    /// Takes the senders' records of one partition. [`FlowTable::take_delivered`] must have run for
    /// every partition before, because whatever is acknowledged has been delivered.
    pub(crate) fn take_acknowledged(&mut self, partition_records: &mut PartitionRecords) {
        self.complete.append(&mut partition_records.complete);
        let held = partition_records.held.drain(..);
        self.held
            .extend(held.map(|(key, turn, held)| ((key, turn), held)));
        if self.acknowledged.is_empty() {
            // With a single partition nothing is copied.
            std::mem::swap(&mut self.acknowledged, &mut partition_records.acknowledged);
        } else {
            self.acknowledged
                .append(&mut partition_records.acknowledged);
        }
    }

    /// Makes rows from all complete flows and hands them to `take`, in an order that does not
    /// depend on threads.
    ///
    /// # Errors
    /// Those that `take` returns.
    pub(crate) fn book<E>(
        &mut self,
        context: &Context,
        mut take: impl FnMut(&[FlowRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.put_in_order(context);
        // Moved out and back, because making a row changes the table.
        let order = std::mem::take(&mut self.order);
        let mut rows = std::mem::take(&mut self.rows);
        for flows in order.chunks(ROWS_AT_ONCE) {
            self.touch(flows);
            rows.clear();
            rows.extend(flows.iter().map(|flow| {
                let sent = self.acknowledged[flow.index as usize];
                let received = self.waiting[flow.place as usize];
                self.free.push(flow.place);
                self.book_one(context, &sent, &received)
            }));
            self.digest.add_rows(&rows);
            take(&rows)?;
        }
        self.order = order;
        self.rows = rows;
        self.acknowledged.clear();
        self.book_complete(context, take)
    }

    /// Makes rows from flows that are complete at flow level.
    fn book_complete<E>(
        &mut self,
        context: &Context,
        mut take: impl FnMut(&[FlowRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut complete = std::mem::take(&mut self.complete);
        let mut rows = std::mem::take(&mut self.rows);
        let order = |flow: &CompleteFlow| (flow.received, flow.halves().0.order());
        // The order of rows at packet level: by arrival, then by key.
        complete.sort_unstable_by_key(order);
        for flows in complete.chunks(ROWS_AT_ONCE) {
            rows.clear();
            rows.extend(flows.iter().map(|flow| {
                let (sent, received) = flow.halves();
                self.book_one(context, &sent, &received)
            }));
            self.digest.add_rows(&rows);
            take(&rows)?;
        }
        complete.clear();
        self.complete = complete;
        self.rows = rows;
        Ok(())
    }

    /// Reads a word from both halves for each flow, so that they are in the cache. Such reads
    /// overlap, whereas those for making a row would wait for each other.
    fn touch(&self, flows: &[Complete]) {
        let seen = flows.iter().fold(0, |seen, flow| {
            let sent = &self.acknowledged[flow.index as usize];
            seen ^ sent.at.ps() ^ self.waiting[flow.place as usize].at.ps()
        });
        std::hint::black_box(seen);
    }

    /// Finds the halves of all complete flows, and sorts the flows. Each loop reads one thing from
    /// memory, so that the reads for one flow do not wait for those for another.
    fn put_in_order(&mut self, context: &Context) {
        self.order.clear();
        for (index, half) in (0..).zip(&self.acknowledged) {
            let tally = &mut self.tallies[half.key.job][half.turn as usize];
            let place = match &mut tally.flow_work {
                None => tally.places[context.flow_index(half.key)],
                Some(flows) => flows
                    .places
                    .remove(&half.key.transfer)
                    .expect("what is acknowledged has been delivered"),
            };
            self.order.push(Complete {
                received: Instant::START,
                place,
                index,
            });
        }
        for flow in &mut self.order {
            flow.received = self.waiting[flow.place as usize].at;
        }
        // The tie-breaker for equal arrival times is seldom needed and lies elsewhere in memory, so
        // it is not copied.
        let rest = |flow: &Complete| self.acknowledged[flow.index as usize].order();
        self.order.sort_unstable_by(|a, b| {
            let received = a.received.cmp(&b.received);
            received.then_with(|| rest(a).cmp(&rest(b)))
        });
    }

    /// Makes a flow's row and adds it to the statistics.
    fn book_one(
        &mut self,
        context: &Context,
        sent: &AcknowledgedHalf,
        received: &DeliveredHalf,
    ) -> FlowRow {
        self.last_event = self.last_event.max(sent.at);
        let tally = &mut self.tallies[sent.key.job][sent.turn as usize];
        let transfer = tally.schedule.transfer(sent.key.transfer);
        let marks = self.marks.remove(&(sent.key, sent.turn));
        let held = self.held.remove(&(sent.key, sent.turn));
        tally.latency_is_known &= knows_latency(context, sent, received);
        let mut row = flow_row(
            context,
            &transfer,
            sent,
            received,
            marks.unwrap_or_default(),
        );
        if let Some(held) = held {
            row.held_by_rate = held.sum();
            row.held_before_first = held.before_first;
        }
        let fct = row.fct();
        if let Some(arrival) = tally.arrivals.get_mut(sent.key.transfer as usize) {
            *arrival = received.at.max(*arrival);
        }
        self.flows_booked += 1;
        tally.sent_frames += row.tx_frames;
        tally.accepted_frames += row.rx_frames;
        tally.latency_sum += u128::from(received.latency_sum);
        tally.sent_bytes += row.tx_bytes;
        tally.accepted_bytes += row.rx_bytes;
        tally.payload_bytes += row.payload_bytes;
        tally.retransmitted_frames += row.retransmitted_frames;
        tally.marked_frames += row.rx_marked_frames;
        tally.notifications += row.cnp_frames;
        if let Some(flows) = &mut tally.flow_work {
            let way = tally.schedule.flow_workload();
            let way = way.map_or(0, |schedule| schedule.way_index(sent.key.transfer));
            let unloaded = &context.jobs[sent.key.job].unloaded;
            let bytes = row.payload_bytes;
            let alone = flows.remembered.time(unloaded, &context.nic, way, bytes);
            flows.add(row.payload_bytes, fct, alone);
            return row;
        }
        tally.completion_times.push(fct);
        let mesh = tally.mesh.as_ref();
        let mesh = mesh.filter(|_| !context.is_carried(sent.key.job, &transfer));
        let ideal = mesh.map(|mesh| mesh.of(&transfer));
        let ratio = ideal.and_then(|ideal| ideal_ratio::ratio(fct, ideal));
        tally.ideal_ratios.extend(ratio);
        // All flows are in the table: their index, which may be large, is no longer needed.
        if tally.completion_times.len() == tally.flows {
            tally.places = Vec::new();
            tally.mesh = None;
        }
        row
    }

    /// Returns how many flows have a row, because both halves are known.
    pub(crate) fn flows_booked(&self) -> u64 {
        self.flows_booked
    }

    /// Returns how many flows in measured jobs have arrived, and how many there are.
    pub(crate) fn judged_flows(&self) -> (u64, u64) {
        (self.judged_flows_done, self.flows_total)
    }

    /// Returns the latest time at which an event concerned a flow.
    pub(crate) fn last_event(&self) -> Instant {
        self.last_event
    }
}

/// Returns true if the latencies of a flow's packets are known: there are packets, and none was
/// under way for longer than its send time can express. Real hosts that do not know them report the
/// largest value.
fn knows_latency(context: &Context, sent: &AcknowledgedHalf, received: &DeliveredHalf) -> bool {
    let longest = received.at.saturating_since(sent.first_sent).ps() / SENT_UNIT_PS;
    let told = longest < u64::from(u32::MAX) && received.latency_min < u32::MAX;
    context.has_packets() && told
}

fn flow_row(
    context: &Context,
    transfer: &Transfer,
    sent: &AcknowledgedHalf,
    received: &DeliveredHalf,
    marks: Marks,
) -> FlowRow {
    let FlowKey {
        job,
        queue_pair,
        transfer: id,
    } = sent.key;
    let plan = &context.jobs[job];
    let turn = plan.turn(sent.turn);
    let lane = transfer.way(plan.job.queue_pair_scope).lane;
    let [from, to] = plan.job.ends(transfer);
    let frames = u64::from(received.frames);
    // Packets carry their time of sending modulo 0.549 s, so a longer flow has no known latencies.
    let is_known = knows_latency(context, sent, received);
    let latency = |ps: u64| is_known.then(|| Time::from_ps(ps));
    FlowRow {
        job: u32::from(job.number()),
        collective: turn.index,
        iteration: turn.iteration,
        chunk: transfer.chunk,
        step: transfer.step,
        transfer: id,
        queue_pair,
        src_rank: transfer.src,
        dst_rank: transfer.dst,
        src_host: from.number(),
        dst_host: to.number(),
        udp_source_port: context.udp_source_port(QueuePairId::of(job, transfer, lane, queue_pair)),
        payload_bytes: split::share(transfer.bytes, plan.job.queue_pairs, queue_pair),
        posted: sent.posted.since_start(),
        first_sent: sent.first_sent.since_start(),
        received: received.at.since_start(),
        acknowledged: sent.at.since_start(),
        tx_frames: sent.frames,
        tx_bytes: sent.bytes,
        rx_frames: frames,
        rx_bytes: received.bytes,
        retransmitted_frames: sent.retransmitted_frames,
        rx_marked_frames: u64::from(marks.frames),
        cnp_frames: u64::from(marks.notifications),
        latency_min: latency(u64::from(received.latency_min) * SENT_UNIT_PS),
        latency_avg: latency(received.latency_sum * SENT_UNIT_PS / frames.max(1)),
        latency_max: latency(u64::from(received.latency_max) * SENT_UNIT_PS),
        held_by_rate: Time::ZERO,
        held_before_first: Time::ZERO,
    }
}
