//! Axis values as numbers: `1MiB`, `400Gbps`, `5us`, `0.5`.

/// Quantity that an axis value measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Plain,
    Percent,
    /// A time, which [`quantity`] returns in ns.
    Time,
    /// A size, which [`quantity`] returns in bytes.
    Size,
    /// A rate, which [`quantity`] returns in Gb/s.
    Rate,
}

/// Parses a value into its base unit; `None` for a word or an unknown unit.
pub(crate) fn quantity(text: &str) -> Option<(f64, Measure)> {
    const UNITS: [(&str, f64, Measure); 26] = [
        ("", 1.0, Measure::Plain),
        ("%", 1.0, Measure::Percent),
        ("ps", 1e-3, Measure::Time),
        ("ns", 1.0, Measure::Time),
        ("us", 1e3, Measure::Time),
        ("µs", 1e3, Measure::Time),
        ("ms", 1e6, Measure::Time),
        ("s", 1e9, Measure::Time),
        ("B", 1.0, Measure::Size),
        ("kB", 1e3, Measure::Size),
        ("KB", 1e3, Measure::Size),
        ("MB", 1e6, Measure::Size),
        ("GB", 1e9, Measure::Size),
        ("TB", 1e12, Measure::Size),
        ("KiB", 1_024.0, Measure::Size),
        ("MiB", 1_048_576.0, Measure::Size),
        ("GiB", 1_073_741_824.0, Measure::Size),
        ("TiB", 1_099_511_627_776.0, Measure::Size),
        ("Mbps", 1e-3, Measure::Rate),
        ("Gbps", 1.0, Measure::Rate),
        ("Tbps", 1e3, Measure::Rate),
        ("Mb/s", 1e-3, Measure::Rate),
        ("Gb/s", 1.0, Measure::Rate),
        ("Tb/s", 1e3, Measure::Rate),
        ("Mbit/s", 1e-3, Measure::Rate),
        ("Gbit/s", 1.0, Measure::Rate),
    ];
    let text = text.trim().trim_matches(['"', '\'']);
    let end = text.find(|c: char| !c.is_ascii_digit() && !".-+".contains(c));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.parse().ok().filter(|of: &f64| of.is_finite())?;
    let unit = UNITS.iter().find(|(name, ..)| *name == unit.trim())?;
    Some((number * unit.1, unit.2))
}

/// Returns an axis's values as numbers with their common base unit; `None` if one is a word, or
/// they measure different quantities.
pub fn axis_numbers(values: &[String]) -> Option<(Vec<f64>, &'static str)> {
    let found: Option<Vec<_>> = values.iter().map(|text| quantity(text)).collect();
    let found = found?;
    // 0 may be written without a unit and fits any.
    let mut measures = found.iter().filter(|(value, _)| *value != 0.0);
    let (_, measure) = measures.next()?;
    if measures.any(|(_, other)| other != measure) {
        return None;
    }
    let unit = match measure {
        Measure::Plain => "",
        Measure::Percent => "%",
        Measure::Time => "ns",
        Measure::Size => "bytes",
        Measure::Rate => "Gb/s",
    };
    Some((found.into_iter().map(|(value, _)| value).collect(), unit))
}

/// True if two values for a setting are equal, as `1024KiB` and `1MiB` are.
pub(crate) fn is_same_value(a: &str, b: &str) -> bool {
    // Units are multiplied in floating point, so equal values may differ in the last bit.
    let equal = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    match (quantity(a), quantity(b)) {
        (Some((a, of)), Some((b, other))) => of == other && equal(a, b),
        _ => a.trim() == b.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_in_base_units() {
        let cases = [
            ("4", Some((4.0, Measure::Plain))),
            ("-0.5", Some((-0.5, Measure::Plain))),
            ("1.5us", Some((1_500.0, Measure::Time))),
            ("2 KiB", Some((2_048.0, Measure::Size))),
            ("800Gbps", Some((800.0, Measure::Rate))),
            ("50%", Some((50.0, Measure::Percent))),
            ("ecmp", None),
            ("{kind: ecmp}", None),
            ("3 apples", None),
        ];
        for (text, expected) in cases {
            assert_eq!(quantity(text), expected, "{text}");
        }
        assert!(is_same_value("1024KiB", "1MiB") && is_same_value("ecmp", "ecmp "));
        assert!(!is_same_value("1", "1us") && !is_same_value("1", "2"));
    }
}
