//! Sign test: whether wins and losses may be due to chance.

/// Returns the two-sided p-value: the probability that a fair coin's heads and tails differ at
/// least as much. Ties are not counted.
pub fn sign_test(wins: usize, losses: usize) -> f64 {
    let tosses = wins + losses;
    let fewer = wins.min(losses);
    // `sum` is in units of 2^`shift`: binomials beyond 2^1024 and powers below 2^-1075 are no
    // floats.
    let (mut term, mut sum, mut shift) = (1.0_f64, 0.0_f64, 0_usize);
    for heads in 0..=fewer {
        if term > SCALE {
            term /= SCALE;
            sum /= SCALE;
            shift += SCALE_BITS;
        }
        sum += term;
        // Binomial coefficients: each follows from the one before by (n - k) / (k + 1).
        term *= (tosses - heads) as f64 / (heads + 1) as f64;
    }
    // Two factors of about equal size are floats even if only their product with `sum` is one.
    let halvings = i32::try_from(tosses.saturating_sub(shift)).unwrap_or(i32::MAX);
    let half = 0.5_f64.powi(halvings / 2);
    (2.0 * sum * half * 0.5_f64.powi(halvings - halvings / 2)).min(1.0)
}

/// Bound above which terms and sums are scaled down.
const SCALE: f64 = (1_u64 << 62) as f64;
const SCALE_BITS: usize = 62;

#[cfg(test)]
mod tests {
    use super::sign_test;

    #[test]
    fn a_sign_test_counts_heads_and_tails() {
        // Ten of ten: 2 / 1024. Nine of ten: 2 (1 + 10) / 1024. Half and half: certain.
        assert!((sign_test(10, 0) - 2.0 / 1024.0).abs() < 1e-12);
        assert!((sign_test(1, 9) - 22.0 / 1024.0).abs() < 1e-12);
        assert!((sign_test(5, 5) - 1.0).abs() < 1e-12);
        assert!((sign_test(0, 0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_sign_test_of_many_tosses_is_no_zero() {
        // Half and half: certain.
        assert!((sign_test(1_000, 1_000) - 1.0).abs() < 1e-9);
        assert!((sign_test(1_000_000, 1_000_000) - 1.0).abs() < 1e-6);
        // 2,100 tosses: (1100 - 1000 - 1) / sqrt(2100) = 2.160; two tails of the normal: 0.03075.
        assert!((sign_test(1_000, 1_100) - 0.030_75).abs() < 1e-4);
        // All of 1,000: 2^-999; all of 1,100 is below the least number.
        assert!((sign_test(1_000, 0).log2() + 999.0).abs() < 1e-9);
        assert!(sign_test(1_100, 0) < 1e-300);
    }
}
