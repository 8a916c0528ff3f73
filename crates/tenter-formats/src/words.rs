//! Words of a line, and what is said of those that are wrong.

use tenter_units::Time;

use super::decimal;
use crate::error::{ImportError, Place};

/// As much of a word as a message shows.
pub(super) fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

/// A whole number.
pub(super) fn number(word: &str, of: &str, at: Place) -> Result<u64, ImportError> {
    word.parse().map_err(|_| {
        let what = format!("`{}` is not {of}", shown(word));
        ImportError::new(at, what, "give a whole number")
    })
}

/// A rank; one that is too large for any is the largest number.
pub(super) fn rank(word: &str, of: &str, at: Place) -> Result<u32, ImportError> {
    number(word, of, at).map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
}

/// A decimal number of a unit of so many decimal places of picoseconds, and whether digits were
/// cut.
pub(super) fn time(
    word: &str,
    (of, places): (&str, usize),
    at: Place,
) -> Result<(Time, bool), ImportError> {
    decimal::time(word, places).ok_or_else(|| {
        let what = format!("`{}` is not {of}", shown(word));
        ImportError::new(at, what, "give a decimal number")
    })
}
