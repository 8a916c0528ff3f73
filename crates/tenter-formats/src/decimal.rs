//! Exact conversion of decimal numbers to picoseconds.

use tenter_language::units::Time;

/// Reads a decimal number in units worth 10^`places` picoseconds: 12 places for seconds, 6 for
/// microseconds.
///
/// Returns the time, and true if digits below a picosecond were cut off; `None` if the text is no
/// such number or the time is too long.
pub(crate) fn time(text: &str, places: usize) -> Option<(Time, bool)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return None;
    }
    let kept = &fraction[..fraction.len().min(places)];
    let cut = fraction[kept.len()..].bytes().any(|byte| byte != b'0');
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    // `0<` pads with zeros on the right: "5" with three places is 500 of the smallest unit.
    let padded = format!("{kept:0<places$}");
    let fraction: u64 = if padded.is_empty() {
        0
    } else {
        padded.parse().ok()?
    };
    let unit = 10_u64.checked_pow(places as u32)?;
    let ps = whole.checked_mul(unit)?.checked_add(fraction)?;
    Some((Time::from_ps(ps), cut))
}

/// Reads a number as [`time`] does, also with an exponent: `8.9e-05`.
pub(crate) fn scientific(text: &str, places: usize) -> Option<(Time, bool)> {
    /// Largest exponent; no time that anything takes needs more. It bounds the zeros written below.
    const EXPONENT_MAX: u32 = 40;
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return time(text, places);
    };
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() || exponent.unsigned_abs() > EXPONENT_MAX {
        return None;
    }
    let zeros = "0".repeat(exponent.unsigned_abs() as usize);
    // The exponent moves the decimal point: zeros are added on the side to which it moves.
    let (digits, point) = if exponent < 0 {
        (format!("{zeros}{whole}{fraction}"), whole.len())
    } else {
        let padded = format!("{fraction}{zeros}");
        let point = whole.len() + zeros.len();
        (format!("{whole}{padded}"), point)
    };
    let plain = format!("{}.{}", digits.get(..point)?, digits.get(point..)?);
    time(&plain, places)
}

/// Multiplies a decimal number by `factor`; `None` if the product is no whole number or too large.
pub(crate) fn times(text: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 12 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let all: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = all.checked_mul(u128::from(factor))?;
    let exact = product.is_multiple_of(scale).then_some(product / scale)?;
    u64::try_from(exact).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_move_the_point() {
        let ps = |text: &str| scientific(text, 9).map(|(time, cut)| (time.ps(), cut));
        assert_eq!(ps("8.9e-05"), Some((89_000, false)));
        assert_eq!(ps("1.25E+1"), Some((12_500_000_000, false)));
        assert_eq!(ps("3e0"), Some((3_000_000_000, false)));
        assert_eq!(ps("12.345e-10"), Some((1, true)));
        assert_eq!(ps("0.25"), Some((250_000_000, false)));
        for text in ["e5", "1e", "1e99", "1e5.5", "-1e1", "1e2e3", "1x5", "1é5"] {
            assert_eq!(ps(text), None, "{text}");
        }
        // The smallest and the largest exponent of 32 bits.
        for text in ["1e-2147483648", "1e2147483647"] {
            assert_eq!(ps(text), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        let ps = |text: &str, places| time(text, places).map(|(time, cut)| (time.ps(), cut));
        assert_eq!(ps("2.000000001", 12), Some((2_000_000_001_000, false)));
        assert_eq!(ps("0.1234567890123", 12), Some((123_456_789_012, true)));
        assert_eq!(ps("15", 6), Some((15_000_000, false)));
        assert_eq!(ps(".5", 6), Some((500_000, false)));
        assert_eq!(ps("7", 0), Some((7, false)));
        for text in ["", ".", "-1", "1e3", "1.2.3", "x", "99999999999999999999"] {
            assert_eq!(ps(text, 12), None, "{text}");
        }
    }
}
