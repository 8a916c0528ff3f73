//! Running rings as a whole.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::fluid::{Amount, FlowSpec};
use tenter_language::units::{Instant, Time};
use tenter_workload::{JobId, RankId, Rings, Schedule};

use crate::network::{FlowKey, QueuePairId};

use super::driver::FlowDriver;
use super::instants::Happens;
use super::limits::{LeftOut, note_no_queues};
use super::messages::Message;
use super::ring_jobs::{self, AtRates, KnownRings, RingsTaken, RingsUnderWay};
use super::ring_rates::{RingFlows, WholeRings};
use super::waves::Waves;

/// Sets of rings under way whose rates are kept.
const KNOWN_SETS: usize = 256;

impl FlowDriver {
    /// Returns the driver with rings simulated transfer by transfer, too.
    #[must_use]
    pub fn one_by_one(mut self) -> FlowDriver {
        self.whole_rings = None;
        self
    }

    /// Adds a note if rings that share links run as a whole.
    pub(crate) fn note_shared_rings(&self, found: &mut Vec<LeftOut>) {
        if self.whole_rings == Some(WholeRings::Shared) {
            note_no_queues(found);
            found.push(LeftOut {
                text: "rings that share links have too many transfers to be simulated one by one (`engine.ring_transfers`): each rank shares its links with all ranks that are in step with it, and with the others in the mean, those of other jobs among them; there are no rows of flows, and no overflows of queues; in tests, times were up to 8 % off those one by one, most of them too low",
            });
        }
    }

    /// Decides how rings run as a whole, if all jobs have nothing but rings: alone if their flows
    /// never meet, shared if all jobs' largest collectives have more than `one_by_one` transfers
    /// together.
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
        let kinds = strides.iter().map(|(_, rings)| rings.len()).max();
        // With several jobs and several kinds of rings, any combination may meet; checking each
        // kind alone proves nothing.
        let mut are_free = context.jobs.len() == 1 || kinds <= Some(1);
        for kind in 0..kinds.unwrap_or(0) {
            // A path that is found may dissolve the bundles of paths found before. The first call
            // finds all paths, the second makes the flows.
            self.ring_specs(&strides, kind)?;
            let specs = self.ring_specs(&strides, kind)?;
            are_free = are_free && ring_jobs::are_free(&mut self.fluid, &specs);
        }
        if are_free {
            return Some(WholeRings::Alone);
        }
        let transfers = context.jobs.iter().map(ring_jobs::most_transfers);
        let are_many = transfers.fold(0, u64::saturating_add) > one_by_one;
        are_many.then_some(WholeRings::Shared)
    }

    /// Returns the flows for one kind of rings in each job. `None` if some do not pass the fabric.
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

    /// Returns the message and the flow that a rank sends to the next in its ring. `None` if it
    /// does not pass the fabric, or if its links are drawn for each message.
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

    /// Runs a job's rings as a whole, if that is possible. `goes_on` is asked from time to time; if
    /// it breaks, the rest is left out.
    pub(super) fn run_whole_rings(
        &mut self,
        job: JobId,
        begin: Instant,
        schedule: &dyn Schedule,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<RingsTaken> {
        let whole_rings = self.whole_rings?;
        let rings = schedule.rings()?;
        let known = self.known_rings(job, rings)?;
        let delays = self.fabric.context.host_delays;
        // The first transfer has the delays that any collective has before its first message.
        let begin = begin + delays.start_up + delays.step;
        // Flows that never meet are not affected by the rings of other jobs.
        let others = self.running_rings.iter();
        let others = others.filter(|_| whole_rings == WholeRings::Shared);
        let mut running: Vec<(JobId, Rings, Instant)> = others
            .filter(|(_, of)| of.end > begin)
            .map(|(job, of)| (*job, of.rings, of.begin))
            .collect();
        running.push((job, rings, begin));
        running.sort_unstable_by_key(|(job, ..)| *job);
        let at_rates = self.at_rates(whole_rings, &running, goes_on)?;
        for ((of, ..), present) in running.into_iter().zip(at_rates) {
            if of == job {
                let under_way = RingsUnderWay::new(rings, begin, present);
                self.running_rings.insert(job, under_way);
            } else if let Some(other) = self.running_rings.get_mut(&of) {
                other.go_on(present, begin);
            }
            self.end_rings_later(of);
        }
        let under_way = self.running_rings.get(&job).cloned();
        under_way.map(|under_way| under_way.taken(&known))
    }

    /// Plans when a job's rings end at the present rates. Events planned for earlier rates stay in
    /// the list and are ignored.
    fn end_rings_later(&mut self, job: JobId) {
        if let Some(under_way) = self.running_rings.get(&job) {
            self.instants
                .add(under_way.end, Happens::Rings(job.number()));
        }
    }

    /// Returns the times for rings that run together, at rates that do not change.
    fn at_rates(
        &mut self,
        whole_rings: WholeRings,
        running: &[(JobId, Rings, Instant)],
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<Vec<AtRates>> {
        let start = |begin: Instant| running.iter().position(|(.., other)| *other == begin);
        let key = running.iter();
        let key = key.map(|(job, rings, begin)| (*job, *rings, start(*begin).unwrap_or(0)));
        let key: Vec<(JobId, Rings, usize)> = key.collect();
        if let Some(found) = self.rings_at_rates.get(&key) {
            return Some(found.clone());
        }
        let known = key
            .iter()
            .map(|(job, rings, _)| self.known_rings(*job, *rings));
        let known: Vec<Arc<KnownRings>> = known.collect::<Option<_>>()?;
        let jobs = key.iter().zip(&known);
        let jobs: Vec<RingFlows<'_>> = jobs
            .map(|((_, rings, start), known)| RingFlows {
                rings: *rings,
                flows: &known.flows,
                start: *start,
            })
            .collect();
        let step_delay = self.fabric.context.host_delays.step;
        let ranks = whole_rings.times(&jobs, step_delay, &mut self.fluid, goes_on)?;
        let mut is_cut = false;
        let mut found = Vec::new();
        for (job, ranks) in jobs.iter().zip(&ranks) {
            let waves = Waves::new(job.rings, ranks, 0, step_delay.ps()).run(&mut *goes_on);
            self.settled += u64::from(waves.computed);
            is_cut |= waves.is_cut;
            let times = waves.times.into_iter();
            found.push(AtRates {
                whole: Time::from_ps(waves.last),
                times: times
                    .map(|(time, count)| (Time::from_ps(time), count))
                    .collect(),
            });
        }
        // Times that were cut short are not those of the whole rings.
        if !is_cut {
            // Sets of rings that seldom repeat would be kept for ever; only time depends on this.
            if self.rings_at_rates.len() >= KNOWN_SETS {
                self.rings_at_rates.clear();
            }
            self.rings_at_rates.insert(key, found.clone());
        }
        Some(found)
    }

    /// Returns what is known about a job's rings before they begin. `None` if some do not pass the
    /// fabric.
    fn known_rings(&mut self, job: JobId, rings: Rings) -> Option<Arc<KnownRings>> {
        if let Some(known) = self.known_rings.get(&(job, rings)) {
            return Some(Arc::clone(known));
        }
        let context = Arc::clone(&self.fabric.context);
        let mut known = KnownRings::default();
        let taken = &mut known.taken;
        for rank in context.jobs[job].job.hosts.ids() {
            let (message, spec) = self.ring_spec(job, rank, rings)?;
            known.flows.push((spec, self.rest(&message)));
            let steps = u64::from(rings.steps);
            taken.frames += u64::from(message.frames) * steps;
            taken.frame_bytes += self.frame_bytes(&message) * steps;
            taken.payload += rings.bytes * steps;
            let way = self.messages.way(message.pair)?.way;
            known.back = known.back.max(self.ways.way(way).delays.back);
        }
        taken.is_judged = !context.jobs[job].job.background;
        taken.mesh = ring_jobs::mesh(&context, job, rings);
        let known = Arc::new(known);
        self.known_rings.insert((job, rings), Arc::clone(&known));
        Some(known)
    }

    /// Ends a job's rings, if `now` is still their end: counts their loads, and changes the rates
    /// for rings that go on.
    pub(super) fn rings_end(&mut self, job: JobId, now: Instant) {
        // The rates have changed since this event was planned, and another one was planned for the
        // new end.
        if self.running_rings.get(&job).is_none_or(|of| of.end != now) {
            return;
        }
        let context = Arc::clone(&self.fabric.context);
        if let Some(under_way) = self.running_rings.remove(&job) {
            let rings = under_way.rings;
            for rank in context.jobs[job].job.hosts.ids() {
                if let Some((message, _)) = self.ring_spec(job, rank, rings) {
                    self.count(&message, u64::from(rings.steps), &[]);
                }
            }
            if let Some(known) = self.known_rings(job, rings) {
                self.ended_rings.insert(job, under_way.taken(&known));
            }
        }
        context.progress.arrived(job, now);
        if self.whole_rings == Some(WholeRings::Shared) {
            self.go_on_without(now);
        }
    }

    /// Changes the rates for rings that go on after another job's rings have ended.
    fn go_on_without(&mut self, now: Instant) {
        let running = self.running_rings.iter();
        let running: Vec<(JobId, Rings, Instant)> = running
            .filter(|(_, of)| of.end > now)
            .map(|(job, of)| (*job, of.rings, of.begin))
            .collect();
        let mut goes_on = || ControlFlow::Continue(());
        let found = self.at_rates(WholeRings::Shared, &running, &mut goes_on);
        for ((job, ..), present) in running.into_iter().zip(found.unwrap_or_default()) {
            if let Some(under_way) = self.running_rings.get_mut(&job) {
                under_way.go_on(present, now);
            }
            self.end_rings_later(job);
        }
    }
}
