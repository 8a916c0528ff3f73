//! Reader and writer for GOAL, the schedules of `LogGOPSim` and ATLAHS, as text or binary file.
//!
//! A file lists each rank's operations (`send`, `recv`, `calc`). An operation waits for the end
//! (`requires`) or the start (`irequires`) of others. Times are nanoseconds.
//!
//! Source: grammar and binary layout in `LogGOPSim`'s `txt2bin` and `Parser.hpp` ("`LogGOPSim`:
//! simulating large-scale applications in the `LogGOPS` model", Hoefler, Schneider, Lumsdaine,
//! 2010).

mod binary;
mod collected;
mod lexer;
mod pieces;
mod text;
mod write;

use tenter_language::units::Budget;

use crate::content::Content;
use crate::error::{ImportError, Place};
use crate::imported::Imported;

pub use write::write;

/// Reads a text or a binary file; the first bytes tell which it is. One rank's text or block is in
/// memory at a time, and in a text also ranks that come before their turn.
///
/// # Errors
/// The first violation of the format, by its line or byte.
pub fn read<'c>(content: impl Into<Content<'c>>, budget: &Budget) -> Result<Imported, ImportError> {
    let mut content = content.into();
    let allowed = budget.read(content.length());
    allowed.map_err(|over| ImportError::of(Place::Byte(0), over))?;
    if binary::is_binary(&content.part(0, 8)?) {
        return binary::read(content, budget);
    }
    text::read(content, budget)
}

#[cfg(test)]
mod tests;
