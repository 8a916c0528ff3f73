//! Numbers in the form that people write.

/// Formats a size in binary units with at most two decimals: `512 B`, `16 MiB`, `1.5 GiB`.
pub fn binary_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let mut power = bytes.ilog2() as usize / 10;
    let scaled = |power: usize| format!("{:.2}", bytes as f64 / (1_u64 << (10 * power)) as f64);
    // One byte short of a unit would be printed as 1024 of the next smaller unit.
    if scaled(power) == "1024.00" && power < UNITS.len() {
        power += 1;
    }
    let number = scaled(power);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {}", UNITS[power - 1])
}

/// Formats a count with thousands separators: `1,234,567`.
pub fn grouped(count: i64) -> String {
    grouped_digits(&count.to_string())
}

/// Separates the thousands of a whole number's digits, which may have a sign.
pub(crate) fn grouped_digits(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let mut text = sign.to_owned();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a value with three significant digits and an SI prefix, ready for its unit: `41.2 M`,
/// `950 `.
pub fn si(value: f64) -> String {
    const PREFIXES: [&str; 5] = ["", "k", "M", "G", "T"];
    let mut scaled = value;
    let mut prefix = 0;
    // 999.5 would be printed as 1000 with the smaller prefix.
    while scaled.abs() >= 999.5 && prefix + 1 < PREFIXES.len() {
        scaled /= 1_000.0;
        prefix += 1;
    }
    // A small whole number (7 frames) has no meaningful decimals.
    let decimals = if prefix == 0 && scaled.fract() == 0.0 {
        0
    } else {
        decimals_for(scaled, 3).min(2)
    };
    format!("{scaled:.decimals$} {}", PREFIXES[prefix])
}

/// Formats a wall time: `0.43 s`, `12.3 s`, `3 min 05 s`, `2 h 07 min`.
pub fn duration_s(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.*} s", decimals_for(seconds, 2).min(3)),
        60..3_600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3_600, whole % 3_600 / 60),
    }
}

/// Formats a band for people. A table with values writes an open lower end as −10⁶ or less, which
/// no reading reaches.
pub fn band_text([low, high]: [f64; 2], number: impl Fn(f64) -> String) -> String {
    if has_lower_end([low, high]) {
        // An en dash before a minus sign would be misread.
        let between = if high < 0.0 { " to " } else { "–" };
        format!("{}{between}{}", number(low), number(high))
    } else {
        format!("at most {}", number(high))
    }
}

/// True if a band has a lower end, in the notation that [`band_text`] describes.
pub fn has_lower_end([low, _]: [f64; 2]) -> bool {
    low > -1e6
}

/// Returns the decimals that show `value` with `significant` digits; 0 if `value` is zero or not
/// finite.
pub(crate) fn decimals_for(value: f64, significant: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let magnitude = value.abs().log10().floor() as i32;
    usize::try_from(significant - 1 - magnitude).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases: [(u64, &str); 11] = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1 KiB"),
            (16 << 20, "16 MiB"),
            (100_000_000, "95.37 MiB"), // 10⁸ / 2²⁰ = 95.367…
            (3 << 29, "1.5 GiB"),
            (200 << 30, "200 GiB"),
            ((1 << 20) - 1, "1 MiB"), // 1023.999 KiB
            (1_000 << 10, "1000 KiB"),
            (8 << 30, "8 GiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(binary_size(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn counts() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (-1_234_567, "-1,234,567"),
        ];
        for (count, expected) in cases {
            assert_eq!(grouped(count), expected);
        }
        assert_eq!(grouped(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn prefixes() {
        let cases = [
            (0.0, "0 "),
            (950.0, "950 "),
            (999.7, "1.00 k"),
            (41_234_567.0, "41.2 M"),
            (60_000_000.0, "60.0 M"),
            (2.5e9, "2.50 G"),
            (7.7e15, "7700 T"),
        ];
        for (value, expected) in cases {
            assert_eq!(si(value), expected);
        }
    }

    #[test]
    fn wall_times() {
        let cases = [
            (0.0, "0 s"),
            (0.000_4, "0.000 s"),
            (0.043, "0.043 s"),
            (1.94, "1.9 s"),
            (12.3, "12 s"),
            (59.6, "1 min 00 s"),
            (185.0, "3 min 05 s"),
            (7_620.0, "2 h 07 min"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration_s(seconds), expected);
        }
    }

    #[test]
    fn bands() {
        let cases = [
            ([0.3036, 0.3224], "0.3036–0.3224"),
            ([-5.0, -1.0], "-5.0000 to -1.0000"),
            ([-1e6, -1.0], "at most -1.0000"),
            ([1.0, 1e12], "1.0000–1000000000000.0000"),
        ];
        for (band, expected) in cases {
            assert_eq!(band_text(band, |end| format!("{end:.4}")), expected);
        }
    }
}
