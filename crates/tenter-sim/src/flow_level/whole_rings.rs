//! Rings that are run as a whole.

use std::ops::ControlFlow;
use std::sync::Arc;

use tenter_flow::{Amount, FlowSpec};
use tenter_units::{Instant, Time};
use tenter_workload::{JobId, RankId, Rings, Schedule};

use crate::network::{FlowKey, QueuePairId};

use super::driver::FlowDriver;
use super::instants::Happens;
use super::limits::{LeftOut, note_no_queues};
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
        if self.whole_rings == Some(WholeRings::Shared) {
            note_no_queues(found);
            found.push(LeftOut {
                text: "rings that share links have too many transfers to be simulated one by one (`engine.ring_transfers`): each rank shares its links with all ranks that are in step with it, and with the others in the mean; there are no rows of flows, and no overflows of queues; in tests, times were up to 8 % off those one by one, most of them too low",
            });
        }
    }

    /// How rings are run as a whole, where all jobs are rings: those whose flows never meet, and
    /// those of one job whose flows do, where a collective has more transfers than are run one by
    /// one.
    pub(super) fn find_whole_rings(&mut self, one_by_one: u64) -> Option<WholeRings> {
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
        let are_many = ring_jobs::most_transfers(plan) > one_by_one;
        are_many.then_some(WholeRings::Shared)
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

    /// Runs the rings of a job as a whole, where that may be done. The caller is asked from time to
    /// time whether it goes on; if not, the rest of them is left out.
    pub(super) fn run_whole_rings(
        &mut self,
        job: JobId,
        begin: Instant,
        schedule: &dyn Schedule,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<RingsTaken> {
        let whole_rings = self.whole_rings?;
        let rings = schedule.rings()?;
        let delays = self.fabric.context.host_delays;
        let begin = begin + delays.start_up + delays.step;
        let from_start = match self.rings_taken.get(&(job, rings)) {
            Some(known) => known.clone(),
            None => self.taken_by(job, rings, whole_rings, goes_on)?,
        };
        let taken = from_start.later(begin.since_start());
        self.running_rings.insert(job, rings);
        self.instants.add(taken.last, Happens::Rings(job.number()));
        Some(taken)
    }

    /// What rings take that begin at the start.
    fn taken_by(
        &mut self,
        job: JobId,
        rings: Rings,
        whole_rings: WholeRings,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<RingsTaken> {
        let context = Arc::clone(&self.fabric.context);
        let step_delay = context.host_delays.step;
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
        let ranks = whole_rings.times(rings, step_delay, &mut self.fluid, &flows, goes_on)?;
        let waves = Waves::new(rings, &ranks, 0, step_delay.ps()).run(goes_on);
        self.settled += u64::from(waves.computed);
        let times = waves.times.into_iter();
        taken.times = times
            .map(|(time, count)| (Time::from_ps(time), count))
            .collect();
        taken.last = Instant::from_ps(waves.last);
        taken.acknowledged = taken.last.saturating_add(back);
        taken.is_judged = !context.jobs[job].job.background;
        taken.mesh = ring_jobs::mesh(&context, job, rings);
        if !waves.is_cut {
            self.rings_taken.insert((job, rings), taken.clone());
        }
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
