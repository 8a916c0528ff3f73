//! Reading quantities that carry their unit, and printing them so that they read back the same.
//!
//! All arithmetic is on integers: `0.1us` is exactly 100,000 ps, and a quantity that is not a whole
//! number in the smallest unit is refused rather than rounded.

use std::fmt;

use crate::units::dimensions::{Dimension, RATE};

/// Reason why a quantity could not be read. Each message quotes the text and says what to write
/// instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// A number without a unit.
    #[error("`{value}` has no unit; write for example `{example}`")]
    MissingUnit {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The value with the most usual unit.
        example: String,
    },
    /// Text that does not begin with a decimal number.
    #[error(
        "`{value}` is not {expected}: a number followed by a unit; write for example `{example}`"
    )]
    NotANumber {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The expected kind with its article: "a time", "a rate", "a size".
        expected: &'static str,
        /// A quantity that would be accepted.
        example: &'static str,
    },
    /// A negative number; no time, rate or size is below zero.
    #[error("`{value}` is negative, but {expected} is zero or more; write for example `{example}`")]
    Negative {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The expected kind with its article: "a time".
        expected: &'static str,
        /// A quantity that would be accepted.
        example: &'static str,
    },
    /// An unknown unit, or one in the wrong letter case.
    #[error("`{value}`: `{unit}` is not a unit of {dimension}; {remedy}")]
    UnknownUnit {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The unknown unit, as it was written.
        unit: String,
        /// The kind that the unit should measure: "time", "rate", "size".
        dimension: &'static str,
        /// "did you mean …?", or a list with the valid units.
        remedy: String,
    },
    /// A unit for another kind of quantity.
    #[error("`{value}` is {given}, but {expected} is wanted here; write for example `{example}`")]
    WrongDimension {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The kind that the unit measures, with its article.
        given: &'static str,
        /// The expected kind with its article: "a time".
        expected: &'static str,
        /// A quantity that would be accepted.
        example: &'static str,
    },
    /// A rate in bytes per second; line rates are in bits per second.
    #[error("`{value}` counts bytes per second, but a rate is in bits per second; {remedy}")]
    ByteRate {
        /// The text as given, without surrounding blanks.
        value: String,
        /// Suggests the same rate in bits per second if it can be converted exactly, else an
        /// example.
        remedy: String,
    },
    /// More decimals than the smallest unit can represent.
    #[error("`{value}` is not a whole number of {smallest}; write for example `{nearest}`")]
    NotWhole {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The smallest unit's name in the plural.
        smallest: &'static str,
        /// The next larger quantity that is whole.
        nearest: String,
    },
    /// A quantity over 64 bits in the smallest unit.
    #[error("`{value}` is too large; {expected} is at most `{largest}`")]
    TooLarge {
        /// The text as given, without surrounding blanks.
        value: String,
        /// The expected kind with its article: "a time".
        expected: &'static str,
        /// The largest quantity that fits.
        largest: String,
    },
}

/// Common spellings for bytes per second, with their value in bit/s.
const BYTE_RATES: [(&str, u64); 14] = [
    ("B/s", 8),
    ("Bps", 8),
    ("kB/s", 8_000),
    ("KB/s", 8_000),
    ("kBps", 8_000),
    ("KBps", 8_000),
    ("MB/s", 8_000_000),
    ("MBps", 8_000_000),
    ("GB/s", 8_000_000_000),
    ("GBps", 8_000_000_000),
    ("TB/s", 8_000_000_000_000),
    ("TBps", 8_000_000_000_000),
    ("GiB/s", 8 << 30),
    ("MiB/s", 8 << 20),
];

/// Reads `text` as a whole number in the smallest unit of `dimension`; units of `others` are
/// recognised for the error message.
pub(crate) fn read(
    text: &str,
    dimension: &Dimension,
    others: [&Dimension; 2],
) -> Result<u64, UnitError> {
    let value = text.trim();
    let Decimal {
        whole,
        fraction,
        unit,
    } = split(value, dimension)?;
    if unit.is_empty() {
        return Err(UnitError::MissingUnit {
            value: value.to_owned(),
            example: format!("{value}{}", dimension.usual),
        });
    }
    let Some(worth) = dimension.worth(unit) else {
        return Err(misfit(
            value,
            &Decimal {
                whole,
                fraction,
                unit,
            },
            dimension,
            others,
        ));
    };
    let too_large = || UnitError::TooLarge {
        value: value.to_owned(),
        expected: dimension.article,
        largest: Printed(u64::MAX, dimension).to_string(),
    };
    let (count, exact) = scale(whole, fraction, worth).ok_or_else(too_large)?;
    if exact {
        return Ok(count);
    }
    // `scale` has rounded down.
    let nearest = count.checked_add(1).ok_or_else(too_large)?;
    Err(UnitError::NotWhole {
        value: value.to_owned(),
        smallest: dimension.smallest,
        nearest: Printed(nearest, dimension).to_string(),
    })
}

/// A quantity split into its three parts.
struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
    unit: &'a str,
}

/// Splits `value` into digits, decimals and unit, without interpreting the unit.
fn split<'a>(value: &'a str, dimension: &Dimension) -> Result<Decimal<'a>, UnitError> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (expected, example) = (dimension.article, dimension.example);
    // The second character is the minus sign of typeset text.
    if value.starts_with(['-', '\u{2212}']) {
        return Err(UnitError::Negative {
            value: value.to_owned(),
            expected,
            example,
        });
    }
    let not_a_number = || UnitError::NotANumber {
        value: value.to_owned(),
        expected,
        example,
    };
    let (whole, rest) = value.split_at(digits(value));
    let (fraction, unit) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let dangling_point = rest.starts_with('.') && fraction.is_empty();
    let unit = unit.trim_start();
    let unit_is_word = unit.is_empty() || unit.starts_with(char::is_alphabetic);
    if whole.is_empty() || dangling_point || !unit_is_word {
        return Err(not_a_number());
    }
    Ok(Decimal {
        whole,
        fraction,
        unit,
    })
}

/// Computes `whole.fraction × worth`, rounded down, with a flag that is true if nothing was lost;
/// `None` if the result exceeds 64 bits.
fn scale(whole: &str, fraction: &str, worth: u64) -> Option<(u64, bool)> {
    let digit = |byte: u8| u64::from(byte - b'0');
    let mut count = 0_u64;
    for byte in whole.bytes() {
        count = count.checked_mul(10)?.checked_add(digit(byte))?;
    }
    // Long multiplication from the last decimal. The carry from the first decimal is the whole
    // part, so decimals may be of any length.
    let mut carried = 0_u128;
    let mut exact = true;
    for byte in fraction.bytes().rev() {
        let column = u128::from(digit(byte)) * u128::from(worth) + carried;
        exact &= column.is_multiple_of(10);
        carried = column / 10;
    }
    let total = u128::from(count) * u128::from(worth) + carried;
    Some((u64::try_from(total).ok()?, exact))
}

/// Units for sizes and rates that exist, but are larger than any that is read.
const BEYOND: [&str; 12] = [
    "PB", "PiB", "EB", "EiB", "ZB", "ZiB", "Pbps", "Pb/s", "Pbit/s", "Ebps", "Eb/s", "Ebit/s",
];

/// Makes the error for a unit that does not fit: one for another quantity, a byte rate, or unknown.
fn misfit(
    value: &str,
    decimal: &Decimal<'_>,
    dimension: &Dimension,
    others: [&Dimension; 2],
) -> UnitError {
    let unit = decimal.unit;
    if let Some(other) = others.into_iter().find(|other| other.worth(unit).is_some()) {
        return UnitError::WrongDimension {
            value: value.to_owned(),
            given: other.article,
            expected: dimension.article,
            example: dimension.example,
        };
    }
    if let Some((_, worth)) = BYTE_RATES.iter().find(|(name, _)| *name == unit) {
        return byte_rate(value, decimal, *worth, dimension);
    }
    // For a unit that is too large, a similar one would be a wrong suggestion: 8EiB is no typing
    // error for 8KiB.
    let is_too_large = BEYOND.contains(&unit);
    let near = dimension.closest(unit).filter(|_| !is_too_large);
    let remedy = match near {
        Some(near) => {
            let number = value.strip_suffix(unit).unwrap_or(value).trim_end();
            format!("did you mean `{number}{near}`?")
        }
        None => format!("use one of {}", dimension.listing()),
    };
    UnitError::UnknownUnit {
        value: value.to_owned(),
        unit: unit.to_owned(),
        dimension: dimension.noun,
        remedy,
    }
}

/// Makes the error for a unit in bytes per second.
fn byte_rate(value: &str, decimal: &Decimal<'_>, worth: u64, dimension: &Dimension) -> UnitError {
    // Only where a rate is expected does the conversion to bits help.
    if dimension.usual != RATE.usual {
        return UnitError::WrongDimension {
            value: value.to_owned(),
            given: "a rate",
            expected: dimension.article,
            example: dimension.example,
        };
    }
    let remedy = match scale(decimal.whole, decimal.fraction, worth) {
        Some((bits, true)) => format!("write `{}`", Printed(bits, dimension)),
        _ => format!("write for example `{}`", dimension.example),
    };
    UnitError::ByteRate {
        value: value.to_owned(),
        remedy,
    }
}

/// A count of the smallest unit, printed in the unit that gives the shortest exact decimal that is
/// at least one; in the larger unit if two are equally short.
pub(crate) struct Printed<'a>(pub(crate) u64, pub(crate) &'a Dimension);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Printed(count, dimension) = *self;
        // Largest unit first: `min_by_key` keeps the first of several equally short texts.
        let forms = dimension.units.iter().rev().filter_map(|(name, worth)| {
            let whole = count / worth;
            if whole == 0 && count > 0 {
                return None;
            }
            Some(format!("{whole}{}{name}", decimals(count % worth, *worth)))
        });
        let shortest = forms
            .min_by_key(String::len)
            .expect("a unit worth one fits any count");
        formatter.pad(&shortest)
    }
}

/// Formats `remainder / worth` as decimals with their point; empty for zero. Every `worth` is a
/// product of twos and fives, so the loop ends.
fn decimals(mut remainder: u64, worth: u64) -> String {
    let mut text = String::new();
    while remainder > 0 {
        if text.is_empty() {
            text.push('.');
        }
        let shifted = u128::from(remainder) * 10;
        text.push(char::from(b'0' + (shifted / u128::from(worth)) as u8));
        remainder = (shifted % u128::from(worth)) as u64;
    }
    text
}

/// Implements `FromStr` and `Display` for a unit type over its [`Dimension`], and lists its unit
/// names.
macro_rules! read_and_print {
    ($type:ident, $count:ident, $dimension:expr, $others:expr) => {
        impl $type {
            /// Iterates over the accepted units in all spellings.
            pub fn unit_names() -> impl Iterator<Item = &'static str> {
                let known = $dimension.units.iter().chain($dimension.spellings);
                known.map(|(name, _)| *name)
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::units::UnitError;
            fn from_str(text: &str) -> Result<$type, $crate::units::UnitError> {
                $crate::units::parse::read(text, &$dimension, $others).map($type)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(
                    &$crate::units::parse::Printed(self.$count(), &$dimension),
                    formatter,
                )
            }
        }
    };
}
pub(crate) use read_and_print;

#[cfg(test)]
mod tests;
