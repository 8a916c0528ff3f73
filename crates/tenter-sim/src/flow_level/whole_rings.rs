//! Rings that are run as a whole.

use std::sync::Arc;

use tenter_flow::{Amount, FlowSpec};
use tenter_units::{Instant, Time};
use tenter_workload::{JobId, RankId, Rings, Schedule};

use crate::network::{FlowKey, QueuePairId};

use super::driver::FlowDriver;
use super::instants::Happens;
use super::limits::LeftOut;
use super::messages::Message;
use super::ring_jobs::{self, RingsTaken};
use super::ring_rates::WholeRings;
use super::waves::Waves;

impl FlowDriver {
    /// The same with rings as flows one by one, too.
    #[must_use]
    pub fn one_by_one(mut self) -> FlowDriver {
        self.whole_rings = None;
        self
    }

    /// Tells where rings that share links are run as a whole.
    pub(crate) fn note_shared_rings(&self, found: &mut Vec<LeftOut>) {
        if matches!(self.whole_rings, Some(WholeRings::Shared(_))) {
            found.push(LeftOut {
                text: "rings that share links have too many transfers to be simulated one by one (`engine.ring_transfers`): each rank has its share of its links with the others in the mean, there are no rows of flows, and nobody looks whether queues overflow; against the same one by one, times were up to 5 % off where rings collide by chance, and may be up to a third too low where ranks that share links stay in step, as over one oversubscribed spine",
            });
        }
    }

    /// How rings are run as a whole, where all jobs are rings: those whose flows never meet, and
    /// those of one job whose flows do, where it has more than so many transfers.
    pub(super) fn find_whole_rings(&mut self, most_transfers: u64) -> Option<WholeRings> {
        let context = Arc::clone(&self.fabric.context);
        if context.jobs.is_empty() || !ring_jobs::may_be_whole(&context) {
            return None;
        }
        let strides: Vec<(JobId, Vec<Rings>)> = context
            .jobs
            .ids()
            .map(|job| (job, ring_jobs::rings_of(&context, job)))
            .collect();
        // Of several jobs with several kinds of rings any may meet.
        let kinds = strides.iter().map(|(_, rings)| rings.len()).max();
        if context.jobs.len() > 1 && kinds > Some(1) {
            return None;
        }
        let mut are_free = true;
        for kind in 0..kinds.unwrap_or(0) {
            // A way that is found may change the links of those found before, so specs are made
            // once all are known.
            self.ring_specs(&strides, kind)?;
            let specs = self.ring_specs(&strides, kind)?;
            are_free = are_free && ring_jobs::are_free(&mut self.fluid, &specs);
        }
        if are_free {
            return Some(WholeRings::Alone);
        }
        let [plan] = context.jobs.as_slice() else {
            return None;
        };
        let are_many = ring_jobs::transfers(plan) > most_transfers;
        are_many.then(|| WholeRings::Shared(Vec::new()))
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
        let rings = schedule.rings().filter(|_| self.whole_rings.is_some())?;
        let context = Arc::clone(&self.fabric.context);
        let delays = context.host_delays;
        let mut flows = Vec::with_capacity(context.jobs[job].job.hosts.len());
        let mut taken = RingsTaken::default();
        let mut back = Time::ZERO;
        for rank in context.jobs[job].job.hosts.ids() {
            let (message, spec) = self.ring_spec(job, rank, rings)?;
            flows.push((spec, self.rest(&message)));
            let steps = u64::from(rings.steps);
            taken.frames += u64::from(message.frames) * steps;
            taken.frame_bytes += self.frame_bytes(&message) * steps;
            taken.payload += rings.bytes * steps;
            let way = self.messages.way(message.pair)?.way;
            back = back.max(self.ways.way(way).delays.back);
        }
        let whole_rings = self.whole_rings.as_mut()?;
        let ranks = whole_rings.times(rings, delays.step, &mut self.fluid, &flows)?;
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
