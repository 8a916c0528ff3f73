//! Choice among receivers in an open loop: all equally likely, or weighted by a matrix.

use std::ops::Range;

use tenter_engine::Draws;

/// Rule by which a sender chooses the receiver for its next flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// All receivers are equally likely.
    Alike,
    /// Each receiver is as likely as its weight is large.
    Weighted(Weights),
}

impl Receivers {
    /// Draws one way from the range `ways`, as an index among all ways. `number` numbers the draw.
    pub(crate) fn draw(&self, ways: Range<usize>, draws: Draws, number: u64) -> usize {
        match self {
            Receivers::Alike => ways.start + draws.below(number, ways.len() as u64) as usize,
            Receivers::Weighted(weights) => weights.draw(ways, draws, number),
        }
    }
}

/// A weight for each way, such as the bytes between two ranks in a communication matrix.
///
/// Prefix sums are stored, so a draw is a binary search: O(log n) per flow, in integers alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Sum over all ways before each way, followed by the total.
    before: Vec<u64>,
}

impl Weights {
    /// Bits in the total weight. A draw's relative bias is at most 2⁻¹⁶, beyond measure in any run.
    const BITS: u32 = 48;

    /// Makes weights from one number per way. Large weights are shifted right together so that the
    /// total has about 48 bits; each stays at least 1.
    pub fn new(weights: &[u64]) -> Weights {
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let shift = (u128::BITS - total.leading_zeros()).saturating_sub(Self::BITS);
        let mut before = Vec::with_capacity(weights.len() + 1);
        let mut sum = 0;
        before.push(sum);
        for weight in weights {
            sum += (weight >> shift).max(1);
            before.push(sum);
        }
        Weights { before }
    }

    /// Returns the weight of a single way.
    pub fn of(&self, way: usize) -> u64 {
        self.sum(&(way..way + 1))
    }

    /// Returns the total weight over all ways.
    pub fn total(&self) -> u64 {
        self.before.last().copied().unwrap_or_default()
    }

    /// Returns the weight that a range has.
    pub(crate) fn sum(&self, ways: &Range<usize>) -> u64 {
        self.before[ways.end] - self.before[ways.start]
    }

    /// Returns how many flows, out of `flows`, go by the given ways. Disjoint ranges add up
    /// exactly.
    pub(crate) fn share(&self, flows: u64, ways: &Range<usize>) -> u64 {
        let total = u128::from(self.total().max(1));
        let until = |way: usize| u128::from(flows) * u128::from(self.before[way]) / total;
        (until(ways.end) - until(ways.start)) as u64
    }

    /// Returns the way before which `fraction`/2⁶⁴ of all weight lies.
    pub(crate) fn at(&self, fraction: u64) -> usize {
        let weight = (u128::from(fraction) * u128::from(self.total())) >> 64;
        self.before
            .partition_point(|&before| before <= weight as u64)
            - 1
    }

    fn draw(&self, ways: Range<usize>, draws: Draws, number: u64) -> usize {
        let weight = self.before[ways.start] + draws.below(number, self.sum(&ways));
        let ends = &self.before[ways.start + 1..ways.end];
        ways.start + ends.partition_point(|&end| end <= weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let weights = Weights::new(&[5, 1, 3, 6, 2]);
        let draws = Draws::new(1, "job0", "flow arrivals");
        let receivers = Receivers::Weighted(weights.clone());
        let mut found = [0.0; 5];
        for number in 0..10_000 {
            found[receivers.draw(1..4, draws, number)] += 1.0;
        }
        for (way, found) in found.iter().enumerate() {
            let share = if (1..4).contains(&way) {
                weights.of(way) as f64 / 10.0
            } else {
                0.0
            };
            // Four standard deviations of a binomial distribution.
            let error = 4.0 * (10_000.0 * share * (1.0 - share)).sqrt();
            assert!((found - 10_000.0 * share).abs() <= error, "{way}: {found}");
        }
    }

    #[test]
    fn shares_add_up_and_places_are_those_of_the_weights() {
        let weights = Weights::new(&[5, 1, 3, 6, 2]);
        let shares = [0..1, 1..4, 4..5].map(|ways| weights.share(1_000, &ways));
        assert_eq!(shares, [294, 588, 118]);
        assert_eq!(shares.iter().sum::<u64>(), 1_000);
        let places = [0, u64::MAX / 17 * 5, u64::MAX / 17 * 6 + 17, u64::MAX];
        assert_eq!(places.map(|place| weights.at(place)), [0, 0, 2, 4]);
    }

    #[test]
    fn huge_weights_are_scaled_down_together() {
        let weights = Weights::new(&[u64::MAX, u64::MAX / 2, 7]);
        // Together 65 bits, of which 48 stay.
        let scaled = [(1 << 47) - 1, (1 << 46) - 1, 1];
        assert_eq!([0, 1, 2].map(|way| weights.of(way)), scaled);
    }
}
