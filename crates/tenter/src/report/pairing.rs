//! Statistics of values in pairs, such as those of equal seeds.

use tenter_results::{Spread, sign_test};

/// Result of a paired comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pairs {
    pub(crate) count: usize,
    /// Number of pairs in which the first value is better.
    pub(crate) wins: usize,
    /// Number of pairs in which the first value is worse.
    pub(crate) losses: usize,
    /// Geometric mean over the ratios first to second; `None` if a value is not positive.
    pub(crate) ratio: Option<f64>,
    /// 95 % confidence interval around `ratio`, by Student's t distribution; `None` for a single
    /// pair.
    pub(crate) interval: Option<(f64, f64)>,
    /// p-value of the two-sided sign test.
    pub(crate) p_value: f64,
}

/// p-values below this limit are called significant.
pub(crate) const SIGNIFICANT: f64 = 0.05;

impl Pairs {
    /// Evaluates paired values; `None` without a pair.
    pub(crate) fn of(pairs: &[(f64, f64)], more_is_better: bool) -> Option<Pairs> {
        if pairs.is_empty() {
            return None;
        }
        let better = |a: f64, b: f64| if more_is_better { a > b } else { a < b };
        let wins = pairs.iter().filter(|(a, b)| better(*a, *b)).count();
        let losses = pairs.iter().filter(|(a, b)| better(*b, *a)).count();
        let positive = pairs.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
        // Logarithms make ratios symmetric about 1: twice and half cancel out.
        // `Spread` keeps a seed with each value, which is of no use here.
        let logs = pairs.iter().map(|(a, b)| ((a / b).ln(), 0));
        let spread = Spread::of(&logs.collect::<Vec<_>>()).filter(|_| positive);
        Some(Pairs {
            count: pairs.len(),
            wins,
            losses,
            ratio: spread.map(|of| of.mean.exp()),
            interval: spread.and_then(|of| {
                let half = of.ci95?;
                Some(((of.mean - half).exp(), (of.mean + half).exp()))
            }),
            p_value: sign_test(wins, losses),
        })
    }

    /// Formats how much the first value differs in per cent, such as `37.2 % less`; empty without a
    /// ratio.
    pub(crate) fn difference(&self) -> String {
        self.ratio.map(difference).unwrap_or_default()
    }

    /// Formats interval, wins and sign test.
    pub(crate) fn confidence(&self) -> String {
        let Pairs {
            count,
            wins,
            losses,
            ..
        } = *self;
        if count == 1 {
            return "one seed, so no confidence".to_owned();
        }
        let interval = self.interval.map(|(low, high)| {
            let (low, high) = ((low - 1.0) * 100.0, (high - 1.0) * 100.0);
            format!("95 % interval {low:+.1} to {high:+.1} %, ")
        });
        let ties = match count - wins - losses {
            0 => String::new(),
            ties => format!(", equal with {ties}"),
        };
        format!(
            "{}better with {wins} of {count} seeds{ties}, p = {:.3}, {}",
            interval.unwrap_or_default(),
            self.p_value,
            if self.p_value < SIGNIFICANT {
                "significant"
            } else {
                "not significant"
            }
        )
    }
}

/// Formats a ratio as a difference: `37.2 % less`, `equal`.
pub(crate) fn difference(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent {
        percent if percent.abs() < 0.05 => "equal".to_owned(),
        percent if percent < 0.0 => format!("{:.1} % less", -percent),
        percent => format!("{percent:.1} % more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_by_hand() {
        // Ratios 1/2 and 1/8: geometric mean 1/4. Their logarithms are ln 2 away from it, so the
        // standard error is ln 2, and t of one degree of freedom is 12.706205.
        let pairs = Pairs::of(&[(1.0, 2.0), (1.0, 8.0)], false).expect("two pairs");
        assert!((pairs.ratio.expect("a ratio") - 0.25).abs() < 1e-12);
        let (low, high) = pairs.interval.expect("two pairs");
        let factor = 2_f64.powf(12.706_205);
        assert!((high - 0.25 * factor).abs() < 1e-6 * factor);
        assert!((low * factor - 0.25).abs() < 1e-6);
        assert_eq!((pairs.wins, pairs.losses), (2, 0));
        assert!((pairs.p_value - 0.5).abs() < 1e-12);
        let other_way = Pairs::of(&[(1.0, 2.0), (1.0, 8.0)], true).expect("two pairs");
        assert_eq!((other_way.wins, other_way.losses), (0, 2));
    }

    #[test]
    fn words_for_ratios_and_confidence() {
        let texts = [0.628, 1.0, 1.5].map(difference);
        assert_eq!(texts, ["37.2 % less", "equal", "50.0 % more"]);
        let one = Pairs::of(&[(1.0, 2.0)], false).expect("a pair");
        assert!(one.confidence().contains("one seed"));
        let eight = Pairs::of(&[(1.0, 2.0); 8], false).expect("pairs");
        // All ratios are alike, so the interval has no width; p is 2 / 256.
        assert_eq!(
            eight.confidence(),
            "95 % interval -50.0 to -50.0 %, better with 8 of 8 seeds, p = 0.008, significant"
        );
        let none = Pairs::of(&[(0.0, 2.0), (0.0, 0.0)], false).expect("pairs");
        assert_eq!((none.ratio, none.wins, none.losses), (None, 1, 0));
        assert!(none.confidence().contains("equal with 1"));
        assert_eq!(Pairs::of(&[], false), None);
    }
}
