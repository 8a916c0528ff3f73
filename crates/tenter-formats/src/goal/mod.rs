//! GOAL, the schedules of `LogGOPSim` and ATLAHS, as text and as binary files.
//!
//! A file has for each rank operations (`send`, `recv`, `calc`) and what they wait for: the end of
//! another operation (`requires`) or its start (`irequires`). Times are nanoseconds.
//!
//! Source: the grammar and the binary layout of `txt2bin` and `Parser.hpp` of `LogGOPSim`
//! ("`LogGOPSim`: simulating large-scale applications in the `LogGOPS` model", Hoefler, Schneider,
//! Lumsdaine, 2010).

mod binary;
mod collected;
mod lexer;
mod text;
mod write;

use crate::error::{ImportError, Place};
use crate::imported::Imported;

pub use write::write;

/// Reads a text, or a binary file, which its first bytes tell.
///
/// # Errors
/// The first thing that is not as the format wants it, by its line or byte.
pub fn read(bytes: &[u8]) -> Result<Imported, ImportError> {
    if binary::is_binary(bytes) {
        return binary::read(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => text::read(bytes),
        Err(error) => Err(ImportError::new(
            Place::Byte(error.valid_up_to()),
            "this is neither a text nor a binary GOAL file",
            "give a file that begins with `num_ranks`, or one that `txt2bin` has written",
        )),
    }
}

#[cfg(test)]
mod tests;
