//! What is made of several values: of the rows of a trial, or of the trials of several seeds.

use std::fmt;
use std::str::FromStr;

use tenter_config::parsed;

/// What becomes of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The least.
    Least,
    /// The arithmetic mean.
    Mean,
    /// The value that so many of 100,000 do not exceed; of an even number the median is the lower
    /// one of the two in the middle.
    Percentile(u32),
    /// The greatest.
    Greatest,
    /// The sum.
    Sum,
    /// How many values there are.
    Count,
    /// The standard deviation of a sample; 0 of one value.
    Deviation,
    /// The greatest less the least.
    Range,
}

parsed!(Take {
    "`least`, `mean`, `median`, a percentile as `p99` or `p99.9`, `greatest`, `sum`, `count`, `deviation` or `range`",
    "is no statistic:",
    "choose from least, mean, median, p95, p99.9 or any other percentile, greatest, sum, count, deviation, range"
});

/// All values.
const WHOLE: u32 = 100_000;

impl Take {
    /// The median.
    pub const MEDIAN: Take = Take::Percentile(WHOLE / 2);

    const WORDS: [(&'static str, Take); 8] = [
        ("least", Take::Least),
        ("mean", Take::Mean),
        ("median", Take::MEDIAN),
        ("greatest", Take::Greatest),
        ("sum", Take::Sum),
        ("count", Take::Count),
        ("deviation", Take::Deviation),
        ("range", Take::Range),
    ];

    /// Whether it grows with the values: how far they are apart and how many they are do not.
    pub fn is_of_size(self) -> bool {
        !matches!(self, Take::Deviation | Take::Range | Take::Count)
    }

    /// What it makes of values; nothing where there are none.
    pub fn of(self, mut values: Vec<f64>) -> Option<f64> {
        values.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        let count = values.len() as f64;
        let sum: f64 = values.iter().sum();
        Some(match self {
            Take::Least => first,
            Take::Mean => sum / count,
            Take::Percentile(share) => values[rank(share, values.len())],
            Take::Greatest => last,
            Take::Sum => sum,
            Take::Count => count,
            Take::Deviation => deviation(&values, sum / count),
            Take::Range => last - first,
        })
    }
}

/// The rank of the value that so many of 100,000 do not exceed, counted from 0.
fn rank(share: u32, count: usize) -> usize {
    let above = (count as u64 * u64::from(share)).div_ceil(u64::from(WHOLE));
    (above as usize).clamp(1, count) - 1
}

fn deviation(values: &[f64], mean: f64) -> f64 {
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let freedom = (values.len() - 1).max(1) as f64;
    (squares.sum::<f64>() / freedom).sqrt()
}

impl FromStr for Take {
    type Err = ();

    fn from_str(text: &str) -> Result<Take, ()> {
        if let Some((_, take)) = Take::WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(*take);
        }
        let (whole, decimals) = text.strip_prefix('p').map_or(("", ""), |number| {
            number.split_once('.').unwrap_or((number, ""))
        });
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
            return Err(());
        }
        let share: u32 = format!("{whole}{decimals:0<3}").parse().map_err(drop)?;
        (share <= WHOLE)
            .then_some(Take::Percentile(share))
            .ok_or(())
    }
}

impl fmt::Display for Take {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((word, _)) = Take::WORDS.iter().find(|(_, take)| take == self) {
            return out.write_str(word);
        }
        let Take::Percentile(share) = self else {
            unreachable!("all others have a word");
        };
        let text = format!("{}.{:03}", share / 1_000, share % 1_000);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        write!(out, "p{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::Take;

    fn take(word: &str) -> Take {
        word.parse()
            .unwrap_or_else(|()| panic!("`{word}` is a statistic"))
    }

    #[test]
    fn a_percentile_is_a_value_that_occurred() {
        let values = || (1..=200).map(f64::from).collect::<Vec<f64>>();
        // 95 % of 200 are 190 values, 99 % are 198, 99.9 % more than 199, 12.5 % are 25.
        for (word, expected) in [
            ("median", 100.0),
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
        assert_eq!(take("median").of(vec![7.0]), Some(7.0));
    }

    #[test]
    fn a_deviation_is_that_of_a_sample() {
        // 1, 3 and 8: mean 4, squares 9 + 1 + 16 over 2.
        let values = vec![1.0, 8.0, 3.0];
        let of = |word: &str| take(word).of(values.clone()).expect("there are values");
        assert!((of("deviation") - 13.0_f64.sqrt()).abs() < 1e-12);
        assert!((of("range") - 7.0).abs() < 1e-12);
        assert_eq!(take("deviation").of(vec![5.0]), Some(0.0));
    }

    #[test]
    fn words_are_written_as_they_are_read() {
        for word in [
            "least",
            "median",
            "p95",
            "p99.9",
            "p12.5",
            "p0",
            "deviation",
        ] {
            assert_eq!(take(word).to_string(), word);
        }
        for word in ["p", "p101", "p1.2345", "px", "99", "p-1", "mode"] {
            assert!(word.parse::<Take>().is_err(), "{word}");
        }
        // One statistic has one name.
        assert_eq!(take("p50").to_string(), "median");
    }
}
