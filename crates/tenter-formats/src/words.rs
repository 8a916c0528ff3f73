//! Parsing for words in a line, with errors that quote them.

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::Time;

use crate::decimal;
use crate::error::{ImportError, Place};

/// Returns a file's text, which must be UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, ImportError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = Place::Byte(error.valid_up_to());
        ImportError::new(place, "this is no text", "give a text file in UTF-8")
    })
}

/// Parses a whole number; `of` says for the error what the word should be.
pub(crate) fn number(word: &str, of: &str, at: Place) -> Result<u64, ImportError> {
    word.parse().map_err(|_| {
        let what = format!("{} is not {of}", quote(word));
        ImportError::new(at, what, "give a whole number")
    })
}

/// Parses a rank. A number beyond 32 bits becomes the largest rank, which the caller's check on the
/// range refuses.
pub(crate) fn rank(word: &str, of: &str, at: Place) -> Result<u32, ImportError> {
    number(word, of, at).map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
}

/// Parses a decimal number in units worth 10^`places` picoseconds. The flag is true if digits below
/// a picosecond were cut off.
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
