//! Rates of rings that share links and run as a whole.
//!
//! A rank of such a ring sends at a constant rate: its share of its links with all other ranks,
//! each of which sends for a fraction of the time. That fraction is the rank's sending time over
//! the ring's step. A step takes as long as its slowest rank sends, or as the mean time for which
//! one hop around the ring takes, whichever is more. With large chunks, the ranks of the slowest
//! ring therefore have their max–min fair rates; if latency dominates the step, ranks seldom meet.
//!
//! Ranks that begin at the same times and send for equally long stay in step, as on a fabric that
//! looks the same to all of them, and meet all the time. Ranks of different jobs do so if the jobs
//! began at the same instant.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::fluid::{FlowRate, FlowSpec, Fluid, Presence, Weight};
use tenter_language::units::Time;
use tenter_workload::Rings;

use super::ring_jobs::rates_at_once;
use super::waves::{RankTimes, Waves, ring_count};

/// Iterations between rates and fractions of time. After 16, rates change by less than a thousandth
/// on links with up to 16 flows.
const ROUNDS: usize = 16;

/// Steps after which ranks that still begin at the same time count as being in step.
const STEPS_IN_PHASE: u32 = 64;

/// Ways to run rings as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WholeRings {
    /// The rings' flows never meet.
    Alone,
    /// Flows share links, also with those from other jobs.
    Shared,
}

/// A job's rings, with each rank's flow and the time from its end to the arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingFlows<'a> {
    pub(super) rings: Rings,
    pub(super) flows: &'a [(FlowSpec, Time)],
    /// Index of the begin: equal for jobs that began at the same instant.
    pub(super) start: usize,
}

impl WholeRings {
    /// Returns the transfer times for each rank in each running job. `step_delay` passes between an
    /// arrival and the transfer that it releases. Returns `None` if a transfer never ends.
    pub(super) fn times(
        self,
        jobs: &[RingFlows<'_>],
        step_delay: Time,
        fluid: &mut Fluid,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<Vec<Vec<RankTimes>>> {
        match self {
            WholeRings::Alone => {
                let flows = jobs.iter().flat_map(|job| job.flows);
                let alone: Vec<FlowRate> = flows.map(|(spec, _)| fluid.rate_alone(spec)).collect();
                times_at(jobs, &alone)
            }
            WholeRings::Shared => shared_times(jobs, step_delay, fluid, goes_on),
        }
    }
}

/// Returns each job's ranks' times at these rates, which are listed job by job.
fn times_at(jobs: &[RingFlows<'_>], rates: &[FlowRate]) -> Option<Vec<Vec<RankTimes>>> {
    let mut rates = rates.iter();
    let of_job = |job: &RingFlows<'_>| {
        let pairs = job.flows.iter().zip(rates.by_ref());
        let times = pairs.map(|((spec, rest), rate)| {
            Some(RankTimes {
                sending: spec.amount.time_at(*rate)?.ps(),
                rest: rest.ps(),
            })
        });
        times.collect()
    };
    jobs.iter().map(of_job).collect()
}

/// Returns the times of ranks that share links.
fn shared_times(
    jobs: &[RingFlows<'_>],
    step_delay: Time,
    fluid: &mut Fluid,
    goes_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Vec<Vec<RankTimes>>> {
    let flows = jobs.iter().flat_map(|job| job.flows);
    let specs: Vec<FlowSpec> = flows.map(|(spec, _)| *spec).collect();
    let least = rates_at_once(fluid, &specs);
    let mut times = times_at(jobs, &least)?;
    for _ in 0..ROUNDS {
        // Ctrl-C: the rates found so far are good enough to end with.
        if goes_on().is_break() {
            break;
        }
        let mut rates = fluid.rates_among(&specs, &presences(jobs, step_delay, &times));
        // A rank never has less than its max–min fair rate with all others under way. Processor
        // sharing alone would leave unused what flows held back elsewhere cannot take.
        for (rate, least) in rates.iter_mut().zip(&least) {
            *rate = (*rate).max(*least);
        }
        times = times_at(jobs, &rates)?;
    }
    Some(times)
}

/// Returns the fraction of time and the phase of each rank, job by job.
fn presences(jobs: &[RingFlows<'_>], step_delay: Time, times: &[Vec<RankTimes>]) -> Vec<Presence> {
    // Only looked up, never iterated.
    let mut phases: HashMap<(usize, u64, u64), u32> = HashMap::new();
    let of_job = |(job, ranks): (&RingFlows<'_>, &Vec<RankTimes>)| -> Vec<Presence> {
        let parts = busy_parts(job.rings, step_delay, ranks);
        let begins = Waves::new(job.rings, ranks, 0, step_delay.ps()).begins(STEPS_IN_PHASE);
        let phases = begins.into_iter().zip(ranks).map(|(begin, rank)| {
            let next = phases.len() as u32;
            // Phases are numbered in the order of ranks, so numbers do not depend on hashing.
            let phase = phases.entry((job.start, begin, rank.sending));
            *phase.or_insert(next)
        });
        let pairs = parts.into_iter().zip(phases);
        pairs
            .map(|(part, phase)| Presence { part, phase })
            .collect()
    };
    jobs.iter().zip(times).flat_map(of_job).collect()
}

/// Returns the fraction of time for which each rank sends.
fn busy_parts(rings: Rings, step_delay: Time, ranks: &[RankTimes]) -> Vec<Weight> {
    let count = ring_count(rings, ranks.len());
    let of_ring = |ring: usize| ranks.iter().skip(ring).step_by(count);
    let steps = (0..count).map(|ring| {
        let slowest = of_ring(ring).map(|rank| rank.sending).max().unwrap_or(0);
        let hops = of_ring(ring).map(|rank| u128::from(rank.sending) + u128::from(rank.rest));
        let around = hops.sum::<u128>() / (ranks.len() / count) as u128;
        let around = around + u128::from(step_delay.ps());
        let around = u64::try_from(around).unwrap_or(u64::MAX);
        slowest.max(around).max(1)
    });
    let steps: Vec<u64> = steps.collect();
    let pairs = ranks.iter().zip(steps.iter().cycle());
    pairs
        .map(|(rank, step)| Weight::of(rank.sending, *step))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_busy_for_parts_of_the_steps_of_their_rings() {
        let times = |sending, rest| RankTimes { sending, rest };
        // Two rings: a step of the first takes as long as its slowest rank sends, one of the second
        // as the way around takes for each of its ranks.
        let ranks = [
            times(100, 10),
            times(100, 700),
            times(400, 10),
            times(100, 900),
        ];
        let rings = Rings {
            stride: 2,
            steps: 2,
            bytes: 1,
        };
        let found = busy_parts(rings, Time::ZERO, &ranks);
        let expected = [(1, 4), (1, 9), (1, 1), (1, 9)];
        assert_eq!(found, expected.map(|(part, of)| Weight::of(part, of)));
        let found = busy_parts(rings, Time::from_ps(100), &ranks);
        let expected = [(1, 4), (1, 10), (1, 1), (1, 10)];
        assert_eq!(found, expected.map(|(part, of)| Weight::of(part, of)));
    }
}
