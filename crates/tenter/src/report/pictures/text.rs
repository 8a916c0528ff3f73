//! Numbers in the form that pictures show.

use std::fmt::Write as _;

use crate::report::numbers::{decimals_for, grouped, grouped_digits};
use crate::report::time_unit::TimeUnit;

/// Formats a number with `significant` digits and no trailing zeros: `1.5`, `0.0312`, `1,234`.
pub(super) fn number(value: f64, significant: i32) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{value:.*}", decimals_for(value, significant));
    let text = match text.split_once('.') {
        Some((whole, part)) => {
            let part = part.trim_end_matches('0');
            if part.is_empty() {
                grouped_digits(whole)
            } else {
                format!("{}.{part}", grouped_digits(whole))
            }
        }
        None => grouped_digits(&text),
    };
    if text == "-0" { "0".to_owned() } else { text }
}

/// Formats a number with `significant` digits and its trailing zeros, for table columns: `1.500`.
pub(super) fn fixed(value: f64, significant: i32) -> String {
    format!("{value:.*}", decimals_for(value, significant))
}

/// Formats a count with thousands separators.
pub(super) fn count(count: u64) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

/// A measuring unit: its name, and its size in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) factor: f64,
}

impl Unit {
    /// Returns the time unit in which `ns` is a readable number.
    pub(super) fn time(ns: f64) -> Unit {
        let TimeUnit { name, ns: factor } = TimeUnit::of_ns(ns);
        Unit { name, factor }
    }

    /// Returns the binary unit in which `bytes` is a readable number.
    pub(super) fn bytes(bytes: f64) -> Unit {
        let units = [
            ("TiB", f64::from(1 << 20) * f64::from(1 << 20)),
            ("GiB", f64::from(1 << 30)),
            ("MiB", f64::from(1 << 20)),
            ("KiB", 1_024.0),
        ];
        Unit::largest(&units, bytes).unwrap_or(Unit {
            name: "B",
            factor: 1.0,
        })
    }

    /// Makes a unit that counts things.
    pub(super) fn of(name: &'static str) -> Unit {
        Unit { name, factor: 1.0 }
    }

    fn largest(units: &[(&'static str, f64)], value: f64) -> Option<Unit> {
        let fitting = units.iter().find(|&&(_, factor)| value.abs() >= factor)?;
        Some(Unit {
            name: fitting.0,
            factor: fitting.1,
        })
    }

    /// Formats a value, given in base units, with the unit's name.
    pub(super) fn show(self, value: f64, significant: i32) -> String {
        let number = number(value / self.factor, significant);
        if self.name == "%" || self.name.is_empty() {
            format!("{number}{}", self.name)
        } else {
            // A no-break space keeps number and unit on one line.
            format!("{number}\u{a0}{}", self.name)
        }
    }
}

/// Formats a time in its most readable unit: `1.371 ms`.
pub(super) fn time(ns: f64) -> String {
    Unit::time(ns).show(ns, 4)
}

/// Formats bytes in their most readable unit: `16 MiB`.
pub(super) fn bytes(bytes: f64) -> String {
    Unit::bytes(bytes).show(bytes, 3)
}

/// Appends formatted text; writing to a string cannot fail.
pub(super) fn add(to: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.500_01, "1.5"),
            (0.031_24, "0.03124"),
            (12_345.6, "12,346"),
            (-1_234_567.0, "-1,234,567"),
            (f64::NAN, "–"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value, 4), expected);
        }
    }

    #[test]
    fn units_follow_the_value() {
        assert_eq!(time(999.0), "999\u{a0}ns");
        assert_eq!(time(1_371_000.0), "1.371\u{a0}ms");
        assert_eq!(bytes(f64::from(3 << 19)), "1.5\u{a0}MiB"); // 1.5 × 2²⁰
        assert_eq!(bytes(0.0), "0\u{a0}B");
        assert_eq!(Unit::of("%").show(99.87, 4), "99.87%");
    }
}
