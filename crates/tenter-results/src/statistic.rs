//! Statistics over several values: a trial's rows, or trials with several seeds.
//!
//! `percentile.rs` has percentiles and the median for exact times, `spread.rs` the confidence
//! intervals for means over seeds.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::parsed;

use crate::percentile::rank;

/// A statistic that turns several values into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest value among all.
    Min,
    /// The arithmetic mean over all values.
    Mean,
    /// The value in the middle; among an even number, the mean of the middle two.
    Median,
    /// The smallest value that this many out of 100,000 values do not exceed (nearest rank). It is
    /// always a value that occurred.
    Percentile(u32),
    /// The greatest value among all.
    Max,
    /// The sum over all values.
    Sum,
    /// Number of values, whatever they are.
    Count,
    /// The standard deviation of a sample; 0 for a single value.
    StdDev,
    /// The greatest value minus the smallest.
    Range,
}

parsed!(Statistic {
    "`min`, `mean`, `median`, a percentile as `p99` or `p99.9`, `max`, `sum`, `count`, `stddev` or `range`",
    "is no statistic:",
    "choose from min, mean, median, p95, p99.9 or any other percentile, max, sum, count, stddev, range"
});

/// Denominator in percentiles: three decimals of a percent.
const WHOLE: u32 = 100_000;

impl Statistic {
    const WORDS: [(&'static str, Statistic); 8] = [
        ("min", Statistic::Min),
        ("mean", Statistic::Mean),
        ("median", Statistic::Median),
        ("max", Statistic::Max),
        ("sum", Statistic::Sum),
        ("count", Statistic::Count),
        ("stddev", Statistic::StdDev),
        ("range", Statistic::Range),
    ];

    /// Returns the words for all statistics, with one percentile as an example.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> + Clone {
        let words = Statistic::WORDS.iter().map(|(word, _)| *word);
        words.chain(std::iter::once("p99"))
    }

    /// Returns true if the statistic grows with its values; a spread or a count does not.
    pub fn is_of_size(self) -> bool {
        !matches!(
            self,
            Statistic::StdDev | Statistic::Range | Statistic::Count
        )
    }

    /// Returns the statistic over `values`; `None` without values, except for a count of 0.
    pub fn of(self, mut values: Vec<f64>) -> Option<f64> {
        if self == Statistic::Count {
            return Some(values.len() as f64);
        }
        // Sorted values are summed in one order, whatever order they came in.
        values.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        let count = values.len();
        let sum = || values.iter().sum::<f64>();
        Some(match self {
            Statistic::Min => first,
            Statistic::Mean => sum() / count as f64,
            Statistic::Median => {
                let (below, above) = (values[(count - 1) / 2], values[count / 2]);
                // The sum of both could overflow; half of their difference cannot.
                below + (above - below) / 2.0
            }
            Statistic::Percentile(share) => {
                let rank = rank(count as u64, u64::from(share), u64::from(WHOLE));
                values[rank as usize - 1]
            }
            Statistic::Max => last,
            Statistic::Sum => sum(),
            Statistic::Count => count as f64,
            Statistic::StdDev => deviation(&values, sum() / count as f64),
            Statistic::Range => last - first,
        })
    }
}

fn deviation(values: &[f64], mean: f64) -> f64 {
    let squares = values.iter().map(|value| (value - mean).powi(2));
    // A single value has no deviation; the divisor 1 keeps 0 / 0 out.
    let freedom = (values.len() - 1).max(1) as f64;
    (squares.sum::<f64>() / freedom).sqrt()
}

impl FromStr for Statistic {
    type Err = ();

    fn from_str(text: &str) -> Result<Statistic, ()> {
        if let Some((_, take)) = Statistic::WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(*take);
        }
        let (whole, decimals) = text.strip_prefix('p').map_or(("", ""), |number| {
            number.split_once('.').unwrap_or((number, ""))
        });
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
            return Err(());
        }
        // Padded to three decimals, the digits count thousandths of a percent.
        let share: u32 = format!("{whole}{decimals:0<3}").parse().map_err(drop)?;
        (share <= WHOLE)
            .then_some(Statistic::Percentile(share))
            .ok_or(())
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((word, _)) = Statistic::WORDS.iter().find(|(_, take)| take == self) {
            return out.write_str(word);
        }
        let Statistic::Percentile(share) = self else {
            unreachable!("all others have a word");
        };
        let text = format!("{}.{:03}", share / 1_000, share % 1_000);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        write!(out, "p{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::Statistic;

    fn take(word: &str) -> Statistic {
        word.parse()
            .unwrap_or_else(|()| panic!("`{word}` is a statistic"))
    }

    #[test]
    fn a_percentile_is_a_value_that_occurred() {
        let values = || (1..=200).map(f64::from).collect::<Vec<f64>>();
        // 95 % of 200 are 190 values, 99 % are 198, 99.9 % more than 199, 12.5 % are 25.
        for (word, expected) in [
            ("median", 100.5),
            ("p50", 100.0),
            ("p95", 190.0),
            ("p99", 198.0),
            ("p99.9", 200.0),
            ("p12.5", 25.0),
            ("p0", 1.0),
            ("p100", 200.0),
        ] {
            assert_eq!(take(word).of(values()), Some(expected), "{word}");
        }
        assert_eq!(take("p99").of(Vec::new()), None);
        assert_eq!(take("count").of(Vec::new()), Some(0.0));
        assert_eq!(take("median").of(vec![7.0]), Some(7.0));
    }

    #[test]
    fn a_deviation_is_that_of_a_sample() {
        // 1, 3 and 8: mean 4, squares 9 + 1 + 16 over 2.
        let values = vec![1.0, 8.0, 3.0];
        let of = |word: &str| take(word).of(values.clone()).expect("there are values");
        assert!((of("stddev") - 13.0_f64.sqrt()).abs() < 1e-12);
        assert!((of("range") - 7.0).abs() < 1e-12);
        assert_eq!(take("stddev").of(vec![5.0]), Some(0.0));
    }

    #[test]
    fn words_are_written_as_they_are_read() {
        for word in [
            "min", "median", "p50", "p95", "p99.9", "p12.5", "p0", "stddev",
        ] {
            assert_eq!(take(word).to_string(), word);
        }
        for word in ["p", "p101", "p1.2345", "px", "99", "p-1", "mode"] {
            assert!(word.parse::<Statistic>().is_err(), "{word}");
        }
    }
}
