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
mod pieces;
mod text;
mod write;

use tenter_units::Budget;

use crate::content::Content;
use crate::error::{ImportError, Place};
use crate::imported::Imported;

pub use write::write;

/// Reads a text, or a binary file, which its first bytes show. The text or the block of one rank
/// after the other is in memory, and ranks that come before their turn.
///
/// # Errors
/// The first thing that is not as the format wants it, by its line or byte.
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
