//! The rates of rings that share links and are run as a whole.
//!
//! A rank of such a ring sends at a rate that does not change: its share of its links with all
//! other ranks, each of which is there for a part of the time. That part is how long the rank sends
//! in a step of its ring, and a step takes as long as its slowest rank sends, or as the way around
//! the ring takes for each rank in the mean. So where chunks are large, the ranks of the slowest
//! ring have their max–min fair rates; where latencies are most of a step, ranks seldom meet.

use std::sync::Arc;

use tenter_flow::{FlowRate, FlowSpec, Fluid, Weight};
use tenter_units::Time;
use tenter_workload::Rings;

use super::ring_jobs::rates_at_once;
use super::waves::{RankTimes, ring_count};

/// So many times parts of the time are found from rates, and rates from parts of the time: then
/// rates change by less than a thousandth.
const ROUNDS: usize = 16;

/// How rings are run as a whole.
#[derive(Clone, Debug)]
pub(super) enum WholeRings {
    /// Their flows never meet.
    Alone,
    /// They share links; the rates of ranks in rings that have run.
    Shared(Vec<(Rings, Arc<[FlowRate]>)>),
}

impl WholeRings {
    /// The rates of the ranks, whose flows these are, with what they take from the end of a flow to
    /// the begin of the one that it lets go.
    pub(super) fn rates(
        &mut self,
        rings: Rings,
        fluid: &mut Fluid,
        flows: &[(FlowSpec, Time)],
    ) -> Arc<[FlowRate]> {
        let known = match self {
            WholeRings::Alone => {
                let alone = flows.iter().map(|(spec, _)| fluid.rate_alone(spec));
                return alone.collect();
            }
            WholeRings::Shared(known) => known,
        };
        if let Some((_, rates)) = known.iter().find(|(of, _)| *of == rings) {
            return Arc::clone(rates);
        }
        let rates: Arc<[FlowRate]> = shared_rates(rings, fluid, flows).into();
        known.push((rings, Arc::clone(&rates)));
        rates
    }
}

/// The rates of ranks that share links.
fn shared_rates(rings: Rings, fluid: &mut Fluid, flows: &[(FlowSpec, Time)]) -> Vec<FlowRate> {
    let specs: Vec<FlowSpec> = flows.iter().map(|(spec, _)| *spec).collect();
    let least = rates_at_once(fluid, &specs);
    let mut rates = least.clone();
    for _ in 0..ROUNDS {
        let times = flows.iter().zip(&rates).map(|((spec, rest), rate)| {
            // A flow that never ends takes as long as can be said.
            let sending = spec.amount.time_at(*rate).map_or(u64::MAX >> 32, Time::ps);
            RankTimes {
                sending,
                rest: rest.ps(),
            }
        });
        let busy = busy_parts(rings, &times.collect::<Vec<_>>());
        rates = fluid.rates_among(&specs, &busy);
        for (rate, least) in rates.iter_mut().zip(&least) {
            *rate = (*rate).max(*least);
        }
    }
    rates
}

/// For which part of the time each rank sends.
fn busy_parts(rings: Rings, ranks: &[RankTimes]) -> Vec<Weight> {
    let count = ring_count(rings, ranks.len());
    let of_ring = |ring: usize| ranks.iter().skip(ring).step_by(count);
    let steps = (0..count).map(|ring| {
        let slowest = of_ring(ring).map(|rank| rank.sending).max().unwrap_or(0);
        let hops = of_ring(ring).map(|rank| u128::from(rank.sending) + u128::from(rank.rest));
        let around = hops.sum::<u128>() / (ranks.len() / count) as u128;
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
        let found = busy_parts(rings, &ranks);
        let expected = [(1, 4), (1, 9), (1, 1), (1, 9)];
        assert_eq!(found, expected.map(|(part, of)| Weight::of(part, of)));
    }
}
