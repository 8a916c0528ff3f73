//! Rings that are run as a whole.

use std::sync::Arc;

use tenter_flow::{Amount, FlowSpec};
use tenter_units::{Instant, Time};
use tenter_workload::{JobId, RankId, Rings, Schedule};

use crate::network::{FlowKey, QueuePairId};

use super::driver::FlowDriver;
use super::instants::Happens;
use super::messages::Message;
use super::ring_jobs::{self, RingsTaken};
use super::waves::{RankTimes, Waves};

impl FlowDriver {
    /// The same with rings as flows one by one, too.
    #[must_use]
    pub fn one_by_one(mut self) -> FlowDriver {
        self.runs_whole_rings = false;
        self
    }

    /// Whether all jobs are rings whose flows never meet.
    pub(super) fn rings_are_free(&mut self) -> bool {
        let context = Arc::clone(&self.fabric.context);
        if context.jobs.is_empty() || !ring_jobs::may_be_whole(&context) {
            return false;
        }
        let strides: Vec<(JobId, Vec<Rings>)> = context
            .jobs
            .ids()
            .map(|job| (job, ring_jobs::rings_of(&context, job)))
            .collect();
        // Of several jobs with several kinds of rings any may meet.
        let kinds = strides.iter().map(|(_, rings)| rings.len()).max();
        if context.jobs.len() > 1 && kinds > Some(1) {
            return false;
        }
        (0..kinds.unwrap_or(0)).all(|kind| {
            // A way that is found may change the links of those found before, so specs are made
            // once all are known.
            let known = self.ring_specs(&strides, kind);
            let specs = known.and_then(|_| self.ring_specs(&strides, kind));
            specs.is_some_and(|specs| ring_jobs::are_free(&mut self.fluid, &specs))
        })
    }

    /// The flows of one kind of rings of each job; `None` where some do not pass the fabric.
    fn ring_specs(&mut self, jobs: &[(JobId, Vec<Rings>)], kind: usize) -> Option<Vec<FlowSpec>> {
        let context = Arc::clone(&self.fabric.context);
        let mut specs = Vec::new();
        for (job, rings) in jobs {
            let Some(rings) = rings.get(kind) else {
                continue;
            };
            for rank in context.jobs[*job].job.hosts.ids() {
                specs.push(self.ring_spec(*job, rank, *rings)?.1);
            }
        }
        Some(specs)
    }

    /// The message and the flow by which a rank sends to the next of its ring; `None` where it does
    /// not pass the fabric, or is another for each message.
    pub(super) fn ring_spec(
        &mut self,
        job: JobId,
        rank: RankId,
        rings: Rings,
    ) -> Option<(Message, FlowSpec)> {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[job];
        let ranks = plan.job.ranks();
        let next = RankId::new((rank.number() + rings.stride) % ranks);
        let ends = [rank, next].map(|rank| plan.job.hosts[rank]);
        if context.is_within_domain(ends[0], ends[1]) {
            return None;
        }
        let first = plan.pairs.find(rank, next, 0)?;
        let pair = self.first_pairs[job][rank].after(first.send.number());
        if self.messages.way(pair).is_none() {
            let of = QueuePairId {
                job,
                from: rank,
                to: next,
                lane: 0,
                queue_pair: 0,
            };
            self.find_way(pair, ends, context.hash(of), Instant::START);
        }
        let way = self.messages.way(pair)?.way;
        if self.ways.way(way).is_drawn() {
            return None;
        }
        let frames = self.frames(rings.bytes);
        let message = Message::new(FlowKey::default(), 0, pair, rings.bytes, frames);
        let spec = self.spec(&message, Amount::of_bytes(self.wire_bytes(&message)))?;
        Some((message, spec))
    }

    /// Runs the rings of a job as a whole, where that may be done.
    pub(super) fn run_whole_rings(
        &mut self,
        job: JobId,
        begin: Instant,
        schedule: &dyn Schedule,
    ) -> Option<RingsTaken> {
        let rings = schedule.rings().filter(|_| self.runs_whole_rings)?;
        let context = Arc::clone(&self.fabric.context);
        let delays = context.host_delays;
        let mut ranks = Vec::with_capacity(context.jobs[job].job.hosts.len());
        let mut taken = RingsTaken::default();
        let mut back = Time::ZERO;
        for rank in context.jobs[job].job.hosts.ids() {
            let (message, spec) = self.ring_spec(job, rank, rings)?;
            ranks.push(RankTimes {
                sending: spec.amount.time_at(self.fluid.rate_alone(&spec))?.ps(),
                rest: self.rest(&message).ps(),
            });
            let steps = u64::from(rings.steps);
            taken.frames += u64::from(message.frames) * steps;
            taken.frame_bytes += self.frame_bytes(&message) * steps;
            taken.payload += rings.bytes * steps;
            let way = self.messages.way(message.pair)?.way;
            back = back.max(self.ways.way(way).delays.back);
        }
        let begin = begin + delays.start_up + delays.step;
        let waves = Waves::new(rings, &ranks, begin.ps(), delays.step.ps()).run();
        self.settled += u64::from(rings.steps - waves.skipped);
        let times = waves.times.into_iter();
        taken.times = times
            .map(|(time, count)| (Time::from_ps(time), count))
            .collect();
        taken.last = Instant::from_ps(waves.last);
        taken.acknowledged = taken.last + back;
        taken.is_judged = !context.jobs[job].job.background;
        taken.mesh = ring_jobs::mesh(&context, job, rings);
        self.running_rings.insert(job, rings);
        self.instants.add(taken.last, Happens::Rings(job.number()));
        Some(taken)
    }

    /// The rings of a job are done: counts what they have loaded.
    pub(super) fn rings_end(&mut self, job: JobId, now: Instant) {
        let context = Arc::clone(&self.fabric.context);
        if let Some(rings) = self.running_rings.remove(&job) {
            for rank in context.jobs[job].job.hosts.ids() {
                if let Some((message, _)) = self.ring_spec(job, rank, rings) {
                    self.count(&message, u64::from(rings.steps), &[]);
                }
            }
        }
        context.progress.arrived(job, now);
    }
}
