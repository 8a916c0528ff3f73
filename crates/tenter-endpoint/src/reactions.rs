//! Reaction times: from the instant at which a switch found a queue too long to the sender's pause.

use std::collections::BTreeMap;

use tenter_fabric::net::{Cause, SENT_UNIT_PS, Signal};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

/// Resolution: each doubling of a time is divided into this many steps.
const STEPS: u32 = 64;

/// One NIC's reaction times, by receiver and cause.
#[derive(Clone, Debug, Default)]
pub struct Reactions(BTreeMap<(HostId, Cause), Reaction>);

impl Reactions {
    /// Records that a congestion signal takes effect at `at`.
    pub(crate) fn note(&mut self, signal: &Signal, at: Instant) {
        let reaction = self.0.entry((signal.receiver, signal.cause)).or_default();
        reaction.add(signal.age(at));
    }

    /// Returns all distributions, ordered by receiver, then by cause.
    pub fn iter(&self) -> impl Iterator<Item = (HostId, Cause, &Reaction)> {
        self.0
            .iter()
            .map(|(&(receiver, cause), of)| (receiver, cause, of))
    }
}

/// A reaction time distribution. Sum and extremes are exact to 0.128 ns, percentiles to 1.6 %. The
/// memory is bounded however long the run.
#[derive(Clone, Debug, Default)]
pub struct Reaction {
    count: u64,
    sum: u64,
    min: u32,
    max: u32,
    /// Number of pauses in each step that occurred.
    steps: BTreeMap<u32, u64>,
}

impl Reaction {
    fn add(&mut self, units: u32) {
        self.min = if self.count == 0 {
            units
        } else {
            self.min.min(units)
        };
        self.max = self.max.max(units);
        self.count += 1;
        self.sum += u64::from(units);
        *self.steps.entry(step(units)).or_default() += 1;
    }

    /// Returns the number of pauses so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the least, mean and greatest reaction time, in ps.
    pub fn extremes(&self) -> [u64; 3] {
        let mean = self.sum * SENT_UNIT_PS / self.count.max(1);
        let [min, max] = [self.min, self.max].map(|units| u64::from(units) * SENT_UNIT_PS);
        [min, mean, max]
    }

    /// Returns the reaction time that `share` pauses in 1,000 did not exceed, in ps, rounded up to
    /// its step's end.
    pub fn per_mille(&self, share: u64) -> u64 {
        let rank = (self.count * share).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (&step, &count) in &self.steps {
            seen += count;
            if seen >= rank {
                // The last step may reach beyond the greatest time.
                return u64::from(last_of(step).min(self.max)) * SENT_UNIT_PS;
            }
        }
        u64::from(self.max) * SENT_UNIT_PS
    }
}

/// Returns the step for a value: one per unit up to [`STEPS`], then [`STEPS`] steps for each
/// doubling.
fn step(units: u32) -> u32 {
    let doublings = (units / STEPS).checked_ilog2().map_or(0, |log| log + 1);
    let shift = doublings.saturating_sub(1);
    shift * STEPS + (units >> shift)
}

/// Returns the greatest value in a step.
fn last_of(step: u32) -> u32 {
    let shift = (step / STEPS).saturating_sub(1);
    let first = u64::from(step - shift * STEPS) << shift;
    let last = first + (1 << shift) - 1;
    u32::try_from(last).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_adjacent_and_narrow() {
        for units in (0..10_000).chain([1 << 20, (1 << 20) + 1, u32::MAX - 1, u32::MAX]) {
            let of = step(units);
            assert!(last_of(of) >= units, "{units}");
            assert!(of == 0 || last_of(of - 1) < units, "{units}");
            assert!(last_of(of) - units <= units / STEPS, "{units}");
        }
    }

    #[test]
    fn a_distribution_of_ten() {
        let mut reaction = Reaction::default();
        (1..=10).for_each(|units| reaction.add(units));
        assert_eq!(reaction.count(), 10);
        assert_eq!(reaction.extremes(), [128, 55 * 128 / 10, 1_280]);
        assert_eq!(
            [500, 990].map(|share| reaction.per_mille(share)),
            [640, 1_280]
        );
    }
}
