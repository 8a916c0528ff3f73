//! Comparison with other variants' values: the key `against` in a reading.

use serde::Deserialize;
use tenter_language::config::Written;

/// Formula that compares a trial's value with the values that other variants have for the same seed
/// at the same point.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Against {
    /// The value divided by the named variant's value.
    RatioTo(String),
    /// 1 if the value is at most the named variant's value, else 0.
    AtMost(String),
    /// 1 if the value is at least the first variant's value and at most the second's, else 0.
    Between([String; 2]),
    /// Percent by which the value exceeds the named variant's value; negative if it is less.
    ChangeFrom(String),
    /// Linear extrapolation: a straight line through another variant's value and this one, read at
    /// a third place. A time that grows by the same amount with each micro-batch, for example, can
    /// be read at the published micro-batch count without a trial that simulates all of them.
    StraightLine {
        /// Variant that gives the line's first point.
        through: String,
        /// Places along the line, without a unit: the other variant's, this variant's, and the one
        /// at which the line is read.
        at: [u32; 3],
        /// Divisor for the result, 1 if absent: it converts nanoseconds to the published unit, for
        /// example.
        over: Option<u64>,
    },
    /// Mean over the pairs: the first variant's value divided by the second's.
    MeanRatio(Vec<[String; 2]>),
    /// Mean over the pairs: percent by which the first variant's value is less than the second's.
    MeanPercentLess(Vec<[String; 2]>),
    /// Counts the pairs in which the first variant's value is less than `percent` of the second's.
    CountBelow {
        /// Limit, in percent of the second variant's value.
        percent: u32,
        /// Variants to compare, two by two.
        pairs: Vec<[String; 2]>,
    },
}

impl Against {
    /// Reads the key `against`: a bare variant name means the ratio to that variant; a mapping
    /// names the formula.
    ///
    /// # Errors
    /// Says what is wrong with the mapping, or that a straight line has both points at one place or
    /// divides by zero.
    pub(crate) fn read(written: &Written) -> Result<Against, String> {
        let against = match written {
            Written::Word(name) | Written::Text(name) => Against::RatioTo(name.clone()),
            other => crate::studies::typed::typed(other)?,
        };
        match &against {
            Against::MeanRatio(pairs)
            | Against::MeanPercentLess(pairs)
            | Against::CountBelow { pairs, .. }
                if pairs.is_empty() =>
            {
                Err("it has no pairs; name variants two by two: `[[a, b]]`".to_owned())
            }
            Against::StraightLine { at, over, .. } if at[0] == at[1] || *over == Some(0) => Err(
                "a straight line needs two places that differ, and is divided by 1 or more"
                    .to_owned(),
            ),
            _ => Ok(against),
        }
    }

    /// Returns the variants that the value is compared with, pair by pair for formulas over pairs.
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

    /// Evaluates the formula for a trial's `value` and the `others`, which are the values of
    /// [`variants`](Self::variants) in the same order. Formulas over pairs do not use `value`.
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
            // Formulas over pairs compare other variants with each other; the row's own value does
            // not enter.
            (Against::MeanRatio(_), others) => mean_ratio(others),
            (Against::MeanPercentLess(_), others) => 100.0 * (1.0 - mean_ratio(others)),
            (Against::CountBelow { percent, .. }, others) => {
                let below = |&ratio: &f64| 100.0 * ratio < f64::from(*percent);
                ratios(others).filter(below).count() as f64
            }
            // Too few values: NaN lies in no band, so a judged row is a miss.
            _ => f64::NAN,
        }
    }
}

/// Divides the first value of each consecutive pair by the second.
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
