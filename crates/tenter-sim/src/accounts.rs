//! The books of a run: flows put together from their two halves, and tallies per collective.

use std::sync::Arc;

use tenter_record::{Digest, FlowRow};
use tenter_units::Time;
use tenter_workload::{Schedule, WorkloadError};

use crate::build::Context;
use crate::jobs::JobPlan;
use crate::ledger::{AcknowledgedHalf, DeliveredHalf, FlowKey, Ledger};

/// What is known of one collective.
#[derive(Default)]
pub(crate) struct Tally {
    schedule: Option<Arc<dyn Schedule>>,
    pub(crate) start: Option<u64>,
    pub(crate) end: Option<u64>,
    /// Completion time of every flow, in the order in which they were booked.
    pub(crate) completion_times: Vec<Time>,
    pub(crate) sent_frames: u64,
    pub(crate) accepted_frames: u64,
    pub(crate) retransmitted_frames: u64,
    /// For each flow (transfer times queue pairs, plus queue pair) its place in
    /// [`Accounts::waiting`].
    places: Vec<u32>,
}

/// The books.
pub(crate) struct Accounts {
    /// Per job and turn.
    pub(crate) tallies: Vec<Vec<Tally>>,
    /// Receivers' halves whose acknowledgement is still under way, and which places are free.
    waiting: Vec<DeliveredHalf>,
    free: Vec<u32>,
    rows: Vec<FlowRow>,
    pub(crate) digest: Digest,
    flows_done: u64,
    flows_total: u64,
    last_event: u64,
}

impl Accounts {
    /// # Errors
    /// When a collective cannot be run by its ranks.
    pub(crate) fn new(context: &Context) -> Result<Accounts, WorkloadError> {
        let mut flows_total = 0;
        for plan in &context.jobs {
            for turn in &plan.turns {
                let schedule = turn
                    .run
                    .kind
                    .schedule(plan.job.ranks(), turn.run.size_bytes)?;
                flows_total +=
                    u64::from(schedule.transfer_count()) * u64::from(plan.job.queue_pairs);
            }
        }
        let tallies = |plan: &JobPlan| plan.turns.iter().map(|_| Tally::default()).collect();
        Ok(Accounts {
            tallies: context.jobs.iter().map(tallies).collect(),
            waiting: Vec::new(),
            free: Vec::new(),
            rows: Vec::new(),
            digest: Digest::new(),
            flows_done: 0,
            flows_total,
            last_event: 0,
        })
    }

    pub(crate) fn begin(
        &mut self,
        (job, turn): (usize, usize),
        at: u64,
        flows: usize,
        schedule: Arc<dyn Schedule>,
    ) {
        let tally = &mut self.tallies[job][turn];
        tally.start = Some(at);
        tally.places = vec![0; flows];
        tally.schedule = Some(schedule);
    }

    pub(crate) fn end(&mut self, job: usize, turn: usize, at: u64) {
        self.tallies[job][turn].end = Some(at);
        self.last_event = self.last_event.max(at);
    }

    /// Takes what the receivers of one part have recorded.
    pub(crate) fn take_delivered(&mut self, context: &Context, ledger: &mut Ledger) {
        self.digest.merge(std::mem::take(&mut ledger.digest));
        for half in ledger.delivered.drain(..) {
            self.last_event = self.last_event.max(half.delivery.at);
            let tally = &mut self.tallies[usize::from(half.key.job)][half.turn as usize];
            tally.accepted_frames += half.delivery.accepted_frames;
            let place = self.free.pop().unwrap_or(self.waiting.len() as u32);
            if place as usize == self.waiting.len() {
                self.waiting.push(half);
            } else {
                self.waiting[place as usize] = half;
            }
            tally.places[context.flow_index(half.key)] = place;
            self.flows_done += 1;
        }
    }

    /// Takes what the senders of one part have recorded, after [`Accounts::take_delivered`] for
    /// every part: what is acknowledged has been delivered.
    pub(crate) fn take_acknowledged(&mut self, context: &Context, ledger: &mut Ledger) {
        for half in ledger.acknowledged.drain(..) {
            self.last_event = self.last_event.max(half.done.at);
            let tally = &mut self.tallies[usize::from(half.key.job)][half.turn as usize];
            let place = tally.places[context.flow_index(half.key)];
            let received = self.waiting[place as usize];
            self.free.push(place);
            let schedule = tally
                .schedule
                .as_deref()
                .expect("flows belong to collectives that began");
            let row = flow_row(context, schedule, &half, &received);
            tally.completion_times.push(row.fct());
            tally.sent_frames += row.tx_frames;
            tally.retransmitted_frames += row.retransmitted_frames;
            if tally.completion_times.len() == tally.places.len() {
                tally.places = Vec::new();
            }
            self.rows.push(row);
        }
    }

    /// The rows booked since this was last asked, in an order that does not depend on threads.
    pub(crate) fn complete_rows(&mut self) -> Vec<FlowRow> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable_by_key(|row| {
            (
                row.received,
                row.job,
                row.iteration,
                row.collective,
                row.transfer,
                row.queue_pair,
            )
        });
        rows
    }

    pub(crate) fn flows_done(&self) -> u64 {
        self.flows_done
    }

    pub(crate) fn flows_total(&self) -> u64 {
        self.flows_total
    }

    /// When the last thing that matters to a flow happened, in ps.
    pub(crate) fn last_event(&self) -> u64 {
        self.last_event
    }
}

fn flow_row(
    context: &Context,
    schedule: &dyn Schedule,
    sent: &AcknowledgedHalf,
    received: &DeliveredHalf,
) -> FlowRow {
    let FlowKey {
        job,
        queue_pair,
        transfer: id,
    } = sent.key;
    let plan = &context.jobs[usize::from(job)];
    let turn = &plan.turns[sent.turn as usize];
    let transfer = schedule.transfer(id);
    let lane = transfer.way(plan.job.queue_pair_scope).lane;
    let ranks = (transfer.src, transfer.dst);
    let delivery = &received.delivery;
    FlowRow {
        job: u32::from(job),
        collective: turn.index,
        iteration: turn.iteration,
        chunk: transfer.chunk,
        step: transfer.step,
        transfer: id,
        queue_pair,
        src_rank: transfer.src,
        dst_rank: transfer.dst,
        src_host: plan.job.hosts[transfer.src as usize],
        dst_host: plan.job.hosts[transfer.dst as usize],
        udp_source_port: context.udp_source_port(job, ranks, lane, queue_pair),
        payload_bytes: sent.done.request.bytes,
        posted: Time::from_ps(sent.done.request.posted),
        first_sent: Time::from_ps(sent.done.first_sent),
        received: Time::from_ps(delivery.at),
        acknowledged: Time::from_ps(sent.done.at),
        tx_frames: sent.done.sent_frames,
        tx_bytes: sent.done.sent_bytes,
        rx_frames: delivery.accepted_frames,
        rx_bytes: delivery.accepted_bytes,
        retransmitted_frames: sent.done.retransmitted_frames,
        latency_min: Time::from_ps(delivery.latency_min),
        latency_avg: Time::from_ps(delivery.latency_sum / delivery.accepted_frames.max(1)),
        latency_max: Time::from_ps(delivery.latency_max),
    }
}
