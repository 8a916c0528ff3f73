//! Exact percentiles for completion times.

use std::collections::BTreeMap;

use tenter_language::units::Time;

/// Returns the value at `per_mille` of `sorted` by nearest rank: the smallest value with at least
/// that share of all values at or below it.
///
/// It is always a value that occurred, never an interpolation, so a digest over it is exact.
/// Returns `None` if `sorted` is empty. A `per_mille` of 0 gives the least value, 1,000 or more the
/// greatest.
pub fn nearest_rank<T: Copy>(sorted: &[T], per_mille: u32) -> Option<T> {
    let rank = rank(sorted.len() as u64, u64::from(per_mille), 1_000);
    sorted.get(rank as usize - 1).copied()
}

/// Returns the percentile's nearest rank, from 1: `share` / `whole` among `count` values.
pub fn rank(count: u64, share: u64, whole: u64) -> u64 {
    // The product may exceed 64 bits.
    let below = u128::from(count) * u128::from(share.min(whole));
    (below.div_ceil(u128::from(whole)) as u64).max(1)
}

/// Returns the median. Among an even number it is the mean of the middle two, rounded down to a
/// picosecond.
pub fn median_time(mut times: Vec<Time>) -> Option<Time> {
    times.sort_unstable();
    // Without times the subtraction fails, which returns `None`.
    let below = *times.get(times.len().checked_sub(1)? / 2)?;
    let above = times[times.len() / 2];
    Some(below + Time::from_ps((above.ps() - below.ps()) / 2))
}

/// The six completion-time statistics that every table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Least time, in ps like the others.
    pub min: Time,
    /// 50th percentile by nearest rank.
    pub p50: Time,
    /// 95th percentile by nearest rank.
    pub p95: Time,
    /// 99th percentile by nearest rank.
    pub p99: Time,
    /// 99.9th percentile by nearest rank.
    pub p999: Time,
    /// Greatest time among all of them.
    pub max: Time,
}

impl Distribution {
    /// Takes each statistic from `at`, by per mille from 0 to 1,000; `None` without values.
    pub fn by(at: impl Fn(u32) -> Option<Time>) -> Option<Distribution> {
        Some(Distribution {
            min: at(0)?,
            p50: at(500)?,
            p95: at(950)?,
            p99: at(990)?,
            p999: at(999)?,
            max: at(1_000)?,
        })
    }

    /// Sorts `times` and takes their statistics; `None` without times.
    pub fn of(times: &mut [Time]) -> Option<Distribution> {
        times.sort_unstable();
        Distribution::by(|per_mille| nearest_rank(times, per_mille))
    }

    /// Takes the statistics over times with their counts; `None` without times.
    pub fn of_counts(times: &BTreeMap<Time, u64>) -> Option<Distribution> {
        let count = times.values().sum();
        Distribution::by(|per_mille| {
            // The rank counts down by each time's count until the time that holds it.
            let mut before = rank(count, u64::from(per_mille), 1_000);
            let mut times = times.iter();
            let found = times.find(|(_, often)| {
                let is_there = before <= **often;
                before = before.saturating_sub(**often);
                is_there
            });
            found.map(|(time, _)| *time)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nearest_rank_of_a_few_values() {
        // Five values: P50 is rank ⌈2.5⌉ = 3, P95 is rank ⌈4.75⌉ = 5, P20 is rank 1 exactly.
        let sorted = [15, 20, 35, 40, 50];
        assert_eq!(nearest_rank(&sorted, 500), Some(35));
        assert_eq!(nearest_rank(&sorted, 950), Some(50));
        assert_eq!(nearest_rank(&sorted, 200), Some(15));
        assert_eq!(nearest_rank(&sorted, 0), Some(15));
        assert_eq!(nearest_rank(&sorted, 1_000), Some(50));
    }

    #[test]
    fn a_median_is_in_the_middle() {
        let of = |ps: &[u64]| median_time(ps.iter().copied().map(Time::from_ps).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[9]), Some(Time::from_ps(9)));
        assert_eq!(of(&[9, 1, 4]), Some(Time::from_ps(4)));
        assert_eq!(of(&[9, 1, 4, 7]), Some(Time::from_ps(5)));
    }

    #[test]
    fn no_values_have_no_percentile() {
        assert_eq!(nearest_rank::<u64>(&[], 500), None);
        assert_eq!(Distribution::of(&mut []), None);
    }

    #[test]
    fn one_value_is_all_of_them() {
        let one = Distribution::of(&mut [Time::from_ns(7)]).expect("one value");
        assert_eq!(
            (one.min, one.p50, one.max),
            (Time::from_ns(7), one.p999, one.p95)
        );
    }

    #[test]
    fn a_thousand_values_in_any_order() {
        let mut times: Vec<Time> = (1..=1_000).rev().map(Time::from_ns).collect();
        let all = Distribution::of(&mut times).expect("a thousand values");
        let ns = [all.min, all.p50, all.p95, all.p99, all.p999, all.max].map(|t| t.ps() / 1_000);
        assert_eq!(ns, [1, 500, 950, 990, 999, 1_000]);
    }

    proptest! {
        /// Counted or listed, times have the same statistics.
        #[test]
        fn counted_times_are_those_listed(values in prop::collection::vec(0_u64..9, 1..80)) {
            let mut listed: Vec<Time> = values.iter().copied().map(Time::from_ns).collect();
            let mut counted = BTreeMap::new();
            for time in &listed {
                *counted.entry(*time).or_default() += 1;
            }
            prop_assert_eq!(Distribution::of_counts(&counted), Distribution::of(&mut listed));
        }

        /// The definition itself: enough values at or below, and too few strictly below.
        #[test]
        fn follows_its_definition(
            mut values in prop::collection::vec(0_u64..50, 1..80),
            per_mille in 1_u32..=1_000,
        ) {
            values.sort_unstable();
            let found = nearest_rank(&values, per_mille).expect("not empty");
            let needed = values.len() as u64 * u64::from(per_mille);
            let at_or_below = values.iter().filter(|v| **v <= found).count() as u64;
            let below = values.iter().filter(|v| **v < found).count() as u64;
            prop_assert!(at_or_below * 1_000 >= needed);
            prop_assert!(below * 1_000 < needed);
        }
    }
}
