//! Mean over a few values, with its confidence interval.

/// 0.975 quantile in Student's t distribution for 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
    2.262_157, 2.228_139, 2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905,
    2.109_816, 2.100_922, 2.093_024, 2.085_963, 2.079_614, 2.073_873, 2.068_658, 2.063_899,
    2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// Returns the same quantile for any number of degrees of freedom, at least 1.
///
/// Beyond the table it is the expansion in powers of 1/n about the normal quantile. Three terms are
/// exact to six digits there (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5).
fn t_975(degrees: usize) -> f64 {
    /// 0.975 quantile in the normal distribution.
    const Z: f64 = 1.959_963_985;
    if let Some(&quantile) = T_975.get(degrees - 1) {
        return quantile;
    }
    let n = degrees as f64;
    let power = |exponent: i32| Z.powi(exponent);
    let first = (power(3) + Z) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / 384.0;
    Z + first / n + second / n.powi(2) + third / n.powi(3)
}

/// Mean, confidence interval and extremes over marked values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Arithmetic mean over all values.
    pub mean: f64,
    /// Half the width of the mean's 95 % confidence interval; `None` for a single value.
    pub ci95: Option<f64>,
    /// Least value with its mark; among equal values the first.
    pub least: (f64, u64),
    /// Greatest value with its mark; among equal values the first.
    pub greatest: (f64, u64),
}

impl Spread {
    /// Summarises values, each marked with its origin; `None` without values.
    pub fn of(values: &[(f64, u64)]) -> Option<Spread> {
        let first = *values.first()?;
        let n = values.len() as f64;
        let mean = values.iter().map(|(value, _)| value).sum::<f64>() / n;
        let ci95 = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|(value, _)| (value - mean).powi(2)).sum();
            // The mean's standard error, from the sample's deviation with n - 1 degrees of freedom.
            t_975(values.len() - 1) * (squares / (n - 1.0) / n).sqrt()
        });
        let (mut least, mut greatest) = (first, first);
        for &value in values {
            if value.0 < least.0 {
                least = value;
            }
            if value.0 > greatest.0 {
                greatest = value;
            }
        }
        Some(Spread {
            mean,
            ci95,
            least,
            greatest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of published tables of the distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let cases = [
            (1, 12.706_2),
            (10, 2.228_14),
            (30, 2.042_27),
            (31, 2.039_51),
            (40, 2.021_08),
            (60, 2.000_30),
            (120, 1.979_93),
            (1_000_000, 1.959_97),
        ];
        for (degrees, expected) in cases {
            let found = t_975(degrees);
            assert!((found - expected).abs() < 1e-4, "{degrees}: {found}");
        }
        assert!((30..200).all(|degrees| t_975(degrees + 1) < t_975(degrees)));
    }

    #[test]
    fn a_spread_by_hand() {
        // Mean 4, squares 4 + 0 + 4, variance 4, standard error 2/√3.
        let spread = Spread::of(&[(4.0, 1), (2.0, 2), (6.0, 3)]).expect("three values");
        assert!((spread.mean - 4.0).abs() < 1e-12);
        let ci95 = spread.ci95.expect("three values");
        assert!((ci95 - 4.302_653 * 2.0 / 3_f64.sqrt()).abs() < 1e-9);
        assert_eq!((spread.least, spread.greatest), ((2.0, 2), (6.0, 3)));
        let single = Spread::of(&[(4.0, 1)]).expect("one value");
        assert_eq!((single.ci95, single.least), (None, (4.0, 1)));
        assert_eq!(Spread::of(&[]), None);
    }
}
