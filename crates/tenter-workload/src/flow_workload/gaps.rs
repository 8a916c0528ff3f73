//! Gaps between flow arrivals in an open loop.
//!
//! Logarithm and exponential are computed here from additions, multiplications and divisions, which
//! IEEE 754 defines to the last bit. Library functions differ between systems, and results must
//! not.

use tenter_engine::Draws;
use tenter_language::units::Time;

/// Distribution that gaps between arrivals follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GapLaw {
    /// Exponential gaps: arrivals form a Poisson process.
    Exponential,
    /// Log-normal gaps: arrivals come in bursts.
    LogNormal {
        /// Standard deviation σ that the gap's logarithm has.
        sigma: f64,
    },
}

impl GapLaw {
    /// Draws the gap before arrival `number`. Any arrival can be drawn alone, in any order.
    pub(crate) fn draw(self, mean: Time, draws: Draws, number: u64) -> Time {
        let own = draws.of(number);
        let factor = match self {
            GapLaw::Exponential => -ln(unit(own.at(0))),
            // exp(σz) has the mean exp(σ²/2); subtracting σ²/2 in the exponent makes it 1.
            GapLaw::LogNormal { sigma } => exp(sigma * (normal(own) - sigma / 2.0)),
        };
        // The cast saturates for gaps beyond 64 bits.
        Time::from_ps((mean.ps() as f64 * factor) as u64)
    }
}

/// Maps a 64-bit draw to (0, 1]; 0 is left out because its logarithm is taken.
fn unit(draw: u64) -> f64 {
    const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
    ((draw >> 11) as f64 + 1.0) * STEP
}

/// Draws from the standard normal distribution, by Marsaglia's polar method.
fn normal(draws: Draws) -> f64 {
    let mut number = 0;
    loop {
        let x = 2.0 * unit(draws.at(number)) - 1.0;
        let y = 2.0 * unit(draws.at(number + 1)) - 1.0;
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * ln(square) / square).sqrt();
        }
        number += 2;
    }
}

const SQRT_2: f64 = std::f64::consts::SQRT_2;
const LN_2: f64 = std::f64::consts::LN_2;

/// Returns the natural logarithm of a positive number that is not subnormal.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1_023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1_023 << 52));
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh s with s = (m − 1)/(m + 1). s is at most 0.172, so eleven terms reach 10⁻¹⁸.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..11_u32).rev().fold(0.0, |sum, term| {
        sum * square + 1.0 / f64::from(2 * term + 1)
    });
    f64::from(exponent) * LN_2 + 2.0 * s * series
}

/// Returns the exponential of `x`, which is clamped to ±700.
fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let doublings = (x / LN_2).round();
    let rest = x - doublings * LN_2;
    // The remainder is at most 0.347, so seventeen terms reach 10⁻²².
    let series = (1..17_u32)
        .rev()
        .fold(1.0, |sum, term| 1.0 + rest * sum / f64::from(term));
    series * f64::from_bits(((1_023 + doublings as i64) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_library() {
        for step in 1..2_000 {
            let x = f64::from(step) / 1_000.0;
            assert!(
                (ln(x) - x.ln()).abs() < 1e-15 * (1.0 + x.ln().abs()),
                "ln {x}"
            );
            for y in [x, -x, 30.0 * x, -30.0 * x] {
                assert!((exp(y) / y.exp() - 1.0).abs() < 1e-13, "exp {y}");
            }
        }
        assert_eq!((ln(1.0), exp(0.0)), (0.0, 1.0));
        assert!((ln(unit(0)) + 53.0 * LN_2).abs() < 1e-13);
    }

    /// The mean of a million gaps within 4 standard errors, and their quantiles.
    #[test]
    fn gaps_have_their_mean_and_their_distribution() {
        const N: u64 = 1_000_000;
        let mean = Time::from_us(100);
        // P(gap ≤ mean): 1 − 1/e, and Φ(σ/2).
        let distributions = [
            (GapLaw::Exponential, 0.632_121),
            (GapLaw::LogNormal { sigma: 1.0 }, 0.691_462),
            (GapLaw::LogNormal { sigma: 2.0 }, 0.841_345),
        ];
        for (distribution, below) in distributions {
            let draws = Draws::new(3, "host0", "test of gaps");
            let gaps =
                (0..N).map(|number| distribution.draw(mean, draws, number).ps() as f64 / 1e8);
            let gaps: Vec<f64> = gaps.collect();
            let n = N as f64;
            let found = gaps.iter().sum::<f64>() / n;
            let square = gaps.iter().map(|gap| (gap - found).powi(2)).sum::<f64>();
            let error = (square / n / n).sqrt();
            assert!(
                (found - 1.0).abs() < 4.0 * error,
                "{distribution:?}: {found} ± {error}"
            );
            let share = gaps.iter().filter(|gap| **gap <= 1.0).count() as f64 / n;
            // 4 · √(0.25/10⁶)
            assert!((share - below).abs() < 0.002, "{distribution:?}: {share}");
        }
    }
}
