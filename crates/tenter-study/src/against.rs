//! What becomes of a value beside those of other variants.

use serde::Deserialize;
use tenter_config::Written;

/// What becomes of a value beside those of other variants with the same seed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Against {
    /// How many times that of the variant it is.
    RatioTo(String),
    /// 1 when it is at most that of the variant; else 0.
    AtMost(String),
    /// 1 when it is at least that of the first variant and at most that of the second; else 0.
    Between([String; 2]),
    /// By how many percent it is greater than that of the variant; below zero where it is less.
    ChangeFrom(String),
    /// Where a straight line through the value of another variant and this one ends: what grows
    /// by the same amount with each micro-batch, say, needs no trial of all of them.
    StraightLine {
        /// The other variant.
        through: String,
        /// Where the other variant is on the line, where this one is, and where the line ends.
        at: [u32; 3],
        /// What the value is divided by, 1 without: nanoseconds in a published unit, for example.
        over: Option<u64>,
    },
    /// How many times that of the second of each pair of variants that of the first is, on average
    /// over the pairs.
    MeanRatio(Vec<[String; 2]>),
    /// By how many percent that of the first of each pair is less than that of the second, on
    /// average over the pairs.
    MeanPercentLess(Vec<[String; 2]>),
    /// In how many of the pairs that of the first is less than `percent` of the second's.
    CountBelow {
        /// The limit, in percent of the second value.
        percent: u32,
        /// The pairs.
        pairs: Vec<[String; 2]>,
    },
}

impl Against {
    /// Reads the name of a variant, which means the ratio to it, or a mapping.
    pub(crate) fn read(written: &Written) -> Result<Against, String> {
        let against = match written {
            Written::Word(name) | Written::Text(name) => Against::RatioTo(name.clone()),
            other => crate::typed::typed(other)?,
        };
        match &against {
            Against::StraightLine { at, over, .. } if at[0] == at[1] || *over == Some(0) => Err(
                "a straight line needs two places that differ, and is divided by 1 or more"
                    .to_owned(),
            ),
            _ => Ok(against),
        }
    }

    /// The variants whose values the row's own value is set against.
    pub fn variants(&self) -> &[String] {
        match self {
            Against::RatioTo(other)
            | Against::AtMost(other)
            | Against::ChangeFrom(other)
            | Against::StraightLine { through: other, .. } => std::slice::from_ref(other),
            Against::Between(others) => others,
            Against::MeanRatio(pairs)
            | Against::MeanPercentLess(pairs)
            | Against::CountBelow { pairs, .. } => pairs.as_flattened(),
        }
    }

    /// The value that counts, of its own and those of the other variants in their order.
    pub(crate) fn of(&self, value: f64, others: &[f64]) -> f64 {
        let holds = |holds: bool| f64::from(u8::from(holds));
        match (self, others) {
            (Against::RatioTo(_), [other, ..]) => value / other,
            (Against::AtMost(_), [other, ..]) => holds(value <= *other),
            (Against::Between(_), [low, high, ..]) => holds(*low <= value && value <= *high),
            (Against::ChangeFrom(_), [other, ..]) => 100.0 * (value / other - 1.0),
            (Against::StraightLine { at, over, .. }, [other, ..]) => {
                let [first, second, end] = at.map(f64::from);
                let end = other + (value - other) * (end - first) / (second - first);
                end / over.unwrap_or(1) as f64
            }
            (Against::MeanRatio(_), others) => mean_ratio(others),
            (Against::MeanPercentLess(_), others) => 100.0 * (1.0 - mean_ratio(others)),
            (Against::CountBelow { percent, .. }, others) => {
                let below = |&ratio: &f64| 100.0 * ratio < f64::from(*percent);
                ratios(others).filter(below).count() as f64
            }
            _ => f64::NAN,
        }
    }
}

/// The ratios of pairs that follow each other.
fn ratios(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let (pairs, _) = values.as_chunks::<2>();
    pairs.iter().map(|[one, other]| one / other)
}

fn mean_ratio(values: &[f64]) -> f64 {
    ratios(values).sum::<f64>() / ratios(values).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_goes_on_by_equal_amounts() {
        // 10 at 35 and 17 at 70 are 0.2 for each, so 59 at 280.
        let line = |over| Against::StraightLine {
            through: "a".to_owned(),
            at: [35, 70, 280],
            over,
        };
        assert!((line(None).of(17.0, &[10.0]) - 59.0).abs() < 1e-9);
        assert!((line(Some(10)).of(17.0, &[10.0]) - 5.9).abs() < 1e-9);
    }

    #[test]
    fn pairs_are_averaged_and_counted() {
        let pairs = || vec![["a", "b"].map(str::to_owned), ["c", "d"].map(str::to_owned)];
        let close = |against: &Against, expected: f64| {
            let found = against.of(0.0, &[1.0, 2.0, 3.0, 2.0]);
            assert!((found - expected).abs() < 1e-12, "{against:?} {found}");
        };
        close(&Against::MeanRatio(pairs()), 1.0);
        close(&Against::MeanPercentLess(pairs()), 0.0);
        let below = Against::CountBelow {
            percent: 95,
            pairs: pairs(),
        };
        close(&below, 1.0);
    }
}
