//! Words of a line, and what is said of those that are wrong.

use tenter_notation::diagnostics::quote;
use tenter_units::Time;

use crate::decimal;
use crate::error::{ImportError, Place};

/// The text of a file.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, ImportError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = Place::Byte(error.valid_up_to());
        ImportError::new(place, "this is no text", "give a text file in UTF-8")
    })
}

/// A whole number.
pub(crate) fn number(word: &str, of: &str, at: Place) -> Result<u64, ImportError> {
    word.parse().map_err(|_| {
        let what = format!("{} is not {of}", quote(word));
        ImportError::new(at, what, "give a whole number")
    })
}

/// A rank; one that is too large for any is the largest number.
pub(crate) fn rank(word: &str, of: &str, at: Place) -> Result<u32, ImportError> {
    number(word, of, at).map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
}

/// A decimal number of a unit of so many decimal places of picoseconds, and whether digits were
/// cut.
pub(crate) fn time(
    word: &str,
    of: &str,
    places: usize,
    at: Place,
) -> Result<(Time, bool), ImportError> {
    decimal::time(word, places).ok_or_else(|| {
        let what = format!("{} is not {of}", quote(word));
        ImportError::new(at, what, "give a decimal number")
    })
}
