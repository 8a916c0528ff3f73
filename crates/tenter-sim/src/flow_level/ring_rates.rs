//! The rates of rings that share links and are run as a whole.
//!
//! A rank of such a ring sends at a rate that does not change: its share of its links with all
//! other ranks, each of which is there for a part of the time. That part is how long the rank sends
//! in a step of its ring, and a step takes as long as its slowest rank sends, or as the way around
//! the ring takes for each rank in the mean. So where chunks are large, the ranks of the slowest
//! ring have their max–min fair rates; where latencies are most of a step, ranks seldom meet.
//! Ranks that begin at the same times and send for as long, as on a fabric that is the same for all
//! of them, stay in step, and are there for each other all the time.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tenter_flow::{FlowRate, FlowSpec, Fluid, Presence, Weight};
use tenter_units::Time;
use tenter_workload::Rings;

use super::ring_jobs::rates_at_once;
use super::waves::{RankTimes, Waves, ring_count};

/// So many times parts of the time are found from rates, and rates from parts of the time: then
/// rates change by less than a thousandth on links of up to 16 flows.
const ROUNDS: usize = 16;

/// Ranks that still begin at the same time after so many steps are in step.
const STEPS_IN_PHASE: u32 = 64;

/// How rings are run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WholeRings {
    /// Their flows never meet.
    Alone,
    /// They share links.
    Shared,
}

impl WholeRings {
    /// What ranks take for a transfer, with the flow of each and what comes behind it; from then to
    /// the transfer that it lets go a step takes the delay. `None` where one never ends.
    pub(super) fn times(
        self,
        rings: Rings,
        step_delay: Time,
        fluid: &mut Fluid,
        flows: &[(FlowSpec, Time)],
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<Vec<RankTimes>> {
        match self {
            WholeRings::Alone => {
                let alone = flows.iter().map(|(spec, _)| fluid.rate_alone(spec));
                times_at(flows, alone)
            }
            WholeRings::Shared => shared_times(rings, step_delay, fluid, flows, goes_on),
        }
    }
}

/// What ranks take at these rates.
fn times_at(
    flows: &[(FlowSpec, Time)],
    rates: impl IntoIterator<Item = FlowRate>,
) -> Option<Vec<RankTimes>> {
    let pairs = flows.iter().zip(rates);
    let times = pairs.map(|((spec, rest), rate)| {
        Some(RankTimes {
            sending: spec.amount.time_at(rate)?.ps(),
            rest: rest.ps(),
        })
    });
    times.collect()
}

/// What ranks take that share links.
fn shared_times(
    rings: Rings,
    step_delay: Time,
    fluid: &mut Fluid,
    flows: &[(FlowSpec, Time)],
    goes_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Vec<RankTimes>> {
    let specs: Vec<FlowSpec> = flows.iter().map(|(spec, _)| *spec).collect();
    let least = rates_at_once(fluid, &specs);
    let mut times = times_at(flows, least.iter().copied())?;
    for _ in 0..ROUNDS {
        if goes_on().is_break() {
            break;
        }
        let rates = fluid.rates_among(&specs, &presences(rings, step_delay, &times));
        let rates = rates.into_iter().zip(&least);
        times = times_at(flows, rates.map(|(rate, least)| rate.max(*least)))?;
    }
    Some(times)
}

/// When each rank sends.
fn presences(rings: Rings, step_delay: Time, ranks: &[RankTimes]) -> Vec<Presence> {
    let parts = busy_parts(rings, step_delay, ranks);
    let begins = Waves::new(rings, ranks, 0, step_delay.ps()).begins(STEPS_IN_PHASE);
    // Only looked up.
    let mut phases: HashMap<(u64, u64), u32> = HashMap::new();
    let times = begins.into_iter().zip(ranks).map(|(begin, rank)| {
        let next = phases.len() as u32;
        *phases.entry((begin, rank.sending)).or_insert(next)
    });
    let pairs = parts.into_iter().zip(times);
    pairs
        .map(|(part, phase)| Presence { part, phase })
        .collect()
}

/// For which part of the time each rank sends.
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
